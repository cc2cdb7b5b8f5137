// SPDX-License-Identifier: BSD-2-Clause
//! The tables of functions: what each is in the crate, in the order of calls.json.

mod filters;
mod keys;
mod library;
mod lists;

use std::ops::ControlFlow;

use serde_json::Value;
use tamis::ErrorKind;

use crate::{Call, Came, Handle, Runner, Step, CLOSED};

const TABLES: [&[(&str, Call)]; 4] = [filters::CALLS, keys::CALLS, lists::CALLS, library::CALLS];

pub fn find(name: &str) -> Option<Call> {
    TABLES
        .iter()
        .flat_map(|table| table.iter())
        .find(|(each, _)| *each == name)
        .map(|&(_, call)| call)
}

pub fn names() -> Vec<&'static str> {
    TABLES
        .iter()
        .flat_map(|table| table.iter())
        .map(|&(name, _)| name)
        .collect()
}

// ---- What several of them need ------------------------------------------------------------------

fn go_on(_done: u64, _all: u64) -> ControlFlow<ErrorKind> {
    ControlFlow::Continue(())
}

fn close(runner: &mut Runner, step: &Step) -> Came {
    match runner.handles.insert(step.on.into(), Handle::Closed) {
        Some(Handle::Closed) => Err(CLOSED),
        _ => Ok(Value::Null),
    }
}

fn nothing(came: tamis::Result<()>) -> Came {
    came?;
    Ok(Value::Null)
}
