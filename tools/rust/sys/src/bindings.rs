// SPDX-License-Identifier: BSD-2-Clause
// Made of tamis_ffi.h by generate.sh.
// SHA-256 of the header 00aa4bc4f7223b1b195d2148711714919911dfa6f07e77f481a33901ae5ca472,
// of what follows 59d2d10fd6d6e97066276d3694c8abc4301d0e0e7a274e7d7be10546e74cbc5a
pub const TAMIS_OK: tamis_error = 0;
pub const TAMIS_EINVAL: tamis_error = -1;
pub const TAMIS_ENOTFOUND: tamis_error = -2;
pub const TAMIS_EEXIST: tamis_error = -3;
pub const TAMIS_EMISMATCH: tamis_error = -4;
pub const TAMIS_ENOSTORE: tamis_error = -5;
pub const TAMIS_EREADONLY: tamis_error = -6;
pub const TAMIS_EACCESS: tamis_error = -7;
pub const TAMIS_ENOSPACE: tamis_error = -8;
pub const TAMIS_ENOMEM: tamis_error = -9;
pub const TAMIS_EIO: tamis_error = -10;
pub const TAMIS_ECORRUPT: tamis_error = -11;
pub const TAMIS_EFOREIGN: tamis_error = -12;
pub const TAMIS_EVERSION: tamis_error = -13;
pub const TAMIS_EDROPPED: tamis_error = -14;
pub const TAMIS_EUNSUPPORTED: tamis_error = -15;
pub const TAMIS_ELIMIT: tamis_error = -16;
pub const TAMIS_ESYSTEM: tamis_error = -17;
pub const TAMIS_EFULL: tamis_error = -18;
pub const TAMIS_EBUSY: tamis_error = -19;
pub type tamis_error = ::core::ffi::c_int;
#[repr(C)]
#[derive(Debug)]
pub struct tamis_store {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct tamis_filter {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct tamis_watch {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct tamis_cursor {
    _unused: [u8; 0],
}
pub const TAMIS_KIND_DEFAULT: tamis_kind = 0;
pub const TAMIS_KIND_BLOCKED: tamis_kind = 1;
pub const TAMIS_KIND_BLOOM: tamis_kind = 2;
pub const TAMIS_KIND_COUNTING: tamis_kind = 3;
pub const TAMIS_KIND_FUSE: tamis_kind = 4;
pub type tamis_kind = ::core::ffi::c_uint;
pub const TAMIS_KIND_IS_STATIC: tamis_kind_property = 1;
pub const TAMIS_KIND_COUNTS: tamis_kind_property = 2;
pub const TAMIS_KIND_MAY_GROW: tamis_kind_property = 4;
pub const TAMIS_KIND_MAY_BE_DURABLE: tamis_kind_property = 8;
pub const TAMIS_KIND_IS_PLAIN: tamis_kind_property = 16;
pub type tamis_kind_property = ::core::ffi::c_uint;
pub const TAMIS_OPEN_READ_ONLY: tamis_open_flag = 16;
pub const TAMIS_OPEN_CREATE: tamis_open_flag = 32;
pub const TAMIS_OPEN_NO_SYNC: tamis_open_flag = 64;
pub const TAMIS_OPEN_POPULATE: tamis_open_flag = 128;
pub const TAMIS_OPEN_FORCE_NETWORK_FS: tamis_open_flag = 256;
pub type tamis_open_flag = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_filter_stat {
    pub size: usize,
    pub name: [::core::ffi::c_char; 256usize],
    pub hash_set: [::core::ffi::c_char; 192usize],
    pub kind: u32,
    pub k: u32,
    pub m_bits: u64,
    pub seed: u64,
    pub capacity: u64,
    pub fp_rate: f64,
    pub items: u64,
    pub size_bytes: u64,
    pub predicted_rate: f64,
    pub generation: u64,
    pub segment_count: u32,
    pub state: u32,
    pub created_at: i64,
    pub published_at: i64,
    pub checkpointed_at: i64,
    pub window_ns: i64,
    pub window_items: u64,
    pub slices: u32,
    pub on_full: u32,
    pub counter_bits: u32,
    pub fingerprint_bits: u32,
    pub exceptions: u64,
    pub keep: u32,
    pub flags: u32,
    pub unclean_since: i64,
    pub degraded_since: i64,
    pub bits_per_key: f64,
    pub live_slices: u64,
    pub room: u64,
    pub lacks_bytes: u64,
    pub new_keys: u64,
    pub pages: u64,
    pub imported_at: i64,
    pub imported_from: [::core::ffi::c_char; 80usize],
    pub imported_digest: [::core::ffi::c_char; 40usize],
    pub imported_signed_at: i64,
    pub imported_signed_by: [::core::ffi::c_char; 24usize],
    pub imported_signed_comment: [::core::ffi::c_char; 320usize],
    pub missing_keys: u64,
    pub key_rule: [::core::ffi::c_char; 512usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_filter_stat"][::core::mem::size_of::<tamis_filter_stat>() - 1672usize];
    ["Alignment of tamis_filter_stat"][::core::mem::align_of::<tamis_filter_stat>() - 8usize];
    ["Offset of field: tamis_filter_stat::size"]
        [::core::mem::offset_of!(tamis_filter_stat, size) - 0usize];
    ["Offset of field: tamis_filter_stat::name"]
        [::core::mem::offset_of!(tamis_filter_stat, name) - 8usize];
    ["Offset of field: tamis_filter_stat::hash_set"]
        [::core::mem::offset_of!(tamis_filter_stat, hash_set) - 264usize];
    ["Offset of field: tamis_filter_stat::kind"]
        [::core::mem::offset_of!(tamis_filter_stat, kind) - 456usize];
    ["Offset of field: tamis_filter_stat::k"]
        [::core::mem::offset_of!(tamis_filter_stat, k) - 460usize];
    ["Offset of field: tamis_filter_stat::m_bits"]
        [::core::mem::offset_of!(tamis_filter_stat, m_bits) - 464usize];
    ["Offset of field: tamis_filter_stat::seed"]
        [::core::mem::offset_of!(tamis_filter_stat, seed) - 472usize];
    ["Offset of field: tamis_filter_stat::capacity"]
        [::core::mem::offset_of!(tamis_filter_stat, capacity) - 480usize];
    ["Offset of field: tamis_filter_stat::fp_rate"]
        [::core::mem::offset_of!(tamis_filter_stat, fp_rate) - 488usize];
    ["Offset of field: tamis_filter_stat::items"]
        [::core::mem::offset_of!(tamis_filter_stat, items) - 496usize];
    ["Offset of field: tamis_filter_stat::size_bytes"]
        [::core::mem::offset_of!(tamis_filter_stat, size_bytes) - 504usize];
    ["Offset of field: tamis_filter_stat::predicted_rate"]
        [::core::mem::offset_of!(tamis_filter_stat, predicted_rate) - 512usize];
    ["Offset of field: tamis_filter_stat::generation"]
        [::core::mem::offset_of!(tamis_filter_stat, generation) - 520usize];
    ["Offset of field: tamis_filter_stat::segment_count"]
        [::core::mem::offset_of!(tamis_filter_stat, segment_count) - 528usize];
    ["Offset of field: tamis_filter_stat::state"]
        [::core::mem::offset_of!(tamis_filter_stat, state) - 532usize];
    ["Offset of field: tamis_filter_stat::created_at"]
        [::core::mem::offset_of!(tamis_filter_stat, created_at) - 536usize];
    ["Offset of field: tamis_filter_stat::published_at"]
        [::core::mem::offset_of!(tamis_filter_stat, published_at) - 544usize];
    ["Offset of field: tamis_filter_stat::checkpointed_at"]
        [::core::mem::offset_of!(tamis_filter_stat, checkpointed_at) - 552usize];
    ["Offset of field: tamis_filter_stat::window_ns"]
        [::core::mem::offset_of!(tamis_filter_stat, window_ns) - 560usize];
    ["Offset of field: tamis_filter_stat::window_items"]
        [::core::mem::offset_of!(tamis_filter_stat, window_items) - 568usize];
    ["Offset of field: tamis_filter_stat::slices"]
        [::core::mem::offset_of!(tamis_filter_stat, slices) - 576usize];
    ["Offset of field: tamis_filter_stat::on_full"]
        [::core::mem::offset_of!(tamis_filter_stat, on_full) - 580usize];
    ["Offset of field: tamis_filter_stat::counter_bits"]
        [::core::mem::offset_of!(tamis_filter_stat, counter_bits) - 584usize];
    ["Offset of field: tamis_filter_stat::fingerprint_bits"]
        [::core::mem::offset_of!(tamis_filter_stat, fingerprint_bits) - 588usize];
    ["Offset of field: tamis_filter_stat::exceptions"]
        [::core::mem::offset_of!(tamis_filter_stat, exceptions) - 592usize];
    ["Offset of field: tamis_filter_stat::keep"]
        [::core::mem::offset_of!(tamis_filter_stat, keep) - 600usize];
    ["Offset of field: tamis_filter_stat::flags"]
        [::core::mem::offset_of!(tamis_filter_stat, flags) - 604usize];
    ["Offset of field: tamis_filter_stat::unclean_since"]
        [::core::mem::offset_of!(tamis_filter_stat, unclean_since) - 608usize];
    ["Offset of field: tamis_filter_stat::degraded_since"]
        [::core::mem::offset_of!(tamis_filter_stat, degraded_since) - 616usize];
    ["Offset of field: tamis_filter_stat::bits_per_key"]
        [::core::mem::offset_of!(tamis_filter_stat, bits_per_key) - 624usize];
    ["Offset of field: tamis_filter_stat::live_slices"]
        [::core::mem::offset_of!(tamis_filter_stat, live_slices) - 632usize];
    ["Offset of field: tamis_filter_stat::room"]
        [::core::mem::offset_of!(tamis_filter_stat, room) - 640usize];
    ["Offset of field: tamis_filter_stat::lacks_bytes"]
        [::core::mem::offset_of!(tamis_filter_stat, lacks_bytes) - 648usize];
    ["Offset of field: tamis_filter_stat::new_keys"]
        [::core::mem::offset_of!(tamis_filter_stat, new_keys) - 656usize];
    ["Offset of field: tamis_filter_stat::pages"]
        [::core::mem::offset_of!(tamis_filter_stat, pages) - 664usize];
    ["Offset of field: tamis_filter_stat::imported_at"]
        [::core::mem::offset_of!(tamis_filter_stat, imported_at) - 672usize];
    ["Offset of field: tamis_filter_stat::imported_from"]
        [::core::mem::offset_of!(tamis_filter_stat, imported_from) - 680usize];
    ["Offset of field: tamis_filter_stat::imported_digest"]
        [::core::mem::offset_of!(tamis_filter_stat, imported_digest) - 760usize];
    ["Offset of field: tamis_filter_stat::imported_signed_at"]
        [::core::mem::offset_of!(tamis_filter_stat, imported_signed_at) - 800usize];
    ["Offset of field: tamis_filter_stat::imported_signed_by"]
        [::core::mem::offset_of!(tamis_filter_stat, imported_signed_by) - 808usize];
    ["Offset of field: tamis_filter_stat::imported_signed_comment"]
        [::core::mem::offset_of!(tamis_filter_stat, imported_signed_comment) - 832usize];
    ["Offset of field: tamis_filter_stat::missing_keys"]
        [::core::mem::offset_of!(tamis_filter_stat, missing_keys) - 1152usize];
    ["Offset of field: tamis_filter_stat::key_rule"]
        [::core::mem::offset_of!(tamis_filter_stat, key_rule) - 1160usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_segment_stat {
    pub size: usize,
    pub hash_set: [::core::ffi::c_char; 192usize],
    pub number: u64,
    pub kind: u32,
    pub k: u32,
    pub words: u32,
    pub bit_order: u32,
    pub m_bits: u64,
    pub seed: u64,
    pub capacity: u64,
    pub fp_rate: f64,
    pub items: u64,
    pub file_bytes: u64,
    pub data_offset: u64,
    pub data_bytes: u64,
    pub created_at: i64,
    pub ones: u64,
    pub fill: f64,
    pub fp_rate_now: f64,
    pub flags: u64,
    pub slice: u64,
    pub slice_start: i64,
    pub step: u32,
    pub counter_bits: u32,
    pub items_estimated: u64,
    pub fingerprint_bits: u32,
    pub pieces: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_segment_stat"][::core::mem::size_of::<tamis_segment_stat>() - 368usize];
    ["Alignment of tamis_segment_stat"][::core::mem::align_of::<tamis_segment_stat>() - 8usize];
    ["Offset of field: tamis_segment_stat::size"]
        [::core::mem::offset_of!(tamis_segment_stat, size) - 0usize];
    ["Offset of field: tamis_segment_stat::hash_set"]
        [::core::mem::offset_of!(tamis_segment_stat, hash_set) - 8usize];
    ["Offset of field: tamis_segment_stat::number"]
        [::core::mem::offset_of!(tamis_segment_stat, number) - 200usize];
    ["Offset of field: tamis_segment_stat::kind"]
        [::core::mem::offset_of!(tamis_segment_stat, kind) - 208usize];
    ["Offset of field: tamis_segment_stat::k"]
        [::core::mem::offset_of!(tamis_segment_stat, k) - 212usize];
    ["Offset of field: tamis_segment_stat::words"]
        [::core::mem::offset_of!(tamis_segment_stat, words) - 216usize];
    ["Offset of field: tamis_segment_stat::bit_order"]
        [::core::mem::offset_of!(tamis_segment_stat, bit_order) - 220usize];
    ["Offset of field: tamis_segment_stat::m_bits"]
        [::core::mem::offset_of!(tamis_segment_stat, m_bits) - 224usize];
    ["Offset of field: tamis_segment_stat::seed"]
        [::core::mem::offset_of!(tamis_segment_stat, seed) - 232usize];
    ["Offset of field: tamis_segment_stat::capacity"]
        [::core::mem::offset_of!(tamis_segment_stat, capacity) - 240usize];
    ["Offset of field: tamis_segment_stat::fp_rate"]
        [::core::mem::offset_of!(tamis_segment_stat, fp_rate) - 248usize];
    ["Offset of field: tamis_segment_stat::items"]
        [::core::mem::offset_of!(tamis_segment_stat, items) - 256usize];
    ["Offset of field: tamis_segment_stat::file_bytes"]
        [::core::mem::offset_of!(tamis_segment_stat, file_bytes) - 264usize];
    ["Offset of field: tamis_segment_stat::data_offset"]
        [::core::mem::offset_of!(tamis_segment_stat, data_offset) - 272usize];
    ["Offset of field: tamis_segment_stat::data_bytes"]
        [::core::mem::offset_of!(tamis_segment_stat, data_bytes) - 280usize];
    ["Offset of field: tamis_segment_stat::created_at"]
        [::core::mem::offset_of!(tamis_segment_stat, created_at) - 288usize];
    ["Offset of field: tamis_segment_stat::ones"]
        [::core::mem::offset_of!(tamis_segment_stat, ones) - 296usize];
    ["Offset of field: tamis_segment_stat::fill"]
        [::core::mem::offset_of!(tamis_segment_stat, fill) - 304usize];
    ["Offset of field: tamis_segment_stat::fp_rate_now"]
        [::core::mem::offset_of!(tamis_segment_stat, fp_rate_now) - 312usize];
    ["Offset of field: tamis_segment_stat::flags"]
        [::core::mem::offset_of!(tamis_segment_stat, flags) - 320usize];
    ["Offset of field: tamis_segment_stat::slice"]
        [::core::mem::offset_of!(tamis_segment_stat, slice) - 328usize];
    ["Offset of field: tamis_segment_stat::slice_start"]
        [::core::mem::offset_of!(tamis_segment_stat, slice_start) - 336usize];
    ["Offset of field: tamis_segment_stat::step"]
        [::core::mem::offset_of!(tamis_segment_stat, step) - 344usize];
    ["Offset of field: tamis_segment_stat::counter_bits"]
        [::core::mem::offset_of!(tamis_segment_stat, counter_bits) - 348usize];
    ["Offset of field: tamis_segment_stat::items_estimated"]
        [::core::mem::offset_of!(tamis_segment_stat, items_estimated) - 352usize];
    ["Offset of field: tamis_segment_stat::fingerprint_bits"]
        [::core::mem::offset_of!(tamis_segment_stat, fingerprint_bits) - 360usize];
    ["Offset of field: tamis_segment_stat::pieces"]
        [::core::mem::offset_of!(tamis_segment_stat, pieces) - 364usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_explanation {
    pub size: usize,
    pub hashes: *mut ::core::ffi::c_char,
    pub hashes_bytes: usize,
    pub positions: *mut u64,
    pub positions_max: usize,
    pub positions_count: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_explanation"][::core::mem::size_of::<tamis_explanation>() - 48usize];
    ["Alignment of tamis_explanation"][::core::mem::align_of::<tamis_explanation>() - 8usize];
    ["Offset of field: tamis_explanation::size"]
        [::core::mem::offset_of!(tamis_explanation, size) - 0usize];
    ["Offset of field: tamis_explanation::hashes"]
        [::core::mem::offset_of!(tamis_explanation, hashes) - 8usize];
    ["Offset of field: tamis_explanation::hashes_bytes"]
        [::core::mem::offset_of!(tamis_explanation, hashes_bytes) - 16usize];
    ["Offset of field: tamis_explanation::positions"]
        [::core::mem::offset_of!(tamis_explanation, positions) - 24usize];
    ["Offset of field: tamis_explanation::positions_max"]
        [::core::mem::offset_of!(tamis_explanation, positions_max) - 32usize];
    ["Offset of field: tamis_explanation::positions_count"]
        [::core::mem::offset_of!(tamis_explanation, positions_count) - 40usize];
};
pub type tamis_busy_fn = ::core::option::Option<
    unsafe extern "C" fn(
        context: *mut ::core::ffi::c_void,
        waited_ms: i64,
        holder: i64,
    ) -> ::core::ffi::c_int,
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_store_options {
    pub size: usize,
    pub flags: u32,
    pub mode: u32,
    pub busy_timeout_ms: i64,
    pub busy_fn: tamis_busy_fn,
    pub busy_context: *mut ::core::ffi::c_void,
    pub busy_every_ms: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_store_options"][::core::mem::size_of::<tamis_store_options>() - 48usize];
    ["Alignment of tamis_store_options"][::core::mem::align_of::<tamis_store_options>() - 8usize];
    ["Offset of field: tamis_store_options::size"]
        [::core::mem::offset_of!(tamis_store_options, size) - 0usize];
    ["Offset of field: tamis_store_options::flags"]
        [::core::mem::offset_of!(tamis_store_options, flags) - 8usize];
    ["Offset of field: tamis_store_options::mode"]
        [::core::mem::offset_of!(tamis_store_options, mode) - 12usize];
    ["Offset of field: tamis_store_options::busy_timeout_ms"]
        [::core::mem::offset_of!(tamis_store_options, busy_timeout_ms) - 16usize];
    ["Offset of field: tamis_store_options::busy_fn"]
        [::core::mem::offset_of!(tamis_store_options, busy_fn) - 24usize];
    ["Offset of field: tamis_store_options::busy_context"]
        [::core::mem::offset_of!(tamis_store_options, busy_context) - 32usize];
    ["Offset of field: tamis_store_options::busy_every_ms"]
        [::core::mem::offset_of!(tamis_store_options, busy_every_ms) - 40usize];
};
pub const TAMIS_EVENT_GREW: tamis_event_type = 1;
pub const TAMIS_EVENT_ROTATED: tamis_event_type = 2;
pub const TAMIS_EVENT_UNCLEAN: tamis_event_type = 3;
pub const TAMIS_EVENT_SLOW_SYNC: tamis_event_type = 4;
pub type tamis_event_type = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_event {
    pub size: usize,
    pub filter: *const ::core::ffi::c_char,
    pub ns: i64,
    pub type_: u32,
    pub segments: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_event"][::core::mem::size_of::<tamis_event>() - 32usize];
    ["Alignment of tamis_event"][::core::mem::align_of::<tamis_event>() - 8usize];
    ["Offset of field: tamis_event::size"][::core::mem::offset_of!(tamis_event, size) - 0usize];
    ["Offset of field: tamis_event::filter"][::core::mem::offset_of!(tamis_event, filter) - 8usize];
    ["Offset of field: tamis_event::ns"][::core::mem::offset_of!(tamis_event, ns) - 16usize];
    ["Offset of field: tamis_event::type_"][::core::mem::offset_of!(tamis_event, type_) - 24usize];
    ["Offset of field: tamis_event::segments"]
        [::core::mem::offset_of!(tamis_event, segments) - 28usize];
};
pub type tamis_event_fn = ::core::option::Option<
    unsafe extern "C" fn(context: *mut ::core::ffi::c_void, event: *const tamis_event),
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_store_stat {
    pub size: usize,
    pub path: *const ::core::ffi::c_char,
    pub id: u64,
    pub filters: u64,
    pub segments: u64,
    pub items: u64,
    pub size_bytes: u64,
    pub catalog_bytes: u64,
    pub free_bytes: u64,
    pub created_at: i64,
    pub state: u32,
    pub mode: u32,
    pub read_only: u32,
    pub format: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_store_stat"][::core::mem::size_of::<tamis_store_stat>() - 96usize];
    ["Alignment of tamis_store_stat"][::core::mem::align_of::<tamis_store_stat>() - 8usize];
    ["Offset of field: tamis_store_stat::size"]
        [::core::mem::offset_of!(tamis_store_stat, size) - 0usize];
    ["Offset of field: tamis_store_stat::path"]
        [::core::mem::offset_of!(tamis_store_stat, path) - 8usize];
    ["Offset of field: tamis_store_stat::id"]
        [::core::mem::offset_of!(tamis_store_stat, id) - 16usize];
    ["Offset of field: tamis_store_stat::filters"]
        [::core::mem::offset_of!(tamis_store_stat, filters) - 24usize];
    ["Offset of field: tamis_store_stat::segments"]
        [::core::mem::offset_of!(tamis_store_stat, segments) - 32usize];
    ["Offset of field: tamis_store_stat::items"]
        [::core::mem::offset_of!(tamis_store_stat, items) - 40usize];
    ["Offset of field: tamis_store_stat::size_bytes"]
        [::core::mem::offset_of!(tamis_store_stat, size_bytes) - 48usize];
    ["Offset of field: tamis_store_stat::catalog_bytes"]
        [::core::mem::offset_of!(tamis_store_stat, catalog_bytes) - 56usize];
    ["Offset of field: tamis_store_stat::free_bytes"]
        [::core::mem::offset_of!(tamis_store_stat, free_bytes) - 64usize];
    ["Offset of field: tamis_store_stat::created_at"]
        [::core::mem::offset_of!(tamis_store_stat, created_at) - 72usize];
    ["Offset of field: tamis_store_stat::state"]
        [::core::mem::offset_of!(tamis_store_stat, state) - 80usize];
    ["Offset of field: tamis_store_stat::mode"]
        [::core::mem::offset_of!(tamis_store_stat, mode) - 84usize];
    ["Offset of field: tamis_store_stat::read_only"]
        [::core::mem::offset_of!(tamis_store_stat, read_only) - 88usize];
    ["Offset of field: tamis_store_stat::format"]
        [::core::mem::offset_of!(tamis_store_stat, format) - 92usize];
};
pub type tamis_list_fn = ::core::option::Option<
    unsafe extern "C" fn(
        context: *mut ::core::ffi::c_void,
        stat: *const tamis_filter_stat,
    ) -> ::core::ffi::c_int,
>;
pub type tamis_unsynced_fn = ::core::option::Option<
    unsafe extern "C" fn(
        context: *mut ::core::ffi::c_void,
        name: *const ::core::ffi::c_char,
        error: ::core::ffi::c_int,
    ) -> ::core::ffi::c_int,
>;
pub const TAMIS_ON_FULL_DEFAULT: tamis_on_full = 0;
pub const TAMIS_ON_FULL_GROW: tamis_on_full = 1;
pub const TAMIS_ON_FULL_REFUSE: tamis_on_full = 2;
pub const TAMIS_ON_FULL_WARN: tamis_on_full = 3;
pub type tamis_on_full = ::core::ffi::c_uint;
pub const TAMIS_PAGES_AUTO: tamis_pages = 0;
pub const TAMIS_PAGES_SMALL: tamis_pages = 1;
pub const TAMIS_PAGES_HUGE: tamis_pages = 2;
pub type tamis_pages = ::core::ffi::c_uint;
pub const TAMIS_FILTER_DURABLE: tamis_filter_flag = 1;
pub const TAMIS_FILTER_OWNED: tamis_filter_flag = 2;
pub const TAMIS_FILTER_FROM_FIRST: tamis_filter_flag = 4;
pub type tamis_filter_flag = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_filter_spec {
    pub size: usize,
    pub capacity: u64,
    pub fp_rate: f64,
    pub kind: u32,
    pub k: u32,
    pub m_bits: u64,
    pub hash_set: *const ::core::ffi::c_char,
    pub seed: u64,
    pub on_full: u32,
    pub slices: u32,
    pub window_ns: i64,
    pub window_items: u64,
    pub counter_bits: u32,
    pub flags: u32,
    pub secret: [u8; 16usize],
    pub pages: u32,
    pub reserved: u32,
    pub key_rule: *const ::core::ffi::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_filter_spec"][::core::mem::size_of::<tamis_filter_spec>() - 120usize];
    ["Alignment of tamis_filter_spec"][::core::mem::align_of::<tamis_filter_spec>() - 8usize];
    ["Offset of field: tamis_filter_spec::size"]
        [::core::mem::offset_of!(tamis_filter_spec, size) - 0usize];
    ["Offset of field: tamis_filter_spec::capacity"]
        [::core::mem::offset_of!(tamis_filter_spec, capacity) - 8usize];
    ["Offset of field: tamis_filter_spec::fp_rate"]
        [::core::mem::offset_of!(tamis_filter_spec, fp_rate) - 16usize];
    ["Offset of field: tamis_filter_spec::kind"]
        [::core::mem::offset_of!(tamis_filter_spec, kind) - 24usize];
    ["Offset of field: tamis_filter_spec::k"]
        [::core::mem::offset_of!(tamis_filter_spec, k) - 28usize];
    ["Offset of field: tamis_filter_spec::m_bits"]
        [::core::mem::offset_of!(tamis_filter_spec, m_bits) - 32usize];
    ["Offset of field: tamis_filter_spec::hash_set"]
        [::core::mem::offset_of!(tamis_filter_spec, hash_set) - 40usize];
    ["Offset of field: tamis_filter_spec::seed"]
        [::core::mem::offset_of!(tamis_filter_spec, seed) - 48usize];
    ["Offset of field: tamis_filter_spec::on_full"]
        [::core::mem::offset_of!(tamis_filter_spec, on_full) - 56usize];
    ["Offset of field: tamis_filter_spec::slices"]
        [::core::mem::offset_of!(tamis_filter_spec, slices) - 60usize];
    ["Offset of field: tamis_filter_spec::window_ns"]
        [::core::mem::offset_of!(tamis_filter_spec, window_ns) - 64usize];
    ["Offset of field: tamis_filter_spec::window_items"]
        [::core::mem::offset_of!(tamis_filter_spec, window_items) - 72usize];
    ["Offset of field: tamis_filter_spec::counter_bits"]
        [::core::mem::offset_of!(tamis_filter_spec, counter_bits) - 80usize];
    ["Offset of field: tamis_filter_spec::flags"]
        [::core::mem::offset_of!(tamis_filter_spec, flags) - 84usize];
    ["Offset of field: tamis_filter_spec::secret"]
        [::core::mem::offset_of!(tamis_filter_spec, secret) - 88usize];
    ["Offset of field: tamis_filter_spec::pages"]
        [::core::mem::offset_of!(tamis_filter_spec, pages) - 104usize];
    ["Offset of field: tamis_filter_spec::reserved"]
        [::core::mem::offset_of!(tamis_filter_spec, reserved) - 108usize];
    ["Offset of field: tamis_filter_spec::key_rule"]
        [::core::mem::offset_of!(tamis_filter_spec, key_rule) - 112usize];
};
pub const TAMIS_MANY_IF_MISSING: tamis_many_flag = 512;
pub type tamis_many_flag = ::core::ffi::c_uint;
pub const TAMIS_ADD_AT_ONCE: tamis_add_wait = 0;
pub const TAMIS_ADD_WANTS_PREPARE: tamis_add_wait = 1;
pub const TAMIS_ADD_MAY_WAIT: tamis_add_wait = 2;
pub type tamis_add_wait = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_filter_mapped {
    pub size: usize,
    pub bytes: u64,
    pub present: u64,
    pub huge_bytes: u64,
    pub wanted: u32,
    pub reserved: u32,
    pub obstacle: *const ::core::ffi::c_char,
    pub mend: *const ::core::ffi::c_char,
    pub mend_command: *const ::core::ffi::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_filter_mapped"][::core::mem::size_of::<tamis_filter_mapped>() - 64usize];
    ["Alignment of tamis_filter_mapped"][::core::mem::align_of::<tamis_filter_mapped>() - 8usize];
    ["Offset of field: tamis_filter_mapped::size"]
        [::core::mem::offset_of!(tamis_filter_mapped, size) - 0usize];
    ["Offset of field: tamis_filter_mapped::bytes"]
        [::core::mem::offset_of!(tamis_filter_mapped, bytes) - 8usize];
    ["Offset of field: tamis_filter_mapped::present"]
        [::core::mem::offset_of!(tamis_filter_mapped, present) - 16usize];
    ["Offset of field: tamis_filter_mapped::huge_bytes"]
        [::core::mem::offset_of!(tamis_filter_mapped, huge_bytes) - 24usize];
    ["Offset of field: tamis_filter_mapped::wanted"]
        [::core::mem::offset_of!(tamis_filter_mapped, wanted) - 32usize];
    ["Offset of field: tamis_filter_mapped::reserved"]
        [::core::mem::offset_of!(tamis_filter_mapped, reserved) - 36usize];
    ["Offset of field: tamis_filter_mapped::obstacle"]
        [::core::mem::offset_of!(tamis_filter_mapped, obstacle) - 40usize];
    ["Offset of field: tamis_filter_mapped::mend"]
        [::core::mem::offset_of!(tamis_filter_mapped, mend) - 48usize];
    ["Offset of field: tamis_filter_mapped::mend_command"]
        [::core::mem::offset_of!(tamis_filter_mapped, mend_command) - 56usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_key {
    pub data: *const ::core::ffi::c_void,
    pub bytes: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_key"][::core::mem::size_of::<tamis_key>() - 16usize];
    ["Alignment of tamis_key"][::core::mem::align_of::<tamis_key>() - 8usize];
    ["Offset of field: tamis_key::data"][::core::mem::offset_of!(tamis_key, data) - 0usize];
    ["Offset of field: tamis_key::bytes"][::core::mem::offset_of!(tamis_key, bytes) - 8usize];
};
pub type tamis_exception_fn = ::core::option::Option<
    unsafe extern "C" fn(
        context: *mut ::core::ffi::c_void,
        key: *const tamis_key,
        generation: u64,
    ) -> ::core::ffi::c_int,
>;
#[repr(C)]
#[derive(Debug)]
pub struct tamis_build {
    _unused: [u8; 0],
}
pub const TAMIS_BUILD_IF_CHANGED: tamis_build_flag = 1024;
pub const TAMIS_BUILD_KEEP: tamis_build_flag = 2048;
pub const TAMIS_BUILD_MAX_SHRINK: tamis_build_flag = 4096;
pub type tamis_build_flag = ::core::ffi::c_uint;
pub const TAMIS_BUILD_READING: tamis_build_phase = 0;
pub const TAMIS_BUILD_SORTING: tamis_build_phase = 1;
pub const TAMIS_BUILD_MAKING: tamis_build_phase = 2;
pub const TAMIS_BUILD_VERIFYING: tamis_build_phase = 3;
pub const TAMIS_BUILD_PUBLISHING: tamis_build_phase = 4;
pub type tamis_build_phase = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_build_spec {
    pub size: usize,
    pub filter: *const tamis_filter_spec,
    pub memory_bytes: u64,
    pub threads: u32,
    pub flags: u32,
    pub keep: u32,
    pub progress: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ::core::ffi::c_void,
            phase: u32,
            done: u64,
            all: u64,
        ) -> ::core::ffi::c_int,
    >,
    pub context: *mut ::core::ffi::c_void,
    pub at_least: u64,
    pub max_shrink: f64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_build_spec"][::core::mem::size_of::<tamis_build_spec>() - 72usize];
    ["Alignment of tamis_build_spec"][::core::mem::align_of::<tamis_build_spec>() - 8usize];
    ["Offset of field: tamis_build_spec::size"]
        [::core::mem::offset_of!(tamis_build_spec, size) - 0usize];
    ["Offset of field: tamis_build_spec::filter"]
        [::core::mem::offset_of!(tamis_build_spec, filter) - 8usize];
    ["Offset of field: tamis_build_spec::memory_bytes"]
        [::core::mem::offset_of!(tamis_build_spec, memory_bytes) - 16usize];
    ["Offset of field: tamis_build_spec::threads"]
        [::core::mem::offset_of!(tamis_build_spec, threads) - 24usize];
    ["Offset of field: tamis_build_spec::flags"]
        [::core::mem::offset_of!(tamis_build_spec, flags) - 28usize];
    ["Offset of field: tamis_build_spec::keep"]
        [::core::mem::offset_of!(tamis_build_spec, keep) - 32usize];
    ["Offset of field: tamis_build_spec::progress"]
        [::core::mem::offset_of!(tamis_build_spec, progress) - 40usize];
    ["Offset of field: tamis_build_spec::context"]
        [::core::mem::offset_of!(tamis_build_spec, context) - 48usize];
    ["Offset of field: tamis_build_spec::at_least"]
        [::core::mem::offset_of!(tamis_build_spec, at_least) - 56usize];
    ["Offset of field: tamis_build_spec::max_shrink"]
        [::core::mem::offset_of!(tamis_build_spec, max_shrink) - 64usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_build_result {
    pub size: usize,
    pub keys: u64,
    pub distinct: u64,
    pub generation: u64,
    pub exceptions: u64,
    pub found: u64,
    pub conflicts: u64,
    pub sampled: u64,
    pub sampled_yes: u64,
    pub size_bytes: u64,
    pub key_digest: [u8; 16usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_build_result"][::core::mem::size_of::<tamis_build_result>() - 96usize];
    ["Alignment of tamis_build_result"][::core::mem::align_of::<tamis_build_result>() - 8usize];
    ["Offset of field: tamis_build_result::size"]
        [::core::mem::offset_of!(tamis_build_result, size) - 0usize];
    ["Offset of field: tamis_build_result::keys"]
        [::core::mem::offset_of!(tamis_build_result, keys) - 8usize];
    ["Offset of field: tamis_build_result::distinct"]
        [::core::mem::offset_of!(tamis_build_result, distinct) - 16usize];
    ["Offset of field: tamis_build_result::generation"]
        [::core::mem::offset_of!(tamis_build_result, generation) - 24usize];
    ["Offset of field: tamis_build_result::exceptions"]
        [::core::mem::offset_of!(tamis_build_result, exceptions) - 32usize];
    ["Offset of field: tamis_build_result::found"]
        [::core::mem::offset_of!(tamis_build_result, found) - 40usize];
    ["Offset of field: tamis_build_result::conflicts"]
        [::core::mem::offset_of!(tamis_build_result, conflicts) - 48usize];
    ["Offset of field: tamis_build_result::sampled"]
        [::core::mem::offset_of!(tamis_build_result, sampled) - 56usize];
    ["Offset of field: tamis_build_result::sampled_yes"]
        [::core::mem::offset_of!(tamis_build_result, sampled_yes) - 64usize];
    ["Offset of field: tamis_build_result::size_bytes"]
        [::core::mem::offset_of!(tamis_build_result, size_bytes) - 72usize];
    ["Offset of field: tamis_build_result::key_digest"]
        [::core::mem::offset_of!(tamis_build_result, key_digest) - 80usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_generation_stat {
    pub size: usize,
    pub generation: u64,
    pub in_force: u32,
    pub kind: u32,
    pub segment_count: u32,
    pub items: u64,
    pub size_bytes: u64,
    pub fp_rate: f64,
    pub exceptions: u64,
    pub published_at: i64,
    pub key_digest: [u8; 16usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_generation_stat"][::core::mem::size_of::<tamis_generation_stat>() - 88usize];
    ["Alignment of tamis_generation_stat"]
        [::core::mem::align_of::<tamis_generation_stat>() - 8usize];
    ["Offset of field: tamis_generation_stat::size"]
        [::core::mem::offset_of!(tamis_generation_stat, size) - 0usize];
    ["Offset of field: tamis_generation_stat::generation"]
        [::core::mem::offset_of!(tamis_generation_stat, generation) - 8usize];
    ["Offset of field: tamis_generation_stat::in_force"]
        [::core::mem::offset_of!(tamis_generation_stat, in_force) - 16usize];
    ["Offset of field: tamis_generation_stat::kind"]
        [::core::mem::offset_of!(tamis_generation_stat, kind) - 20usize];
    ["Offset of field: tamis_generation_stat::segment_count"]
        [::core::mem::offset_of!(tamis_generation_stat, segment_count) - 24usize];
    ["Offset of field: tamis_generation_stat::items"]
        [::core::mem::offset_of!(tamis_generation_stat, items) - 32usize];
    ["Offset of field: tamis_generation_stat::size_bytes"]
        [::core::mem::offset_of!(tamis_generation_stat, size_bytes) - 40usize];
    ["Offset of field: tamis_generation_stat::fp_rate"]
        [::core::mem::offset_of!(tamis_generation_stat, fp_rate) - 48usize];
    ["Offset of field: tamis_generation_stat::exceptions"]
        [::core::mem::offset_of!(tamis_generation_stat, exceptions) - 56usize];
    ["Offset of field: tamis_generation_stat::published_at"]
        [::core::mem::offset_of!(tamis_generation_stat, published_at) - 64usize];
    ["Offset of field: tamis_generation_stat::key_digest"]
        [::core::mem::offset_of!(tamis_generation_stat, key_digest) - 72usize];
};
pub type tamis_generation_fn = ::core::option::Option<
    unsafe extern "C" fn(
        context: *mut ::core::ffi::c_void,
        stat: *const tamis_generation_stat,
    ) -> ::core::ffi::c_int,
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_problem {
    pub size: usize,
    pub filter: *const ::core::ffi::c_char,
    pub file: *const ::core::ffi::c_char,
    pub offset: u64,
    pub error: ::core::ffi::c_int,
    pub reason: *const ::core::ffi::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_problem"][::core::mem::size_of::<tamis_problem>() - 48usize];
    ["Alignment of tamis_problem"][::core::mem::align_of::<tamis_problem>() - 8usize];
    ["Offset of field: tamis_problem::size"][::core::mem::offset_of!(tamis_problem, size) - 0usize];
    ["Offset of field: tamis_problem::filter"]
        [::core::mem::offset_of!(tamis_problem, filter) - 8usize];
    ["Offset of field: tamis_problem::file"]
        [::core::mem::offset_of!(tamis_problem, file) - 16usize];
    ["Offset of field: tamis_problem::offset"]
        [::core::mem::offset_of!(tamis_problem, offset) - 24usize];
    ["Offset of field: tamis_problem::error"]
        [::core::mem::offset_of!(tamis_problem, error) - 32usize];
    ["Offset of field: tamis_problem::reason"]
        [::core::mem::offset_of!(tamis_problem, reason) - 40usize];
};
pub type tamis_problem_fn = ::core::option::Option<
    unsafe extern "C" fn(
        context: *mut ::core::ffi::c_void,
        problem: *const tamis_problem,
    ) -> ::core::ffi::c_int,
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_verify_options {
    pub size: usize,
    pub fn_: tamis_problem_fn,
    pub progress: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ::core::ffi::c_void,
            done_bytes: u64,
            all_bytes: u64,
        ) -> ::core::ffi::c_int,
    >,
    pub context: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_verify_options"][::core::mem::size_of::<tamis_verify_options>() - 32usize];
    ["Alignment of tamis_verify_options"][::core::mem::align_of::<tamis_verify_options>() - 8usize];
    ["Offset of field: tamis_verify_options::size"]
        [::core::mem::offset_of!(tamis_verify_options, size) - 0usize];
    ["Offset of field: tamis_verify_options::fn_"]
        [::core::mem::offset_of!(tamis_verify_options, fn_) - 8usize];
    ["Offset of field: tamis_verify_options::progress"]
        [::core::mem::offset_of!(tamis_verify_options, progress) - 16usize];
    ["Offset of field: tamis_verify_options::context"]
        [::core::mem::offset_of!(tamis_verify_options, context) - 24usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_repair_step {
    pub size: usize,
    pub filter: *const ::core::ffi::c_char,
    pub file: *const ::core::ffi::c_char,
    pub error: ::core::ffi::c_int,
    pub what: *const ::core::ffi::c_char,
    pub mend: *const ::core::ffi::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_repair_step"][::core::mem::size_of::<tamis_repair_step>() - 48usize];
    ["Alignment of tamis_repair_step"][::core::mem::align_of::<tamis_repair_step>() - 8usize];
    ["Offset of field: tamis_repair_step::size"]
        [::core::mem::offset_of!(tamis_repair_step, size) - 0usize];
    ["Offset of field: tamis_repair_step::filter"]
        [::core::mem::offset_of!(tamis_repair_step, filter) - 8usize];
    ["Offset of field: tamis_repair_step::file"]
        [::core::mem::offset_of!(tamis_repair_step, file) - 16usize];
    ["Offset of field: tamis_repair_step::error"]
        [::core::mem::offset_of!(tamis_repair_step, error) - 24usize];
    ["Offset of field: tamis_repair_step::what"]
        [::core::mem::offset_of!(tamis_repair_step, what) - 32usize];
    ["Offset of field: tamis_repair_step::mend"]
        [::core::mem::offset_of!(tamis_repair_step, mend) - 40usize];
};
pub type tamis_repair_fn = ::core::option::Option<
    unsafe extern "C" fn(
        context: *mut ::core::ffi::c_void,
        step: *const tamis_repair_step,
    ) -> ::core::ffi::c_int,
>;
pub const TAMIS_REPAIR_DRY_RUN: tamis_repair_flag = 33554432;
pub const TAMIS_REPAIR_REBUILD: tamis_repair_flag = 67108864;
pub const TAMIS_REPAIR_FORCE_NETWORK_FS: tamis_repair_flag = 134217728;
pub type tamis_repair_flag = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_repair_options {
    pub size: usize,
    pub flags: u32,
    pub fn_: tamis_repair_fn,
    pub progress: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ::core::ffi::c_void,
            done_bytes: u64,
            all_bytes: u64,
        ) -> ::core::ffi::c_int,
    >,
    pub context: *mut ::core::ffi::c_void,
    pub from: *const ::core::ffi::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_repair_options"][::core::mem::size_of::<tamis_repair_options>() - 48usize];
    ["Alignment of tamis_repair_options"][::core::mem::align_of::<tamis_repair_options>() - 8usize];
    ["Offset of field: tamis_repair_options::size"]
        [::core::mem::offset_of!(tamis_repair_options, size) - 0usize];
    ["Offset of field: tamis_repair_options::flags"]
        [::core::mem::offset_of!(tamis_repair_options, flags) - 8usize];
    ["Offset of field: tamis_repair_options::fn_"]
        [::core::mem::offset_of!(tamis_repair_options, fn_) - 16usize];
    ["Offset of field: tamis_repair_options::progress"]
        [::core::mem::offset_of!(tamis_repair_options, progress) - 24usize];
    ["Offset of field: tamis_repair_options::context"]
        [::core::mem::offset_of!(tamis_repair_options, context) - 32usize];
    ["Offset of field: tamis_repair_options::from"]
        [::core::mem::offset_of!(tamis_repair_options, from) - 40usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_lost_file {
    pub size: usize,
    pub name: *const ::core::ffi::c_char,
    pub from: *const ::core::ffi::c_char,
    pub why: *const ::core::ffi::c_char,
    pub put_at: i64,
    pub bytes: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_lost_file"][::core::mem::size_of::<tamis_lost_file>() - 48usize];
    ["Alignment of tamis_lost_file"][::core::mem::align_of::<tamis_lost_file>() - 8usize];
    ["Offset of field: tamis_lost_file::size"]
        [::core::mem::offset_of!(tamis_lost_file, size) - 0usize];
    ["Offset of field: tamis_lost_file::name"]
        [::core::mem::offset_of!(tamis_lost_file, name) - 8usize];
    ["Offset of field: tamis_lost_file::from"]
        [::core::mem::offset_of!(tamis_lost_file, from) - 16usize];
    ["Offset of field: tamis_lost_file::why"]
        [::core::mem::offset_of!(tamis_lost_file, why) - 24usize];
    ["Offset of field: tamis_lost_file::put_at"]
        [::core::mem::offset_of!(tamis_lost_file, put_at) - 32usize];
    ["Offset of field: tamis_lost_file::bytes"]
        [::core::mem::offset_of!(tamis_lost_file, bytes) - 40usize];
};
pub type tamis_lost_fn = ::core::option::Option<
    unsafe extern "C" fn(
        context: *mut ::core::ffi::c_void,
        file: *const tamis_lost_file,
    ) -> ::core::ffi::c_int,
>;
pub const TAMIS_BACKUP_FOR_USE: tamis_backup_flag = 268435456;
pub type tamis_backup_flag = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_backup_options {
    pub size: usize,
    pub flags: u32,
    pub fn_: tamis_problem_fn,
    pub progress: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ::core::ffi::c_void,
            done_bytes: u64,
            all_bytes: u64,
        ) -> ::core::ffi::c_int,
    >,
    pub context: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_backup_options"][::core::mem::size_of::<tamis_backup_options>() - 40usize];
    ["Alignment of tamis_backup_options"][::core::mem::align_of::<tamis_backup_options>() - 8usize];
    ["Offset of field: tamis_backup_options::size"]
        [::core::mem::offset_of!(tamis_backup_options, size) - 0usize];
    ["Offset of field: tamis_backup_options::flags"]
        [::core::mem::offset_of!(tamis_backup_options, flags) - 8usize];
    ["Offset of field: tamis_backup_options::fn_"]
        [::core::mem::offset_of!(tamis_backup_options, fn_) - 16usize];
    ["Offset of field: tamis_backup_options::progress"]
        [::core::mem::offset_of!(tamis_backup_options, progress) - 24usize];
    ["Offset of field: tamis_backup_options::context"]
        [::core::mem::offset_of!(tamis_backup_options, context) - 32usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_backup_result {
    pub size: usize,
    pub filters: u64,
    pub left_out: u64,
    pub written_bytes: u64,
    pub kept_bytes: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_backup_result"][::core::mem::size_of::<tamis_backup_result>() - 40usize];
    ["Alignment of tamis_backup_result"][::core::mem::align_of::<tamis_backup_result>() - 8usize];
    ["Offset of field: tamis_backup_result::size"]
        [::core::mem::offset_of!(tamis_backup_result, size) - 0usize];
    ["Offset of field: tamis_backup_result::filters"]
        [::core::mem::offset_of!(tamis_backup_result, filters) - 8usize];
    ["Offset of field: tamis_backup_result::left_out"]
        [::core::mem::offset_of!(tamis_backup_result, left_out) - 16usize];
    ["Offset of field: tamis_backup_result::written_bytes"]
        [::core::mem::offset_of!(tamis_backup_result, written_bytes) - 24usize];
    ["Offset of field: tamis_backup_result::kept_bytes"]
        [::core::mem::offset_of!(tamis_backup_result, kept_bytes) - 32usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_source {
    pub size: usize,
    pub read: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ::core::ffi::c_void,
            buffer: *mut ::core::ffi::c_void,
            bytes: usize,
        ) -> i64,
    >,
    pub context: *mut ::core::ffi::c_void,
    pub bytes: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_source"][::core::mem::size_of::<tamis_source>() - 32usize];
    ["Alignment of tamis_source"][::core::mem::align_of::<tamis_source>() - 8usize];
    ["Offset of field: tamis_source::size"][::core::mem::offset_of!(tamis_source, size) - 0usize];
    ["Offset of field: tamis_source::read"][::core::mem::offset_of!(tamis_source, read) - 8usize];
    ["Offset of field: tamis_source::context"]
        [::core::mem::offset_of!(tamis_source, context) - 16usize];
    ["Offset of field: tamis_source::bytes"]
        [::core::mem::offset_of!(tamis_source, bytes) - 24usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_sink {
    pub size: usize,
    pub write: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ::core::ffi::c_void,
            buffer: *const ::core::ffi::c_void,
            bytes: usize,
        ) -> ::core::ffi::c_int,
    >,
    pub context: *mut ::core::ffi::c_void,
    pub from: u64,
    pub bytes: u64,
    pub all_bytes: *mut u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_sink"][::core::mem::size_of::<tamis_sink>() - 48usize];
    ["Alignment of tamis_sink"][::core::mem::align_of::<tamis_sink>() - 8usize];
    ["Offset of field: tamis_sink::size"][::core::mem::offset_of!(tamis_sink, size) - 0usize];
    ["Offset of field: tamis_sink::write"][::core::mem::offset_of!(tamis_sink, write) - 8usize];
    ["Offset of field: tamis_sink::context"]
        [::core::mem::offset_of!(tamis_sink, context) - 16usize];
    ["Offset of field: tamis_sink::from"][::core::mem::offset_of!(tamis_sink, from) - 24usize];
    ["Offset of field: tamis_sink::bytes"][::core::mem::offset_of!(tamis_sink, bytes) - 32usize];
    ["Offset of field: tamis_sink::all_bytes"]
        [::core::mem::offset_of!(tamis_sink, all_bytes) - 40usize];
};
pub const TAMIS_IMPORT_HEAD: tamis_import_flag = 131072;
pub const TAMIS_IMPORT_AS_THERE: tamis_import_flag = 262144;
pub const TAMIS_IMPORT_OWNED: tamis_import_flag = 524288;
pub const TAMIS_IMPORT_DURABLE: tamis_import_flag = 1048576;
pub type tamis_import_flag = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_import_spec {
    pub size: usize,
    pub hash_set: *const ::core::ffi::c_char,
    pub m_bits: u64,
    pub k: u32,
    pub capacity: u64,
    pub fp_rate: f64,
    pub seal_capacity: u64,
    pub seal_rate: f64,
    pub flags: u32,
    pub reserved: u32,
    pub created_at: i64,
    pub origin: *const ::core::ffi::c_char,
    pub signed_at: i64,
    pub signature: u64,
    pub signed_by: *const ::core::ffi::c_char,
    pub signed_comment: *const ::core::ffi::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_import_spec"][::core::mem::size_of::<tamis_import_spec>() - 120usize];
    ["Alignment of tamis_import_spec"][::core::mem::align_of::<tamis_import_spec>() - 8usize];
    ["Offset of field: tamis_import_spec::size"]
        [::core::mem::offset_of!(tamis_import_spec, size) - 0usize];
    ["Offset of field: tamis_import_spec::hash_set"]
        [::core::mem::offset_of!(tamis_import_spec, hash_set) - 8usize];
    ["Offset of field: tamis_import_spec::m_bits"]
        [::core::mem::offset_of!(tamis_import_spec, m_bits) - 16usize];
    ["Offset of field: tamis_import_spec::k"]
        [::core::mem::offset_of!(tamis_import_spec, k) - 24usize];
    ["Offset of field: tamis_import_spec::capacity"]
        [::core::mem::offset_of!(tamis_import_spec, capacity) - 32usize];
    ["Offset of field: tamis_import_spec::fp_rate"]
        [::core::mem::offset_of!(tamis_import_spec, fp_rate) - 40usize];
    ["Offset of field: tamis_import_spec::seal_capacity"]
        [::core::mem::offset_of!(tamis_import_spec, seal_capacity) - 48usize];
    ["Offset of field: tamis_import_spec::seal_rate"]
        [::core::mem::offset_of!(tamis_import_spec, seal_rate) - 56usize];
    ["Offset of field: tamis_import_spec::flags"]
        [::core::mem::offset_of!(tamis_import_spec, flags) - 64usize];
    ["Offset of field: tamis_import_spec::reserved"]
        [::core::mem::offset_of!(tamis_import_spec, reserved) - 68usize];
    ["Offset of field: tamis_import_spec::created_at"]
        [::core::mem::offset_of!(tamis_import_spec, created_at) - 72usize];
    ["Offset of field: tamis_import_spec::origin"]
        [::core::mem::offset_of!(tamis_import_spec, origin) - 80usize];
    ["Offset of field: tamis_import_spec::signed_at"]
        [::core::mem::offset_of!(tamis_import_spec, signed_at) - 88usize];
    ["Offset of field: tamis_import_spec::signature"]
        [::core::mem::offset_of!(tamis_import_spec, signature) - 96usize];
    ["Offset of field: tamis_import_spec::signed_by"]
        [::core::mem::offset_of!(tamis_import_spec, signed_by) - 104usize];
    ["Offset of field: tamis_import_spec::signed_comment"]
        [::core::mem::offset_of!(tamis_import_spec, signed_comment) - 112usize];
};
pub const TAMIS_PUBLISH_IF_CHANGED: tamis_publish_flag = 8192;
pub const TAMIS_PUBLISH_KEEP: tamis_publish_flag = 16384;
pub const TAMIS_PUBLISH_NEWER: tamis_publish_flag = 32768;
pub const TAMIS_PUBLISH_MAX_SHRINK: tamis_publish_flag = 65536;
pub type tamis_publish_flag = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_publish_spec {
    pub size: usize,
    pub import: *const tamis_import_spec,
    pub except: *const tamis_key,
    pub except_count: u64,
    pub flags: u32,
    pub keep: u32,
    pub at_least: u64,
    pub max_shrink: f64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_publish_spec"][::core::mem::size_of::<tamis_publish_spec>() - 56usize];
    ["Alignment of tamis_publish_spec"][::core::mem::align_of::<tamis_publish_spec>() - 8usize];
    ["Offset of field: tamis_publish_spec::size"]
        [::core::mem::offset_of!(tamis_publish_spec, size) - 0usize];
    ["Offset of field: tamis_publish_spec::import"]
        [::core::mem::offset_of!(tamis_publish_spec, import) - 8usize];
    ["Offset of field: tamis_publish_spec::except"]
        [::core::mem::offset_of!(tamis_publish_spec, except) - 16usize];
    ["Offset of field: tamis_publish_spec::except_count"]
        [::core::mem::offset_of!(tamis_publish_spec, except_count) - 24usize];
    ["Offset of field: tamis_publish_spec::flags"]
        [::core::mem::offset_of!(tamis_publish_spec, flags) - 32usize];
    ["Offset of field: tamis_publish_spec::keep"]
        [::core::mem::offset_of!(tamis_publish_spec, keep) - 36usize];
    ["Offset of field: tamis_publish_spec::at_least"]
        [::core::mem::offset_of!(tamis_publish_spec, at_least) - 40usize];
    ["Offset of field: tamis_publish_spec::max_shrink"]
        [::core::mem::offset_of!(tamis_publish_spec, max_shrink) - 48usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_publish_result {
    pub size: usize,
    pub generation: u64,
    pub exceptions: u64,
    pub size_bytes: u64,
    pub digest: [u8; 16usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_publish_result"][::core::mem::size_of::<tamis_publish_result>() - 48usize];
    ["Alignment of tamis_publish_result"][::core::mem::align_of::<tamis_publish_result>() - 8usize];
    ["Offset of field: tamis_publish_result::size"]
        [::core::mem::offset_of!(tamis_publish_result, size) - 0usize];
    ["Offset of field: tamis_publish_result::generation"]
        [::core::mem::offset_of!(tamis_publish_result, generation) - 8usize];
    ["Offset of field: tamis_publish_result::exceptions"]
        [::core::mem::offset_of!(tamis_publish_result, exceptions) - 16usize];
    ["Offset of field: tamis_publish_result::size_bytes"]
        [::core::mem::offset_of!(tamis_publish_result, size_bytes) - 24usize];
    ["Offset of field: tamis_publish_result::digest"]
        [::core::mem::offset_of!(tamis_publish_result, digest) - 32usize];
};
pub const TAMIS_EXPORT_WITH_KEY: tamis_export_flag = 2097152;
pub const TAMIS_EXPORT_WITHOUT_EXCEPTIONS: tamis_export_flag = 4194304;
pub const TAMIS_EXPORT_WITH_DIGEST: tamis_export_flag = 8388608;
pub type tamis_export_flag = ::core::ffi::c_uint;
pub const TAMIS_FIELD_MADE: tamis_field_type = 0;
pub const TAMIS_FIELD_TEXT: tamis_field_type = 1;
pub const TAMIS_FIELD_WORD: tamis_field_type = 2;
pub const TAMIS_FIELD_NUMBER: tamis_field_type = 3;
pub const TAMIS_FIELD_LIMIT: tamis_field_type = 4;
pub const TAMIS_FIELD_YES: tamis_field_type = 5;
pub const TAMIS_FIELD_REAL: tamis_field_type = 6;
pub const TAMIS_FIELD_TIME: tamis_field_type = 7;
pub const TAMIS_FIELD_SPAN: tamis_field_type = 8;
pub type tamis_field_type = ::core::ffi::c_uint;
pub const TAMIS_SUM_SAME: tamis_field_sum = 0;
pub const TAMIS_SUM_ADD: tamis_field_sum = 1;
pub const TAMIS_SUM_MEAN: tamis_field_sum = 2;
pub const TAMIS_SUM_MOST: tamis_field_sum = 3;
pub const TAMIS_SUM_EARLIEST: tamis_field_sum = 4;
pub const TAMIS_SUM_BITS: tamis_field_sum = 5;
pub type tamis_field_sum = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_field {
    pub size: usize,
    pub name: *const ::core::ffi::c_char,
    pub info_name: *const ::core::ffi::c_char,
    pub reply_name: *const ::core::ffi::c_char,
    pub unit: *const ::core::ffi::c_char,
    pub sentence: *const ::core::ffi::c_char,
    pub lacking: *const ::core::ffi::c_char,
    pub of: u32,
    pub number: u32,
    pub type_: u32,
    pub sum: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_field"][::core::mem::size_of::<tamis_field>() - 72usize];
    ["Alignment of tamis_field"][::core::mem::align_of::<tamis_field>() - 8usize];
    ["Offset of field: tamis_field::size"][::core::mem::offset_of!(tamis_field, size) - 0usize];
    ["Offset of field: tamis_field::name"][::core::mem::offset_of!(tamis_field, name) - 8usize];
    ["Offset of field: tamis_field::info_name"]
        [::core::mem::offset_of!(tamis_field, info_name) - 16usize];
    ["Offset of field: tamis_field::reply_name"]
        [::core::mem::offset_of!(tamis_field, reply_name) - 24usize];
    ["Offset of field: tamis_field::unit"][::core::mem::offset_of!(tamis_field, unit) - 32usize];
    ["Offset of field: tamis_field::sentence"]
        [::core::mem::offset_of!(tamis_field, sentence) - 40usize];
    ["Offset of field: tamis_field::lacking"]
        [::core::mem::offset_of!(tamis_field, lacking) - 48usize];
    ["Offset of field: tamis_field::of"][::core::mem::offset_of!(tamis_field, of) - 56usize];
    ["Offset of field: tamis_field::number"]
        [::core::mem::offset_of!(tamis_field, number) - 60usize];
    ["Offset of field: tamis_field::type_"][::core::mem::offset_of!(tamis_field, type_) - 64usize];
    ["Offset of field: tamis_field::sum"][::core::mem::offset_of!(tamis_field, sum) - 68usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_field_value {
    pub size: usize,
    pub text: *const ::core::ffi::c_char,
    pub number: u64,
    pub ns: i64,
    pub real: f64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_field_value"][::core::mem::size_of::<tamis_field_value>() - 40usize];
    ["Alignment of tamis_field_value"][::core::mem::align_of::<tamis_field_value>() - 8usize];
    ["Offset of field: tamis_field_value::size"]
        [::core::mem::offset_of!(tamis_field_value, size) - 0usize];
    ["Offset of field: tamis_field_value::text"]
        [::core::mem::offset_of!(tamis_field_value, text) - 8usize];
    ["Offset of field: tamis_field_value::number"]
        [::core::mem::offset_of!(tamis_field_value, number) - 16usize];
    ["Offset of field: tamis_field_value::ns"]
        [::core::mem::offset_of!(tamis_field_value, ns) - 24usize];
    ["Offset of field: tamis_field_value::real"]
        [::core::mem::offset_of!(tamis_field_value, real) - 32usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_error_details {
    pub size: usize,
    pub sentence: *const ::core::ffi::c_char,
    pub what: *const ::core::ffi::c_char,
    pub reason: *const ::core::ffi::c_char,
    pub mend: *const ::core::ffi::c_char,
    pub offset: u64,
    pub code: i32,
    pub system_error: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_error_details"][::core::mem::size_of::<tamis_error_details>() - 56usize];
    ["Alignment of tamis_error_details"][::core::mem::align_of::<tamis_error_details>() - 8usize];
    ["Offset of field: tamis_error_details::size"]
        [::core::mem::offset_of!(tamis_error_details, size) - 0usize];
    ["Offset of field: tamis_error_details::sentence"]
        [::core::mem::offset_of!(tamis_error_details, sentence) - 8usize];
    ["Offset of field: tamis_error_details::what"]
        [::core::mem::offset_of!(tamis_error_details, what) - 16usize];
    ["Offset of field: tamis_error_details::reason"]
        [::core::mem::offset_of!(tamis_error_details, reason) - 24usize];
    ["Offset of field: tamis_error_details::mend"]
        [::core::mem::offset_of!(tamis_error_details, mend) - 32usize];
    ["Offset of field: tamis_error_details::offset"]
        [::core::mem::offset_of!(tamis_error_details, offset) - 40usize];
    ["Offset of field: tamis_error_details::code"]
        [::core::mem::offset_of!(tamis_error_details, code) - 48usize];
    ["Offset of field: tamis_error_details::system_error"]
        [::core::mem::offset_of!(tamis_error_details, system_error) - 52usize];
};
pub const TAMIS_MERGE_INTERSECT: tamis_merge_flag = 16777216;
pub type tamis_merge_flag = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_merge {
    pub size: usize,
    pub sources: *const *mut tamis_filter,
    pub count: usize,
    pub flags: u32,
    pub progress: ::core::option::Option<
        unsafe extern "C" fn(
            context: *mut ::core::ffi::c_void,
            done_bytes: u64,
            all_bytes: u64,
        ) -> ::core::ffi::c_int,
    >,
    pub context: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_merge"][::core::mem::size_of::<tamis_merge>() - 48usize];
    ["Alignment of tamis_merge"][::core::mem::align_of::<tamis_merge>() - 8usize];
    ["Offset of field: tamis_merge::size"][::core::mem::offset_of!(tamis_merge, size) - 0usize];
    ["Offset of field: tamis_merge::sources"]
        [::core::mem::offset_of!(tamis_merge, sources) - 8usize];
    ["Offset of field: tamis_merge::count"][::core::mem::offset_of!(tamis_merge, count) - 16usize];
    ["Offset of field: tamis_merge::flags"][::core::mem::offset_of!(tamis_merge, flags) - 24usize];
    ["Offset of field: tamis_merge::progress"]
        [::core::mem::offset_of!(tamis_merge, progress) - 32usize];
    ["Offset of field: tamis_merge::context"]
        [::core::mem::offset_of!(tamis_merge, context) - 40usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_comparison {
    pub size: usize,
    pub items_a: f64,
    pub items_b: f64,
    pub items_union: f64,
    pub items_both: f64,
    pub jaccard: f64,
    pub error: f64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_comparison"][::core::mem::size_of::<tamis_comparison>() - 56usize];
    ["Alignment of tamis_comparison"][::core::mem::align_of::<tamis_comparison>() - 8usize];
    ["Offset of field: tamis_comparison::size"]
        [::core::mem::offset_of!(tamis_comparison, size) - 0usize];
    ["Offset of field: tamis_comparison::items_a"]
        [::core::mem::offset_of!(tamis_comparison, items_a) - 8usize];
    ["Offset of field: tamis_comparison::items_b"]
        [::core::mem::offset_of!(tamis_comparison, items_b) - 16usize];
    ["Offset of field: tamis_comparison::items_union"]
        [::core::mem::offset_of!(tamis_comparison, items_union) - 24usize];
    ["Offset of field: tamis_comparison::items_both"]
        [::core::mem::offset_of!(tamis_comparison, items_both) - 32usize];
    ["Offset of field: tamis_comparison::jaccard"]
        [::core::mem::offset_of!(tamis_comparison, jaccard) - 40usize];
    ["Offset of field: tamis_comparison::error"]
        [::core::mem::offset_of!(tamis_comparison, error) - 48usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tamis_sizing {
    pub size: usize,
    pub kind: u32,
    pub k: u32,
    pub capacity: u64,
    pub m_bits: u64,
    pub fp_rate: f64,
    pub predicted_rate: f64,
    pub bits_per_key: f64,
    pub data_bytes: u64,
    pub file_bytes: u64,
    pub words: u32,
    pub counter_bits: u32,
    pub fingerprint_bits: u32,
    pub pieces: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of tamis_sizing"][::core::mem::size_of::<tamis_sizing>() - 88usize];
    ["Alignment of tamis_sizing"][::core::mem::align_of::<tamis_sizing>() - 8usize];
    ["Offset of field: tamis_sizing::size"][::core::mem::offset_of!(tamis_sizing, size) - 0usize];
    ["Offset of field: tamis_sizing::kind"][::core::mem::offset_of!(tamis_sizing, kind) - 8usize];
    ["Offset of field: tamis_sizing::k"][::core::mem::offset_of!(tamis_sizing, k) - 12usize];
    ["Offset of field: tamis_sizing::capacity"]
        [::core::mem::offset_of!(tamis_sizing, capacity) - 16usize];
    ["Offset of field: tamis_sizing::m_bits"]
        [::core::mem::offset_of!(tamis_sizing, m_bits) - 24usize];
    ["Offset of field: tamis_sizing::fp_rate"]
        [::core::mem::offset_of!(tamis_sizing, fp_rate) - 32usize];
    ["Offset of field: tamis_sizing::predicted_rate"]
        [::core::mem::offset_of!(tamis_sizing, predicted_rate) - 40usize];
    ["Offset of field: tamis_sizing::bits_per_key"]
        [::core::mem::offset_of!(tamis_sizing, bits_per_key) - 48usize];
    ["Offset of field: tamis_sizing::data_bytes"]
        [::core::mem::offset_of!(tamis_sizing, data_bytes) - 56usize];
    ["Offset of field: tamis_sizing::file_bytes"]
        [::core::mem::offset_of!(tamis_sizing, file_bytes) - 64usize];
    ["Offset of field: tamis_sizing::words"]
        [::core::mem::offset_of!(tamis_sizing, words) - 72usize];
    ["Offset of field: tamis_sizing::counter_bits"]
        [::core::mem::offset_of!(tamis_sizing, counter_bits) - 76usize];
    ["Offset of field: tamis_sizing::fingerprint_bits"]
        [::core::mem::offset_of!(tamis_sizing, fingerprint_bits) - 80usize];
    ["Offset of field: tamis_sizing::pieces"]
        [::core::mem::offset_of!(tamis_sizing, pieces) - 84usize];
};
pub const TAMIS_KEEP_DEFAULT: tamis_constants = 1;
pub const TAMIS_KEEP_MAX: tamis_constants = 1000;
pub const TAMIS_FIELDS_FILTER: tamis_constants = 1;
pub const TAMIS_FIELDS_SEGMENT: tamis_constants = 2;
pub const TAMIS_SHOWN_ANYWHERE: tamis_constants = 0;
pub const TAMIS_SHOWN_BY_INFO: tamis_constants = 1;
pub const TAMIS_SHOWN_BY_REPLY: tamis_constants = 2;
pub const TAMIS_SHOWN_BY_BINDINGS: tamis_constants = 3;
pub const TAMIS_SLICES_MAX: tamis_constants = 32;
pub const TAMIS_SLICE_NS_MIN: tamis_constants = 100000000;
pub const TAMIS_SECRET_BYTES: tamis_constants = 16;
pub const TAMIS_ANSWER_REFUSED: tamis_constants = 2;
pub const TAMIS_EXCEPTIONS_MAX: tamis_constants = 10000000;
pub const TAMIS_EXCEPTION_BYTES_MAX: tamis_constants = 65535;
pub const TAMIS_SHARD_SEED: tamis_constants = 1;
pub const TAMIS_ID_NAME_BYTES: tamis_constants = 40;
pub const TAMIS_LABELS_MAX: tamis_constants = 1000;
pub const TAMIS_MEMORY_SEGMENTS_MAX: tamis_constants = 64;
pub const TAMIS_IMPORTED_FROM_BYTES: tamis_constants = 80;
pub const TAMIS_SIGNED_BY_BYTES: tamis_constants = 24;
pub const TAMIS_SIGNED_COMMENT_BYTES: tamis_constants = 320;
pub const TAMIS_STATE_FULL: tamis_constants = 1;
pub const TAMIS_STATE_DEGRADED: tamis_constants = 2;
pub const TAMIS_STATE_UNCLEAN: tamis_constants = 4;
pub const TAMIS_STATE_DAMAGED: tamis_constants = 8;
pub const TAMIS_STATE_OVER: tamis_constants = 16;
pub const TAMIS_SEGMENT_ITEMS_ESTIMATED: tamis_constants = 1;
pub const TAMIS_SEGMENT_SEALED: tamis_constants = 1073741824;
pub const TAMIS_SEGMENT_PAST: tamis_constants = 2147483648;
pub const TAMIS_SEGMENT_FILE_BYTES: tamis_constants = 48;
pub const TAMIS_BUSY_TIMEOUT_DEFAULT: tamis_constants = 10000;
pub const TAMIS_BUSY_TIMEOUT_MAX: tamis_constants = 86400000;
pub const TAMIS_SLOW_SYNC_NS: tamis_constants = 1000000000;
pub const TAMIS_VERSION_MAJOR: tamis_constants = 0;
pub const TAMIS_VERSION_MINOR: tamis_constants = 1;
pub const TAMIS_VERSION_PATCH: tamis_constants = 0;
pub const TAMIS_NAME_MAX: tamis_constants = 255;
pub const TAMIS_KEY_RULE_MAX: tamis_constants = 511;
pub const TAMIS_K_MAX: tamis_constants = 64;
pub const TAMIS_HASH_SET_NAME_MAX: tamis_constants = 191;
pub const TAMIS_ID_BYTES: tamis_constants = 16;
pub type tamis_constants = ::core::ffi::c_uint;
extern "C" {
    pub fn tamis_filter_stat(
        filter: *mut tamis_filter,
        stat: *mut tamis_filter_stat,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_items(filter: *mut tamis_filter) -> i64;
    pub fn tamis_filter_segment(
        filter: *mut tamis_filter,
        index: u32,
        stat: *mut tamis_segment_stat,
    ) -> ::core::ffi::c_int;
    pub fn tamis_segment_file(
        number: u64,
        text: *mut ::core::ffi::c_char,
    ) -> *mut ::core::ffi::c_char;
    pub fn tamis_filter_fill(
        filter: *mut tamis_filter,
        index: u32,
        stat: *mut tamis_segment_stat,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_fill_map(
        filter: *mut tamis_filter,
        index: u32,
        fill: *mut f64,
        count: usize,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_explain(
        filter: *mut tamis_filter,
        index: u32,
        key: *const ::core::ffi::c_void,
        key_bytes: usize,
        explanation: *mut tamis_explanation,
    ) -> ::core::ffi::c_int;
    pub fn tamis_explain(
        hash_set: *const ::core::ffi::c_char,
        m_bits: u64,
        k: u32,
        seed: u64,
        key: *const ::core::ffi::c_void,
        key_bytes: usize,
        explanation: *mut tamis_explanation,
    ) -> ::core::ffi::c_int;
    pub fn tamis_store_open(
        path: *const ::core::ffi::c_char,
        flags: u32,
        store: *mut *mut tamis_store,
    ) -> ::core::ffi::c_int;
    pub fn tamis_store_open_with(
        path: *const ::core::ffi::c_char,
        options: *const tamis_store_options,
        store: *mut *mut tamis_store,
    ) -> ::core::ffi::c_int;
    pub fn tamis_store_set_busy_timeout(
        store: *mut tamis_store,
        milliseconds: i64,
    ) -> ::core::ffi::c_int;
    pub fn tamis_store_set_busy_callback(
        store: *mut tamis_store,
        fn_: tamis_busy_fn,
        context: *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int;
    pub fn tamis_store_set_event_callback(
        store: *mut tamis_store,
        fn_: tamis_event_fn,
        context: *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int;
    pub fn tamis_store_close(store: *mut tamis_store);
    pub fn tamis_store_stat(
        store: *mut tamis_store,
        stat: *mut tamis_store_stat,
    ) -> ::core::ffi::c_int;
    pub fn tamis_store_list(
        store: *mut tamis_store,
        prefix: *const ::core::ffi::c_char,
        fn_: tamis_list_fn,
        context: *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int;
    pub fn tamis_store_list_live(
        store: *mut tamis_store,
        prefix: *const ::core::ffi::c_char,
        fn_: tamis_list_fn,
        context: *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int;
    pub fn tamis_cursor_open(
        store: *mut tamis_store,
        prefix: *const ::core::ffi::c_char,
        cursor: *mut *mut tamis_cursor,
    ) -> ::core::ffi::c_int;
    pub fn tamis_cursor_next(
        cursor: *mut tamis_cursor,
        stat: *mut tamis_filter_stat,
    ) -> ::core::ffi::c_int;
    pub fn tamis_cursor_close(cursor: *mut tamis_cursor);
    pub fn tamis_store_sync(
        store: *mut tamis_store,
        names: *const *const ::core::ffi::c_char,
        count: usize,
        fn_: tamis_unsynced_fn,
        context: *mut ::core::ffi::c_void,
    ) -> i64;
    pub fn tamis_watch_new(
        store: *mut tamis_store,
        prefix: *const ::core::ffi::c_char,
        watch: *mut *mut tamis_watch,
    ) -> ::core::ffi::c_int;
    pub fn tamis_watch_look(
        watch: *mut tamis_watch,
        fn_: tamis_list_fn,
        context: *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int;
    pub fn tamis_watch_free(watch: *mut tamis_watch);
    pub fn tamis_hash_set_weakness(
        hash_set: *const ::core::ffi::c_char,
    ) -> *const ::core::ffi::c_char;
    pub fn tamis_key_form(
        key_rule: *const ::core::ffi::c_char,
        key: *const ::core::ffi::c_void,
        key_bytes: usize,
        form: *mut ::core::ffi::c_void,
        form_bytes: usize,
    ) -> i64;
    pub fn tamis_on_full_name(on_full: u32) -> *const ::core::ffi::c_char;
    pub fn tamis_pages_name(pages: u32) -> *const ::core::ffi::c_char;
    pub fn tamis_filter_check(
        store_path: *const ::core::ffi::c_char,
        name: *const ::core::ffi::c_char,
        spec: *const tamis_filter_spec,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_plan(
        spec: *const tamis_filter_spec,
        step: u32,
        sizing: *mut tamis_sizing,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_create(
        store: *mut tamis_store,
        name: *const ::core::ffi::c_char,
        spec: *const tamis_filter_spec,
        filter: *mut *mut tamis_filter,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_create_many(
        store: *mut tamis_store,
        names: *const *const ::core::ffi::c_char,
        count: usize,
        spec: *const tamis_filter_spec,
        flags: u32,
    ) -> i64;
    pub fn tamis_filter_open(
        store: *mut tamis_store,
        name: *const ::core::ffi::c_char,
        flags: u32,
        filter: *mut *mut tamis_filter,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_exists(
        store: *mut tamis_store,
        name: *const ::core::ffi::c_char,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_open_at(
        path: *const ::core::ffi::c_char,
        options: *const tamis_store_options,
        name: *const ::core::ffi::c_char,
        flags: u32,
        filter: *mut *mut tamis_filter,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_store(filter: *mut tamis_filter) -> *mut tamis_store;
    pub fn tamis_filter_created_at(filter: *const tamis_filter) -> i64;
    pub fn tamis_filter_open_or_create(
        store: *mut tamis_store,
        name: *const ::core::ffi::c_char,
        spec: *const tamis_filter_spec,
        filter: *mut *mut tamis_filter,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_close(filter: *mut tamis_filter) -> ::core::ffi::c_int;
    pub fn tamis_filter_release(filter: *mut tamis_filter);
    pub fn tamis_filter_may_wait(filter: *mut tamis_filter, keys: usize) -> ::core::ffi::c_int;
    pub fn tamis_filter_prepare(filter: *mut tamis_filter, keys: u64) -> ::core::ffi::c_int;
    pub fn tamis_filter_drop(
        store: *mut tamis_store,
        name: *const ::core::ffi::c_char,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_drop_many(
        store: *mut tamis_store,
        names: *const *const ::core::ffi::c_char,
        created_at: *const i64,
        count: usize,
    ) -> i64;
    pub fn tamis_filter_rename(
        store: *mut tamis_store,
        old_name: *const ::core::ffi::c_char,
        new_name: *const ::core::ffi::c_char,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_set_owned(
        store: *mut tamis_store,
        name: *const ::core::ffi::c_char,
        owned: ::core::ffi::c_int,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_set_pages(
        store: *mut tamis_store,
        name: *const ::core::ffi::c_char,
        pages: u32,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_mapped(
        filter: *mut tamis_filter,
        mapped: *mut tamis_filter_mapped,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_rotate(filter: *mut tamis_filter) -> ::core::ffi::c_int;
    pub fn tamis_filter_sync(filter: *mut tamis_filter) -> ::core::ffi::c_int;
    pub fn tamis_filter_set_sync_interval(
        filter: *mut tamis_filter,
        interval_ns: i64,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_accept(filter: *mut tamis_filter) -> ::core::ffi::c_int;
    pub fn tamis_filter_add(
        filter: *mut tamis_filter,
        key: *const ::core::ffi::c_void,
        key_bytes: usize,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_contains(
        filter: *mut tamis_filter,
        key: *const ::core::ffi::c_void,
        key_bytes: usize,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_add_batch(
        filter: *mut tamis_filter,
        keys: *const tamis_key,
        count: usize,
        answers: *mut u8,
    ) -> i64;
    pub fn tamis_filter_contains_batch(
        filter: *mut tamis_filter,
        keys: *const tamis_key,
        count: usize,
        answers: *mut u8,
    ) -> i64;
    pub fn tamis_filter_prefetch(
        filter: *mut tamis_filter,
        key: *const ::core::ffi::c_void,
        key_bytes: usize,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_contains_name(
        filter: *mut tamis_filter,
        name: *const ::core::ffi::c_void,
        name_bytes: usize,
        offset: *mut usize,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filters_contains_batch(
        filters: *const *mut tamis_filter,
        filter_count: usize,
        keys: *const tamis_key,
        count: usize,
        answers: *mut u8,
    ) -> i64;
    pub fn tamis_filter_remove(
        filter: *mut tamis_filter,
        key: *const ::core::ffi::c_void,
        key_bytes: usize,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_count(
        filter: *mut tamis_filter,
        key: *const ::core::ffi::c_void,
        key_bytes: usize,
    ) -> i64;
    pub fn tamis_filter_remove_batch(
        filter: *mut tamis_filter,
        keys: *const tamis_key,
        count: usize,
        answers: *mut u8,
    ) -> i64;
    pub fn tamis_filter_count_batch(
        filter: *mut tamis_filter,
        keys: *const tamis_key,
        count: usize,
        counts: *mut u64,
    ) -> i64;
    pub fn tamis_filter_except(
        store: *mut tamis_store,
        name: *const ::core::ffi::c_char,
        keys: *const tamis_key,
        count: usize,
    ) -> i64;
    pub fn tamis_filter_unexcept(
        store: *mut tamis_store,
        name: *const ::core::ffi::c_char,
        keys: *const tamis_key,
        count: usize,
        answers: *mut u8,
    ) -> i64;
    pub fn tamis_filter_exceptions(
        store: *mut tamis_store,
        name: *const ::core::ffi::c_char,
        fn_: tamis_exception_fn,
        context: *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_each_exception(
        filter: *mut tamis_filter,
        fn_: tamis_exception_fn,
        context: *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int;
    pub fn tamis_shard(key: *const ::core::ffi::c_void, key_bytes: usize, shards: u32) -> u32;
    pub fn tamis_build_begin(
        store: *mut tamis_store,
        name: *const ::core::ffi::c_char,
        spec: *const tamis_build_spec,
        build: *mut *mut tamis_build,
    ) -> ::core::ffi::c_int;
    pub fn tamis_build_add(
        build: *mut tamis_build,
        keys: *const tamis_key,
        count: usize,
    ) -> ::core::ffi::c_int;
    pub fn tamis_build_against(
        build: *mut tamis_build,
        keys: *const tamis_key,
        count: usize,
    ) -> ::core::ffi::c_int;
    pub fn tamis_build_except(
        build: *mut tamis_build,
        keys: *const tamis_key,
        count: usize,
    ) -> ::core::ffi::c_int;
    pub fn tamis_build_publish(
        build: *mut tamis_build,
        result: *mut tamis_build_result,
    ) -> ::core::ffi::c_int;
    pub fn tamis_build_close(build: *mut tamis_build);
    pub fn tamis_filter_generations(
        store: *mut tamis_store,
        name: *const ::core::ffi::c_char,
        fn_: tamis_generation_fn,
        context: *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_rollback(
        store: *mut tamis_store,
        name: *const ::core::ffi::c_char,
        generation: u64,
    ) -> ::core::ffi::c_int;
    pub fn tamis_store_verify(
        store: *mut tamis_store,
        name: *const ::core::ffi::c_char,
        fn_: tamis_problem_fn,
        context: *mut ::core::ffi::c_void,
    ) -> i64;
    pub fn tamis_store_verify_with(
        store: *mut tamis_store,
        name: *const ::core::ffi::c_char,
        options: *const tamis_verify_options,
    ) -> i64;
    pub fn tamis_store_repair(
        path: *const ::core::ffi::c_char,
        flags: u32,
        fn_: tamis_repair_fn,
        context: *mut ::core::ffi::c_void,
    ) -> i64;
    pub fn tamis_store_repair_with(
        path: *const ::core::ffi::c_char,
        options: *const tamis_repair_options,
    ) -> i64;
    pub fn tamis_store_lost(
        path: *const ::core::ffi::c_char,
        fn_: tamis_lost_fn,
        context: *mut ::core::ffi::c_void,
    ) -> i64;
    pub fn tamis_store_restore_lost(
        path: *const ::core::ffi::c_char,
        name: *const ::core::ffi::c_char,
    ) -> ::core::ffi::c_int;
    pub fn tamis_store_forget_lost(path: *const ::core::ffi::c_char, age_ns: i64) -> i64;
    pub fn tamis_store_backup(
        store: *mut tamis_store,
        path: *const ::core::ffi::c_char,
        progress: ::core::option::Option<
            unsafe extern "C" fn(
                context: *mut ::core::ffi::c_void,
                done_bytes: u64,
                all_bytes: u64,
            ) -> ::core::ffi::c_int,
        >,
        context: *mut ::core::ffi::c_void,
    ) -> i64;
    pub fn tamis_store_backup_with(
        store: *mut tamis_store,
        path: *const ::core::ffi::c_char,
        options: *const tamis_backup_options,
        result: *mut tamis_backup_result,
    ) -> i64;
    pub fn tamis_format_name(index: u32) -> *const ::core::ffi::c_char;
    pub fn tamis_filter_import(
        store: *mut tamis_store,
        name: *const ::core::ffi::c_char,
        format: *const ::core::ffi::c_char,
        spec: *const tamis_import_spec,
        source: *const tamis_source,
        filter: *mut *mut tamis_filter,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_publish(
        store: *mut tamis_store,
        name: *const ::core::ffi::c_char,
        format: *const ::core::ffi::c_char,
        spec: *const tamis_publish_spec,
        source: *const tamis_source,
        result: *mut tamis_publish_result,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_export(
        filter: *mut tamis_filter,
        format: *const ::core::ffi::c_char,
        flags: u32,
        sink: *const tamis_sink,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_read_data(
        filter: *mut tamis_filter,
        index: u32,
        offset: u64,
        buffer: *mut ::core::ffi::c_void,
        bytes: usize,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_write_data(
        filter: *mut tamis_filter,
        index: u32,
        offset: u64,
        data: *const ::core::ffi::c_void,
        bytes: usize,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_write_items(
        filter: *mut tamis_filter,
        index: u32,
        items: u64,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_set_bit(
        filter: *mut tamis_filter,
        index: u32,
        position: u64,
    ) -> ::core::ffi::c_int;
    pub fn tamis_field(
        of: u32,
        shown_by: u32,
        index: u32,
        field: *mut tamis_field,
    ) -> ::core::ffi::c_int;
    pub fn tamis_field_get(
        field: *const tamis_field,
        record: *const ::core::ffi::c_void,
        value: *mut tamis_field_value,
    ) -> ::core::ffi::c_int;
    pub fn tamis_field_set(
        field: *const tamis_field,
        record: *mut ::core::ffi::c_void,
        value: *const tamis_field_value,
    ) -> ::core::ffi::c_int;
    pub fn tamis_version() -> *const ::core::ffi::c_char;
    pub fn tamis_version_number() -> u32;
    pub fn tamis_simd() -> *const ::core::ffi::c_char;
    pub fn tamis_error_name(error: ::core::ffi::c_int) -> *const ::core::ffi::c_char;
    pub fn tamis_error_message(error: ::core::ffi::c_int) -> *const ::core::ffi::c_char;
    pub fn tamis_last_error() -> *const ::core::ffi::c_char;
    pub fn tamis_last_error_details(details: *mut tamis_error_details) -> ::core::ffi::c_int;
    pub fn tamis_kind_name(kind: u32) -> *const ::core::ffi::c_char;
    pub fn tamis_kind_has(kind: u32, property: u32) -> ::core::ffi::c_int;
    pub fn tamis_kind_next(kind: u32) -> u32;
    pub fn tamis_kind_from_name(
        name: *const ::core::ffi::c_char,
        kind: *mut u32,
    ) -> ::core::ffi::c_int;
    pub fn tamis_hash_set_next(hash_set: *const ::core::ffi::c_char) -> *const ::core::ffi::c_char;
    pub fn tamis_descriptors_set_least(number: ::core::ffi::c_int) -> ::core::ffi::c_int;
    pub fn tamis_sigbus_leave();
    pub fn tamis_sigbus_mend(address: *const ::core::ffi::c_void) -> ::core::ffi::c_int;
    pub fn tamis_filter_merge(
        filter: *mut tamis_filter,
        merge: *const tamis_merge,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_create_merged(
        store: *mut tamis_store,
        name: *const ::core::ffi::c_char,
        merge: *const tamis_merge,
        filter: *mut *mut tamis_filter,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_like(
        filter: *mut tamis_filter,
        spec: *mut tamis_filter_spec,
        hash_set: *mut ::core::ffi::c_char,
    ) -> ::core::ffi::c_int;
    pub fn tamis_filter_compare(
        a: *mut tamis_filter,
        b: *mut tamis_filter,
        comparison: *mut tamis_comparison,
    ) -> ::core::ffi::c_int;
    pub fn tamis_size(sizing: *mut tamis_sizing) -> ::core::ffi::c_int;
    pub fn tamis_predict_rate(kind: u32, m_bits: u64, k: u32, n: u64) -> f64;
}
