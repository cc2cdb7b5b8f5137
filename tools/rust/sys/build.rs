// SPDX-License-Identifier: BSD-2-Clause
//! Finds libtamis by pkg-config, or compiles it with the feature `vendored`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "vendored")]
    vendored::build();
    #[cfg(not(feature = "vendored"))]
    if let Err(error) = pkg_config::Config::new()
        .atleast_version("0.1.0")
        .probe("tamis")
    {
        panic!(
            "pkg-config does not find an installed libtamis: install it (cmake --install), name its place in \
             PKG_CONFIG_PATH, or build it in by the feature `vendored`\n{error}"
        );
    }
}

#[cfg(feature = "vendored")]
mod vendored {
    use std::env;
    use std::fs;
    use std::path::{Path, PathBuf};

    /// The folder `store` of the sources: beside this crate in a package of it, or in the clone that it is in.
    fn sources() -> PathBuf {
        let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
        ["store", "../../../store"]
            .iter()
            .map(|place| here.join(place))
            .find(|place| place.join("include/tamis.h").is_file())
            .expect(
                "the sources of libtamis are neither beside this crate nor in a clone around it",
            )
    }

    fn files(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "c") {
                found.push(path);
            }
        }
    }

    fn is_x86_64() -> bool {
        env::var("CARGO_CFG_TARGET_ARCH").unwrap() == "x86_64"
    }

    /// What a file is compiled with besides, by its name, as store/CMakeLists.txt has it; None: not at all here.
    fn flags(file: &Path) -> Option<&'static [&'static str]> {
        const AVX2: &[&str] = &["-mavx2", "-mbmi", "-mbmi2"];
        const AVX512: &[&str] = &[
            "-mavx512f",
            "-mavx512bw",
            "-mavx512dq",
            "-mavx512vl",
            "-mbmi",
            "-mbmi2",
            "-mprefer-vector-width=512",
        ];
        let name = file.file_stem().unwrap().to_str().unwrap();
        let flags = match () {
            () if name.ends_with("_avx2") => AVX2,
            () if name.ends_with("_avx512") => AVX512,
            () => return Some(&[]),
        };
        is_x86_64().then_some(flags)
    }

    /// A library that the sources need.
    fn found(module: &str) -> pkg_config::Library {
        pkg_config::Config::new()
            .cargo_metadata(false)
            .probe(module)
            .unwrap_or_else(|error| {
                panic!("{module} is missing; install its development files\n{error}")
            })
    }

    /// Builds it in, where there is an archive of it, so that nothing of it is needed later.
    fn link(module: &str, library: &str) {
        let folder = pkg_config::get_variable(module, "libdir").unwrap_or_default();
        let archive = Path::new(&folder).join(format!("lib{library}.a"));
        let how = if archive.is_file() { "static" } else { "dylib" };
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:rustc-link-lib={how}={library}");
    }

    fn compiler(store: &Path, includes: &[PathBuf]) -> cc::Build {
        let mut build = cc::Build::new();
        build
            .std("c11")
            .include(store)
            .include(store.join("include"))
            .includes(includes)
            .define("_GNU_SOURCE", None)
            .define("_FILE_OFFSET_BITS", "64")
            .define(
                "TAMIS_WITH_SIP",
                Some(if cfg!(feature = "sip") { "1" } else { "0" }),
            )
            .define(
                "TAMIS_WITH_MD5",
                Some(if cfg!(feature = "md5") { "1" } else { "0" }),
            )
            .define("TAMIS_WITH_IDN", "0")
            .flag("-fvisibility=hidden")
            .flag("-ffp-contract=off")
            .warnings(false);
        // The loops are written for an optimizer; a debug build of a program has them as fast as a release.
        if env::var("TAMIS_SANITIZE").is_err() {
            build.opt_level(3).debug(false);
        } else {
            build.flag(format!(
                "-fsanitize={}",
                env::var("TAMIS_SANITIZE").unwrap()
            ));
        }
        build
    }

    pub fn build() {
        let store = fs::canonicalize(sources()).unwrap();
        println!("cargo:rerun-if-changed={}", store.display());
        println!("cargo:rerun-if-env-changed=TAMIS_SANITIZE");
        let mut libraries = vec![("lmdb", "lmdb")];
        if cfg!(feature = "sip") {
            libraries.push(("libsodium", "sodium"));
        }
        if cfg!(feature = "md5") {
            libraries.push(("libmd", "md"));
        }
        let mut includes = found("libxxhash").include_paths;
        for (module, _) in &libraries {
            includes.extend(found(module).include_paths);
        }
        let mut all = Vec::new();
        files(&store, &mut all);
        all.sort();
        // Each set of flags makes objects of its own; one archive holds all, for they call each other.
        let mut objects = Vec::new();
        let mut sets: Vec<(&[&str], Vec<PathBuf>)> = Vec::new();
        for file in all {
            let Some(flags) = flags(&file) else { continue };
            match sets.iter_mut().find(|(known, _)| *known == flags) {
                Some((_, files)) => files.push(file),
                None => sets.push((flags, vec![file])),
            }
        }
        for (flags, files) in &sets {
            let mut build = compiler(&store, &includes);
            for flag in *flags {
                build.flag(flag);
            }
            objects.extend(build.files(files).compile_intermediates());
        }
        compiler(&store, &includes)
            .objects(&objects)
            .compile("tamis");
        // Behind the archive, which needs them.
        for (module, library) in libraries {
            link(module, library);
        }
        println!("cargo:rustc-link-lib=pthread");
        println!("cargo:rustc-link-lib=m");
        println!("cargo:include={}", store.join("include").display());
    }
}
