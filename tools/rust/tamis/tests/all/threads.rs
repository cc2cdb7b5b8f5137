// SPDX-License-Identifier: BSD-2-Clause
//! Threads and processes on one filter.

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use crate::support::scratch;
use tamis::{Build, Error, Filter, Spec, Store, Watch};

fn is_send<T: Send>() {}
fn is_sync<T: Sync>() {}

#[test]
fn what_may_go_to_other_threads() {
    is_send::<Store>();
    is_sync::<Store>();
    is_send::<Filter>();
    is_sync::<Filter>();
    is_send::<Error>();
    is_sync::<Error>();
    is_send::<Build>();
    is_send::<Watch>();
}

#[test]
fn each_key_is_new_to_one_thread() {
    const KEYS: u64 = 50_000;
    let scratch = scratch();
    let seen = Arc::new(
        scratch
            .store
            .create_filter("seen", &Spec::new(1000).fp_rate(1e-12))
            .unwrap(),
    );
    let new = Arc::new(AtomicU64::new(0));
    let threads: Vec<_> = (0..4u64)
        .map(|thread| {
            let (seen, new) = (Arc::clone(&seen), Arc::clone(&new));
            std::thread::spawn(move || {
                // Half of them one by one, and all in another order.
                let order = (0..KEYS).map(|i| (i * 7919 + thread * 1000) % KEYS);
                let count = if thread % 2 == 0 {
                    order
                        .filter(|key| seen.add(key.to_le_bytes()).unwrap())
                        .count()
                } else {
                    let answers = seen.add_many(order.map(u64::to_le_bytes)).unwrap();
                    answers.into_iter().filter(|is_new| *is_new).count()
                };
                new.fetch_add(count as u64, Ordering::Relaxed);
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(new.load(Ordering::Relaxed), KEYS);
    assert!(seen
        .contains_many((0..KEYS).map(u64::to_le_bytes))
        .unwrap()
        .into_iter()
        .all(|there| there));
}

#[test]
fn a_filter_is_dropped_under_threads_and_intervals_are_set_by_all() {
    let scratch = scratch();
    let seen = scratch.filter("seen");
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for i in 0..200u32 {
                    let interval = (i % 2 == 0).then_some(Duration::from_millis(1));
                    seen.set_sync_interval(interval).unwrap();
                    let _ = seen.add(i.to_le_bytes());
                }
            });
        }
        scope.spawn(|| scratch.store.drop_filter("seen").unwrap());
    });
}

/// The program starts itself for this: a process that ends with its handles open loses nothing.
#[test]
fn the_end_of_a_process_with_open_handles() {
    if let Ok(path) = std::env::var("TAMIS_TEST_ENDS") {
        let seen = Store::open(path).unwrap().open_filter("seen").unwrap();
        assert!(seen.add("of the other process").unwrap());
        std::mem::forget(seen);
        std::process::exit(0);
    }
    let scratch = scratch();
    let seen = scratch.filter("seen");
    let path = scratch.directory.path().join("store");
    let mut other = Command::new(std::env::current_exe().unwrap());
    other
        .args(["--exact", "threads::the_end_of_a_process_with_open_handles"])
        .env("TAMIS_TEST_ENDS", path);
    assert!(other.status().unwrap().success());
    assert!(seen.contains("of the other process").unwrap());
}
