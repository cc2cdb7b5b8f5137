// SPDX-License-Identifier: BSD-2-Clause

package main

// #cgo !tamis_installed CFLAGS: -I${SRCDIR}/../../../store/include
// #cgo tamis_installed pkg-config: tamis
// #cgo CFLAGS: -D_GNU_SOURCE -std=c11 -O2
// #include <stdlib.h>
// #include "tamis.h"
//
// /* C's own calls for all keys: one by one, or so many a batch. */
// static int64_t run(tamis_filter *filter, const struct tamis_key *keys, size_t count, size_t batch, int asks)
// {
//     static uint8_t answers[4096];
//     int64_t rc = 0;
//     for (size_t i = 0; i < count && rc >= 0; i += batch) {
//         const size_t some = count - i < batch ? count - i : batch;
//         if (batch > 1 && asks) rc = tamis_filter_contains_batch(filter, keys + i, some, answers);
//         else if (batch > 1) rc = tamis_filter_add_batch(filter, keys + i, some, answers);
//         else if (asks) rc = tamis_filter_contains(filter, keys[i].data, keys[i].bytes);
//         else rc = tamis_filter_add(filter, keys[i].data, keys[i].bytes);
//     }
//     return rc;
// }
import "C"

import (
	"log"
	"unsafe"
)

// library is C's own calls on a filter, for keys in memory of C.
type library struct {
	store  *C.tamis_store
	filter *C.tamis_filter
	keys   []C.struct_tamis_key
}

func newLibrary(urls []string) *library {
	l := &library{}
	l.keys = unsafe.Slice((*C.struct_tamis_key)(C.malloc(C.size_t(len(urls))*C.sizeof_struct_tamis_key)), len(urls))
	for i, url := range urls {
		l.keys[i] = C.struct_tamis_key{unsafe.Pointer(C.CString(url)), C.size_t(len(url))}
	}
	return l
}

func (l *library) open(path, name string) {
	where, filter := C.CString(path), C.CString(name)
	defer C.free(unsafe.Pointer(where))
	defer C.free(unsafe.Pointer(filter))
	if C.tamis_store_open(where, 0, &l.store) < 0 || C.tamis_filter_open(l.store, filter, 0, &l.filter) < 0 {
		log.Fatal(C.GoString(C.tamis_last_error()))
	}
}

func (l *library) close() {
	_ = C.tamis_filter_close(l.filter)
	C.tamis_store_close(l.store)
}

func (l *library) run(batch int, asks bool) {
	word := C.int(0)
	if asks {
		word = 1
	}
	if C.run(l.filter, &l.keys[0], C.size_t(len(l.keys)), C.size_t(batch), word) < 0 {
		log.Fatal(C.GoString(C.tamis_last_error()))
	}
}
