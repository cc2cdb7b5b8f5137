// SPDX-License-Identifier: BSD-2-Clause
//! Texts and numbers on their way to the library and back.

use std::ffi::{c_char, CString};
use std::path::Path;

use crate::error::{Error, ErrorKind, Result};

/// A text for the library, which ends it with a NUL.
pub(crate) fn c_text(what: &str, text: impl Into<Vec<u8>>) -> Result<CString> {
    CString::new(text)
        .map_err(|_| Error::new(ErrorKind::Invalid, format!("{what} has a NUL byte in it")))
}

/// A text that need not be there: NULL then.
pub(crate) fn pointer(text: Option<&CString>) -> *const c_char {
    text.map_or(std::ptr::null(), |text| text.as_ptr())
}

pub(crate) fn c_name(name: &str) -> Result<CString> {
    c_text("the name of the filter", name)
}

pub(crate) fn c_path(path: &Path) -> Result<CString> {
    use std::os::unix::ffi::OsStrExt;
    c_text("the path", path.as_os_str().as_bytes())
}

/// A text in an array of a struct of the library.
pub(crate) fn array_text(array: &[c_char]) -> String {
    let bytes: Vec<u8> = array
        .iter()
        .take_while(|&&byte| byte != 0)
        .map(|&byte| byte.to_ne_bytes()[0])
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A text of the library that lives during a call only.
///
/// # Safety
///
/// `text` is NULL, or a text that lives until this returns.
pub(crate) unsafe fn owned_text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller's word.
    unsafe { std::ffi::CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

/// A struct of the library with its size in it and all else 0.
macro_rules! sized {
    ($name:ident) => {{
        // SAFETY: all structs of the library are plain numbers and pointers, for which zeros are values.
        let mut fresh: tamis_sys::$name = unsafe { std::mem::zeroed() };
        fresh.size = std::mem::size_of::<tamis_sys::$name>();
        fresh
    }};
}
pub(crate) use sized;
