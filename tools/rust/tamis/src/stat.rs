// SPDX-License-Identifier: BSD-2-Clause
//! What is known of filters and their segments.

use crate::spec::{Kind, OnFull, Pages};
use crate::text::array_text;

/// A state of a filter that is not all well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum State {
    /// The item count is at or past the capacity, or the filter takes no more keys before that.
    Full,
    /// A sync failed, and no later one has brought all to the disk.
    Degraded,
    /// The machine went down: keys added then may be missing.
    Unclean,
    /// Wrong bytes were found in it: its answers may be wrong.
    Damaged,
    /// The filter holds more keys than the rate that was asked for allows.
    Over,
}

const STATES: [(u32, State); 5] = [
    (tamis_sys::TAMIS_STATE_FULL, State::Full),
    (tamis_sys::TAMIS_STATE_DEGRADED, State::Degraded),
    (tamis_sys::TAMIS_STATE_UNCLEAN, State::Unclean),
    (tamis_sys::TAMIS_STATE_DAMAGED, State::Damaged),
    (tamis_sys::TAMIS_STATE_OVER, State::Over),
];

/// From when a window counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum WindowFrom {
    /// From the last add of a key.
    Last,
    /// From its first add: a key that keeps coming is new again once a window.
    First,
}

/// What is known of a filter.  Times are in nanoseconds since 1970-01-01 UTC; 0 means never.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let store = tamis::Store::create(directory.path())?;
/// let seen = store.create_filter("seen", &tamis::Spec::new(1000))?;
/// seen.add("https://example.com/")?;
/// let stat = seen.stat()?;
/// assert_eq!((stat.name.as_str(), stat.items, stat.states.len()), ("seen", 1, 0));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)] // the names are those of struct tamis_filter_stat, which says what they mean
#[non_exhaustive]
pub struct FilterStat {
    pub name: String,
    pub kind: Kind,
    pub hash_set: String,
    pub k: u32,
    pub m_bits: u64,
    pub seed: u64,
    pub capacity: u64,
    /// The rate of false positives that the filter was made for, at capacity.
    pub fp_rate: f64,
    /// How many adds have answered true, less removes.
    pub items: u64,
    pub size_bytes: u64,
    /// The rate at the present number of items, by formula.
    pub predicted_rate: f64,
    pub generation: u64,
    pub segment_count: u32,
    /// Empty if all is well.
    pub states: Vec<State>,
    pub created_at: i64,
    pub published_at: i64,
    pub checkpointed_at: i64,
    pub window_ns: i64,
    pub window_items: u64,
    /// None: no window.
    pub window_from: Option<WindowFrom>,
    pub slices: u32,
    pub live_slices: u64,
    pub on_full: OnFull,
    pub counter_bits: u32,
    pub fingerprint_bits: u32,
    pub exceptions: u64,
    pub keep: u32,
    pub durable: bool,
    pub owned: bool,
    pub unclean_since: i64,
    pub degraded_since: i64,
    pub bits_per_key: f64,
    /// How many keys it takes before it needs another segment, or refuses; None: any number, or not known.
    pub room: Option<u64>,
    pub lacks_bytes: u64,
    /// Of a [`Watch`](crate::Watch): keys that were new since the look before.
    pub new_keys: u64,
    pub pages: Pages,
    pub imported_at: i64,
    pub imported_from: String,
    pub imported_digest: String,
    pub imported_signed_at: i64,
    pub imported_signed_by: String,
    pub imported_signed_comment: String,
    pub missing_keys: u64,
    /// What the key of a record is, such as "bytes".
    pub key_rule: String,
}

impl From<&tamis_sys::tamis_filter_stat> for FilterStat {
    fn from(stat: &tamis_sys::tamis_filter_stat) -> Self {
        let has = |flag| stat.flags & flag != 0;
        let has_window = stat.window_ns != 0 || stat.window_items != 0;
        let from = if has(tamis_sys::TAMIS_FILTER_FROM_FIRST) {
            WindowFrom::First
        } else {
            WindowFrom::Last
        };
        Self {
            name: array_text(&stat.name),
            kind: Kind::of(stat.kind),
            hash_set: array_text(&stat.hash_set),
            k: stat.k,
            m_bits: stat.m_bits,
            seed: stat.seed,
            capacity: stat.capacity,
            fp_rate: stat.fp_rate,
            items: stat.items,
            size_bytes: stat.size_bytes,
            predicted_rate: stat.predicted_rate,
            generation: stat.generation,
            segment_count: stat.segment_count,
            states: STATES
                .iter()
                .filter(|(bit, _)| stat.state & bit != 0)
                .map(|&(_, state)| state)
                .collect(),
            created_at: stat.created_at,
            published_at: stat.published_at,
            checkpointed_at: stat.checkpointed_at,
            window_ns: stat.window_ns,
            window_items: stat.window_items,
            window_from: has_window.then_some(from),
            slices: stat.slices,
            live_slices: stat.live_slices,
            on_full: OnFull::of(stat.on_full),
            counter_bits: stat.counter_bits,
            fingerprint_bits: stat.fingerprint_bits,
            exceptions: stat.exceptions,
            keep: stat.keep,
            durable: has(tamis_sys::TAMIS_FILTER_DURABLE),
            owned: has(tamis_sys::TAMIS_FILTER_OWNED),
            unclean_since: stat.unclean_since,
            degraded_since: stat.degraded_since,
            bits_per_key: stat.bits_per_key,
            room: (stat.room != u64::MAX).then_some(stat.room),
            lacks_bytes: stat.lacks_bytes,
            new_keys: stat.new_keys,
            pages: Pages::of(u32::try_from(stat.pages).unwrap_or(0)),
            imported_at: stat.imported_at,
            imported_from: array_text(&stat.imported_from),
            imported_digest: array_text(&stat.imported_digest),
            imported_signed_at: stat.imported_signed_at,
            imported_signed_by: array_text(&stat.imported_signed_by),
            imported_signed_comment: array_text(&stat.imported_signed_comment),
            missing_keys: stat.missing_keys,
            key_rule: array_text(&stat.key_rule),
        }
    }
}

/// What is known of a segment: one of the files of a filter.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)] // as above, of struct tamis_segment_stat
#[non_exhaustive]
pub struct SegmentStat {
    pub hash_set: String,
    pub number: u64,
    pub kind: Kind,
    pub k: u32,
    pub words: u32,
    pub bit_order: u32,
    pub m_bits: u64,
    pub seed: u64,
    pub capacity: u64,
    pub fp_rate: f64,
    pub items: u64,
    pub file_bytes: u64,
    pub data_offset: u64,
    pub data_bytes: u64,
    pub created_at: i64,
    /// Set bits; [`Filter::fill`](crate::Filter::fill) alone counts them, and `fill`, `fp_rate_now` and `items_estimated`
    /// come from them.
    pub ones: u64,
    pub fill: f64,
    pub fp_rate_now: f64,
    pub flags: u64,
    pub slice: u64,
    pub slice_start: i64,
    pub step: u32,
    pub counter_bits: u32,
    pub items_estimated: u64,
    pub fingerprint_bits: u32,
    pub pieces: u32,
}

impl From<&tamis_sys::tamis_segment_stat> for SegmentStat {
    fn from(stat: &tamis_sys::tamis_segment_stat) -> Self {
        Self {
            hash_set: array_text(&stat.hash_set),
            number: stat.number,
            kind: Kind::of(stat.kind),
            k: stat.k,
            words: stat.words,
            bit_order: stat.bit_order,
            m_bits: stat.m_bits,
            seed: stat.seed,
            capacity: stat.capacity,
            fp_rate: stat.fp_rate,
            items: stat.items,
            file_bytes: stat.file_bytes,
            data_offset: stat.data_offset,
            data_bytes: stat.data_bytes,
            created_at: stat.created_at,
            ones: stat.ones,
            fill: stat.fill,
            fp_rate_now: stat.fp_rate_now,
            flags: stat.flags,
            slice: stat.slice,
            slice_start: stat.slice_start,
            step: stat.step,
            counter_bits: stat.counter_bits,
            items_estimated: stat.items_estimated,
            fingerprint_bits: stat.fingerprint_bits,
            pieces: stat.pieces,
        }
    }
}

/// A version of a filter that is built anew: the one in force, or one that is kept.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)] // as above, of struct tamis_generation_stat
#[non_exhaustive]
pub struct Generation {
    pub generation: u64,
    pub in_force: bool,
    pub kind: Kind,
    pub segment_count: u32,
    pub items: u64,
    pub size_bytes: u64,
    pub fp_rate: f64,
    pub exceptions: u64,
    pub published_at: i64,
    pub key_digest: [u8; 16],
}

impl From<&tamis_sys::tamis_generation_stat> for Generation {
    fn from(stat: &tamis_sys::tamis_generation_stat) -> Self {
        Self {
            generation: stat.generation,
            in_force: stat.in_force != 0,
            kind: Kind::of(stat.kind),
            segment_count: stat.segment_count,
            items: stat.items,
            size_bytes: stat.size_bytes,
            fp_rate: stat.fp_rate,
            exceptions: stat.exceptions,
            published_at: stat.published_at,
            key_digest: stat.key_digest,
        }
    }
}

/// How this process has a filter mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[allow(missing_docs)] // as above, of struct tamis_filter_mapped
#[non_exhaustive]
pub struct Mapped {
    pub bytes: u64,
    pub present: u64,
    pub huge_bytes: u64,
    pub wanted: Pages,
    /// Why huge pages are wanted and not had.
    pub obstacle: Option<&'static str>,
}

/// What two filters have in common, in keys.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs)] // as above, of struct tamis_comparison
#[non_exhaustive]
pub struct Comparison {
    pub items_a: f64,
    pub items_b: f64,
    pub items_union: f64,
    pub items_both: f64,
    pub jaccard: f64,
    /// Two times in three `items_both` is nearer than this.
    pub error: f64,
}

/// Where a key goes: its hash values and the positions of its bits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Explanation {
    /// The hash values as text, with commas between them.
    pub hashes: String,
    /// The positions, in the order of the hash set; one may occur twice.
    pub positions: Vec<u64>,
}
