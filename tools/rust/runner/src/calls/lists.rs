// SPDX-License-Identifier: BSD-2-Clause
//! Functions: merging, streams, builds and checks.

use std::fs::File;
use std::io::Write;
use std::ops::ControlFlow;

use serde_json::{json, Value};
use tamis::{BuildOptions, ExportOptions, PublishSpec, RepairOptions, Store};

use super::{close, go_on, nothing};
use crate::given::{has, hex, import, keys, number, small, spec};
use crate::inside::{digested, value};
use crate::{Call, Handle, Runner, Step, Stop, CLOSED};

pub const CALLS: &[(&str, Call)] = &[
    // Merging.
    ("tamis_filter_merge", |runner, step| {
        if step.flag("INTERSECT") {
            return Err(Stop::Lacks("tamis_filter_merge(INTERSECT)".into()));
        }
        nothing(
            runner
                .filter(step.on)?
                .merge(&runner.filters(step, "sources")?),
        )
    }),
    ("tamis_filter_create_merged", |runner, step| {
        let sources = runner.filters(step, "sources")?;
        let intersect = step.flag("INTERSECT");
        let filter = runner.with_store(step.on, |store| {
            store.create_merged(step.text("name"), &sources, intersect)
        })??;
        runner.keep(step, Handle::Filter(filter))
    }),
    ("tamis_filter_like", |runner, step| {
        let like = runner.filter(step.on)?.like()?;
        let (capacity, fp_rate, kind, hash_set, seed) = like.main_parts();
        Ok(
            json!({"capacity": capacity, "fp_rate": fp_rate, "kind": kind, "hash_set": hash_set, "seed": seed, "key_rule": like.rule()}),
        )
    }),
    ("tamis_filter_compare", |runner, step| {
        let other = runner.filter(step.text("other"))?;
        Ok(value(runner.filter(step.on)?.compare(other)?))
    }),
    // Streams.
    ("tamis_format_name", |_, step| {
        Ok(json!(tamis::formats().nth(
            usize::try_from(step.number("index")).expect("a number")
        )))
    }),
    ("tamis_filter_import", |runner, step| {
        let file = File::open(step.text("file"))?;
        let spec = import(&step.with["spec"]);
        let filter = runner.with_store(step.on, |store| {
            store.import(step.text("name"), step.text("format"), &spec, file)
        })??;
        runner.keep(step, Handle::Filter(filter))
    }),
    ("tamis_filter_publish", |runner, step| {
        let file = File::open(step.text("file"))?;
        let given = &step.with["spec"];
        let spec = PublishSpec {
            import: import(&given["import"]),
            except: keys(&given["except"])
                .into_iter()
                .map(std::borrow::Cow::into_owned)
                .collect(),
            if_changed: has(given, "IF_CHANGED"),
            newer: has(given, "NEWER"),
            keep: has(given, "KEEP").then(|| small(given, "keep")),
        };
        let came = runner.with_store(step.on, |store| {
            store.publish(step.text("name"), step.text("format"), &spec, file)
        })??;
        Ok(digested(value(came), "digest", &came.digest))
    }),
    ("tamis_filter_export", |runner, step| {
        let mut file = File::create(step.text("file"))?;
        let options = ExportOptions {
            with_key: step.flag("WITH_KEY"),
            without_exceptions: step.flag("WITHOUT_EXCEPTIONS"),
            with_digest: step.flag("WITH_DIGEST"),
        };
        runner
            .filter(step.on)?
            .export(step.text("format"), options, &mut file)?;
        file.flush()?;
        Ok(Value::Null)
    }),
    ("tamis_filter_read_data", |runner, step| {
        let mut buffer = vec![0; usize::try_from(step.number("bytes")).expect("a number")];
        runner.filter(step.on)?.read_data(
            step.small("index"),
            step.number("offset"),
            &mut buffer,
        )?;
        Ok(json!(hex(&buffer)))
    }),
    ("tamis_filter_write_data", |runner, step| {
        nothing(runner.filter(step.on)?.write_data(
            step.small("index"),
            step.number("offset"),
            &step.key("data"),
        ))
    }),
    ("tamis_filter_set_bit", |runner, step| {
        Ok(json!(runner
            .filter(step.on)?
            .set_bit(step.small("index"), step.number("position"))?))
    }),
    // Builds.
    ("tamis_build_begin", |runner, step| {
        let given = &step.with["spec"];
        let mut options = BuildOptions::new()
            .memory_bytes(number(given, "memory_bytes"))
            .threads(small(given, "threads"))
            .if_changed(has(given, "IF_CHANGED"))
            .on_progress(|_, _, _| ControlFlow::Continue(()));
        if given["filter"].is_object() {
            options = options.filter(spec(&given["filter"])?);
        }
        if has(given, "KEEP") {
            options = options.keep(small(given, "keep"));
        }
        let build =
            runner.with_store(step.on, |store| store.build(step.text("name"), options))??;
        runner.keep(step, Handle::Build(build))
    }),
    ("tamis_build_add", |runner, step| {
        nothing(build(runner, step)?.add(step.keys()))
    }),
    ("tamis_build_against", |runner, step| {
        nothing(build(runner, step)?.against(step.keys()))
    }),
    ("tamis_build_except", |runner, step| {
        nothing(build(runner, step)?.except(step.keys()))
    }),
    ("tamis_build_publish", |runner, step| {
        let result = build(runner, step)?.publish()?;
        Ok(digested(value(result), "key_digest", &result.key_digest))
    }),
    ("tamis_build_close", close),
    ("tamis_filter_generations", |runner, step| {
        let all = runner.with_store(step.on, |store| store.generations(step.text("name")))??;
        Ok(all
            .iter()
            .map(|each| digested(value(each), "key_digest", &each.key_digest))
            .collect())
    }),
    ("tamis_filter_rollback", |runner, step| {
        let generation = step.number("generation");
        nothing(runner.with_store(step.on, |store| {
            store.rollback(step.text("name"), generation)
        })?)
    }),
    ("tamis_filter_except", |runner, step| {
        Ok(json!(runner.with_store(step.on, |store| store
            .except(step.text("name"), step.keys()))??))
    }),
    ("tamis_filter_unexcept", |runner, step| {
        Ok(json!(runner.with_store(step.on, |store| store
            .unexcept(step.text("name"), step.keys()))??))
    }),
    ("tamis_filter_exceptions", |runner, step| {
        Ok(exceptions(&runner.with_store(step.on, |store| {
            store.exceptions(step.text("name"))
        })??))
    }),
    ("tamis_filter_each_exception", |runner, step| {
        Ok(exceptions(&runner.filter(step.on)?.exceptions()?))
    }),
    ("tamis_store_repair", |_, step| {
        let steps = Store::repair(step.text("path"), repair_options(step))?;
        Ok(json!(steps
            .iter()
            .filter(|step| step.error.is_none())
            .count()))
    }),
    ("tamis_store_repair_with", |_, step| {
        let steps = Store::repair_with(step.text("path"), repair_options(step), go_on)?;
        Ok(json!(steps
            .iter()
            .filter(|step| step.error.is_none())
            .count()))
    }),
    ("tamis_store_backup", |runner, step| {
        Ok(json!(
            runner.with_store(step.on, |store| store.backup_with(step.text("path"), go_on))??
        ))
    }),
];

fn repair_options(step: &Step) -> RepairOptions {
    RepairOptions::default()
        .dry_run(step.flag("DRY_RUN"))
        .rebuild(step.flag("REBUILD"))
}

fn build<'a>(runner: &'a mut Runner, step: &Step) -> Result<&'a mut tamis::Build, Stop> {
    match runner.handles.get_mut(step.on) {
        Some(Handle::Build(build)) => Ok(build),
        _ => Err(CLOSED),
    }
}

fn exceptions(found: &[(Vec<u8>, u64)]) -> Value {
    found.iter().map(|(key, _)| hex(key)).collect()
}
