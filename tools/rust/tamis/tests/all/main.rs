// SPDX-License-Identifier: BSD-2-Clause
//! One program of all tests, so that it is linked once.

#[cfg(feature = "serde")]
mod json;
mod misuse;
mod support;
mod threads;
