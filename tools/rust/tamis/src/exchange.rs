// SPDX-License-Identifier: BSD-2-Clause
//! Filters as streams of bytes, in the formats of other programs and in Tamis' own.

use std::ffi::{c_int, c_void, CString};
use std::io::{self, Read, Write};

use crate::callback::Guarded;
use crate::error::{check, Error, ErrorKind, Result};
use crate::filter::Filter;
use crate::keys::raw_key;
use crate::store::Store;
use crate::text::{c_name, c_text, pointer, sized};

/// What a stream does not tell of a filter that is imported.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)] // the names are those of struct tamis_import_spec, which says what they mean
pub struct ImportSpec {
    pub hash_set: Option<String>,
    pub m_bits: u64,
    pub k: u32,
    pub capacity: u64,
    pub fp_rate: f64,
    pub seal_capacity: u64,
    pub seal_rate: f64,
    /// A full filter goes on as in `RedisBloom`.
    pub as_there: bool,
    pub owned: bool,
    pub durable: bool,
    /// Where the stream is, for [`Filter::stat`] to tell.
    pub origin: Option<String>,
    /// When the stream was signed, in nanoseconds since 1970, as the program has checked; 0: not known.
    pub signed_at: i64,
}

struct RawImport {
    raw: tamis_sys::tamis_import_spec,
    _texts: (Option<CString>, Option<CString>), // what raw points to
}

impl ImportSpec {
    fn raw(&self) -> Result<RawImport> {
        let hash_set = self
            .hash_set
            .as_deref()
            .map(|name| c_text("the hash set", name))
            .transpose()?;
        let origin = self
            .origin
            .as_deref()
            .map(|text| c_text("the origin", text))
            .transpose()?;
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        let mut raw = sized!(tamis_import_spec);
        raw.hash_set = pointer(hash_set.as_ref());
        raw.m_bits = self.m_bits;
        raw.k = self.k;
        raw.capacity = self.capacity;
        raw.fp_rate = self.fp_rate;
        raw.seal_capacity = self.seal_capacity;
        raw.seal_rate = self.seal_rate;
        raw.flags = flag(self.as_there, tamis_sys::TAMIS_IMPORT_AS_THERE)
            | flag(self.owned, tamis_sys::TAMIS_IMPORT_OWNED)
            | flag(self.durable, tamis_sys::TAMIS_IMPORT_DURABLE);
        raw.origin = pointer(origin.as_ref());
        raw.signed_at = self.signed_at;
        Ok(RawImport {
            raw,
            _texts: (hash_set, origin),
        })
    }
}

/// How a stream is published; the default publishes it in any case, and keeps as many generations as before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PublishSpec {
    /// What the stream does not tell.
    pub import: ImportSpec,
    /// Keys that must answer absent whatever the stream has.
    pub except: Vec<Vec<u8>>,
    /// Publish nothing if that list is in force already.
    pub if_changed: bool,
    /// Refuse a stream that was made before the list in force, by [`ErrorKind::Mismatch`].
    pub newer: bool,
    /// So many generations before it are kept.
    pub keep: Option<u32>,
}

/// What came of a stream that was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Published {
    /// False: nothing was new.
    pub published: bool,
    /// The generation that is in force now.
    pub generation: u64,
    /// The exceptions that are in force with it.
    pub exceptions: u64,
    /// Of its files.
    pub size_bytes: u64,
    /// Of the stream.
    pub digest: [u8; 16],
}

/// What an export writes besides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)]
pub struct ExportOptions {
    /// Also what is secret: a seed other than 0, the key of sip.
    pub with_key: bool,
    /// Without its exceptions.
    pub without_exceptions: bool,
    /// Begin the stream with its digest.
    pub with_digest: bool,
}

/// A reader or writer with the error that it has ended by.
struct Stream<S> {
    stream: S,
    error: Option<io::Error>,
}

impl<S> Stream<S> {
    fn guarded(stream: S) -> Guarded<Self> {
        Guarded::new(Self {
            stream,
            error: None,
        })
    }

    /// The code for the library.
    fn failed(&mut self, error: io::Error) -> c_int {
        self.error = Some(error);
        tamis_sys::TAMIS_EIO
    }

    /// The error of a call that has failed: that of the stream, if it was that.
    fn why(self, error: Error) -> Error {
        match self.error {
            Some(mine) if error.kind() == ErrorKind::Io => Error::new(
                ErrorKind::Io,
                format!("the stream of the filter cannot be read or written: {mine}"),
            ),
            _ => error,
        }
    }
}

unsafe extern "C" fn read<R: Read>(context: *mut c_void, buffer: *mut c_void, bytes: usize) -> i64 {
    // SAFETY: the context is that of a call that has not returned; the library has zeroed or filled the buffer before, or
    // zeros do no harm: a reader gets bytes that are initialized.
    let (guarded, buffer) = unsafe {
        std::ptr::write_bytes(buffer.cast::<u8>(), 0, bytes);
        (
            &mut *context.cast::<Guarded<Stream<R>>>(),
            std::slice::from_raw_parts_mut(buffer.cast::<u8>(), bytes),
        )
    };
    guarded.call(i64::from(tamis_sys::TAMIS_EIO), |source| loop {
        match source.stream.read(buffer) {
            Ok(count) => return i64::try_from(count.min(bytes)).unwrap_or(0),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return i64::from(source.failed(error)),
        }
    })
}

unsafe extern "C" fn write<W: Write>(
    context: *mut c_void,
    buffer: *const c_void,
    bytes: usize,
) -> c_int {
    // SAFETY: the context is that of a call that has not returned, and the bytes live during this one.
    let (guarded, bytes) = unsafe {
        (
            &mut *context.cast::<Guarded<Stream<W>>>(),
            std::slice::from_raw_parts(buffer.cast::<u8>(), bytes),
        )
    };
    guarded.call(tamis_sys::TAMIS_EIO, |sink| {
        match sink.stream.write_all(bytes) {
            Ok(()) => 0,
            Err(error) => sink.failed(error),
        }
    })
}

fn source<R: Read>(stream: &mut Guarded<Stream<R>>) -> tamis_sys::tamis_source {
    let mut source = sized!(tamis_source);
    source.read = Some(read::<R>);
    source.context = stream.context();
    source
}

impl Store {
    /// Makes a filter of what [`Filter::export`], the command `tamis export` or another program wrote, and opens it.
    pub fn import(
        &self,
        name: &str,
        format: &str,
        spec: &ImportSpec,
        from: impl Read,
    ) -> Result<Filter> {
        let (name, format, spec) = (c_name(name)?, c_text("the format", format)?, spec.raw()?);
        let mut stream = Stream::guarded(from);
        let source = source(&mut stream);
        let mut raw = std::ptr::null_mut();
        // SAFETY: all live during the call.
        let rc = unsafe {
            tamis_sys::tamis_filter_import(
                self.as_ptr(),
                name.as_ptr(),
                format.as_ptr(),
                &spec.raw,
                &source,
                &mut raw,
            )
        };
        let filter = Filter::opened(rc, raw, &self.shared);
        let stream = stream.end();
        filter.map_err(|error| stream.why(error))
    }

    /// Makes a stream the next generation of a filter, whatever that was, in one step; there need not be one.
    pub fn publish(
        &self,
        name: &str,
        format: &str,
        spec: &PublishSpec,
        from: impl Read,
    ) -> Result<Published> {
        let (name, format, import) = (
            c_name(name)?,
            c_text("the format", format)?,
            spec.import.raw()?,
        );
        let except: Vec<_> = spec.except.iter().map(|key| raw_key(key)).collect();
        let mut raw = sized!(tamis_publish_spec);
        raw.import = &import.raw;
        raw.except = except.as_ptr();
        raw.except_count = except.len() as u64;
        raw.flags = if spec.if_changed {
            tamis_sys::TAMIS_PUBLISH_IF_CHANGED
        } else {
            0
        };
        if spec.newer {
            raw.flags |= tamis_sys::TAMIS_PUBLISH_NEWER;
        }
        if let Some(keep) = spec.keep {
            raw.flags |= tamis_sys::TAMIS_PUBLISH_KEEP;
            raw.keep = keep;
        }
        let mut stream = Stream::guarded(from);
        let source = source(&mut stream);
        let mut result = sized!(tamis_publish_result);
        // SAFETY: all live during the call.
        let rc = check(unsafe {
            tamis_sys::tamis_filter_publish(
                self.as_ptr(),
                name.as_ptr(),
                format.as_ptr(),
                &raw,
                &source,
                &mut result,
            )
        });
        let stream = stream.end();
        Ok(Published {
            published: rc.map_err(|error| stream.why(error))? == 1,
            generation: result.generation,
            exceptions: result.exceptions,
            size_bytes: result.size_bytes,
            digest: result.digest,
        })
    }
}

impl Filter {
    /// Writes the filter as a stream of a format, such as "tamis".
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let store = tamis::Store::create(directory.path())?;
    /// # let seen = store.create_filter("seen", &tamis::Spec::new(1000))?;
    /// seen.add("https://example.com/")?;
    /// let mut stream = Vec::new();
    /// seen.export("tamis", tamis::ExportOptions::default(), &mut stream)?;
    /// let copy = store.import("copy", "tamis", &tamis::ImportSpec::default(), stream.as_slice())?;
    /// assert!(copy.contains("https://example.com/")?);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn export(&self, format: &str, options: ExportOptions, to: impl Write) -> Result<()> {
        let format = c_text("the format", format)?;
        let mut stream = Stream::guarded(to);
        let sink = sink(&mut stream);
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        let flags = flag(options.with_key, tamis_sys::TAMIS_EXPORT_WITH_KEY)
            | flag(
                options.without_exceptions,
                tamis_sys::TAMIS_EXPORT_WITHOUT_EXCEPTIONS,
            )
            | flag(options.with_digest, tamis_sys::TAMIS_EXPORT_WITH_DIGEST);
        // SAFETY: all live during the call.
        let rc = check(unsafe {
            tamis_sys::tamis_filter_export(self.as_ptr(), format.as_ptr(), flags, &sink)
        });
        let stream = stream.end();
        rc.map_err(|error| stream.why(error))?;
        Ok(())
    }
}

fn sink<W: Write>(stream: &mut Guarded<Stream<W>>) -> tamis_sys::tamis_sink {
    let mut sink = sized!(tamis_sink);
    sink.write = Some(write::<W>);
    sink.context = stream.context();
    sink
}
