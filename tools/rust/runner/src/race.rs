// SPDX-License-Identifier: BSD-2-Clause
//! The modes race and found: the same keys as those of the other runners, in an order of the seed.

use std::error::Error;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{stdin, Write};

use tamis::Store;

const STRIDES: [u64; 7] = [
    7_368_787,
    15_485_863,
    32_452_843,
    49_979_687,
    67_867_967,
    86_028_121,
    104_395_301,
];

pub fn race(path: &str, name: &str, numbers: [u64; 4], out: &str) -> Result<(), Box<dyn Error>> {
    let [first, count, order_of, batch] = numbers;
    let seen = Store::open(path)?.open_filter(name)?;
    println!("ready");
    stdin().read_line(&mut String::new())?;
    let mut file = OpenOptions::new().append(true).create(true).open(out)?;
    let stride = STRIDES[usize::try_from(order_of % 7)?];
    let order: Vec<u64> = (0..count)
        .map(|i| first + (order_of * 104_729 + i * stride) % count)
        .collect();
    for numbers in order.chunks(usize::try_from(batch)?) {
        let keys = numbers.iter().map(|number| format!("key-{number}"));
        let answers = match numbers {
            [number] => vec![seen.add(format!("key-{number}"))?],
            _ => seen.add_many(keys)?,
        };
        let mut lines = String::new();
        for (number, _) in numbers.iter().zip(answers).filter(|(_, is_new)| *is_new) {
            writeln!(lines, "{number}")?;
        }
        file.write_all(lines.as_bytes())?;
    }
    Ok(seen.close()?)
}

pub fn found(path: &str, name: &str, first: u64, count: u64) -> Result<(), Box<dyn Error>> {
    let seen = Store::open(path)?.open_filter(name)?;
    let answers =
        seen.contains_many((first..first + count).map(|number| format!("key-{number}")))?;
    println!(
        "{}",
        answers.into_iter().filter(|is_there| *is_there).count()
    );
    Ok(())
}
