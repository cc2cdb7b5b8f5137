// SPDX-License-Identifier: BSD-2-Clause
//! A store: a directory of named filters.

use std::ffi::{c_char, c_int, c_void};
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{ControlFlow, Deref};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use crate::error::{check, counted, handle, Error, ErrorKind, Result};
use crate::filter::Filter;
use crate::spec::{Pages, Spec};
use crate::stat::{FilterStat, Generation};
use crate::text::{c_name, c_path, sized};

/// Called while a call waits for another process: how long it has waited, and the process that has the lock, if the
/// system tells.  [`ControlFlow::Break`] ends the wait by [`ErrorKind::Busy`].
pub type BusyFn = dyn Fn(Duration, Option<u32>) -> ControlFlow<()> + Send + Sync;

type ListCall = unsafe extern "C" fn(
    *mut tamis_sys::tamis_store,
    *const c_char,
    tamis_sys::tamis_list_fn,
    *mut c_void,
) -> c_int;

/// What a store and all that was opened from it hold together.
#[derive(Default)]
pub(crate) struct Shared {
    busy: Option<Arc<Box<BusyFn>>>,
}

/// How a store is opened; [`Store::options`] makes one.
#[derive(Default)]
pub struct StoreOptions {
    flags: u32,
    mode: u32,
    busy_timeout: Option<Duration>,
    busy: Option<Box<BusyFn>>,
}

impl StoreOptions {
    /// Make the directory and the store if there is none.
    #[must_use]
    pub fn create(self, create: bool) -> Self {
        self.flag(tamis_sys::TAMIS_OPEN_CREATE, create)
    }

    /// Every filter is opened read-only, and nothing is written.
    #[must_use]
    pub fn read_only(self, read_only: bool) -> Self {
        self.flag(tamis_sys::TAMIS_OPEN_READ_ONLY, read_only)
    }

    /// Accept a store on a network file system, at the user's risk.
    #[must_use]
    pub fn force_network_fs(self, force: bool) -> Self {
        self.flag(tamis_sys::TAMIS_OPEN_FORCE_NETWORK_FS, force)
    }

    /// The mode of a new store's files, such as `0o660`, whatever the umask.
    #[must_use]
    pub fn mode(mut self, mode: u32) -> Self {
        self.mode = mode;
        self
    }

    /// How long a call waits for another process that has a lock of the store; 10 s if this is not called.
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = Some(timeout);
        self
    }

    /// Has `call` called while a call waits: after a second, and then once a second.  It runs in the thread that waits,
    /// and must not call this crate.
    #[must_use]
    pub fn on_busy(
        mut self,
        call: impl Fn(Duration, Option<u32>) -> ControlFlow<()> + Send + Sync + 'static,
    ) -> Self {
        self.busy = Some(Box::new(call));
        self
    }

    fn flag(mut self, flag: u32, is_set: bool) -> Self {
        self.flags = if is_set {
            self.flags | flag
        } else {
            self.flags & !flag
        };
        self
    }

    /// Opens the store.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Store> {
        let path = c_path(path.as_ref())?;
        let shared = Shared {
            busy: self.busy.map(Arc::new),
        };
        let mut options = sized!(tamis_store_options);
        options.flags = self.flags;
        options.mode = self.mode;
        options.busy_timeout_ms = match self.busy_timeout {
            None => 0,
            Some(timeout) if timeout.is_zero() => -1,
            Some(timeout) => milliseconds(timeout)?.max(1),
        };
        if let Some(busy) = &shared.busy {
            options.busy_fn = Some(call_busy);
            options.busy_context = busy_context(busy);
        }
        let mut store = std::ptr::null_mut();
        // SAFETY: all live during the call; the closure as long as the store and its filters, which hold `shared`.
        check(unsafe { tamis_sys::tamis_store_open_with(path.as_ptr(), &options, &mut store) })?;
        Ok(Store {
            raw: handle(store)?,
            shared: Arc::new(shared),
        })
    }
}

fn milliseconds(timeout: Duration) -> Result<i64> {
    i64::try_from(timeout.as_millis())
        .map_err(|_| Error::new(ErrorKind::Invalid, "a timeout is a day at most"))
}

fn busy_context(busy: &Arc<Box<BusyFn>>) -> *mut c_void {
    Arc::as_ptr(busy).cast_mut().cast()
}

unsafe extern "C" fn call_busy(context: *mut c_void, waited_ms: i64, holder: i64) -> c_int {
    // SAFETY: the context is a Box<BusyFn> that all handles of the store keep alive.
    let busy = unsafe { &*context.cast::<Box<BusyFn>>() };
    let waited = Duration::from_millis(u64::try_from(waited_ms).unwrap_or(0));
    let holder = u32::try_from(holder).ok().filter(|&holder| holder != 0);
    let call = std::panic::AssertUnwindSafe(|| busy(waited, holder));
    // There is no way to hand a panic on from here; the hook has told it, and the wait ends.
    let flow = std::panic::catch_unwind(call).unwrap_or(ControlFlow::Break(()));
    c_int::from(flow.is_break())
}

/// A directory of filters, which many processes and threads share without a server.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// use tamis::{Spec, Store};
///
/// let store = Store::create(&path)?;
/// let seen = store.open_or_create("seen", &Spec::new(1_000_000).fp_rate(0.001))?;
/// assert!(seen.add("https://example.com/")?);
/// assert!(!seen.add("https://example.com/")?);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// A filter keeps its store open, so the two may be dropped in any order.
pub struct Store {
    pub(crate) raw: NonNull<tamis_sys::tamis_store>,
    pub(crate) shared: Arc<Shared>,
}

// SAFETY: every call on a store may run beside any other on it, from any thread, but for its close, which takes the value,
// and for setting the callback, which takes it exclusively.
unsafe impl Send for Store {}
// SAFETY: as above.
unsafe impl Sync for Store {}

impl Store {
    /// Opens a store that is there.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().open(path)
    }

    /// Opens a store, and makes it if there is none.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().create(true).open(path)
    }

    /// Opens a store for reading alone.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().read_only(true).open(path)
    }

    /// What else can be said of a store that is opened.
    #[must_use]
    pub fn options() -> StoreOptions {
        StoreOptions::default()
    }

    pub(crate) fn as_ptr(&self) -> *mut tamis_sys::tamis_store {
        self.raw.as_ptr()
    }

    /// Sets how long a call waits for another process that has a lock of the store; zero: it does not wait.
    pub fn set_busy_timeout(&self, timeout: Duration) -> Result<()> {
        // SAFETY: the store is open.
        check(unsafe {
            tamis_sys::tamis_store_set_busy_timeout(self.as_ptr(), milliseconds(timeout)?)
        })?;
        Ok(())
    }

    /// As [`StoreOptions::on_busy`], or takes it off again.  [`ErrorKind::Invalid`] if filters, builds or watches of the
    /// store are open: another thread could be using one.
    pub fn set_busy_callback(&mut self, call: Option<Box<BusyFn>>) -> Result<()> {
        let raw = self.as_ptr();
        let Some(shared) = Arc::get_mut(&mut self.shared) else {
            return Err(Error::new(
                ErrorKind::Invalid,
                "filters of the store are open; set the callback before they are, or by StoreOptions::on_busy()",
            ));
        };
        let busy = call.map(Arc::new);
        let (function, context): (tamis_sys::tamis_busy_fn, _) = match &busy {
            Some(busy) => (Some(call_busy), busy_context(busy)),
            None => (None, std::ptr::null_mut()),
        };
        // SAFETY: nobody else uses the store now, and `shared` keeps the closure as long as anybody can.
        check(unsafe { tamis_sys::tamis_store_set_busy_callback(raw, function, context) })?;
        shared.busy = busy;
        Ok(())
    }

    // ---- The list of filters ----------------------------------------------------------------

    /// What is known of each filter whose name begins with the prefix, in byte order of the names, as the last sync or
    /// close left it.
    pub fn list(&self, prefix: &str) -> Result<Vec<FilterStat>> {
        self.listed(prefix, tamis_sys::tamis_store_list)
    }

    /// The same with items, sizes and states as they are now.
    pub fn list_live(&self, prefix: &str) -> Result<Vec<FilterStat>> {
        self.listed(prefix, tamis_sys::tamis_store_list_live)
    }

    fn listed(&self, prefix: &str, list: ListCall) -> Result<Vec<FilterStat>> {
        let prefix = c_name(prefix)?;
        let mut found: Vec<FilterStat> = Vec::new();
        // SAFETY: the vector lives during the call, which nobody else uses.
        check(unsafe {
            list(
                self.as_ptr(),
                prefix.as_ptr(),
                Some(push_stat),
                std::ptr::from_mut(&mut found).cast(),
            )
        })?;
        Ok(found)
    }

    /// Is there a filter of that name?
    pub fn contains(&self, name: &str) -> Result<bool> {
        let name = c_name(name)?;
        // SAFETY: the name lives during the call.
        Ok(check(unsafe { tamis_sys::tamis_filter_exists(self.as_ptr(), name.as_ptr()) })? == 1)
    }

    /// Makes many filters of one spec, without opening them, and returns how many were made.  With `if_missing` one that
    /// is there already, and is what the spec says, is left as it is.
    pub fn create_many<I>(&self, names: I, spec: &Spec, if_missing: bool) -> Result<u64>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let names = names
            .into_iter()
            .map(|name| c_name(name.as_ref()))
            .collect::<Result<Vec<_>>>()?;
        let pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
        let flags = if if_missing {
            tamis_sys::TAMIS_MANY_IF_MISSING
        } else {
            0
        };
        let spec = spec.raw()?;
        // SAFETY: all live during the call.
        counted(unsafe {
            tamis_sys::tamis_filter_create_many(
                self.as_ptr(),
                pointers.as_ptr(),
                pointers.len(),
                &spec.raw,
                flags,
            )
        })
    }

    /// Removes a filter and its files.  Handles that are open on it get [`ErrorKind::Dropped`].
    pub fn drop_filter(&self, name: &str) -> Result<()> {
        let name = c_name(name)?;
        // SAFETY: the name lives during the call.
        check(unsafe { tamis_sys::tamis_filter_drop(self.as_ptr(), name.as_ptr()) })?;
        Ok(())
    }

    /// Drops several filters in one change of the store, and returns how many were there.  With times of creation
    /// ([`Filter::created_at`]), a name that another filter has by now is passed over.
    pub fn drop_filters(&self, names: &[&str], created_at: Option<&[i64]>) -> Result<u64> {
        if created_at.is_some_and(|times| times.len() != names.len()) {
            return Err(Error::new(
                ErrorKind::Invalid,
                "there are not as many times as names",
            ));
        }
        let names = names
            .iter()
            .map(|name| c_name(name))
            .collect::<Result<Vec<_>>>()?;
        let pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
        let times = created_at.map_or(std::ptr::null(), <[i64]>::as_ptr);
        // SAFETY: all live during the call.
        counted(unsafe {
            tamis_sys::tamis_filter_drop_many(
                self.as_ptr(),
                pointers.as_ptr(),
                times,
                pointers.len(),
            )
        })
    }

    /// Gives a filter another name; open handles go on.
    pub fn rename(&self, old_name: &str, new_name: &str) -> Result<()> {
        let (old_name, new_name) = (c_name(old_name)?, c_name(new_name)?);
        // SAFETY: the names live during the call.
        check(unsafe {
            tamis_sys::tamis_filter_rename(self.as_ptr(), old_name.as_ptr(), new_name.as_ptr())
        })?;
        Ok(())
    }

    /// Says, or takes back, that a program has made the filter for its own use.
    pub fn set_owned(&self, name: &str, owned: bool) -> Result<()> {
        let name = c_name(name)?;
        // SAFETY: the name lives during the call.
        check(unsafe {
            tamis_sys::tamis_filter_set_owned(self.as_ptr(), name.as_ptr(), c_int::from(owned))
        })?;
        Ok(())
    }

    /// Changes in which pages of memory a filter is mapped, for all processes.
    pub fn set_pages(&self, name: &str, pages: Pages) -> Result<()> {
        let name = c_name(name)?;
        // SAFETY: the name lives during the call.
        check(unsafe {
            tamis_sys::tamis_filter_set_pages(self.as_ptr(), name.as_ptr(), pages.number())
        })?;
        Ok(())
    }

    // ---- Making and opening -----------------------------------------------------------------

    /// Opens a filter.  It costs no time for its size: nothing is read.
    pub fn open_filter(&self, name: &str) -> Result<Filter> {
        self.open_filter_with(name, OpenOptions::default())
    }

    /// Opens a filter in another way.
    pub fn open_filter_with(&self, name: &str, options: OpenOptions) -> Result<Filter> {
        let name = c_name(name)?;
        let mut filter = std::ptr::null_mut();
        // SAFETY: all live during the call.
        let rc = unsafe {
            tamis_sys::tamis_filter_open(self.as_ptr(), name.as_ptr(), options.flags(), &mut filter)
        };
        Filter::opened(rc, filter, &self.shared)
    }

    /// Makes an empty filter, and opens it.
    pub fn create_filter(&self, name: &str, spec: &Spec) -> Result<Filter> {
        let (name, spec) = (c_name(name)?, spec.raw()?);
        let mut filter = std::ptr::null_mut();
        // SAFETY: all live during the call.
        let rc = unsafe {
            tamis_sys::tamis_filter_create(self.as_ptr(), name.as_ptr(), &spec.raw, &mut filter)
        };
        Filter::opened(rc, filter, &self.shared)
    }

    /// Opens the filter, or makes it if there is none; of many processes one makes it.  [`ErrorKind::Mismatch`] says what
    /// differs, if it is there and is not what the spec says.
    pub fn open_or_create(&self, name: &str, spec: &Spec) -> Result<Filter> {
        let (name, spec) = (c_name(name)?, spec.raw()?);
        let mut filter = std::ptr::null_mut();
        // SAFETY: all live during the call.
        let rc = unsafe {
            tamis_sys::tamis_filter_open_or_create(
                self.as_ptr(),
                name.as_ptr(),
                &spec.raw,
                &mut filter,
            )
        };
        Filter::opened(rc, filter, &self.shared)
    }

    // ---- Generations ------------------------------------------------------------------------

    /// The generations of a filter that are kept, the oldest first.
    pub fn generations(&self, name: &str) -> Result<Vec<Generation>> {
        let name = c_name(name)?;
        let mut found: Vec<Generation> = Vec::new();
        // SAFETY: the vector lives during the call, which nobody else uses.
        check(unsafe {
            tamis_sys::tamis_filter_generations(
                self.as_ptr(),
                name.as_ptr(),
                Some(push_generation),
                std::ptr::from_mut(&mut found).cast(),
            )
        })?;
        Ok(found)
    }

    /// Puts a kept generation in force again; 0: the newest before the one in force.
    pub fn rollback(&self, name: &str, generation: u64) -> Result<()> {
        let name = c_name(name)?;
        // SAFETY: the name lives during the call.
        check(unsafe {
            tamis_sys::tamis_filter_rollback(self.as_ptr(), name.as_ptr(), generation)
        })?;
        Ok(())
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // SAFETY: nobody uses this handle any more; filters that were opened from it go on.
        unsafe { tamis_sys::tamis_store_close(self.as_ptr()) };
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Store").finish_non_exhaustive()
    }
}

/// The store of a filter, as long as the filter is open.
pub struct StoreRef<'a> {
    store: ManuallyDrop<Store>,
    filter: PhantomData<&'a Filter>,
}

impl StoreRef<'_> {
    pub(crate) fn of(raw: NonNull<tamis_sys::tamis_store>, shared: &Arc<Shared>) -> Self {
        Self {
            store: ManuallyDrop::new(Store {
                raw,
                shared: Arc::clone(shared),
            }),
            filter: PhantomData,
        }
    }
}

impl Deref for StoreRef<'_> {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

impl Drop for StoreRef<'_> {
    fn drop(&mut self) {
        // SAFETY: the store is the filter's, and is not closed; what this handle shares of it is given back once.
        unsafe { std::ptr::drop_in_place(&mut self.store.shared) };
    }
}

// ---- Options and results --------------------------------------------------------------------

/// How a filter is opened.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools)]
pub struct OpenOptions {
    read_only: bool,
    no_sync: bool,
    populate: bool,
}

impl OpenOptions {
    /// For reading alone.
    #[must_use]
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// Closing it brings nothing to the disk; a later sync does.
    #[must_use]
    pub fn no_sync(mut self, no_sync: bool) -> Self {
        self.no_sync = no_sync;
        self
    }

    /// Bring all of it into memory first.
    #[must_use]
    pub fn populate(mut self, populate: bool) -> Self {
        self.populate = populate;
        self
    }

    pub(crate) fn flags(self) -> u32 {
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        flag(self.read_only, tamis_sys::TAMIS_OPEN_READ_ONLY)
            | flag(self.no_sync, tamis_sys::TAMIS_OPEN_NO_SYNC)
            | flag(self.populate, tamis_sys::TAMIS_OPEN_POPULATE)
    }
}

// ---- What the library calls -------------------------------------------------------------------

pub(crate) unsafe extern "C" fn push_stat(
    context: *mut c_void,
    stat: *const tamis_sys::tamis_filter_stat,
) -> c_int {
    // SAFETY: the context is the vector of a call that has not returned, and the stat lives during this one.
    unsafe { (*context.cast::<Vec<FilterStat>>()).push(FilterStat::from(&*stat)) };
    0
}

unsafe extern "C" fn push_generation(
    context: *mut c_void,
    stat: *const tamis_sys::tamis_generation_stat,
) -> c_int {
    // SAFETY: as above.
    unsafe { (*context.cast::<Vec<Generation>>()).push(Generation::from(&*stat)) };
    0
}
