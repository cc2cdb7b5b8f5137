// SPDX-License-Identifier: BSD-2-Clause
//! Watches, and small filters that are asked without being open.

use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::error::{check, counted, handle, Result};
use crate::filter::Filter;
use crate::keys::raw_key;
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

    /// A cabinet, which maps at most so many drawers at once, 1 to 65,536.
    pub fn cabinet(&self, most: u32) -> Result<Cabinet> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer lives during the call.
        check(unsafe { tamis_sys::tamis_cabinet_open(self.as_ptr(), most, &mut raw) })?;
        Ok(Cabinet {
            raw: handle(raw)?,
            one_thread: PhantomData,
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

/// A light handle of a small filter that need not be open: 16 bytes, which a [`Cabinet`] of the same store asks by.
#[derive(Clone, Copy)]
pub struct Light(tamis_sys::tamis_light);

impl fmt::Debug for Light {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Light").finish_non_exhaustive()
    }
}

impl Filter {
    /// Its light handle; `None`: it is not in a drawer, or has several segments, exceptions or a window.
    pub fn light(&self) -> Result<Option<Light>> {
        let mut light = tamis_sys::tamis_light { sheet: 0, seal: 0 };
        // SAFETY: the struct lives during the call.
        let rc = check(unsafe { tamis_sys::tamis_light_of(self.as_ptr(), &mut light) })?;
        Ok((rc == 1).then_some(Light(light)))
    }
}

/// Drawers that are mapped, for one thread at a time, to ask very many small filters that are not open.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let store = tamis::Store::create(directory.path())?;
/// let light = {
///     let small = store.create_filter("host", &tamis::Spec::new(100).in_drawer())?;
///     small.add("/index.html")?;
///     small.light()?.expect("it is in a drawer")
/// };
/// let mut cabinet = store.cabinet(16)?;
/// assert_eq!(cabinet.ask(&light, &["/index.html", "/other"])?, Some(vec![true, false]));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct Cabinet {
    raw: NonNull<tamis_sys::tamis_cabinet>,
    one_thread: PhantomData<*mut ()>,
    _shared: Arc<Shared>,
}

// SAFETY: one thread at a time may use it: its calls take it exclusively.
unsafe impl Send for Cabinet {}

impl Cabinet {
    /// The light handle of a filter that is not open, by one look at the catalog.  `created_at` 0: it does not matter.
    pub fn find(&mut self, name: &str, created_at: i64) -> Result<Option<Light>> {
        let name = c_name(name)?;
        let mut light = tamis_sys::tamis_light { sheet: 0, seal: 0 };
        // SAFETY: all live during the call.
        let rc = check(unsafe {
            tamis_sys::tamis_light_find(self.raw.as_ptr(), name.as_ptr(), created_at, &mut light)
        })?;
        Ok((rc == 1).then_some(Light(light)))
    }

    /// Asks for keys; `None`: there is no answer, open the filter.
    pub fn ask<K: AsRef<[u8]>>(&mut self, light: &Light, keys: &[K]) -> Result<Option<Vec<bool>>> {
        let raw: Vec<_> = keys.iter().map(|key| raw_key(key.as_ref())).collect();
        let mut answers = vec![0; raw.len()];
        // SAFETY: all live during the call, and there is an answer for each key.
        let rc = check(unsafe {
            tamis_sys::tamis_light_ask(
                self.raw.as_ptr(),
                &light.0,
                raw.as_ptr(),
                raw.len(),
                answers.as_mut_ptr(),
            )
        })?;
        Ok((rc == 1).then(|| answers.into_iter().map(|answer: u8| answer == 1).collect()))
    }

    /// Unmaps the drawer that has the segment of this number, if it is mapped.
    pub fn forget(&mut self, number: u64) {
        // SAFETY: the cabinet is open.
        unsafe { tamis_sys::tamis_cabinet_forget(self.raw.as_ptr(), number) };
    }

    /// Looks at some of the drawers, and unmaps those whose filters are gone, or with `unused` also those that were not
    /// asked for a while.  Returns how many are mapped.
    pub fn tidy(&mut self, looks: u32, unused: bool) -> Result<u64> {
        // SAFETY: the cabinet is open.
        counted(unsafe {
            tamis_sys::tamis_cabinet_tidy(self.raw.as_ptr(), looks, i32::from(unused))
        })
    }
}

impl Drop for Cabinet {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more.
        unsafe { tamis_sys::tamis_cabinet_close(self.raw.as_ptr()) };
    }
}

impl fmt::Debug for Cabinet {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Cabinet").finish_non_exhaustive()
    }
}
