# SPDX-License-Identifier: BSD-2-Clause
"""ffi.py HEADER LIBRARY STORE: what tamis_ffi.h is for, from Python: the header parses, and the calls work."""
import sys

import cffi

header, library, path = sys.argv[1:]
ffi = cffi.FFI()
with open(header, encoding="utf-8") as file:
    ffi.cdef(file.read())
tamis = ffi.dlopen(library)


def done(rc):
    assert rc >= 0, ffi.string(tamis.tamis_last_error()).decode()
    return rc


def sized(name, **fields):
    struct = ffi.new(f"struct {name} *", fields)
    struct.size = ffi.sizeof(f"struct {name}")
    return struct


store, seen = ffi.new("tamis_store **"), ffi.new("tamis_filter **")
done(tamis.tamis_store_open(path.encode(), tamis.TAMIS_OPEN_CREATE, store))
spec = sized("tamis_filter_spec", capacity=1000, fp_rate=1e-6)
done(tamis.tamis_filter_create(store[0], b"seen", spec, seen))
assert done(tamis.tamis_filter_add(seen[0], b"a", 1)) == 1
assert done(tamis.tamis_filter_add(seen[0], b"a", 1)) == 0
assert done(tamis.tamis_filter_contains(seen[0], b"a", 1)) == 1
assert done(tamis.tamis_filter_contains(seen[0], b"b", 1)) == 0
texts = [ffi.new("char[]", b"%d" % i) for i in range(10)]
keys = ffi.new("struct tamis_key[]", [(text, 1) for text in texts])
answers = ffi.new("uint8_t[10]")
assert done(tamis.tamis_filter_add_batch(seen[0], keys, 10, answers)) == 10
stat = sized("tamis_filter_stat")
done(tamis.tamis_filter_stat(seen[0], stat))
assert ffi.string(stat.name) == b"seen" and stat.items == 11 and stat.capacity == 1000
assert stat.size == ffi.sizeof("struct tamis_filter_stat") and stat.fp_rate == 1e-6

names = []


@ffi.callback("int(void *, const struct tamis_filter_stat *)")
def listed(_, row):
    names.append(ffi.string(row.name))
    return 0


done(tamis.tamis_store_list(store[0], ffi.NULL, listed, ffi.NULL))
assert names == [b"seen"]
assert tamis.tamis_filter_stat(seen[0], ffi.new("struct tamis_filter_stat *")) == tamis.TAMIS_EINVAL
assert b"sizeof(struct tamis_filter_stat)" in ffi.string(tamis.tamis_last_error())
assert tamis.TAMIS_SEGMENT_PAST == 2**31
done(tamis.tamis_filter_close(seen[0]))
tamis.tamis_store_close(store[0])
print("cffi", cffi.__version__)
