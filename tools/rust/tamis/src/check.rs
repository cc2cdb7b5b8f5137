// SPDX-License-Identifier: BSD-2-Clause
//! Checks, repairs and copies of a store.

use std::ffi::{c_int, c_void};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::callback::{code_of, tell_progress, Guarded, Progress};
use crate::error::{counted, ErrorKind, Result};
use crate::store::Store;
use crate::text::{c_name, c_path, owned_text, sized};

/// What a repair is to do.
#[derive(Clone, Copy, Debug, Default)]
pub struct RepairOptions {
    dry_run: bool,
    rebuild: bool,
    force_network_fs: bool,
}

impl RepairOptions {
    /// Say what would be done, and change nothing.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Make the catalog anew although it can be read.
    #[must_use]
    pub fn rebuild(mut self, rebuild: bool) -> Self {
        self.rebuild = rebuild;
        self
    }

    /// Accept a store on a network file system, at the user's risk.
    #[must_use]
    pub fn force_network_fs(mut self, force: bool) -> Self {
        self.force_network_fs = force;
        self
    }

    fn flags(self) -> u32 {
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        flag(self.dry_run, tamis_sys::TAMIS_REPAIR_DRY_RUN)
            | flag(self.rebuild, tamis_sys::TAMIS_REPAIR_REBUILD)
            | flag(
                self.force_network_fs,
                tamis_sys::TAMIS_REPAIR_FORCE_NETWORK_FS,
            )
    }
}

/// A problem that a check found, or what only looks odd.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The name of the filter, empty if the file belongs to none.
    pub filter: String,
    /// The path inside of the store.
    pub file: PathBuf,
    /// The byte in that file.
    pub offset: u64,
    /// None: it only looks odd.
    pub error: Option<ErrorKind>,
    /// A sentence.
    pub reason: String,
}

/// What a repair did, or found and left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairStep {
    /// The name of the filter, or empty.
    pub filter: String,
    /// The path inside of the store.
    pub file: PathBuf,
    /// None: it is done.
    pub error: Option<ErrorKind>,
    /// A sentence.
    pub what: String,
}

fn kind_of(error: c_int) -> Option<ErrorKind> {
    (error != 0).then(|| ErrorKind::of(error))
}

impl Store {
    /// Checks the files of a filter, or of all of them, and returns the problems.
    pub fn verify(&self, name: Option<&str>) -> Result<Vec<Problem>> {
        self.verified(name, None)
    }

    /// The same, and tells how far it is.
    pub fn verify_with(
        &self,
        name: Option<&str>,
        mut progress: impl FnMut(u64, u64) -> ControlFlow<ErrorKind>,
    ) -> Result<Vec<Problem>> {
        self.verified(name, Some(&mut progress))
    }

    fn verified(
        &self,
        name: Option<&str>,
        progress: Option<&mut Progress<'_>>,
    ) -> Result<Vec<Problem>> {
        let name = name.map(c_name).transpose()?;
        let name = name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr());
        let mut told = Guarded::new((Vec::new(), progress));
        let mut options = sized!(tamis_verify_options);
        options.fn_ = Some(tell_problem);
        options.progress = Some(tell_verify);
        options.context = told.context();
        // SAFETY: all live during the call.
        let rc = unsafe { tamis_sys::tamis_store_verify_with(self.as_ptr(), name, &options) };
        let (problems, _) = told.end();
        counted(rc)?;
        Ok(problems)
    }

    /// Copies the store, while it is in use, into a directory that does not exist yet or is empty.  Returns the number of
    /// filters.
    pub fn backup(&self, path: impl AsRef<Path>) -> Result<u64> {
        self.backup_with(path, |_, _| ControlFlow::Continue(()))
    }

    /// The same, and tells how far it is.
    pub fn backup_with(
        &self,
        path: impl AsRef<Path>,
        mut progress: impl FnMut(u64, u64) -> ControlFlow<ErrorKind>,
    ) -> Result<u64> {
        let path = c_path(path.as_ref())?;
        let mut told = Guarded::new(&mut progress as &mut Progress<'_>);
        // SAFETY: all live during the call.
        let rc = unsafe {
            tamis_sys::tamis_store_backup(
                self.as_ptr(),
                path.as_ptr(),
                Some(tell_progress),
                told.context(),
            )
        };
        told.end();
        counted(rc)
    }

    /// Repairs a damaged store, or says what a repair would do.  Returns the steps.
    pub fn repair(path: impl AsRef<Path>, options: RepairOptions) -> Result<Vec<RepairStep>> {
        Self::repair_with(path, options, |_, _| ControlFlow::Continue(()))
    }

    /// The same, and tells how far it is.
    pub fn repair_with(
        path: impl AsRef<Path>,
        options: RepairOptions,
        mut progress: impl FnMut(u64, u64) -> ControlFlow<ErrorKind>,
    ) -> Result<Vec<RepairStep>> {
        let path = c_path(path.as_ref())?;
        let mut told: Guarded<(Vec<RepairStep>, &mut Progress<'_>)> =
            Guarded::new((Vec::new(), &mut progress));
        let mut raw = sized!(tamis_repair_options);
        raw.flags = options.flags();
        raw.fn_ = Some(tell_repair);
        raw.progress = Some(tell_repaired);
        raw.context = told.context();
        // SAFETY: all live during the call.
        let rc = unsafe { tamis_sys::tamis_store_repair_with(path.as_ptr(), &raw) };
        let (steps, _) = told.end();
        counted(rc)?;
        Ok(steps)
    }
}

// ---- What the library calls -------------------------------------------------------------------

type Verified<'a> = Guarded<(Vec<Problem>, Option<&'a mut Progress<'a>>)>;

unsafe extern "C" fn tell_problem(
    context: *mut c_void,
    problem: *const tamis_sys::tamis_problem,
) -> c_int {
    // SAFETY: as above; the strings live during this call.
    unsafe {
        let told = &mut *context.cast::<Verified<'_>>();
        let problem = &*problem;
        let found = Problem {
            filter: owned_text(problem.filter),
            file: owned_text(problem.file).into(),
            offset: problem.offset,
            error: kind_of(problem.error),
            reason: owned_text(problem.reason),
        };
        told.call(tamis_sys::TAMIS_ESYSTEM, |(problems, _)| {
            problems.push(found);
            0
        })
    }
}

unsafe extern "C" fn tell_verify(context: *mut c_void, done: u64, all: u64) -> c_int {
    // SAFETY: as above.
    let told = unsafe { &mut *context.cast::<Verified<'_>>() };
    told.call(tamis_sys::TAMIS_ESYSTEM, |(_, progress)| {
        progress
            .as_mut()
            .map_or(0, |progress| code_of(progress(done, all)))
    })
}

type Repaired<'a> = Guarded<(Vec<RepairStep>, &'a mut Progress<'a>)>;

unsafe extern "C" fn tell_repair(
    context: *mut c_void,
    step: *const tamis_sys::tamis_repair_step,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let told = &mut *context.cast::<Repaired<'_>>();
        let step = &*step;
        let found = RepairStep {
            filter: owned_text(step.filter),
            file: owned_text(step.file).into(),
            error: kind_of(step.error),
            what: owned_text(step.what),
        };
        told.call(tamis_sys::TAMIS_ESYSTEM, |(steps, _)| {
            steps.push(found);
            0
        })
    }
}

unsafe extern "C" fn tell_repaired(context: *mut c_void, done: u64, all: u64) -> c_int {
    // SAFETY: as above.
    let told = unsafe { &mut *context.cast::<Repaired<'_>>() };
    told.call(tamis_sys::TAMIS_ESYSTEM, |(_, progress)| {
        code_of(progress(done, all))
    })
}
