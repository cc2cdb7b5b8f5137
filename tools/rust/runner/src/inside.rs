// SPDX-License-Identifier: BSD-2-Clause
//! Results of the crate as the values of the suite.

use serde_json::{json, Value};
use tamis::{FilterStat, State};

pub fn value(of: impl serde::Serialize) -> Value {
    serde_json::to_value(of).expect("a result is JSON")
}

pub fn stat(stat: &FilterStat) -> Value {
    let mut object = value(stat);
    let states = [
        State::Full,
        State::Degraded,
        State::Unclean,
        State::Damaged,
        State::Over,
    ];
    let bits: u32 = (0..5)
        .filter(|&bit| stat.states.contains(&states[bit as usize]))
        .map(|bit| 1 << bit)
        .sum();
    object["state"] = json!(bits);
    object
}

pub fn stats(list: &[FilterStat]) -> Value {
    list.iter().map(stat).collect()
}

/// A digest as hexadecimal digits.
pub fn digested(mut object: Value, name: &str, digest: &[u8]) -> Value {
    object[name] = json!(crate::given::hex(digest));
    object
}
