// SPDX-License-Identifier: BSD-2-Clause
//! The library as a whole, and arithmetic that needs no filter.

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

use crate::error::{check, static_text, Result};
use crate::spec::{Kind, Spec};
use crate::stat::Explanation;
use crate::text::{array_text, c_name, c_path, c_text, sized};

/// The version of the library, such as "0.1.0".
#[must_use]
pub fn version() -> &'static str {
    // SAFETY: the text is in static storage.
    unsafe { static_text(tamis_sys::tamis_version()) }.unwrap_or("")
}

/// Which vector instructions batches use on this machine: "avx512", "avx2" or "portable".
#[must_use]
pub fn simd() -> &'static str {
    // SAFETY: the text is in static storage.
    unsafe { static_text(tamis_sys::tamis_simd()) }.unwrap_or("")
}

/// The names of all hash sets, without parameters.
pub fn hash_sets() -> impl Iterator<Item = &'static str> {
    let mut at: *const c_char = std::ptr::null();
    std::iter::from_fn(move || {
        // SAFETY: the names are in static storage.
        unsafe {
            at = tamis_sys::tamis_hash_set_next(at);
            static_text(at)
        }
    })
}

/// What a filter of that hash set costs its owner if the bits of a key are not as random as they should be.
#[must_use]
pub fn hash_set_weakness(hash_set: &str) -> Option<&'static str> {
    let name = c_text("the hash set", hash_set).ok()?;
    // SAFETY: the name lives during the call, and the answer is in static storage.
    unsafe { static_text(tamis_sys::tamis_hash_set_weakness(name.as_ptr())) }
}

/// The names of all formats of [`Filter::export`](crate::Filter::export) and [`Store::import`](crate::Store::import).
pub fn formats() -> impl Iterator<Item = &'static str> {
    // SAFETY: the names are in static storage.
    (0..).map_while(|index| unsafe { static_text(tamis_sys::tamis_format_name(index)) })
}

/// The file of a segment, below the directory of the store.
#[must_use]
pub fn segment_file(number: u64) -> String {
    let mut text = [0 as c_char; tamis_sys::TAMIS_SEGMENT_FILE_BYTES as usize];
    // SAFETY: the library writes no more than that.
    unsafe { tamis_sys::tamis_segment_file(number, text.as_mut_ptr()) };
    array_text(&text)
}

/// Would a filter of that name and spec be accepted?  With the path of a store, the room of its disk is looked at too.
pub fn check_spec(path: Option<&Path>, name: &str, spec: &Spec) -> Result<()> {
    let path = path.map(c_path).transpose()?;
    let (name, spec) = (c_name(name)?, spec.raw()?);
    let path = path.as_ref().map_or(std::ptr::null(), |path| path.as_ptr());
    // SAFETY: all live during the call.
    check(unsafe { tamis_sys::tamis_filter_check(path, name.as_ptr(), &spec.raw) })?;
    Ok(())
}

/// Descriptors that filters keep open get numbers from this one on; 0: no wish.  For the whole process.
pub fn set_least_descriptor(number: i32) -> Result<()> {
    // SAFETY: a number alone.
    check(unsafe { tamis_sys::tamis_descriptors_set_least(number) })?;
    Ok(())
}

/// Before the first store is opened: the library installs no handler of SIGBUS then.
pub fn leave_sigbus() {
    // SAFETY: the call has no arguments.
    unsafe { tamis_sys::tamis_sigbus_leave() }
}

/// For a handler of SIGBUS of the program: was the fault at an address that the library has mapped, so that the handler
/// may return?  Async-signal-safe.
#[must_use]
#[allow(clippy::not_unsafe_ptr_arg_deref)] // it is not dereferenced
pub fn mend_sigbus(address: *const c_void) -> bool {
    // SAFETY: the address is compared, not read.
    unsafe { tamis_sys::tamis_sigbus_mend(address) == 1 }
}

/// The hash values and bit positions of a key for a hash set, m and k, without a filter.
pub fn explain(
    hash_set: &str,
    m_bits: u64,
    k: u32,
    seed: u64,
    key: impl AsRef<[u8]>,
) -> Result<Explanation> {
    let hash_set = c_text("the hash set", hash_set)?;
    let key = key.as_ref();
    explained(|to| {
        // SAFETY: all live during the call.
        unsafe {
            tamis_sys::tamis_explain(
                hash_set.as_ptr(),
                m_bits,
                k,
                seed,
                key.as_ptr().cast(),
                key.len(),
                to,
            )
        }
    })
}

/// Lends buffers to a call that explains a key, and larger ones if these are too small.
pub(crate) fn explained(
    mut call: impl FnMut(*mut tamis_sys::tamis_explanation) -> c_int,
) -> Result<Explanation> {
    let mut room = tamis_sys::TAMIS_K_MAX as usize;
    loop {
        let mut hashes = vec![0 as c_char; 64 * room];
        let mut positions = vec![0; room];
        let mut raw = sized!(tamis_explanation);
        raw.hashes = hashes.as_mut_ptr();
        raw.hashes_bytes = hashes.len();
        raw.positions = positions.as_mut_ptr();
        raw.positions_max = room;
        let rc = call(&mut raw);
        if rc < 0 && raw.positions_count > room {
            room = raw.positions_count;
            continue;
        }
        check(rc)?;
        positions.truncate(raw.positions_count);
        return Ok(Explanation {
            hashes: array_text(&hashes),
            positions,
        });
    }
}

// ---- Sizes -----------------------------------------------------------------------------------

/// The size of a filter.  As an argument: what is known, the rest 0.  As a result: all fields.
///
/// ```
/// use tamis::{Kind, Sizing};
///
/// let size = Sizing { kind: Some(Kind::Bloom), capacity: 1_000_000, fp_rate: 0.01, ..Sizing::default() }.complete()?;
/// assert_eq!(size.k, 7);
/// assert!((9.58..9.61).contains(&size.bits_per_key));
/// # Ok::<_, tamis::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)] // the names are those of struct tamis_sizing, which says what they mean
pub struct Sizing {
    /// None: blocked.
    pub kind: Option<Kind>,
    pub k: u32,
    pub capacity: u64,
    pub m_bits: u64,
    pub fp_rate: f64,
    pub predicted_rate: f64,
    pub bits_per_key: f64,
    pub data_bytes: u64,
    pub file_bytes: u64,
    pub words: u32,
    pub counter_bits: u32,
    pub fingerprint_bits: u32,
    pub pieces: u32,
}

impl Sizing {
    /// Completes a sizing from any two, or three, of capacity, `fp_rate`, `m_bits` and k.
    pub fn complete(self) -> Result<Self> {
        let mut raw = sized!(tamis_sizing);
        raw.kind = self.kind.map_or(0, Kind::number);
        raw.k = self.k;
        raw.capacity = self.capacity;
        raw.m_bits = self.m_bits;
        raw.fp_rate = self.fp_rate;
        raw.counter_bits = self.counter_bits;
        // SAFETY: the struct lives during the call.
        check(unsafe { tamis_sys::tamis_size(&mut raw) })?;
        Ok(Self {
            kind: Some(Kind::of(raw.kind)),
            k: raw.k,
            capacity: raw.capacity,
            m_bits: raw.m_bits,
            fp_rate: raw.fp_rate,
            predicted_rate: raw.predicted_rate,
            bits_per_key: raw.bits_per_key,
            data_bytes: raw.data_bytes,
            file_bytes: raw.file_bytes,
            words: raw.words,
            counter_bits: raw.counter_bits,
            fingerprint_bits: raw.fingerprint_bits,
            pieces: raw.pieces,
        })
    }
}

/// The predicted rate of false positives of a filter that holds n distinct keys; NaN if it cannot be.
#[must_use]
pub fn predict_rate(kind: Kind, m_bits: u64, k: u32, n: u64) -> f64 {
    // SAFETY: numbers alone.
    unsafe { tamis_sys::tamis_predict_rate(kind.number(), m_bits, k, n) }
}
