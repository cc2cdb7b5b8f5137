// SPDX-License-Identifier: BSD-2-Clause
//! What a program does with stores and filters, rightly and wrongly.  The suite of all bindings has the functions one by one.

use std::cell::Cell;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::Duration;

use rustix::fs::FlockOperation;

use crate::support::scratch;
use tamis::{
    BuildOptions, Error, ErrorKind, ExportOptions, ImportSpec, Kind, OnFull, OpenOptions,
    PublishSpec, Spec, State, Store,
};

fn kind<T: std::fmt::Debug>(came: Result<T, Error>) -> ErrorKind {
    came.expect_err("an error").kind()
}

#[test]
fn keys_are_whatever_has_bytes() -> Result<(), Error> {
    let scratch = scratch();
    let seen = scratch.filter("seen");
    assert!(seen.add("a")?);
    assert!(!seen.add(b"a")?);
    assert!(!seen.add(String::from("a"))?);
    assert!(!seen.add(vec![b'a'])?);
    assert!(!seen.add([b'a'].as_slice())?);
    assert!(seen.add("")?);
    assert!(seen.add("a\0")?);
    assert!(seen.add(vec![0; 1 << 20])?);
    assert_eq!(seen.items()?, 4);
    Ok(())
}

#[test]
fn batches_of_slices_and_iterators() -> Result<(), Error> {
    let scratch = scratch();
    let seen = scratch.filter("seen");
    let owned: Vec<String> = (0..9000).map(|i| format!("key {i}")).collect();
    assert_eq!(seen.add_many(&owned)?, vec![true; 9000]);
    assert_eq!(
        seen.contains_many(owned.iter().map(String::as_str))?,
        vec![true; 9000]
    );
    // An iterator that makes its items, which live as long as the call for them.
    assert_eq!(
        seen.contains_many((0..9000).map(|i| format!("key {i}")))?,
        vec![true; 9000]
    );
    // Items whose bytes lie in themselves, and move with them.
    assert_eq!(
        seen.add_many((0..5000u64).map(u64::to_le_bytes))?,
        vec![true; 5000]
    );
    assert_eq!(
        seen.contains_many((0..5000u64).map(u64::to_le_bytes))?,
        vec![true; 5000]
    );
    assert!(seen.add_many::<[&str; 0]>([])?.is_empty());
    // One that does not know its length.
    let odd = (0..9000).filter(|i| i % 2 == 1).map(|i| format!("key {i}"));
    assert_eq!(seen.add_many(odd)?, vec![false; 4500]);
    Ok(())
}

#[test]
fn a_full_filter_loses_no_answer() -> Result<(), Error> {
    let scratch = scratch();
    let spec = Spec::new(5000).fp_rate(1e-9).on_full(OnFull::Refuse);
    let small = scratch.store.create_filter("small", &spec)?;
    // The first chunk is in whole; the second is refused from some key on.
    let error = small
        .add_many((0..6000).map(|i| i.to_string()))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Full);
    let answers = error.answers().expect("answers");
    let new = answers
        .iter()
        .filter(|answer| **answer == Some(true))
        .count();
    assert_eq!((answers.len(), new as u64), (6000, small.items()?));
    assert!(answers
        .iter()
        .take(4096)
        .all(|answer| *answer == Some(true)));
    assert_eq!(answers.last(), Some(&None));
    assert_eq!(small.stat()?.states, [State::Full]);
    Ok(())
}

#[test]
fn the_iterator_may_panic() {
    let scratch = scratch();
    let seen = scratch.filter("seen");
    let keys = (0..5000).map(|i| {
        if i == 4500 {
            panic!("mine")
        } else {
            i.to_string()
        }
    });
    assert!(catch_unwind(AssertUnwindSafe(|| seen.add_many(keys))).is_err());
    assert!(!seen.add("0").unwrap(), "the chunk before is in");
    assert!(seen.add("4400").unwrap(), "the chunk had not begun");
}

#[test]
fn handles_go_in_any_order() -> Result<(), Error> {
    let scratch = scratch();
    let seen = scratch.filter("seen");
    let mut watch = scratch.store.watch("")?;
    let mut build = scratch.store.build("list", BuildOptions::new())?;
    drop(scratch.store);
    assert!(seen.add("a")?);
    assert_eq!(seen.store().list("")?.len(), 1);
    let other = seen.store().open_filter("seen")?;
    seen.close()?;
    assert!(!other.add("a")?);
    other.release();
    assert_eq!(watch.look()?.len(), 1);
    build.add(["a"])?;
    assert_eq!(build.publish()?.distinct, 1);
    Ok(())
}

#[test]
fn dropped_read_only_and_of_another_kind() -> Result<(), Error> {
    let scratch = scratch();
    let seen = scratch.filter("seen");
    assert_eq!(kind(seen.remove("a")), ErrorKind::Unsupported);
    assert_eq!(kind(seen.count_many(["a"])), ErrorKind::Unsupported);
    let reader = scratch
        .store
        .open_filter_with("seen", OpenOptions::default().read_only(true))?;
    assert_eq!(kind(reader.add("a")), ErrorKind::ReadOnly);
    scratch.store.drop_filter("seen")?;
    assert_eq!(kind(seen.add("a")), ErrorKind::Dropped);
    let error = seen.add_many(["a", "b"]).unwrap_err();
    assert_eq!(error.answers(), Some([None, None].as_slice()));
    assert_eq!(kind(scratch.store.open_filter("seen")), ErrorKind::NotFound);
    assert_eq!(kind(scratch.store.open_filter("a\0b")), ErrorKind::Invalid);
    assert_eq!(kind(Store::open("redis://localhost")), ErrorKind::Invalid);
    assert_eq!(
        kind(scratch.store.create_filter("x", &Spec::default())),
        ErrorKind::Invalid
    );
    Ok(())
}

#[test]
fn the_busy_callback_ends_a_wait() -> Result<(), Box<dyn std::error::Error>> {
    let mut scratch = scratch();
    let catalog = scratch.directory.path().join("store/catalog.lock");
    let lock = std::fs::File::open(catalog)?;
    scratch.store.set_busy_callback(Some(Box::new(|waited, _| {
        assert!(
            waited >= Duration::from_millis(500),
            "the hook of the panic shows this"
        );
        ControlFlow::Break(())
    })))?;
    let seen = scratch.filter("seen");
    assert_eq!(
        kind(scratch.store.set_busy_callback(None)),
        ErrorKind::Invalid
    );
    rustix::fs::flock(&lock, FlockOperation::LockExclusive)?;
    assert_eq!(
        kind(scratch.store.create_filter("x", &Spec::new(10))),
        ErrorKind::Busy
    );
    rustix::fs::flock(&lock, FlockOperation::Unlock)?;
    drop(seen);
    scratch.store.set_busy_callback(None)?;
    Ok(())
}

#[test]
fn progress_ends_or_panics() -> Result<(), Error> {
    let scratch = scratch();
    scratch.filter("seen").add("a")?;
    let end = |_: u64, _: u64| ControlFlow::Break(ErrorKind::Limit);
    let copy = scratch.directory.path().join("copy");
    assert_eq!(
        kind(scratch.store.backup_with(&copy, end)),
        ErrorKind::Limit
    );
    assert!(!copy.join("catalog.mdb").exists());
    let panics = |_: u64, _: u64| -> ControlFlow<ErrorKind> { panic!("mine") };
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        scratch.store.backup_with(&copy, panics)
    }));
    assert!(panicked.is_err());
    assert_eq!(scratch.store.backup(&copy)?, 1);
    // A build goes on, or ends, behind a panic of its closure.
    let options = BuildOptions::new().on_progress(|_, _, _| panic!("mine"));
    let mut build = scratch.store.build("list", options)?;
    assert!(catch_unwind(AssertUnwindSafe(|| build.add(["a"]))).is_err());
    let published = catch_unwind(AssertUnwindSafe(|| build.publish()));
    assert!(!matches!(published, Ok(Ok(_))), "{published:?}");
    drop(build);
    assert_eq!(kind(scratch.store.open_filter("list")), ErrorKind::NotFound);
    Ok(())
}

/// A stream that fails, or panics, after some bytes.
struct Broken<'a>(&'a [u8], Cell<usize>, bool);

impl Broken<'_> {
    fn step(&self) -> io::Result<()> {
        if self.1.get() > 0 {
            self.1.set(self.1.get() - 1);
            return Ok(());
        }
        assert!(!self.2, "mine");
        Err(io::Error::other("the cable is out"))
    }
}

impl Read for Broken<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.step()?;
        let count = buffer.len().min(7).min(self.0.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

impl Write for Broken<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.step()?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn streams_may_be_short_broken_or_panic() -> Result<(), Error> {
    let scratch = scratch();
    let seen = scratch.filter("seen");
    seen.add("a")?;
    let mut stream = Vec::new();
    seen.export("tamis", ExportOptions::default(), &mut stream)?;
    let import = |name, source: Broken| {
        scratch
            .store
            .import(name, "tamis", &ImportSpec::default(), source)
    };
    assert!(import("short", Broken(&stream, Cell::new(usize::MAX), false))?.contains("a")?);
    let error = import("broken", Broken(&stream, Cell::new(3), false)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("the cable is out"), "{error}");
    let panics = || import("panics", Broken(&stream, Cell::new(3), true));
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert_eq!(scratch.store.list("")?.len(), 2);
    let error = seen
        .export(
            "tamis",
            ExportOptions::default(),
            Broken(&[], Cell::new(0), false),
        )
        .unwrap_err();
    assert!(error.to_string().contains("the cable is out"), "{error}");
    Ok(())
}

#[test]
fn an_older_stream_is_refused_on_request() -> Result<(), Error> {
    let scratch = scratch();
    let stream = |name| -> Result<Vec<u8>, Error> {
        let mut stream = Vec::new();
        let filter = scratch.filter(name);
        filter.export("tamis", ExportOptions::default(), &mut stream)?;
        Ok(stream)
    };
    let (old, new) = (stream("old")?, stream("new")?);
    let spec = PublishSpec {
        newer: true,
        ..PublishSpec::default()
    };
    let publish = |from: &[u8]| scratch.store.publish("list", "tamis", &spec, from);
    assert!(publish(&new)?.published);
    assert_eq!(kind(publish(&old)), ErrorKind::Mismatch);
    assert!(!publish(&new)?.published);
    Ok(())
}

#[test]
fn kinds_and_hash_sets_are_those_of_the_library() {
    let kinds: Vec<_> = Kind::all().filter_map(Kind::name).collect();
    assert_eq!(kinds, ["blocked", "bloom", "counting", "fuse"]);
    assert_eq!(tamis::hash_sets().next(), Some("xxh3"));
    assert!(tamis::formats().any(|format| format == "guava"));
    assert_eq!(ErrorKind::from_code(-1000).name(), "TAMIS_?");
    for code in -19..0 {
        assert_eq!(ErrorKind::from_code(code).code(), code);
        assert!(
            !matches!(ErrorKind::from_code(code), ErrorKind::Unknown(_)),
            "{code}"
        );
    }
}
