// SPDX-License-Identifier: BSD-2-Clause

//go:build tamis_installed

// Package library links the C library that pkg-config knows.
package library

// #cgo pkg-config: tamis
import "C"

// Digest is empty: the go command knows nothing of an installed library.
const Digest = ""
