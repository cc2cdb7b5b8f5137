// SPDX-License-Identifier: BSD-2-Clause
//! Functions: keys, and looking inside.

use serde_json::{json, Value};
use tamis::Sizing;

use super::{close, nothing};
use crate::given::{kind, number, small};
use crate::inside::{stat, value};
use crate::{Call, Came, Handle, CLOSED};

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
    ("tamis_cabinet_open", |runner, step| {
        let cabinet = runner.with_store(step.on, |store| store.cabinet(step.small("most")))??;
        runner.keep(step, Handle::Cabinet(cabinet))
    }),
    ("tamis_cabinet_close", close),
    ("tamis_light_of", |runner, step| {
        let light = runner.filter(step.on)?.light()?;
        runner.keep(step, Handle::Light(light))?;
        Ok(json!(light.is_some()))
    }),
    ("tamis_light_find", |runner, step| {
        let created_at = match step.with["created_at_of"].as_str() {
            Some(name) => runner.filter(name)?.created_at(),
            None => 0,
        };
        let Some(Handle::Cabinet(cabinet)) = runner.handles.get_mut(step.on) else {
            return Err(CLOSED);
        };
        let light = cabinet.find(step.text("name"), created_at)?;
        runner.keep(step, Handle::Light(light))?;
        Ok(json!(light.is_some()))
    }),
    ("tamis_light_ask", |runner, step| {
        let light = match runner.handles.get(step.text("light")) {
            Some(Handle::Light(light)) => *light,
            _ => panic!("no such light handle"),
        };
        let Some(Handle::Cabinet(cabinet)) = runner.handles.get_mut(step.on) else {
            return Err(CLOSED);
        };
        match light {
            Some(light) => Ok(json!(cabinet.ask(&light, &step.keys())?)),
            None => Ok(Value::Null),
        }
    }),
    ("tamis_cabinet_forget", |runner, step| {
        match runner.handles.get_mut(step.on) {
            Some(Handle::Cabinet(cabinet)) => {
                cabinet.forget(step.number("number"));
                Ok(Value::Null)
            }
            _ => Err(CLOSED),
        }
    }),
    ("tamis_cabinet_tidy", |runner, step| {
        match runner.handles.get_mut(step.on) {
            Some(Handle::Cabinet(cabinet)) => Ok(json!(
                cabinet.tidy(step.small("looks"), step.number("unused") == 1)?
            )),
            _ => Err(CLOSED),
        }
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
