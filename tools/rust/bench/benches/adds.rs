// SPDX-License-Identifier: BSD-2-Clause
//! Nanoseconds for each key that is added, new ones, to a filter for a million keys at 1 %: by one thread and by two, one by one and
//! in batches of 1,000.  Beside the crate stand the library's own calls, without it, and other crates, which are in memory alone
//! and of one process.  A filter is made anew before it is full, which is not timed.  The time is that of the processor, so that
//! other programs disturb it less; of two threads it is that of both.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Duration;

use criterion::{criterion_group, criterion_main, BenchmarkGroup, Criterion};
use fastbloom::AtomicBloomFilter;
use growable_bloom_filter::GrowableBloom;
use tamis::{Filter, Spec, Store};

const KEYS: usize = 1_000_000;
const BATCH: usize = 1000;
const RATE: f64 = 0.01;

type Group<'a> = BenchmarkGroup<'a, criterion::measurement::WallTime>;

fn urls() -> Vec<String> {
    (0..KEYS)
        .map(|i| {
            format!(
                "https://www.example.com/articles/{:08x}/{i}",
                i.wrapping_mul(0x9e37_79b1)
            )
        })
        .collect()
}

/// Measures `add`, which adds a slice of keys to a filter of `make`, in so many threads at once.
fn measure<F: Sync>(
    group: &mut Group,
    name: &str,
    urls: &[String],
    threads: usize,
    mut make: impl FnMut() -> F,
    add: impl Fn(&F, &[String]) + Sync,
) {
    group.bench_function(name, |bencher| {
        bencher.iter_custom(|count| {
            let mut left = usize::try_from(count).unwrap();
            let mut taken = Duration::ZERO;
            while left > 0 {
                let some = &urls[..left.min(KEYS)];
                left -= some.len();
                let filter = make();
                taken += at_once(threads, some, |part| add(&filter, part));
            }
            taken
        });
    });
}

/// What this thread has had of a processor.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.try_into().unwrap())
}

/// The processor time of threads for their parts of the keys, which begin when all are ready.
fn at_once(threads: usize, keys: &[String], add: impl Fn(&[String]) + Sync) -> Duration {
    let parts: Vec<&[String]> = keys.chunks(keys.len().div_ceil(threads)).collect();
    let ready = Barrier::new(parts.len());
    std::thread::scope(|scope| {
        let (ready, add) = (&ready, &add);
        let all: Vec<_> = parts
            .into_iter()
            .map(|part| {
                scope.spawn(move || {
                    ready.wait();
                    let begin = processor_time();
                    add(part);
                    processor_time() - begin
                })
            })
            .collect();
        all.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

struct Raw(*mut tamis_sys::tamis_filter);

// SAFETY: filters of the library may be used by any thread.
unsafe impl Sync for Raw {}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: it is not used any more.
        unsafe { tamis_sys::tamis_filter_release(self.0) };
    }
}

fn raw_key(url: &String) -> tamis_sys::tamis_key {
    tamis_sys::tamis_key {
        data: url.as_ptr().cast(),
        bytes: url.len(),
    }
}

fn raw_open(path: &std::path::Path) -> Raw {
    let path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    let mut filter = std::ptr::null_mut();
    // SAFETY: all live during the call.
    let rc = unsafe {
        tamis_sys::tamis_filter_open_at(
            path.as_ptr(),
            std::ptr::null(),
            c"seen".as_ptr(),
            0,
            &mut filter,
        )
    };
    assert!(rc >= 0);
    Raw(filter)
}

fn raw_add(filter: &Raw, urls: &[String]) {
    for url in urls {
        // SAFETY: the key lives during the call.
        black_box(unsafe { tamis_sys::tamis_filter_add(filter.0, url.as_ptr().cast(), url.len()) });
    }
}

fn raw_add_batches(filter: &Raw, urls: &[String]) {
    let mut answers = [0; BATCH];
    for batch in urls.chunks(BATCH) {
        let keys: Vec<_> = batch.iter().map(raw_key).collect();
        // SAFETY: all live during the call.
        black_box(unsafe {
            tamis_sys::tamis_filter_add_batch(
                filter.0,
                keys.as_ptr(),
                keys.len(),
                answers.as_mut_ptr(),
            )
        });
    }
}

fn add(filter: &Filter, urls: &[String]) {
    for url in urls {
        black_box(filter.add(url).unwrap());
    }
}

fn add_batches(filter: &Filter, urls: &[String]) {
    for batch in urls.chunks(BATCH) {
        black_box(filter.add_many(batch).unwrap());
    }
}

fn adds(criterion: &mut Criterion) {
    let memory = std::path::Path::new("/dev/shm");
    let directory = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    }
    .unwrap();
    let store = Store::create(directory.path()).unwrap();
    let urls = urls();
    let spec = Spec::new(KEYS as u64).fp_rate(RATE);
    let fresh = || {
        let _ = store.drop_filter("seen");
        let filter = store.create_filter("seen", &spec).unwrap();
        // The first add to each page takes a fault; here the calls are measured.
        filter.add("a first key").unwrap();
        filter
    };
    let raw = || {
        fresh().release();
        raw_open(directory.path())
    };
    let atomic = || AtomicBloomFilter::with_false_pos(RATE).expected_items(KEYS);
    for threads in [1, 2] {
        let mut group = criterion.benchmark_group(format!(
            "{threads} thread{}",
            if threads > 1 { "s" } else { "" }
        ));
        group
            .sample_size(20)
            .warm_up_time(Duration::from_secs(1))
            .measurement_time(Duration::from_secs(3));
        measure(&mut group, "library: add", &urls, threads, raw, raw_add);
        measure(&mut group, "tamis: add", &urls, threads, fresh, add);
        measure(
            &mut group,
            "library: add_batch of 1,000",
            &urls,
            threads,
            raw,
            raw_add_batches,
        );
        measure(
            &mut group,
            "tamis: add_many of 1,000",
            &urls,
            threads,
            fresh,
            add_batches,
        );
        measure(
            &mut group,
            "fastbloom: AtomicBloomFilter",
            &urls,
            threads,
            atomic,
            |filter, urls| {
                for url in urls {
                    black_box(filter.insert(url));
                }
            },
        );
        group.finish();
    }
    let mut group = criterion.benchmark_group("1 thread");
    group
        .sample_size(20)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3));
    let growable = || std::sync::Mutex::new(GrowableBloom::new(RATE, KEYS));
    measure(
        &mut group,
        "growable-bloom-filter",
        &urls,
        1,
        growable,
        |filter, urls| {
            let mut filter = filter.lock().unwrap(); // once for all keys
            for url in urls {
                black_box(filter.insert(url));
            }
        },
    );
    group.finish();
}

criterion_group!(benches, adds);
criterion_main!(benches);
