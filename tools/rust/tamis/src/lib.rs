// SPDX-License-Identifier: BSD-2-Clause
//! Filters that many processes share and that survive restarts: *have we seen this key before?*
//!
//! ```
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("store");
//! use tamis::{Spec, Store};
//!
//! let store = Store::create(&path)?;
//! let seen = store.open_or_create("seen", &Spec::new(10_000_000).fp_rate(0.001))?;
//! for url in ["https://example.com/", "https://example.org/"] {
//!     if seen.add(url)? {
//!         // of all processes and threads, this one was told that it is new
//!     }
//! }
//! assert!(seen.contains("https://example.com/")?);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Store`] is a directory, a [`Filter`] an open filter in it.  To open one is to map its file: nothing is read in,
//! whatever the size.  Programs in C, Python, PHP and other languages use the same stores.  A key that was added is always
//! found; one that was not is found at the rate of false positives that the filter was made for.
//!
//! A killed process loses nothing that it was told is added.  A power cut may take what was added since the last
//! [`Filter::sync`] or close, but for filters that are [`Spec::durable`].
//!
//! Every error has a [kind](ErrorKind) for each code of the library, and a sentence that says what helps.
//!
//! # Features
//!
//! - `vendored` compiles libtamis from its sources and builds it in; otherwise pkg-config finds an installed one.
//! - `sip` and `md5` are hash sets of a vendored library that need libsodium and libmd.
//! - `serde` serializes [`FilterStat`] and the other results.

// What is made of a wrong input is a number that the library refuses.
#![allow(clippy::unsafe_derive_deserialize)]

mod build;
mod callback;
mod check;
mod error;
mod exchange;
mod filter;
mod keys;
mod library;
mod spec;
mod stat;
mod store;
mod text;
mod watch;

pub use build::{Build, BuildOptions, BuildResult, Phase};
pub use check::{Problem, RepairOptions, RepairStep};
pub use error::{Error, ErrorKind, Result};
pub use exchange::{ExportOptions, ImportSpec, PublishSpec, Published};
pub use filter::{Filter, MayWait};
pub use keys::shard;
pub use library::{
    check_spec, explain, formats, hash_set_weakness, hash_sets, leave_sigbus, mend_sigbus,
    predict_rate, segment_file, set_least_descriptor, simd, version, Sizing,
};
pub use spec::{Kind, KindProperty, OnFull, Pages, Spec};
pub use stat::{
    Comparison, Explanation, FilterStat, Generation, Mapped, SegmentStat, State, WindowFrom,
};
pub use store::{BusyFn, OpenOptions, Store, StoreOptions, StoreRef};
pub use watch::Watch;
