// SPDX-License-Identifier: BSD-2-Clause
//! Functions: the library itself.

use serde_json::{json, Value};
use tamis::{ErrorKind, Kind, KindProperty};

use crate::given::kind;
use crate::{Call, Step};

pub const CALLS: &[(&str, Call)] = &[
    // The library.
    ("tamis_version", |_, _| Ok(json!(tamis::version()))),
    ("tamis_simd", |_, _| Ok(json!(tamis::simd()))),
    ("tamis_error_name", |_, step| {
        Ok(json!(error_kind(step).name()))
    }),
    ("tamis_error_message", |_, step| {
        Ok(json!(error_kind(step).message()))
    }),
    ("tamis_last_error", |runner, _| Ok(json!(runner.message))),
    ("tamis_kind_name", |_, step| {
        Ok(json!(Kind::from_number(step.small("kind")).name()))
    }),
    ("tamis_kind_has", |_, step| {
        let property = [
            KindProperty::IsStatic,
            KindProperty::Counts,
            KindProperty::MayGrow,
            KindProperty::MayBeDurable,
            KindProperty::IsPlain,
        ];
        let property = property
            .into_iter()
            .find(|&each| each as u32 == step.small("property"))
            .expect("a property");
        Ok(json!(Kind::from_number(step.small("kind")).has(property)))
    }),
    ("tamis_kind_next", |_, step| {
        let mut all = Kind::all().map(Kind::number);
        Ok(json!(match step.small("kind") {
            0 => all.next(),
            kind => all.skip_while(|&each| each != kind).nth(1),
        }
        .unwrap_or(0)))
    }),
    ("tamis_kind_from_name", |_, step| {
        Ok(json!(kind(step.text("name"))?.number()))
    }),
    ("tamis_hash_set_next", |_, step| {
        let mut all = tamis::hash_sets();
        Ok(json!(match step.with["hash_set"].as_str() {
            None => all.next(),
            Some(name) => all.skip_while(|each| *each != name).nth(1),
        }))
    }),
    ("tamis_sigbus_leave", |_, _| {
        tamis::leave_sigbus();
        Ok(Value::Null)
    }),
    ("tamis_sigbus_mend", |_, step| {
        Ok(json!(tamis::mend_sigbus(std::ptr::from_ref(step).cast())))
    }),
];

fn error_kind(step: &Step) -> ErrorKind {
    let code = step.with["error"]
        .as_i64()
        .and_then(|code| code.try_into().ok())
        .expect("a code");
    ErrorKind::from_code(code)
}
