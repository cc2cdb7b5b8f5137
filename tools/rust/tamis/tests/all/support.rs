// SPDX-License-Identifier: BSD-2-Clause
//! A store of its own for each test.

use tamis::{Filter, Spec, Store};
use tempfile::TempDir;

pub struct Scratch {
    pub directory: TempDir,
    pub store: Store,
}

pub fn scratch() -> Scratch {
    let directory = tempfile::tempdir().expect("a directory");
    let store = Store::create(directory.path().join("store")).expect("a store");
    Scratch { directory, store }
}

impl Scratch {
    pub fn filter(&self, name: &str) -> Filter {
        let spec = Spec::new(10_000).fp_rate(1e-9);
        self.store.create_filter(name, &spec).expect("a filter")
    }
}
