// SPDX-License-Identifier: BSD-2-Clause
//! What a step gives: keys, flags, specs.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::time::Duration;

use serde_json::Value;
use tamis::{Filter, ImportSpec, Kind, OnFull, Pages, Spec};

use crate::{Runner, Step, Stop};

impl Step<'_> {
    pub fn text(&self, name: &str) -> &str {
        self.with[name].as_str().unwrap_or("")
    }

    pub fn number(&self, name: &str) -> u64 {
        number(self.with, name)
    }

    pub fn small(&self, name: &str) -> u32 {
        small(self.with, name)
    }

    pub fn key(&self, name: &str) -> Cow<'_, [u8]> {
        key(&self.with[name])
    }

    pub fn keys(&self) -> Vec<Cow<'_, [u8]>> {
        keys(&self.with["keys"])
    }

    pub fn texts(&self, name: &str) -> Vec<&str> {
        self.with[name]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    pub fn flag(&self, flag: &str) -> bool {
        has(self.with, flag)
    }

    pub fn spec(&self) -> Result<Spec, Stop> {
        spec(&self.with["spec"])
    }
}

pub fn number(object: &Value, name: &str) -> u64 {
    object[name].as_u64().unwrap_or(0)
}

pub fn small(object: &Value, name: &str) -> u32 {
    u32::try_from(number(object, name)).expect("a number of 32 bits")
}

thread_local! {
    /// The flags that somebody has asked for since this step began.
    static ASKED: RefCell<HashSet<String>> = RefCell::default();
}

/// Is that flag in the list of flags of an object?
pub fn has(object: &Value, flag: &str) -> bool {
    ASKED.with_borrow_mut(|asked| asked.insert(flag.into()));
    object["flags"]
        .as_array()
        .is_some_and(|flags| flags.iter().any(|word| word == flag))
}

pub fn forget_flags() {
    ASKED.with_borrow_mut(HashSet::clear);
}

/// A flag in `with` that nobody has asked for, so that it was passed over.
pub fn unasked_flag(with: &Value) -> Option<&str> {
    match with {
        Value::Object(fields) => fields.iter().find_map(|(name, value)| match value {
            Value::Array(words) if name == "flags" => words
                .iter()
                .filter_map(Value::as_str)
                .find(|&word| ASKED.with_borrow(|asked| !asked.contains(word))),
            _ => unasked_flag(value),
        }),
        Value::Array(list) => list.iter().find_map(unasked_flag),
        _ => None,
    }
}

pub fn key(value: &Value) -> Cow<'_, [u8]> {
    match value {
        Value::String(text) => Cow::Borrowed(text.as_bytes()),
        _ => Cow::Owned(bytes(value["hex"].as_str().expect("a key is text or hex"))),
    }
}

pub fn keys(list: &Value) -> Vec<Cow<'_, [u8]>> {
    list.as_array().into_iter().flatten().map(key).collect()
}

pub fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2)
        .map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hex"))
        .collect()
}

pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes all");
        text
    })
}

/// The kind of that word, and `Kind::Unknown` of a word that is none.
pub fn kind(word: &str) -> Result<Kind, Stop> {
    Ok(Kind::from_name(word)?)
}

pub fn pages(word: &str) -> Pages {
    match word {
        "auto" => Pages::Auto,
        "small" => Pages::Small,
        "huge" => Pages::Huge,
        _ => Pages::from_number(u32::MAX),
    }
}

pub fn spec(object: &Value) -> Result<Spec, Stop> {
    let mut spec = Spec::bits(number(object, "m_bits"), small(object, "k"))
        .capacity(number(object, "capacity"))
        .fp_rate(object["fp_rate"].as_f64().unwrap_or(0.0))
        .seed(number(object, "seed"))
        .slices(small(object, "slices"))
        .window(Duration::from_nanos(number(object, "window_ns")))
        .window_items(number(object, "window_items"))
        .counter_bits(small(object, "counter_bits"));
    if let Some(word) = object["kind"].as_str() {
        spec = spec.kind(kind(word)?);
    }
    if let Some(word) = object["hash_set"].as_str() {
        spec = spec.hash_set(word);
    }
    if let Some(word) = object["key_rule"].as_str() {
        spec = spec.key_rule(word);
    }
    if let Some(word) = object["pages"].as_str() {
        spec = spec.pages(pages(word));
    }
    if let Some(hex) = object["secret"].as_str() {
        spec = spec.secret(bytes(hex).try_into().expect("16 bytes"));
    }
    spec = match object["on_full"].as_str() {
        Some("grow") => spec.on_full(OnFull::Grow),
        Some("refuse") => spec.on_full(OnFull::Refuse),
        Some("warn") => spec.on_full(OnFull::Warn),
        _ => spec,
    };
    for (flag, set) in [
        ("DURABLE", Spec::durable as fn(Spec) -> Spec),
        ("OWNED", Spec::owned),
        ("FROM_FIRST", Spec::window_from_first),
    ] {
        if has(object, flag) {
            spec = set(spec);
        }
    }
    Ok(spec)
}

pub fn import(object: &Value) -> ImportSpec {
    ImportSpec {
        hash_set: object["hash_set"].as_str().map(Into::into),
        m_bits: number(object, "m_bits"),
        k: small(object, "k"),
        capacity: number(object, "capacity"),
        fp_rate: object["fp_rate"].as_f64().unwrap_or(0.0),
        seal_capacity: number(object, "seal_capacity"),
        seal_rate: object["seal_rate"].as_f64().unwrap_or(0.0),
        as_there: has(object, "AS_THERE"),
        owned: has(object, "OWNED"),
        durable: has(object, "DURABLE"),
        origin: object["origin"].as_str().map(Into::into),
        signed_at: object["signed_at"].as_i64().unwrap_or(0),
    }
}

impl Runner {
    /// The filters whose names a step lists.
    pub fn filters(&self, step: &Step, name: &str) -> Result<Vec<&Filter>, Stop> {
        step.texts(name)
            .into_iter()
            .map(|called| self.filter(called))
            .collect()
    }
}
