// SPDX-License-Identifier: BSD-2-Clause
//! Declarations of libtamis, as bindgen makes them of `tamis_ffi.h`.  The crate `tamis` is what programs use.
//!
//! The manual page tamis(3) says what each call does.  `generate.sh` makes `bindings.rs` anew.
#![allow(
    non_camel_case_types,
    non_upper_case_globals,
    missing_docs,
    clippy::pedantic
)]

include!("bindings.rs");
