// SPDX-License-Identifier: BSD-2-Clause
//! An open filter; `keys.rs` has its calls for keys.

use std::ffi::{c_char, c_int, c_void};
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::callback::{tell_progress, Guarded, Progress};
use crate::error::{check, counted, handle, static_text, Error, ErrorKind, Result};
use crate::library::explained;
use crate::spec::{Pages, Spec};
use crate::stat::{Comparison, Explanation, FilterStat, Mapped, SegmentStat};
use crate::store::{OpenOptions, Shared, Store, StoreRef};
use crate::text::{c_name, c_path, sized};

/// An open filter, which any number of threads and processes may use at once.
///
/// [`Store::open_filter`], [`Store::create_filter`] and [`Store::open_or_create`] make one.  It is [`Send`] and [`Sync`];
/// share it by a reference or an [`Arc`].  Dropping it closes it, and if it was the last handle of any process that has
/// added, brings what was added to the disk; [`Filter::close`] says whether that went well.  A child of `fork()` may go on
/// using it.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let store = tamis::Store::create(directory.path())?;
/// # let seen = store.create_filter("seen", &tamis::Spec::new(1000).fp_rate(1e-9))?;
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| seen.add("one of these four is told that it is new"));
///     }
/// });
/// assert_eq!(seen.items()?, 1);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct Filter {
    raw: NonNull<tamis_sys::tamis_filter>,
    shared: Arc<Shared>,
    /// `tamis_filter_set_sync_interval()` is not to be called beside itself.
    interval: Mutex<()>,
}

// SAFETY: every call on a filter may run beside any other on it, from any thread, but for its close, which takes the value,
// and for set_sync_interval(), which has a lock.
unsafe impl Send for Filter {}
// SAFETY: as above.
unsafe impl Sync for Filter {}

/// May an add have to wait for the disk?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MayWait {
    /// No.
    AtOnce,
    /// No, and another thread should call [`Filter::prepare`] soon.
    WantsPrepare,
    /// Yes: let another thread make the add.
    MayWait,
}

impl Filter {
    pub(crate) fn opened(
        rc: c_int,
        raw: *mut tamis_sys::tamis_filter,
        shared: &Arc<Shared>,
    ) -> Result<Self> {
        check(rc)?;
        Ok(Self {
            raw: handle(raw)?,
            shared: Arc::clone(shared),
            interval: Mutex::new(()),
        })
    }

    /// Opens a filter and, for it alone, its store: faster than one after the other.
    pub fn open_at(path: impl AsRef<Path>, name: &str, options: OpenOptions) -> Result<Self> {
        let (path, name) = (c_path(path.as_ref())?, c_name(name)?);
        let mut raw = std::ptr::null_mut();
        // SAFETY: all live during the call.
        let rc = unsafe {
            tamis_sys::tamis_filter_open_at(
                path.as_ptr(),
                std::ptr::null(),
                name.as_ptr(),
                options.flags(),
                &mut raw,
            )
        };
        Self::opened(rc, raw, &Arc::default())
    }

    pub(crate) fn as_ptr(&self) -> *mut tamis_sys::tamis_filter {
        self.raw.as_ptr()
    }

    /// Its store, which is open as long as the filter is.
    #[must_use]
    pub fn store(&self) -> StoreRef<'_> {
        // SAFETY: the filter is open, and its store with it; that of an open filter is not NULL.
        let raw = unsafe { NonNull::new_unchecked(tamis_sys::tamis_filter_store(self.as_ptr())) };
        StoreRef::of(raw, &self.shared)
    }

    /// When it was created, in nanoseconds since 1970.
    #[must_use]
    pub fn created_at(&self) -> i64 {
        // SAFETY: the filter is open.
        unsafe { tamis_sys::tamis_filter_created_at(self.as_ptr()) }
    }

    /// Gives the handle back, and tells what went wrong with its last checkpoint, if it makes one.
    pub fn close(self) -> Result<()> {
        let (raw, _shared) = self.into_parts();
        // SAFETY: the handle is not used any more.
        check(unsafe { tamis_sys::tamis_filter_close(raw) })?;
        Ok(())
    }

    /// Gives the handle back at once: nothing is brought to the disk.
    pub fn release(self) {
        let (raw, _shared) = self.into_parts();
        // SAFETY: the handle is not used any more.
        unsafe { tamis_sys::tamis_filter_release(raw) };
    }

    /// The handle without its [`Drop`], and what must live until it is closed.
    fn into_parts(self) -> (*mut tamis_sys::tamis_filter, Arc<Shared>) {
        let filter = std::mem::ManuallyDrop::new(self);
        // SAFETY: the value is moved out of what is never dropped.
        (filter.as_ptr(), unsafe { std::ptr::read(&filter.shared) })
    }

    // ---- Looking inside -----------------------------------------------------------------------

    /// What is known of the filter now.  Reads no bits, so it costs microseconds.
    pub fn stat(&self) -> Result<FilterStat> {
        let mut stat = sized!(tamis_filter_stat);
        // SAFETY: the struct lives during the call.
        check(unsafe { tamis_sys::tamis_filter_stat(self.as_ptr(), &mut stat) })?;
        Ok(FilterStat::from(&stat))
    }

    /// How many keys were new, less removes.
    pub fn items(&self) -> Result<u64> {
        // SAFETY: the filter is open.
        counted(unsafe { tamis_sys::tamis_filter_items(self.as_ptr()) })
    }

    /// Describes a segment, 0 is the oldest, without its bits.
    pub fn segment(&self, index: u32) -> Result<SegmentStat> {
        let mut stat = sized!(tamis_segment_stat);
        // SAFETY: the struct lives during the call.
        check(unsafe { tamis_sys::tamis_filter_segment(self.as_ptr(), index, &mut stat) })?;
        Ok(SegmentStat::from(&stat))
    }

    /// The same, and counts the set bits.  Reads the whole segment.
    pub fn fill(&self, index: u32) -> Result<SegmentStat> {
        let mut stat = sized!(tamis_segment_stat);
        // SAFETY: the struct lives during the call.
        check(unsafe { tamis_sys::tamis_filter_fill(self.as_ptr(), index, &mut stat) })?;
        Ok(SegmentStat::from(&stat))
    }

    /// How full each of so many equal parts of a segment is, 0 to 1.
    pub fn fill_map(&self, index: u32, count: usize) -> Result<Vec<f64>> {
        let mut fill = vec![0.0; count];
        // SAFETY: there is a number for each part.
        check(unsafe {
            tamis_sys::tamis_filter_fill_map(self.as_ptr(), index, fill.as_mut_ptr(), count)
        })?;
        Ok(fill)
    }

    /// The hash values and bit positions of a key in a segment.
    pub fn explain(&self, index: u32, key: impl AsRef<[u8]>) -> Result<Explanation> {
        let key = key.as_ref();
        explained(|to| {
            // SAFETY: all live during the call.
            unsafe {
                tamis_sys::tamis_filter_explain(
                    self.as_ptr(),
                    index,
                    key.as_ptr().cast(),
                    key.len(),
                    to,
                )
            }
        })
    }

    /// How this process has it mapped.
    pub fn mapped(&self) -> Result<Mapped> {
        let mut mapped = sized!(tamis_filter_mapped);
        // SAFETY: the struct lives during the call.
        check(unsafe { tamis_sys::tamis_filter_mapped(self.as_ptr(), &mut mapped) })?;
        Ok(Mapped {
            bytes: mapped.bytes,
            present: mapped.present,
            huge_bytes: mapped.huge_bytes,
            wanted: Pages::of(mapped.wanted),
            // SAFETY: the text is in static storage.
            obstacle: unsafe { static_text(mapped.obstacle) },
        })
    }

    /// The spec of a filter that can be merged with this one, and goes on in the same way when it is full.
    pub fn like(&self) -> Result<Spec> {
        let mut spec = sized!(tamis_filter_spec);
        let mut hash_set = [0 as c_char; tamis_sys::TAMIS_HASH_SET_NAME_MAX as usize + 1];
        // SAFETY: both live during the call, and the name until it is copied.
        unsafe {
            check(tamis_sys::tamis_filter_like(
                self.as_ptr(),
                &mut spec,
                hash_set.as_mut_ptr(),
            ))?;
            Ok(Spec::of(&spec))
        }
    }

    /// How much two filters have in common, by the bits that are set.
    pub fn compare(&self, other: &Filter) -> Result<Comparison> {
        let mut found = sized!(tamis_comparison);
        // SAFETY: both are open.
        check(unsafe {
            tamis_sys::tamis_filter_compare(self.as_ptr(), other.as_ptr(), &mut found)
        })?;
        Ok(Comparison {
            items_a: found.items_a,
            items_b: found.items_b,
            items_union: found.items_union,
            items_both: found.items_both,
            jaccard: found.jaccard,
            error: found.error,
        })
    }

    // ---- Merging --------------------------------------------------------------------------------

    /// Brings all keys of other filters into this one.
    pub fn merge(&self, sources: &[&Filter]) -> Result<()> {
        self.merge_with(sources, |_, _| ControlFlow::Continue(()))
    }

    /// The same, and tells how far it is.
    pub fn merge_with(
        &self,
        sources: &[&Filter],
        mut progress: impl FnMut(u64, u64) -> ControlFlow<ErrorKind>,
    ) -> Result<()> {
        merge(sources, false, &mut progress, |merge| {
            // SAFETY: all live during the call.
            unsafe { tamis_sys::tamis_filter_merge(self.as_ptr(), merge) }
        })
    }

    // ---- Checkpoints and waiting ----------------------------------------------------------------

    /// Brings all that was added to the disk.
    pub fn sync(&self) -> Result<()> {
        // SAFETY: the filter is open.
        check(unsafe { tamis_sys::tamis_filter_sync(self.as_ptr()) })?;
        Ok(())
    }

    /// Makes a checkpoint each time this much time has passed, by a thread of the library; `None` ends it.
    pub fn set_sync_interval(&self, interval: Option<Duration>) -> Result<()> {
        let ns = i64::try_from(interval.unwrap_or_default().as_nanos())
            .map_err(|_| Error::new(ErrorKind::Invalid, "the interval is too long"))?;
        let _alone = self.interval.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the filter is open, and no other such call runs.
        check(unsafe { tamis_sys::tamis_filter_set_sync_interval(self.as_ptr(), ns) })?;
        Ok(())
    }

    /// Begins a new slice of the window.
    pub fn rotate(&self) -> Result<()> {
        // SAFETY: the filter is open.
        check(unsafe { tamis_sys::tamis_filter_rotate(self.as_ptr()) })?;
        Ok(())
    }

    /// Says that keys that a power cut took were dealt with.
    pub fn accept(&self) -> Result<()> {
        // SAFETY: the filter is open.
        check(unsafe { tamis_sys::tamis_filter_accept(self.as_ptr()) })?;
        Ok(())
    }

    /// May an add of so many keys have to wait for the disk?
    pub fn may_wait(&self, keys: usize) -> Result<MayWait> {
        // SAFETY: the filter is open.
        match check(unsafe { tamis_sys::tamis_filter_may_wait(self.as_ptr(), keys) })? {
            0 => Ok(MayWait::AtOnce),
            1 => Ok(MayWait::WantsPrepare),
            _ => Ok(MayWait::MayWait),
        }
    }

    /// Does what the next adds would wait for, of so many new keys; 0: their number is not known.
    pub fn prepare(&self, keys: u64) -> Result<()> {
        // SAFETY: the filter is open.
        check(unsafe { tamis_sys::tamis_filter_prepare(self.as_ptr(), keys) })?;
        Ok(())
    }

    // ---- Pieces of the data ---------------------------------------------------------------------

    /// Reads bytes of the data of a segment, as they lie in its file.
    pub fn read_data(&self, index: u32, offset: u64, buffer: &mut [u8]) -> Result<()> {
        // SAFETY: the buffer lives during the call.
        check(unsafe {
            tamis_sys::tamis_filter_read_data(
                self.as_ptr(),
                index,
                offset,
                buffer.as_mut_ptr().cast::<c_void>(),
                buffer.len(),
            )
        })?;
        Ok(())
    }

    /// Sets in the data of a segment each bit that is set in these bytes.
    pub fn write_data(&self, index: u32, offset: u64, data: &[u8]) -> Result<()> {
        // SAFETY: the data live during the call.
        check(unsafe {
            tamis_sys::tamis_filter_write_data(
                self.as_ptr(),
                index,
                offset,
                data.as_ptr().cast(),
                data.len(),
            )
        })?;
        Ok(())
    }

    /// Sets a bit of a segment of kind bloom, and returns the bit from before.
    pub fn set_bit(&self, index: u32, position: u64) -> Result<bool> {
        // SAFETY: the filter is open.
        Ok(check(unsafe { tamis_sys::tamis_filter_set_bit(self.as_ptr(), index, position) })? == 1)
    }
}

impl Drop for Filter {
    fn drop(&mut self) {
        // SAFETY: nobody uses the handle any more.
        unsafe { tamis_sys::tamis_filter_close(self.as_ptr()) };
    }
}

impl fmt::Debug for Filter {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Filter").finish_non_exhaustive()
    }
}

impl Store {
    /// Makes a filter of the keys that are in any of the sources, or with `intersect` in all of them.
    pub fn create_merged(
        &self,
        name: &str,
        sources: &[&Filter],
        intersect: bool,
    ) -> Result<Filter> {
        let name = c_name(name)?;
        let mut raw = std::ptr::null_mut();
        merge(
            sources,
            intersect,
            &mut |_, _| ControlFlow::Continue(()),
            |merge| {
                // SAFETY: all live during the call.
                unsafe {
                    tamis_sys::tamis_filter_create_merged(
                        self.as_ptr(),
                        name.as_ptr(),
                        merge,
                        &mut raw,
                    )
                }
            },
        )?;
        Filter::opened(0, raw, &self.shared)
    }
}

fn merge(
    sources: &[&Filter],
    intersect: bool,
    progress: &mut Progress<'_>,
    call: impl FnOnce(&tamis_sys::tamis_merge) -> c_int,
) -> Result<()> {
    let sources: Vec<_> = sources.iter().map(|source| source.as_ptr()).collect();
    let mut told = Guarded::new(progress);
    let mut merge = sized!(tamis_merge);
    merge.sources = sources.as_ptr();
    merge.count = sources.len();
    merge.flags = if intersect {
        tamis_sys::TAMIS_MERGE_INTERSECT
    } else {
        0
    };
    merge.progress = Some(tell_progress);
    merge.context = told.context();
    let rc = call(&merge);
    told.end();
    check(rc)?;
    Ok(())
}
