// SPDX-License-Identifier: BSD-2-Clause

//go:build !tamis_installed

// Package library links the C library.  Built in, it is libtamis.a beside this file, which `go generate` in the folder of the module
// makes of the sources around it; with the build tag tamis_installed it is the one that pkg-config knows.
package library

// #cgo LDFLAGS: ${SRCDIR}/libtamis.a -lm -lpthread
// #if __has_include("digest.h")
// #include "digest.h"
// #else
// #error the library is not built yet: run "go generate" in tools/go of Tamis, or install libtamis and build with -tags tamis_installed
// #endif
import "C"

// Digest is that of the archive.  It is here so that the go command links again when the archive is another.
const Digest = C.TAMIS_GO_LIBRARY
