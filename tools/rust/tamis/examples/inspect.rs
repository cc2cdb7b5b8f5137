// SPDX-License-Identifier: BSD-2-Clause
//! `cargo run --example inspect --features serde -- STORE`: prints what is known of each filter, as JSON.

use tamis::Store;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: inspect STORE")?;
    for stat in Store::open_read_only(path)?.list_live("")? {
        println!("{}", serde_json::to_string(&stat)?);
    }
    Ok(())
}
