// SPDX-License-Identifier: BSD-2-Clause
//! The table of functions: what each is in the crate.

use std::fs::File;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use serde_json::{json, Value};
use tamis::{
    BuildOptions, ErrorKind, ExportOptions, Filter, Kind, KindProperty, OnFull, OpenOptions, Pages,
    PublishSpec, RepairOptions, Sizing, Store, StoreOptions,
};

use crate::given::{has, hex, import, keys, kind, number, pages, small, spec};
use crate::inside::{digested, stat, stats, value};
use crate::{Call, Came, Handle, Runner, Step, Stop, CLOSED};

/// All functions, in the order of calls.json.
const CALLS: &[(&str, Call)] = &[
    ("tamis_store_open", |runner, step| {
        let store = store_options(step).open(step.text("path"))?;
        runner.keep(step, Handle::Store(store))
    }),
    ("tamis_store_open_with", |runner, step| {
        let mut options = store_options(step).mode(step.small("mode"));
        match step.with["busy_timeout_ms"].as_i64().unwrap_or(0) {
            0 => {}
            timeout => {
                options =
                    options.busy_timeout(Duration::from_millis(timeout.try_into().unwrap_or(0)));
            }
        }
        let store = options.open(step.text("path"))?;
        runner.keep(step, Handle::Store(store))
    }),
    ("tamis_store_set_busy_timeout", |runner, step| {
        let timeout = match step.with["milliseconds"].as_i64() {
            Some(timeout) if timeout >= 0 => Duration::from_millis(timeout.unsigned_abs()),
            _ => Duration::MAX, // there is no time below zero
        };
        runner.with_store(step.on, |store| store.set_busy_timeout(timeout))??;
        Ok(Value::Null)
    }),
    ("tamis_store_set_busy_callback", |runner, step| {
        let left = std::sync::atomic::AtomicU64::new(step.number("give_up_after"));
        let Some(Handle::Store(store)) = runner.handles.get_mut(step.on) else {
            panic!("{} is no store", step.on)
        };
        store.set_busy_callback(Some(Box::new(move |_, _| {
            match left.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) {
                0 | 1 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        })))?;
        Ok(Value::Null)
    }),
    ("tamis_descriptors_set_least", |_, step| {
        let number = step.with["number"]
            .as_i64()
            .and_then(|number| number.try_into().ok())
            .expect("a number");
        tamis::set_least_descriptor(number)?;
        Ok(Value::Null)
    }),
    ("tamis_store_close", close),
    ("tamis_store_list", |runner, step| {
        Ok(stats(&runner.with_store(step.on, |store| {
            store.list(step.text("prefix"))
        })??))
    }),
    ("tamis_store_list_live", |runner, step| {
        Ok(stats(&runner.with_store(step.on, |store| {
            store.list_live(step.text("prefix"))
        })??))
    }),
    ("tamis_watch_new", |runner, step| {
        let watch = runner.with_store(step.on, |store| store.watch(step.text("prefix")))??;
        runner.keep(step, Handle::Watch(watch))
    }),
    ("tamis_watch_look", |runner, step| {
        match runner.handles.get_mut(step.on) {
            Some(Handle::Watch(watch)) => Ok(stats(&watch.look()?)),
            _ => Err(CLOSED),
        }
    }),
    ("tamis_watch_free", close),
    ("tamis_store_verify", |runner, step| {
        let name = step.with["name"].as_str();
        let problems = runner.with_store(step.on, |store| store.verify(name))??;
        Ok(json!(problems
            .iter()
            .filter(|problem| problem.error.is_some())
            .count()))
    }),
    ("tamis_store_verify_with", |runner, step| {
        let name = step.with["name"].as_str();
        let problems = runner.with_store(step.on, |store| store.verify_with(name, go_on))??;
        Ok(json!(problems
            .iter()
            .filter(|problem| problem.error.is_some())
            .count()))
    }),
    // Filters.
    ("tamis_hash_set_weakness", |_, step| {
        Ok(json!(tamis::hash_set_weakness(step.text("hash_set"))))
    }),
    ("tamis_on_full_name", |_, step| {
        Ok(json!(OnFull::from_number(step.small("on_full")).name()))
    }),
    ("tamis_pages_name", |_, step| {
        Ok(json!(Pages::from_number(step.small("pages")).name()))
    }),
    ("tamis_filter_check", |_, step| {
        tamis::check_spec(
            step.with["path"].as_str().map(Path::new),
            step.text("name"),
            &step.spec()?,
        )?;
        Ok(Value::Null)
    }),
    ("tamis_filter_create", |runner, step| {
        let spec = step.spec()?;
        let filter = runner.with_store(step.on, |store| {
            store.create_filter(step.text("name"), &spec)
        })??;
        runner.keep(step, Handle::Filter(filter))
    }),
    ("tamis_filter_create_many", |runner, step| {
        let spec = step.spec()?;
        let names = step.texts("names");
        Ok(json!(runner.with_store(step.on, |store| store
            .create_many(names, &spec, step.flag("IF_MISSING")))??))
    }),
    ("tamis_filter_create_filled", |runner, step| {
        let list = step.with["filters"].as_array().expect("a list");
        let specs = list
            .iter()
            .map(|each| spec(&each["spec"]))
            .collect::<Result<Vec<_>, _>>()?;
        let all: Vec<_> = list.iter().map(|each| keys(&each["keys"])).collect();
        let filled: Vec<_> = (0..list.len())
            .map(|i| {
                (
                    list[i]["name"].as_str().unwrap_or(""),
                    &specs[i],
                    all[i].as_slice(),
                )
            })
            .collect();
        runner.with_store(step.on, |store| store.create_filled(&filled))??;
        Ok(Value::Null)
    }),
    ("tamis_filter_open", |runner, step| {
        let options = open_options(step);
        let filter = runner.with_store(step.on, |store| {
            store.open_filter_with(step.text("name"), options)
        })??;
        runner.keep(step, Handle::Filter(filter))
    }),
    ("tamis_filter_exists", |runner, step| {
        Ok(json!(
            runner.with_store(step.on, |store| store.contains(step.text("name")))??
        ))
    }),
    ("tamis_filter_open_at", |runner, step| {
        let filter = Filter::open_at(step.text("path"), step.text("name"), open_options(step))?;
        runner.keep(step, Handle::Filter(filter))
    }),
    ("tamis_filter_store", |runner, step| {
        runner.keep(step, Handle::StoreOf(step.on.into()))
    }),
    ("tamis_filter_created_at", |runner, step| {
        Ok(json!(runner.filter(step.on)?.created_at()))
    }),
    ("tamis_filter_open_or_create", |runner, step| {
        let spec = step.spec()?;
        let filter = runner.with_store(step.on, |store| {
            store.open_or_create(step.text("name"), &spec)
        })??;
        runner.keep(step, Handle::Filter(filter))
    }),
    ("tamis_filter_close", |runner, step| {
        match std::mem::replace(
            runner.handles.get_mut(step.on).expect("a handle"),
            Handle::Closed,
        ) {
            Handle::Filter(filter) => filter.close()?,
            _ => return Err(CLOSED),
        }
        Ok(Value::Null)
    }),
    ("tamis_filter_release", |runner, step| {
        match std::mem::replace(
            runner.handles.get_mut(step.on).expect("a handle"),
            Handle::Closed,
        ) {
            Handle::Filter(filter) => filter.release(),
            _ => return Err(CLOSED),
        }
        Ok(Value::Null)
    }),
    ("tamis_filter_may_wait", |runner, step| {
        let keys = usize::try_from(step.number("keys")).expect("a number");
        Ok(json!(runner.filter(step.on)?.may_wait(keys)? as u8))
    }),
    ("tamis_filter_prepare", |runner, step| {
        nothing(runner.filter(step.on)?.prepare())
    }),
    ("tamis_filter_set_prepared", |runner, step| {
        nothing(
            runner
                .filter(step.on)?
                .set_prepared(step.number("prepared") == 1),
        )
    }),
    ("tamis_filter_drop", |runner, step| {
        nothing(runner.with_store(step.on, |store| store.drop_filter(step.text("name")))?)
    }),
    ("tamis_filter_drop_many", |runner, step| {
        let times: Vec<i64> = runner
            .filters(step, "created_at_of")?
            .into_iter()
            .map(Filter::created_at)
            .collect();
        let times = (!times.is_empty()).then_some(times.as_slice());
        Ok(json!(runner.with_store(step.on, |store| store
            .drop_filters(&step.texts("names"), times))??))
    }),
    ("tamis_filter_rename", |runner, step| {
        nothing(runner.with_store(step.on, |store| {
            store.rename(step.text("old_name"), step.text("new_name"))
        })?)
    }),
    ("tamis_filter_set_owned", |runner, step| {
        let owned = step.number("owned") == 1;
        nothing(runner.with_store(step.on, |store| store.set_owned(step.text("name"), owned))?)
    }),
    ("tamis_filter_set_pages", |runner, step| {
        let pages = pages(step.text("pages"));
        nothing(runner.with_store(step.on, |store| store.set_pages(step.text("name"), pages))?)
    }),
    ("tamis_filter_expect", |runner, step| {
        nothing(runner.filter(step.on)?.expect(step.number("keys")))
    }),
    ("tamis_filter_mapped", |runner, step| {
        Ok(value(runner.filter(step.on)?.mapped()?))
    }),
    ("tamis_filter_rotate", |runner, step| {
        nothing(runner.filter(step.on)?.rotate())
    }),
    ("tamis_filter_sync", |runner, step| {
        nothing(runner.filter(step.on)?.sync())
    }),
    ("tamis_filter_set_sync_interval", |runner, step| {
        let interval = Some(Duration::from_nanos(step.number("interval_ns")))
            .filter(|interval| !interval.is_zero());
        nothing(runner.filter(step.on)?.set_sync_interval(interval))
    }),
    ("tamis_filter_accept", |runner, step| {
        nothing(runner.filter(step.on)?.accept())
    }),
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
            json!({"capacity": capacity, "fp_rate": fp_rate, "kind": kind, "hash_set": hash_set, "seed": seed}),
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

pub fn find(name: &str) -> Option<Call> {
    CALLS
        .iter()
        .find(|(each, _)| *each == name)
        .map(|&(_, call)| call)
}

pub fn names() -> Vec<&'static str> {
    CALLS.iter().map(|&(name, _)| name).collect()
}

// ---- What several of them need ------------------------------------------------------------------

fn store_options(step: &Step) -> StoreOptions {
    Store::options()
        .create(step.flag("CREATE"))
        .read_only(step.flag("READ_ONLY"))
        .force_network_fs(step.flag("FORCE_NETWORK_FS"))
}

fn open_options(step: &Step) -> OpenOptions {
    OpenOptions::default()
        .read_only(step.flag("READ_ONLY"))
        .no_sync(step.flag("NO_SYNC"))
        .populate(step.flag("POPULATE"))
}

fn repair_options(step: &Step) -> RepairOptions {
    RepairOptions::default()
        .dry_run(step.flag("DRY_RUN"))
        .rebuild(step.flag("REBUILD"))
}

fn go_on(_done: u64, _all: u64) -> ControlFlow<ErrorKind> {
    ControlFlow::Continue(())
}

fn close(runner: &mut Runner, step: &Step) -> Came {
    match runner.handles.insert(step.on.into(), Handle::Closed) {
        Some(Handle::Closed) => Err(CLOSED),
        _ => Ok(Value::Null),
    }
}

fn build<'a>(runner: &'a mut Runner, step: &Step) -> Result<&'a mut tamis::Build, Stop> {
    match runner.handles.get_mut(step.on) {
        Some(Handle::Build(build)) => Ok(build),
        _ => Err(CLOSED),
    }
}

fn nothing(came: tamis::Result<()>) -> Came {
    came?;
    Ok(Value::Null)
}

fn ones(came: tamis::Result<Vec<bool>>) -> Came {
    Ok(json!(came?))
}

fn exceptions(found: &[(Vec<u8>, u64)]) -> Value {
    found.iter().map(|(key, _)| hex(key)).collect()
}

fn error_kind(step: &Step) -> ErrorKind {
    let code = step.with["error"]
        .as_i64()
        .and_then(|code| code.try_into().ok())
        .expect("a code");
    ErrorKind::from_code(code)
}
