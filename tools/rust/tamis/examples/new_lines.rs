// SPDX-License-Identifier: BSD-2-Clause
//! `cargo run --example new_lines -- STORE NAME < LINES`: prints the lines that no process has seen before.

use std::io::{stdin, stdout, BufRead, Write};

use tamis::{Spec, Store};

const BATCH: usize = 1000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args_os().skip(1);
    let (Some(path), Some(name)) = (words.next(), words.next()) else {
        return Err("usage: new_lines STORE NAME < LINES".into());
    };
    let name = name.into_string().map_err(|_| "the name is no UTF-8")?;
    let seen = Store::create(path)?.open_or_create(&name, &Spec::new(1_000_000).fp_rate(1e-6))?;
    let mut lines = stdin().lock().split(b'\n');
    let mut out = stdout().lock();
    loop {
        let batch = lines.by_ref().take(BATCH).collect::<Result<Vec<_>, _>>()?;
        if batch.is_empty() {
            break;
        }
        for (line, is_new) in batch.iter().zip(seen.add_many(&batch)?) {
            if is_new {
                out.write_all(line)?;
                out.write_all(b"\n")?;
            }
        }
    }
    Ok(seen.close()?)
}
