// SPDX-License-Identifier: BSD-2-Clause
//! Functions: stores and filters.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use serde_json::{json, Value};
use tamis::{Filter, OnFull, OpenOptions, Pages, Store, StoreOptions};

use super::{close, go_on, nothing};
use crate::given::pages;
use crate::inside::{stats, value};
use crate::{Call, Handle, Step, CLOSED};

pub const CALLS: &[(&str, Call)] = &[
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
        nothing(runner.filter(step.on)?.prepare(step.number("keys")))
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
];

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
