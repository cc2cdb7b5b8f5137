// SPDX-License-Identifier: BSD-2-Clause
//! What goes wrong: one kind for each code of the library, with its sentence.

use std::ffi::{c_int, CStr};
use std::fmt;

/// What came of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $code:ident,)*) => {
        /// What has gone wrong: one for each error code of the library.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $($(#[$doc])* $name,)*
            /// A code that a later library has and this crate does not know.
            Unknown(i32),
        }

        impl ErrorKind {
            pub(crate) fn of(code: c_int) -> Self {
                match code {
                    $(tamis_sys::$code => Self::$name,)*
                    _ => Self::Unknown(code),
                }
            }

            /// The number of the code, such as -2.
            #[must_use]
            pub fn code(self) -> i32 {
                match self {
                    $(Self::$name => tamis_sys::$code,)*
                    Self::Unknown(code) => code,
                }
            }
        }
    };
}

kinds! {
    /// An argument is outside what the call accepts.
    Invalid = TAMIS_EINVAL,
    /// No such filter in the store.
    NotFound = TAMIS_ENOTFOUND,
    /// A filter of that name exists already.
    Exists = TAMIS_EEXIST,
    /// Two filters, or a filter and what is asked for, differ.
    Mismatch = TAMIS_EMISMATCH,
    /// There is no store at that path.
    NoStore = TAMIS_ENOSTORE,
    /// The store, the handle or the kind cannot be written to.
    ReadOnly = TAMIS_EREADONLY,
    /// The system denies access to a file of the store.
    Access = TAMIS_EACCESS,
    /// The file system has not enough room.
    NoSpace = TAMIS_ENOSPACE,
    /// Out of memory.
    NoMemory = TAMIS_ENOMEM,
    /// The system reports an input/output error.
    Io = TAMIS_EIO,
    /// A file of the store, or a stream, is damaged.
    Corrupt = TAMIS_ECORRUPT,
    /// A file or stream is not of Tamis, or belongs to another store.
    Foreign = TAMIS_EFOREIGN,
    /// A file or stream was written by a newer version of Tamis.
    Version = TAMIS_EVERSION,
    /// The filter was dropped while this handle was open.
    Dropped = TAMIS_EDROPPED,
    /// This kind, hash set or build of the library cannot do that.
    Unsupported = TAMIS_EUNSUPPORTED,
    /// A limit of the system is reached (open files, mappings, quota).
    Limit = TAMIS_ELIMIT,
    /// A system call failed in a way that has no code of its own.
    System = TAMIS_ESYSTEM,
    /// The filter is full and was made to refuse more.
    Full = TAMIS_EFULL,
    /// Another process has held a lock of the store for too long.
    Busy = TAMIS_EBUSY,
}

impl ErrorKind {
    /// The kind of that number, as [`ErrorKind::code`] gives it.
    #[must_use]
    pub fn from_code(code: i32) -> Self {
        Self::of(code)
    }

    /// The name in the library, such as `TAMIS_ENOTFOUND`; `TAMIS_?` if it knows none.
    #[must_use]
    pub fn name(self) -> &'static str {
        // SAFETY: the text is in static storage.
        unsafe { static_text(tamis_sys::tamis_error_name(self.code())) }.unwrap_or("TAMIS_?")
    }

    /// A few words, which are the same whatever failed.
    #[must_use]
    pub fn message(self) -> &'static str {
        // SAFETY: as above.
        unsafe { static_text(tamis_sys::tamis_error_message(self.code())) }.unwrap_or("")
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.message())
    }
}

/// An error of the library: its kind, and a sentence that says what was tried, on what, and what mends it.
///
/// ```
/// use tamis::{ErrorKind, Store};
///
/// let error = Store::open("/no/such/store").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::NoStore);
/// assert!(error.to_string().contains("/no/such/store"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    message: String,
    answers: Option<Vec<Option<bool>>>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            answers: None,
        }))
    }

    /// The error of the call of this thread that has just failed.
    pub(crate) fn last(code: c_int) -> Self {
        // SAFETY: the text lives until this thread's next failing call, and is copied.
        let message = unsafe { CStr::from_ptr(tamis_sys::tamis_last_error()) };
        Self::new(ErrorKind::of(code), message.to_string_lossy())
    }

    pub(crate) fn with_answers(mut self, answers: Vec<Option<bool>>) -> Self {
        self.0.answers = Some(answers);
        self
    }

    /// What has gone wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Of a call for many keys: what was answered for each key before the error, `None` for keys that were refused, so
    /// that no `true` is lost.
    #[must_use]
    pub fn answers(&self) -> Option<&[Option<bool>]> {
        self.0.answers.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

/// A count or an answer of the library, or its error.
pub(crate) fn check(rc: c_int) -> Result<c_int> {
    if rc < 0 {
        Err(Error::last(rc))
    } else {
        Ok(rc)
    }
}

/// The same for calls that count.
pub(crate) fn counted(rc: i64) -> Result<u64> {
    u64::try_from(rc)
        .map_err(|_| Error::last(c_int::try_from(rc).unwrap_or(tamis_sys::TAMIS_ESYSTEM)))
}

/// A text in static storage; `None` for NULL, or if it is no UTF-8.
///
/// # Safety
///
/// `text` is NULL, or a text that lives for ever.
pub(crate) unsafe fn static_text(text: *const std::ffi::c_char) -> Option<&'static str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller's word.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

/// A handle that the library has made.
pub(crate) fn handle<T>(raw: *mut T) -> Result<std::ptr::NonNull<T>> {
    std::ptr::NonNull::new(raw).ok_or_else(|| {
        Error::new(
            ErrorKind::System,
            "the library gave no handle, and no error",
        )
    })
}
