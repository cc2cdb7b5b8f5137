// SPDX-License-Identifier: BSD-2-Clause
//! `cargo bench` measures nanoseconds a key; benches/adds.rs says what.
