# SPDX-License-Identifier: BSD-2-Clause
# The addon.  scripts/library.js finds libtamis, or builds it.
{
    "targets": [
        {
            "target_name": "tamis",
            "sources": [
                "src/addon.cc",
                "src/arguments.cc",
                "src/build.cc",
                "src/exchange.cc",
                "src/filter.cc",
                "src/jobs.cc",
                "src/keys.cc",
                "src/library.cc",
                "src/store.cc",
                "src/values.cc",
                "src/watch.cc",
            ],
            "cflags": ["<!@(node scripts/library.js cflags)"],
            "cflags_cc": ["-std=c++17", "-fexceptions", "-fvisibility=hidden", "-Wall", "-Wextra"],
            "cflags_cc!": ["-fno-exceptions", "-std=gnu++17", "-std=gnu++20"],
            "defines": [
                "_GNU_SOURCE",
                "NAPI_VERSION=8",
                "NAPI_CPP_EXCEPTIONS",
                # A worker that is terminated cannot be thrown at any more.
                "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS",
            ],
            "ldflags": [
                # The library stays loaded, as tamis.h wants it: a worker thread that ends unloads its addons.
                "-Wl,-z,nodelete",
                # Another copy of the library in the process is no danger.
                "-Wl,--version-script=<(module_root_dir)/src/exports.map",
            ],
            "libraries": ["<!@(node scripts/library.js libs)"],
        }
    ]
}
