// SPDX-License-Identifier: BSD-2-Clause
//! The runner of Rust in the suite of all bindings; tests/bindings/README.md says what a runner is.

mod calls;
mod given;
mod inside;
mod race;

use std::collections::HashMap;
use std::io::{stdin, stdout, BufRead, Write};

use serde_json::{json, Value};
use tamis::{Build, Error, Filter, Store, Watch};

/// What a name stands for.
pub enum Handle {
    Store(Store),
    /// The store of the filter of that name.
    StoreOf(String),
    Filter(Filter),
    Build(Build),
    Watch(Watch),
    Closed,
}

/// What a step may come to, besides a value.
pub enum Stop {
    Failed(Error),
    Lacks(String),
    Cannot(&'static str),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        panic!("a file of the case: {error}")
    }
}

pub type Came = Result<Value, Stop>;
pub type Call = fn(&mut Runner, &Step) -> Came;

/// A step of a case.
pub struct Step<'a> {
    pub on: &'a str,
    pub name: Option<&'a str>,
    pub with: &'a Value,
}

#[derive(Default)]
pub struct Runner {
    pub handles: HashMap<String, Handle>,
    pub message: String,
}

pub const CLOSED: Stop =
    Stop::Cannot("a value that was moved is not there: the compiler refuses it");

impl Runner {
    pub fn keep(&mut self, step: &Step, handle: Handle) -> Came {
        if let Some(name) = step.name {
            self.handles.insert(name.into(), handle);
        }
        Ok(Value::Null)
    }

    pub fn filter(&self, name: &str) -> Result<&Filter, Stop> {
        match self.handles.get(name) {
            Some(Handle::Filter(filter)) => Ok(filter),
            Some(Handle::Closed) => Err(CLOSED),
            _ => panic!("{name} is no filter"),
        }
    }

    /// Calls `call` with the store of that name.
    pub fn with_store<R>(&self, name: &str, call: impl FnOnce(&Store) -> R) -> Result<R, Stop> {
        match self.handles.get(name) {
            Some(Handle::Store(store)) => Ok(call(store)),
            Some(Handle::StoreOf(filter)) => Ok(call(&self.filter(filter)?.store())),
            Some(Handle::Closed) => Err(CLOSED),
            _ => panic!("{name} is no store"),
        }
    }

    fn answer(&mut self, message: &Value) -> Value {
        if message.get("case").is_some() {
            self.handles.clear();
            return json!({ "value": null });
        }
        let call = message["call"].as_str().expect("a step has a call");
        let Some(function) = calls::find(call) else {
            return json!({ "lacks": call });
        };
        let step = Step {
            on: message["on"].as_str().unwrap_or(""),
            name: message["as"].as_str(),
            with: &message["with"],
        };
        given::forget_flags();
        let came = function(self, &step);
        if let Some(word) = given::unasked_flag(step.with) {
            return json!({ "lacks": format!("{call}({word})") });
        }
        match came {
            Ok(value) => json!({ "value": value }),
            Err(Stop::Lacks(what)) => json!({ "lacks": what }),
            Err(Stop::Cannot(reason)) => json!({ "cannot": reason }),
            Err(Stop::Failed(error)) => {
                self.message = error.to_string();
                let mut answer = json!({ "error": error.kind().name(), "message": self.message });
                if let Some(answers) = error.answers() {
                    answer["answers"] = answers
                        .iter()
                        .map(|answer| answer.map_or(2, u8::from))
                        .collect();
                }
                answer
            }
        }
    }
}

fn steps() {
    let mut runner = Runner::default();
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let message = serde_json::from_str(&line.expect("a line of text")).expect("a step");
        writeln!(out, "{}", runner.answer(&message)).expect("standard output");
        out.flush().expect("standard output");
    }
    // The process ends with its handles open.
    std::process::exit(0);
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match *words {
        [] => {
            steps();
            Ok(())
        }
        ["functions"] => {
            println!("{}", Value::from(calls::names()));
            Ok(())
        }
        ["race", store, name, first, count, seed, batch, out] => {
            let numbers = [first, count, seed, batch].map(|word| word.parse().expect("a number"));
            race::race(store, name, numbers, out)
        }
        ["found", store, name, first, count] => race::found(
            store,
            name,
            first.parse().expect("a number"),
            count.parse().expect("a number"),
        ),
        _ => panic!("usage: tests/bindings/README.md"),
    };
    if let Err(error) = done {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
