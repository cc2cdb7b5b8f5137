// SPDX-License-Identifier: BSD-2-Clause
//! Filters that are made anew as a whole, under readers that never stop; exceptions.

use std::ffi::{c_int, c_void};
use std::fmt;
use std::ops::ControlFlow;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::callback::{code_of, Guarded};
use crate::error::{check, counted, handle, ErrorKind, Result};
use crate::filter::Filter;
use crate::keys::{in_chunks, raw_key};
use crate::spec::{RawSpec, Spec};
use crate::store::{Shared, Store};
use crate::text::{c_name, sized};

/// What a build is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Keys are added.
    Reading,
    /// Keys are brought in order, duplicates taken out.
    Sorting,
    /// The new generation is made.
    Making,
    /// It is asked for every key.
    Verifying,
    /// It is put in force.
    Publishing,
}

impl Phase {
    fn of(number: u32) -> Self {
        match number {
            tamis_sys::TAMIS_BUILD_READING => Self::Reading,
            tamis_sys::TAMIS_BUILD_SORTING => Self::Sorting,
            tamis_sys::TAMIS_BUILD_MAKING => Self::Making,
            tamis_sys::TAMIS_BUILD_VERIFYING => Self::Verifying,
            _ => Self::Publishing,
        }
    }
}

type BuildProgress = dyn FnMut(Phase, u64, u64) -> ControlFlow<ErrorKind> + Send;

/// How a filter is built.
#[derive(Default)]
pub struct BuildOptions {
    filter: Option<Spec>,
    memory_bytes: u64,
    threads: u32,
    if_changed: bool,
    keep: Option<u32>,
    progress: Option<Box<BuildProgress>>,
}

impl BuildOptions {
    /// As many keys as there are, at a rate of 1 % of false positives or that of the filter that is there.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What the filter is to be; without it, a filter of kind fuse.
    #[must_use]
    pub fn filter(mut self, spec: Spec) -> Self {
        self.filter = Some(spec);
        self
    }

    /// That a build may use for the keys; what does not fit goes through a file.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: u64) -> Self {
        self.memory_bytes = bytes;
        self
    }

    /// 0: as many as processors.
    #[must_use]
    pub fn threads(mut self, threads: u32) -> Self {
        self.threads = threads;
        self
    }

    /// Publish nothing if the keys are those of the generation in force.
    #[must_use]
    pub fn if_changed(mut self, if_changed: bool) -> Self {
        self.if_changed = if_changed;
        self
    }

    /// So many older generations are kept for [`Store::rollback`].
    #[must_use]
    pub fn keep(mut self, keep: u32) -> Self {
        self.keep = Some(keep);
        self
    }

    /// Called now and then with what is done, of how much.
    #[must_use]
    pub fn on_progress(
        mut self,
        progress: impl FnMut(Phase, u64, u64) -> ControlFlow<ErrorKind> + Send + 'static,
    ) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }
}

/// What a build did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)] // the names are those of struct tamis_build_result, which says what they mean
#[non_exhaustive]
pub struct BuildResult {
    /// False: nothing had changed.
    pub published: bool,
    pub keys: u64,
    pub distinct: u64,
    pub generation: u64,
    pub exceptions: u64,
    pub found: u64,
    pub conflicts: u64,
    pub sampled: u64,
    pub sampled_yes: u64,
    pub size_bytes: u64,
    pub key_digest: [u8; 16],
}

/// A closure that the library keeps a pointer to, and that therefore does not move.
struct Kept(NonNull<Guarded<Box<BuildProgress>>>);

impl Kept {
    fn new(progress: Box<BuildProgress>) -> Self {
        Self(NonNull::from(Box::leak(Box::new(Guarded::new(progress)))))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: it came from a box, and the build that could call it is closed, or has not begun.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// The next generation of a filter, made from all of its keys; [`Store::build`] begins it.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let store = tamis::Store::create(directory.path())?;
/// use tamis::{BuildOptions, Spec};
///
/// let mut build = store.build("blacklist", BuildOptions::new().filter(Spec::default().fp_rate(0.001)))?;
/// build.add(["evil.example", "bad.example"])?;
/// assert_eq!(build.publish()?.distinct, 2);
/// assert!(store.open_filter("blacklist")?.contains("evil.example")?);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// Dropped without [`Build::publish`], it leaves the generation before it in force.
pub struct Build {
    raw: NonNull<tamis_sys::tamis_build>,
    // What the library may call until the build is closed.
    progress: Option<Kept>,
    // The library keeps a pointer to its hash set.
    _filter: Option<RawSpec>,
    _shared: Arc<Shared>,
}

// SAFETY: a build may be used by any thread, one at a time: its calls take it exclusively.
unsafe impl Send for Build {}

unsafe extern "C" fn tell_build(context: *mut c_void, phase: u32, done: u64, all: u64) -> c_int {
    // SAFETY: the context is that of a build, which is borrowed exclusively by the call that runs.
    let guarded = unsafe { &mut *context.cast::<Guarded<Box<BuildProgress>>>() };
    guarded.call(tamis_sys::TAMIS_ESYSTEM, |progress| {
        code_of(progress(Phase::of(phase), done, all))
    })
}

impl Store {
    /// Begins the next generation of a filter, which need not be there.
    pub fn build(&self, name: &str, options: BuildOptions) -> Result<Build> {
        let name = c_name(name)?;
        let filter = options.filter.as_ref().map(Spec::raw).transpose()?;
        let progress = options.progress.map(Kept::new);
        let mut spec = sized!(tamis_build_spec);
        spec.filter = filter
            .as_ref()
            .map_or(std::ptr::null(), |filter| &filter.raw);
        spec.memory_bytes = options.memory_bytes;
        spec.threads = options.threads;
        spec.flags = if options.if_changed {
            tamis_sys::TAMIS_BUILD_IF_CHANGED
        } else {
            0
        };
        if let Some(keep) = options.keep {
            spec.flags |= tamis_sys::TAMIS_BUILD_KEEP;
            spec.keep = keep;
        }
        if let Some(progress) = &progress {
            spec.progress = Some(tell_build);
            spec.context = progress.0.as_ptr().cast();
        }
        let mut raw = std::ptr::null_mut();
        // SAFETY: all live during the call; the hash set of the filter, and the closure, as long as the build.
        check(unsafe {
            tamis_sys::tamis_build_begin(self.as_ptr(), name.as_ptr(), &spec, &mut raw)
        })?;
        Ok(Build {
            raw: handle(raw)?,
            progress,
            _filter: filter,
            _shared: Arc::clone(&self.shared),
        })
    }
}

impl Build {
    /// Adds keys that the generation is to have; they are not needed after the call.
    pub fn add<I>(&mut self, keys: I) -> Result<()>
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        self.give(keys, tamis_sys::tamis_build_add)
    }

    /// Gives keys that are known to be good: those to which the generation would answer yes become exceptions of it.
    pub fn against<I>(&mut self, keys: I) -> Result<()>
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        self.give(keys, tamis_sys::tamis_build_against)
    }

    /// Gives keys that must answer absent whatever was added.
    pub fn except<I>(&mut self, keys: I) -> Result<()>
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        self.give(keys, tamis_sys::tamis_build_except)
    }

    fn give<I>(
        &mut self,
        keys: I,
        call: unsafe extern "C" fn(
            *mut tamis_sys::tamis_build,
            *const tamis_sys::tamis_key,
            usize,
        ) -> c_int,
    ) -> Result<()>
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        let raw = self.raw.as_ptr();
        in_chunks(keys, |chunk| {
            // SAFETY: the keys live during the call, and the build is borrowed exclusively.
            let rc = unsafe { call(raw, chunk.as_ptr(), chunk.len()) };
            self.hand_panic_on();
            check(rc).map(drop)
        })
    }

    /// Makes the generation, verifies it and puts it in force.  If it cannot, the build may be closed or tried again.
    pub fn publish(&mut self) -> Result<BuildResult> {
        let mut result = sized!(tamis_build_result);
        // SAFETY: the struct lives during the call, and the build is borrowed exclusively.
        let rc = unsafe { tamis_sys::tamis_build_publish(self.raw.as_ptr(), &mut result) };
        self.hand_panic_on();
        Ok(BuildResult {
            published: check(rc)? == 1,
            keys: result.keys,
            distinct: result.distinct,
            generation: result.generation,
            exceptions: result.exceptions,
            found: result.found,
            conflicts: result.conflicts,
            sampled: result.sampled,
            sampled_yes: result.sampled_yes,
            size_bytes: result.size_bytes,
            key_digest: result.key_digest,
        })
    }

    /// Gives it back, published or not.
    pub fn close(self) {}

    fn hand_panic_on(&mut self) {
        if let Some(progress) = &mut self.progress {
            // SAFETY: it lives as long as the build, and the library is not calling it now.
            unsafe { progress.0.as_mut() }.hand_on();
        }
    }
}

impl Drop for Build {
    fn drop(&mut self) {
        // SAFETY: nobody uses the build any more.
        unsafe { tamis_sys::tamis_build_close(self.raw.as_ptr()) };
    }
}

impl fmt::Debug for Build {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Build").finish_non_exhaustive()
    }
}

// ---- Exceptions ------------------------------------------------------------------------------

unsafe extern "C" fn push_exception(
    context: *mut c_void,
    key: *const tamis_sys::tamis_key,
    generation: u64,
) -> c_int {
    // SAFETY: the context is the vector of a call that has not returned, and the key lives during this one.
    unsafe {
        let key = &*key;
        let bytes = if key.bytes == 0 {
            Vec::new()
        } else {
            std::slice::from_raw_parts(key.data.cast::<u8>(), key.bytes).to_vec()
        };
        (*context.cast::<Vec<(Vec<u8>, u64)>>()).push((bytes, generation));
    }
    0
}

impl Store {
    /// Makes keys exceptions of a filter: they answer absent whatever the bits say.  All of them, or none on an error.
    /// Returns how many were none yet.
    pub fn except<I>(&self, name: &str, keys: I) -> Result<u64>
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        let name = c_name(name)?;
        let items: Vec<I::Item> = keys.into_iter().collect();
        let raw: Vec<_> = items.iter().map(|key| raw_key(key.as_ref())).collect();
        // SAFETY: all live during the call.
        counted(unsafe {
            tamis_sys::tamis_filter_except(self.as_ptr(), name.as_ptr(), raw.as_ptr(), raw.len())
        })
    }

    /// Takes keys off the exceptions, and answers for each whether it was one.
    pub fn unexcept<I>(&self, name: &str, keys: I) -> Result<Vec<bool>>
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        let name = c_name(name)?;
        let items: Vec<I::Item> = keys.into_iter().collect();
        let raw: Vec<_> = items.iter().map(|key| raw_key(key.as_ref())).collect();
        let mut answers = vec![0; raw.len()];
        // SAFETY: all live during the call, and there is an answer for each key.
        counted(unsafe {
            tamis_sys::tamis_filter_unexcept(
                self.as_ptr(),
                name.as_ptr(),
                raw.as_ptr(),
                raw.len(),
                answers.as_mut_ptr(),
            )
        })?;
        Ok(answers.into_iter().map(|answer: u8| answer == 1).collect())
    }

    /// The exceptions of a filter, in order of their bytes, each with 0 or the generation whose build found it.
    pub fn exceptions(&self, name: &str) -> Result<Vec<(Vec<u8>, u64)>> {
        let name = c_name(name)?;
        let mut found: Vec<(Vec<u8>, u64)> = Vec::new();
        // SAFETY: the vector lives during the call, which nobody else uses.
        check(unsafe {
            tamis_sys::tamis_filter_exceptions(
                self.as_ptr(),
                name.as_ptr(),
                Some(push_exception),
                std::ptr::from_mut(&mut found).cast(),
            )
        })?;
        Ok(found)
    }
}

impl Filter {
    /// As [`Store::exceptions`], whatever the name of the filter is now.
    pub fn exceptions(&self) -> Result<Vec<(Vec<u8>, u64)>> {
        let mut found: Vec<(Vec<u8>, u64)> = Vec::new();
        // SAFETY: the vector lives during the call, which nobody else uses.
        check(unsafe {
            tamis_sys::tamis_filter_each_exception(
                self.as_ptr(),
                Some(push_exception),
                std::ptr::from_mut(&mut found).cast(),
            )
        })?;
        Ok(found)
    }
}
