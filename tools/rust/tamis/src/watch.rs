// SPDX-License-Identifier: BSD-2-Clause
//! Watches: lists of filters that are looked at again and again.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::error::{check, handle, Result};
use crate::stat::FilterStat;
use crate::store::{push_stat, Shared, Store};
use crate::text::c_name;

/// A list of filters that is looked at again and again, at no cost to those that use the store.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let store = tamis::Store::create(directory.path())?;
/// # let seen = store.create_filter("seen", &tamis::Spec::new(1000))?;
/// let mut watch = store.watch("")?;
/// watch.look()?;
/// seen.add("https://example.com/")?;
/// assert_eq!(watch.look()?[0].new_keys, 1);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct Watch {
    raw: NonNull<tamis_sys::tamis_watch>,
    _shared: Arc<Shared>,
}

// SAFETY: one thread at a time may use it: look() takes it exclusively.
unsafe impl Send for Watch {}

impl Store {
    /// A watch of the filters whose names begin with the prefix.
    pub fn watch(&self, prefix: &str) -> Result<Watch> {
        let prefix = c_name(prefix)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: all live during the call.
        check(unsafe { tamis_sys::tamis_watch_new(self.as_ptr(), prefix.as_ptr(), &mut raw) })?;
        Ok(Watch {
            raw: handle(raw)?,
            _shared: Arc::clone(&self.shared),
        })
    }
}

impl Watch {
    /// What is known of each filter now, with the keys that were new since the look before.
    pub fn look(&mut self) -> Result<Vec<FilterStat>> {
        let mut found: Vec<FilterStat> = Vec::new();
        // SAFETY: the vector lives during the call, which nobody else uses.
        check(unsafe {
            tamis_sys::tamis_watch_look(
                self.raw.as_ptr(),
                Some(push_stat),
                std::ptr::from_mut(&mut found).cast(),
            )
        })?;
        Ok(found)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more.
        unsafe { tamis_sys::tamis_watch_free(self.raw.as_ptr()) };
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Watch").finish_non_exhaustive()
    }
}
