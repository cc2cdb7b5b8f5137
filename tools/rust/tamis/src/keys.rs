// SPDX-License-Identifier: BSD-2-Clause
//! Adding keys to a filter and asking for them: one, or many at once without a copy of them.

use std::ffi::{c_int, c_void};
use std::ops::{Index, RangeFrom};

use crate::error::{check, counted, Error, Result};
use crate::filter::Filter;

/// As many keys go to the library at once: its loops have enough in flight, and the list of them stays in the cache.
const CHUNK: usize = 4096;

const REFUSED: u8 = 2; // TAMIS_ANSWER_REFUSED

pub(crate) fn raw_key(key: &[u8]) -> tamis_sys::tamis_key {
    tamis_sys::tamis_key {
        data: key.as_ptr().cast(),
        bytes: key.len(),
    }
}

fn bytes(key: &[u8]) -> (*const c_void, usize) {
    (key.as_ptr().cast(), key.len())
}

type Batch = unsafe extern "C" fn(
    *mut tamis_sys::tamis_filter,
    *const tamis_sys::tamis_key,
    usize,
    *mut u8,
) -> i64;

fn answer_of(answer: u8) -> Option<bool> {
    (answer != REFUSED).then_some(answer != 0)
}

/// Calls `call` for chunks of the keys, which stay where they are until it returns.
pub(crate) fn in_chunks<I>(
    keys: I,
    mut call: impl FnMut(&[tamis_sys::tamis_key]) -> Result<()>,
) -> Result<()>
where
    I: IntoIterator,
    I::Item: AsRef<[u8]>,
{
    let mut keys = keys.into_iter();
    let room = keys.size_hint().0.clamp(1, CHUNK);
    // The items, for those that own their bytes; moving one into the vector may move its bytes, so pointers are taken after.
    let mut items: Vec<I::Item> = Vec::with_capacity(room);
    let mut raw = Vec::with_capacity(room);
    loop {
        items.clear();
        items.extend(keys.by_ref().take(CHUNK));
        if items.is_empty() {
            return Ok(());
        }
        raw.clear();
        raw.extend(items.iter().map(|key| raw_key(key.as_ref())));
        call(&raw)?;
    }
}

impl Filter {
    /// Adds a key.  True: it was new, and of all processes and threads that add it at most this one was told so.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let store = tamis::Store::create(directory.path())?;
    /// # let seen = store.create_filter("seen", &tamis::Spec::new(1000))?;
    /// if seen.add("https://example.com/")? {
    ///     // nobody has seen this before
    /// }
    /// assert!(!seen.add(b"https://example.com/")?);
    /// assert!(!seen.add(String::from("https://example.com/"))?);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn add(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        let (data, bytes) = bytes(key.as_ref());
        // SAFETY: the key lives during the call.
        Ok(check(unsafe { tamis_sys::tamis_filter_add(self.as_ptr(), data, bytes) })? == 1)
    }

    /// Is the key in the filter?  False is certain; true is wrong at the rate of false positives.
    #[inline]
    pub fn contains(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        let (data, bytes) = bytes(key.as_ref());
        // SAFETY: the key lives during the call.
        Ok(check(unsafe { tamis_sys::tamis_filter_contains(self.as_ptr(), data, bytes) })? == 1)
    }

    /// Asks for a name and its parents, of a `str` or of bytes: the nearest that is in the filter, as `name` spells it.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let store = tamis::Store::create(directory.path())?;
    /// let blocked = store.create_filter("blocked", &tamis::Spec::new(1000).key_rule("name"))?;
    /// assert_eq!(blocked.add_many(["ADS.Example.", "ads.example"])?, [true, false]);
    /// assert_eq!(blocked.contains_name("www.Ads.example")?, Some("Ads.example"));
    /// assert_eq!(blocked.contains_name("example")?, None);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn contains_name<'a, N>(&self, name: &'a N) -> Result<Option<&'a N>>
    where
        N: AsRef<[u8]> + Index<RangeFrom<usize>, Output = N> + ?Sized,
    {
        let (data, bytes) = bytes(name.as_ref());
        let mut offset = 0;
        // SAFETY: the name lives during the call.
        let found = check(unsafe {
            tamis_sys::tamis_filter_contains_name(self.as_ptr(), data, bytes, &mut offset)
        })?;
        Ok((found == 1).then(|| &name[offset..]))
    }

    /// Has the processor fetch what a call for this key is going to read: a hint, which changes no answer.
    #[inline]
    pub fn prefetch(&self, key: impl AsRef<[u8]>) -> Result<()> {
        let (data, bytes) = bytes(key.as_ref());
        // SAFETY: the key lives during the call.
        check(unsafe { tamis_sys::tamis_filter_prefetch(self.as_ptr(), data, bytes) })?;
        Ok(())
    }

    /// Takes a key off once (kind counting).  False: it was not there.
    pub fn remove(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        let (data, bytes) = bytes(key.as_ref());
        // SAFETY: the key lives during the call.
        Ok(check(unsafe { tamis_sys::tamis_filter_remove(self.as_ptr(), data, bytes) })? == 1)
    }

    /// How often the key is there (kind counting).
    pub fn count(&self, key: impl AsRef<[u8]>) -> Result<u64> {
        let (data, bytes) = bytes(key.as_ref());
        // SAFETY: the key lives during the call.
        counted(unsafe { tamis_sys::tamis_filter_count(self.as_ptr(), data, bytes) })
    }

    /// Adds many keys, of a slice or of any iterator, several times as fast for each key, and answers for each whether it
    /// was new.  Keys are not copied; of an iterator 4,096 are taken at a time.
    ///
    /// After an error [`Error::answers`] has an answer for each key that was dealt with, so that no true is lost.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let store = tamis::Store::create(directory.path())?;
    /// # let seen = store.create_filter("seen", &tamis::Spec::new(1000))?;
    /// let urls = ["https://a.example/", "https://b.example/", "https://a.example/"];
    /// assert_eq!(seen.add_many(urls)?, [true, true, false]);
    /// assert_eq!(seen.add_many("one two".split(' '))?, [true, true]);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_many<I>(&self, keys: I) -> Result<Vec<bool>>
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        self.batches(keys, tamis_sys::tamis_filter_add_batch)
    }

    /// Asks for many keys, as [`Filter::add_many`] adds them.
    pub fn contains_many<I>(&self, keys: I) -> Result<Vec<bool>>
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        self.batches(keys, tamis_sys::tamis_filter_contains_batch)
    }

    /// Takes many keys off, each once (kind counting), as [`Filter::add_many`] adds them.
    pub fn remove_many<I>(&self, keys: I) -> Result<Vec<bool>>
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        self.batches(keys, tamis_sys::tamis_filter_remove_batch)
    }

    /// How often each key is there (kind counting).
    pub fn count_many<I>(&self, keys: I) -> Result<Vec<u64>>
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        let mut all = Vec::new();
        let ask = |chunk: &[tamis_sys::tamis_key]| {
            let begin = all.len();
            all.resize(begin + chunk.len(), 0);
            let counts: &mut [u64] = &mut all[begin..];
            // SAFETY: the keys live, and there is a number for each.
            let rc = unsafe {
                tamis_sys::tamis_filter_count_batch(
                    self.as_ptr(),
                    chunk.as_ptr(),
                    chunk.len(),
                    counts.as_mut_ptr(),
                )
            };
            counted(rc).map(drop)
        };
        in_chunks(keys, ask)?;
        Ok(all)
    }

    fn batches<I>(&self, keys: I, call: Batch) -> Result<Vec<bool>>
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        let keys = keys.into_iter();
        let mut all: Vec<bool> = Vec::with_capacity(keys.size_hint().0);
        let mut refused: Vec<u8> = Vec::new();
        let mut answers = [0; CHUNK];
        let ask = |chunk: &[tamis_sys::tamis_key]| {
            let answers = &mut answers[..chunk.len()];
            answers.fill(REFUSED);
            // SAFETY: the keys live, and there is an answer for each.
            let rc = unsafe {
                call(
                    self.as_ptr(),
                    chunk.as_ptr(),
                    chunk.len(),
                    answers.as_mut_ptr(),
                )
            };
            if rc < 0 {
                refused.extend_from_slice(answers);
                return Err(Error::last(
                    c_int::try_from(rc).unwrap_or(tamis_sys::TAMIS_ESYSTEM),
                ));
            }
            all.extend(answers.iter().map(|&answer| answer != 0));
            Ok(())
        };
        match in_chunks(keys, ask) {
            Ok(()) => Ok(all),
            Err(error) => {
                let before = all.into_iter().map(Some);
                Err(error.with_answers(before.chain(refused.into_iter().map(answer_of)).collect()))
            }
        }
    }
}

/// The shard that a key belongs to, where a filter is spread over so many.
///
/// ```
/// assert_eq!(tamis::shard("https://a.example/", 64), 32);
/// ```
#[must_use]
pub fn shard(key: impl AsRef<[u8]>, shards: u32) -> u32 {
    let (data, bytes) = bytes(key.as_ref());
    // SAFETY: the key lives during the call.
    unsafe { tamis_sys::tamis_shard(data, bytes, shards) }
}
