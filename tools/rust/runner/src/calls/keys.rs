// SPDX-License-Identifier: BSD-2-Clause
//! Functions: keys, and looking inside.

use serde_json::json;
use tamis::Sizing;

use super::nothing;
use crate::given::{kind, number, small};
use crate::inside::{stat, value};
use crate::{Call, Came};

pub const CALLS: &[(&str, Call)] = &[
    // Keys.
    ("tamis_filter_add", |runner, step| {
        Ok(json!(runner.filter(step.on)?.add(step.key("key"))?))
    }),
    ("tamis_filter_contains", |runner, step| {
        Ok(json!(runner.filter(step.on)?.contains(step.key("key"))?))
    }),
    ("tamis_filter_add_batch", |runner, step| {
        ones(runner.filter(step.on)?.add_many(step.keys()))
    }),
    ("tamis_filter_contains_batch", |runner, step| {
        ones(runner.filter(step.on)?.contains_many(&step.keys()))
    }),
    ("tamis_filter_contains_name", |runner, step| {
        let name = step.key("key");
        let found = runner.filter(step.on)?.contains_name(&name[..])?;
        Ok(json!(found.map(String::from_utf8_lossy)))
    }),
    ("tamis_filter_prefetch", |runner, step| {
        nothing(runner.filter(step.on)?.prefetch(step.key("key")))
    }),
    ("tamis_filter_remove", |runner, step| {
        Ok(json!(runner.filter(step.on)?.remove(step.key("key"))?))
    }),
    ("tamis_filter_count", |runner, step| {
        Ok(json!(runner.filter(step.on)?.count(step.key("key"))?))
    }),
    ("tamis_filter_remove_batch", |runner, step| {
        ones(runner.filter(step.on)?.remove_many(step.keys()))
    }),
    ("tamis_filter_count_batch", |runner, step| {
        Ok(json!(runner.filter(step.on)?.count_many(step.keys())?))
    }),
    ("tamis_shard", |_, step| {
        Ok(json!(tamis::shard(step.key("key"), step.small("shards"))))
    }),
    // Looking inside.
    ("tamis_filter_stat", |runner, step| {
        Ok(stat(&runner.filter(step.on)?.stat()?))
    }),
    ("tamis_filter_items", |runner, step| {
        Ok(json!(runner.filter(step.on)?.items()?))
    }),
    ("tamis_filter_segment", |runner, step| {
        Ok(value(runner.filter(step.on)?.segment(step.small("index"))?))
    }),
    ("tamis_segment_file", |_, step| {
        Ok(json!(tamis::segment_file(step.number("number"))))
    }),
    ("tamis_filter_fill", |runner, step| {
        Ok(value(runner.filter(step.on)?.fill(step.small("index"))?))
    }),
    ("tamis_filter_explain", |runner, step| {
        Ok(value(
            runner
                .filter(step.on)?
                .explain(step.small("index"), step.key("key"))?,
        ))
    }),
    ("tamis_explain", |_, step| {
        let (m_bits, k, seed) = (step.number("m_bits"), step.small("k"), step.number("seed"));
        Ok(value(tamis::explain(
            step.text("hash_set"),
            m_bits,
            k,
            seed,
            step.key("key"),
        )?))
    }),
    ("tamis_filter_fill_map", |runner, step| {
        let count = usize::try_from(step.number("count")).expect("a number");
        Ok(json!(runner
            .filter(step.on)?
            .fill_map(step.small("index"), count)?))
    }),
    ("tamis_size", |_, step| {
        let given = &step.with["sizing"];
        let sizing = Sizing {
            kind: given["kind"].as_str().map(kind).transpose()?,
            k: small(given, "k"),
            capacity: number(given, "capacity"),
            m_bits: number(given, "m_bits"),
            fp_rate: given["fp_rate"].as_f64().unwrap_or(0.0),
            ..Sizing::default()
        };
        Ok(value(sizing.complete()?))
    }),
    ("tamis_predict_rate", |_, step| {
        let kind = kind(step.text("kind"))?;
        Ok(json!(tamis::predict_rate(
            kind,
            step.number("m_bits"),
            step.small("k"),
            step.number("n")
        )))
    }),
];

fn ones(came: tamis::Result<Vec<bool>>) -> Came {
    Ok(json!(came?))
}
