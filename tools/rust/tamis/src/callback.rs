// SPDX-License-Identifier: BSD-2-Clause
//! Closures that the library calls: a panic of one ends the call, and goes on behind it.

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::ops::ControlFlow;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

use crate::error::ErrorKind;

/// A closure with the panic that it has ended by.
pub(crate) struct Guarded<F> {
    closure: F,
    panic: Option<Box<dyn Any + Send>>,
}

impl<F> Guarded<F> {
    pub(crate) fn new(closure: F) -> Self {
        Self {
            closure,
            panic: None,
        }
    }

    pub(crate) fn context(&mut self) -> *mut c_void {
        std::ptr::from_mut(self).cast()
    }

    /// Calls it; `on_panic` is what the library gets if it panics.
    pub(crate) fn call<R>(&mut self, on_panic: R, call: impl FnOnce(&mut F) -> R) -> R {
        let closure = &mut self.closure;
        match catch_unwind(AssertUnwindSafe(|| call(closure))) {
            Ok(result) => result,
            Err(panic) => {
                self.panic = Some(panic);
                on_panic
            }
        }
    }

    /// Behind a call of the library: its panic goes on, if it has panicked.
    pub(crate) fn hand_on(&mut self) {
        if let Some(panic) = self.panic.take() {
            resume_unwind(panic);
        }
    }

    /// The same, and gives the closure back.
    pub(crate) fn end(mut self) -> F {
        self.hand_on();
        self.closure
    }
}

/// What a call that takes long tells now and then: how much is done, of how much.  It goes on, or ends with an error of
/// that kind.
pub(crate) type Progress<'a> = dyn FnMut(u64, u64) -> ControlFlow<ErrorKind> + 'a;

/// The code for the library.
pub(crate) fn code_of(flow: ControlFlow<ErrorKind>) -> c_int {
    match flow {
        ControlFlow::Continue(()) => 0,
        ControlFlow::Break(kind) => kind.code().min(-1),
    }
}

/// The function that the library calls with a `Guarded<&mut Progress>`.
pub(crate) unsafe extern "C" fn tell_progress(context: *mut c_void, done: u64, all: u64) -> c_int {
    // SAFETY: the context is what Guarded::context() gave, of a call that has not returned.
    let guarded = unsafe { &mut *context.cast::<Guarded<&mut Progress<'_>>>() };
    guarded.call(tamis_sys::TAMIS_ESYSTEM, |progress| {
        code_of(progress(done, all))
    })
}
