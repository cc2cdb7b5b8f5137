-- SPDX-License-Identifier: BSD-2-Clause
-- ffi.lua HEADER LIBRARY STORE: the same from LuaJIT.  It refuses constants of more than 32 bits: with TAMIS_WINDOW_NS_MAX in the
-- header it says "malformed number".
local ffi = require("ffi")
local header, library, path = unpack(arg)
ffi.cdef(assert(io.open(header)):read("*a"))
local C = ffi.load(library)

local function done(code)
  if code < 0 then error(ffi.string(C.tamis_last_error())) end
  return code
end

local store, seen = ffi.new("tamis_store *[1]"), ffi.new("tamis_filter *[1]")
done(C.tamis_store_open(path, C.TAMIS_OPEN_CREATE, store))
local spec = ffi.new("struct tamis_filter_spec", {capacity = 1000, fp_rate = 1e-6})
spec.size = ffi.sizeof(spec)
done(C.tamis_filter_create(store[0], "seen", spec, seen))
assert(done(C.tamis_filter_add(seen[0], "a", 1)) == 1)
assert(done(C.tamis_filter_add(seen[0], "a", 1)) == 0)
assert(done(C.tamis_filter_contains(seen[0], "a", 1)) == 1)
assert(done(C.tamis_filter_contains(seen[0], "b", 1)) == 0)
assert(C.tamis_filter_open(store[0], "nothing", 0, seen) == C.TAMIS_ENOTFOUND)
