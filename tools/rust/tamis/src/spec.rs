// SPDX-License-Identifier: BSD-2-Clause
//! What a filter is to be.

use std::ffi::CString;
use std::time::Duration;

use crate::error::{static_text, Error, ErrorKind, Result};
use crate::text::{c_text, pointer, sized};

macro_rules! words {
    ($(#[$about:meta])* $name:ident, $of:path, $($(#[$doc:meta])* $variant:ident = $code:ident,)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $variant,)*
            /// One that a later library has and this crate does not know.
            Unknown(u32),
        }

        impl $name {
            pub(crate) fn of(number: u32) -> Self {
                match number {
                    $(tamis_sys::$code => Self::$variant,)*
                    _ => Self::Unknown(number),
                }
            }

            /// The number that the library has for it.
            #[must_use]
            pub fn number(self) -> u32 {
                match self {
                    $(Self::$variant => tamis_sys::$code,)*
                    Self::Unknown(number) => number,
                }
            }

            /// That of a number.
            #[must_use]
            pub fn from_number(number: u32) -> Self {
                Self::of(number)
            }

            /// The word for it, if the library has one.
            #[must_use]
            pub fn name(self) -> Option<&'static str> {
                // SAFETY: the text is in static storage.
                unsafe { static_text($of(self.number())) }
            }
        }
    };
}

words! {
    /// How a filter works.
    Kind, tamis_sys::tamis_kind_name,
    /// A cache-line-blocked Bloom filter: one cache line a key.
    Blocked = TAMIS_KIND_BLOCKED,
    /// A classic Bloom filter.
    Bloom = TAMIS_KIND_BLOOM,
    /// Counters for bits: keys can be removed and counted.
    Counting = TAMIS_KIND_COUNTING,
    /// Static: a binary fuse filter, made by a [`Build`](crate::Build).
    Fuse = TAMIS_KIND_FUSE,
}

impl Kind {
    /// The kind of that name; the error has the names that are known.
    pub fn from_name(name: &str) -> Result<Self> {
        let name = c_text("the name of a kind", name)?;
        let mut number = 0;
        // SAFETY: both live during the call.
        crate::error::check(unsafe {
            tamis_sys::tamis_kind_from_name(name.as_ptr(), &mut number)
        })?;
        Ok(Self::of(number))
    }

    /// Has it all of these properties?
    #[must_use]
    pub fn has(self, property: KindProperty) -> bool {
        // SAFETY: numbers alone.
        unsafe { tamis_sys::tamis_kind_has(self.number(), property as u32) == 1 }
    }

    /// All kinds of the library.
    pub fn all() -> impl Iterator<Item = Self> {
        // SAFETY: numbers alone.
        let next =
            |kind| Some(unsafe { tamis_sys::tamis_kind_next(kind) }).filter(|&kind| kind != 0);
        std::iter::successors(next(0), move |&kind| next(kind)).map(Self::of)
    }
}

/// What a kind can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum KindProperty {
    /// It is made of all its keys by a build.
    IsStatic = tamis_sys::TAMIS_KIND_IS_STATIC,
    /// Keys can be removed and counted.
    Counts = tamis_sys::TAMIS_KIND_COUNTS,
    /// It may have several segments.
    MayGrow = tamis_sys::TAMIS_KIND_MAY_GROW,
    /// It may have a log.
    MayBeDurable = tamis_sys::TAMIS_KIND_MAY_BE_DURABLE,
    /// k positions over all m bits and nothing else.
    IsPlain = tamis_sys::TAMIS_KIND_IS_PLAIN,
}

words! {
    /// What happens when the newest segment holds as many keys as it was made for.
    OnFull, tamis_sys::tamis_on_full_name,
    /// A further, larger segment takes the new keys.
    Grow = TAMIS_ON_FULL_GROW,
    /// A new key is refused with [`ErrorKind::Full`](crate::ErrorKind::Full).
    Refuse = TAMIS_ON_FULL_REFUSE,
    /// Keys are still taken, and the rate gets worse.
    Warn = TAMIS_ON_FULL_WARN,
}

words! {
    /// In which pages the memory of a filter is mapped.
    Pages, tamis_sys::tamis_pages_name,
    /// Of 2 MiB where they make the disk write a quarter more at most.
    Auto = TAMIS_PAGES_AUTO,
    /// Of 4 KiB, or what the system has.
    Small = TAMIS_PAGES_SMALL,
    /// Of 2 MiB wherever the system gives them.
    Huge = TAMIS_PAGES_HUGE,
}

/// What a filter is to be.
///
/// ```
/// use std::time::Duration;
/// use tamis::{OnFull, Spec};
///
/// let seen = Spec::new(10_000_000).fp_rate(0.001);
/// let recent = Spec::new(1_000_000).window(Duration::from_secs(30 * 86400));
/// let small = Spec::new(1000).on_full(OnFull::Refuse);
/// # let _ = (seen, recent, small);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    capacity: u64,
    fp_rate: f64,
    kind: u32,
    k: u32,
    m_bits: u64,
    hash_set: Option<String>,
    seed: u64,
    on_full: u32,
    slices: u32,
    window: Duration,
    window_items: u64,
    counter_bits: u32,
    flags: u32,
    secret: [u8; 16],
    pages: u32,
    key_rule: Option<String>,
}

impl Spec {
    /// A filter for so many distinct keys, at a rate of 1 % of false positives.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            ..Self::default()
        }
    }

    /// A classic Bloom filter of exactly so many bits and hashes; k is 0 if the hash set says what it is.
    #[must_use]
    pub fn bits(m_bits: u64, k: u32) -> Self {
        Self {
            k,
            m_bits,
            ..Self::default()
        }
    }

    /// Distinct keys for which the rate holds.
    #[must_use]
    pub fn capacity(mut self, capacity: u64) -> Self {
        self.capacity = capacity;
        self
    }

    /// The rate of false positives.
    #[must_use]
    pub fn fp_rate(mut self, fp_rate: f64) -> Self {
        self.fp_rate = fp_rate;
        self
    }

    /// How it works.
    #[must_use]
    pub fn kind(mut self, kind: Kind) -> Self {
        self.kind = kind.number();
        self
    }

    /// The rule that turns a key into bits; tamis(3) lists them.
    #[must_use]
    pub fn hash_set(mut self, hash_set: impl Into<String>) -> Self {
        self.hash_set = Some(hash_set.into());
        self
    }

    /// Of the hash set xxh3; filters that will be merged need the same.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The key of the hash set sip; without it a random one is made.
    #[must_use]
    pub fn secret(mut self, secret: [u8; 16]) -> Self {
        self.secret = secret;
        self
    }

    /// What happens when it is full.
    #[must_use]
    pub fn on_full(mut self, on_full: OnFull) -> Self {
        self.on_full = on_full.number();
        self
    }

    /// Keys are forgotten after that time, and at most a slice later.
    #[must_use]
    pub fn window(mut self, window: Duration) -> Self {
        self.window = window;
        self
    }

    /// So many of the newest keys are remembered, and at most a slice more.
    #[must_use]
    pub fn window_items(mut self, items: u64) -> Self {
        self.window_items = items;
        self
    }

    /// The number of steps in which a window moves; 0: 10.
    #[must_use]
    pub fn slices(mut self, slices: u32) -> Self {
        self.slices = slices;
        self
    }

    /// A window counts from the first add of a key, so one that keeps coming is new again once a window.
    #[must_use]
    pub fn window_from_first(self) -> Self {
        self.flag(tamis_sys::TAMIS_FILTER_FROM_FIRST)
    }

    /// Kind counting: bits of a counter, 4, 8, 16 or 32.
    #[must_use]
    pub fn counter_bits(mut self, counter_bits: u32) -> Self {
        self.counter_bits = counter_bits;
        self
    }

    /// An add answers true only once a power cut cannot take the key.
    #[must_use]
    pub fn durable(self) -> Self {
        self.flag(tamis_sys::TAMIS_FILTER_DURABLE)
    }

    /// A program has made it for its own use.
    #[must_use]
    pub fn owned(self) -> Self {
        self.flag(tamis_sys::TAMIS_FILTER_OWNED)
    }

    /// In which pages it is mapped.
    #[must_use]
    pub fn pages(mut self, pages: Pages) -> Self {
        self.pages = pages.number();
        self
    }

    /// What the key of a record is: "bytes", or "name" and "url", by which all spellings of a host's name or of a URL are one key.
    #[must_use]
    pub fn key_rule(mut self, key_rule: impl Into<String>) -> Self {
        self.key_rule = Some(key_rule.into());
        self
    }

    fn flag(mut self, flag: u32) -> Self {
        self.flags |= flag;
        self
    }

    /// The struct of the library, with what it points to.
    pub(crate) fn raw(&self) -> Result<RawSpec> {
        let text = |what: &str, of: Option<&str>| of.map(|text| c_text(what, text)).transpose();
        let hash_set = text("the hash set", self.hash_set.as_deref())?;
        let key_rule = text("the key rule", self.key_rule.as_deref())?;
        let window_ns = i64::try_from(self.window.as_nanos()).map_err(|_| {
            Error::new(
                ErrorKind::Invalid,
                "the window is longer than a hundred years",
            )
        })?;
        let mut raw = sized!(tamis_filter_spec);
        raw.capacity = self.capacity;
        raw.fp_rate = self.fp_rate;
        raw.kind = self.kind;
        raw.k = self.k;
        raw.m_bits = self.m_bits;
        raw.hash_set = pointer(hash_set.as_ref());
        raw.key_rule = pointer(key_rule.as_ref());
        raw.seed = self.seed;
        raw.on_full = self.on_full;
        raw.slices = self.slices;
        raw.window_ns = window_ns;
        raw.window_items = self.window_items;
        raw.counter_bits = self.counter_bits;
        raw.flags = self.flags;
        raw.secret = self.secret;
        raw.pages = self.pages;
        Ok(RawSpec {
            raw,
            _texts: (hash_set, key_rule),
        })
    }

    /// The spec of a struct of the library, whose texts live until this returns.
    ///
    /// # Safety
    ///
    /// `raw.hash_set` and `raw.key_rule` are NULL or such a text.
    pub(crate) unsafe fn of(raw: &tamis_sys::tamis_filter_spec) -> Self {
        // SAFETY: the caller's word.
        let hash_set = unsafe { crate::text::owned_text(raw.hash_set) };
        // SAFETY: the same.
        let key_rule = unsafe { crate::text::owned_text(raw.key_rule) };
        Self {
            capacity: raw.capacity,
            fp_rate: raw.fp_rate,
            kind: raw.kind,
            k: raw.k,
            m_bits: raw.m_bits,
            hash_set: Some(hash_set).filter(|name| !name.is_empty()),
            seed: raw.seed,
            on_full: raw.on_full,
            slices: raw.slices,
            window: Duration::from_nanos(u64::try_from(raw.window_ns).unwrap_or(0)),
            window_items: raw.window_items,
            counter_bits: raw.counter_bits,
            flags: raw.flags,
            secret: raw.secret,
            pages: raw.pages,
            key_rule: Some(key_rule).filter(|rule| !rule.is_empty()),
        }
    }

    /// The key rule; `None`: "bytes".
    #[must_use]
    pub fn rule(&self) -> Option<&str> {
        self.key_rule.as_deref()
    }

    /// Capacity, rate, kind, hash set and seed.
    #[must_use]
    pub fn main_parts(&self) -> (u64, f64, Kind, Option<&str>, u64) {
        (
            self.capacity,
            self.fp_rate,
            Kind::of(self.kind),
            self.hash_set.as_deref(),
            self.seed,
        )
    }
}

pub(crate) struct RawSpec {
    pub(crate) raw: tamis_sys::tamis_filter_spec,
    _texts: (Option<CString>, Option<CString>), // what raw points to
}
