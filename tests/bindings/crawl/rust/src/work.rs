// SPDX-License-Identifier: BSD-2-Clause
//! The queue of ../README.md, for crawlers in Rust.
use std::error::Error;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use tamis::{Filter, Store};

const FILE_URLS: usize = 10;

pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

pub struct Work {
    queued: Filter,
    finished: Filter,
    directory: PathBuf,
    name: String,
    count: AtomicU64,
}

/// A file of the queue that this crawler has claimed, and those of its URLs that are to be fetched.
pub struct Claimed {
    path: PathBuf,
    pub urls: Vec<String>,
}

impl Work {
    pub fn begin(store: &Store, directory: &Path, name: &str) -> Result<Work> {
        let work = Work {
            queued: store.open_filter("queued")?,
            finished: store.open_filter("finished")?,
            directory: directory.to_path_buf(),
            name: name.to_string(),
            count: AtomicU64::new(0),
        };
        for part in ["claimed", "found"] {
            work.put_back(&directory.join(part).join(name))?;
        }
        Ok(work)
    }

    /// Gives back what a crawler of this name had when it was killed.
    fn put_back(&self, from: &Path) -> Result<()> {
        fs::create_dir_all(from)?;
        for file in fs::read_dir(from)? {
            let path = file?.path();
            if path.extension().is_some_and(|end| end == "new") {
                fs::remove_file(path)?;
            } else {
                fs::rename(&path, self.queue(&path))?;
            }
        }
        Ok(())
    }

    fn queue(&self, file: &Path) -> PathBuf {
        self.directory
            .join("queue")
            .join(file.file_name().unwrap_or_default())
    }

    /// Returns None where there is no file now.
    pub fn claim(&self) -> Result<Option<Claimed>> {
        let files: std::result::Result<Vec<_>, _> =
            fs::read_dir(self.directory.join("queue"))?.collect();
        let mut names: Vec<_> = files?.iter().map(fs::DirEntry::file_name).collect();
        names.sort();
        for name in names {
            let path = self.directory.join("claimed").join(&self.name).join(&name);
            match fs::rename(self.directory.join("queue").join(&name), &path) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue, // another crawler has it
                other => other?,
            }
            let text = fs::read_to_string(&path)?;
            let all: Vec<&str> = text.lines().collect();
            let done = self.finished.contains_many(&all)?;
            let urls = all
                .iter()
                .zip(done)
                .filter(|(_, done)| !done)
                .map(|(url, _)| (*url).to_string())
                .collect();
            return Ok(Some(Claimed { path, urls }));
        }
        Ok(None)
    }

    /// Brings the links that nobody has found before into the queue.
    pub fn put(&self, links: &[String]) -> Result<()> {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let file = format!("{}-{}-{count}", self.name, process::id());
        let found = self.directory.join("found").join(&self.name).join(&file);
        fs::write(&found, links.join("\n"))?;
        let answers = self.queued.add_many(links)?;
        let new: Vec<&str> = links
            .iter()
            .zip(answers)
            .filter(|(_, new)| *new)
            .map(|(link, _)| link.as_str())
            .collect();
        for (i, part) in new.chunks(FILE_URLS).enumerate() {
            let path = found.with_file_name(format!("{file}-{i}.new"));
            fs::write(&path, part.join("\n"))?;
            fs::rename(&path, self.queue(&path.with_extension("")))?;
        }
        Ok(fs::remove_file(found)?)
    }

    pub fn finish(&self, claimed: &Claimed) -> Result<()> {
        self.finished.add_many(&claimed.urls)?;
        Ok(fs::remove_file(&claimed.path)?)
    }

    /// Has no crawler anything, nor the queue?
    pub fn is_empty(&self) -> Result<bool> {
        let mut parts = vec![self.directory.join("queue")];
        for part in ["claimed", "found"] {
            for its in fs::read_dir(self.directory.join(part))? {
                parts.push(its?.path());
            }
        }
        for part in parts {
            if fs::read_dir(part)?.next().is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
