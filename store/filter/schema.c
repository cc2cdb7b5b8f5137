/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schema.c: the fields of a filter and of a segment; see schema.h.
 *
 * The rows stand in the order of `tamis info`.  A row of a new member needs its name, type and
 * sentence, a unit if it has one, the names it is shown by, and how shards add up.
 */
#include "filter/schema.h"

#define MEMBER(of, which, what)                                                                    \
    .name = #which, .type = TAMIS_FIELD_##what, .offset = offsetof(struct of, which),              \
    .bytes = sizeof(((struct of *)0)->which)
/* A field that is made of the member `which`. */
#define FROM(of, which, field, what)                                                               \
    .name = #field, .type = TAMIS_FIELD_##what, .offset = offsetof(struct of, which),              \
    .bytes = sizeof(((struct of *)0)->which)
#define SUM(how) .sum = TAMIS_SUM_##how
#define PLACES(in_reply, in_bindings) .reply_place = in_reply, .binding_place = in_bindings

/* ---- Filters ------------------------------------------------------------------------------ */

#define FILTER(which, what) MEMBER(tamis_filter_stat, which, what)

static const char BY_FILL[] =
    "it takes a look at every bit: `tamis info` counts them, and TAMIS.INFO with FILL tells what "
    "the segments have";
static const char OF_FILES[] = "TAMIS.LOAD gets its streams from clients, not from files";
static const char OF_MODULE[] = "the module for Redis knows it, and the store does not";

static const struct tamis__field_row FILTER_ROWS[] = {
    {FILTER(name, TEXT), .info = "name", .reply = "filter", PLACES(1, 1), .sentence = "The name."},
    {FILTER(state, NUMBER), .info = "state", .reply = "states", PLACES(27, 16), SUM(BITS),
     .sentence =
         "'ok', 'full' at the capacity (a filter that grows is not full), or if it takes no more "
         "keys before that, which *note* explains, 'over' (it holds too many keys for the rate "
         "that was asked for, by more than a fiftieth), 'damaged' (a header shows it, or "
         "tamis-verify(1) found it), 'unclean' (the machine went down, or a file was lost or is an "
         "older copy, and keys that were added since *unclean_since* may be missing), 'degraded' "
         "(a sync failed at *degraded_since*), "
         "or several of these with commas between."},
    {.name = "worst_state",
     .reply = "state",
     PLACES(4, 0),
     .lacking = "it is the worst of *state*",
     .sentence = "The worst word of *state*."},
    {.name = "attached",
     .reply = "attached",
     PLACES(6, 0),
     .lacking = OF_MODULE,
     .sentence = "1 if the filter stays in the store when its key goes."},
    {FILTER(items, NUMBER), .info = "items", .reply = "items", PLACES(9, 9), SUM(ADD),
     .unit = "keys",
     .sentence =
         "The number of keys in the filter: how often a process was told that a key is new. "
         "For kind 'counting', keys that were removed completely are subtracted. "
         "If the filter was merged, or imported from a format that does not say how many keys it "
         "has, the number began with an estimate."},
    {FILTER(fp_rate, REAL), .info = "fp_rate", .reply = "rate", PLACES(10, 5),
     .sentence = "The rate of false positives at capacity, which the filter was made for."},
    {FILTER(predicted_rate, REAL), .reply = "rate now", PLACES(11, 6), SUM(MEAN),
     .lacking = "`tamis list` has it as *fp_rate_now*, and `tamis info` counts the bits for that",
     .sentence = "The rate of false positives that the formulas give for the present *items*."},
    {.name = "fp_rate_now",
     .info = "fp_rate_now",
     .lacking = BY_FILL,
     .sentence = "The rate of false positives that follows from the bits that are set. "
                 "To count them, the command reads the whole filter."},
    {FILTER(kind, WORD), .word = TAMIS__WORD_KIND, .info = "kind", .reply = "kind", PLACES(2, 2),
     .sentence = "'blocked', 'bloom' or 'counting' (tamis-create(1)), or 'fuse' (tamis-build(1))."},
    {FILTER(hash_set, TEXT), .info = "hash_set", .reply = "hash set", PLACES(3, 3),
     .sentence = "The rule from key to bits."},
    {FILTER(m_bits, NUMBER), .info = "m_bits", .reply = "bits", PLACES(13, 10), SUM(ADD),
     .unit = "bits",
     .sentence = "The size of the bit array in bits; for kind 'counting', the number of counters."},
    {FILTER(k, NUMBER), .info = "k", .reply = "hashes", PLACES(14, 11),
     .sentence = "The number of hashes of each key."},
    {FILTER(seed, NUMBER), .info = "seed", .reply = "seed", PLACES(26, 12),
     .sentence = "The seed of the hash set."},
    {FILTER(capacity, NUMBER), .info = "capacity", .reply = "capacity", PLACES(8, 8), SUM(ADD),
     .unit = "keys",
     .sentence =
         "The number of distinct keys that the filter was made for. "
         "If the filter has grown, this is what its newest segment can hold, plus what the older "
         "ones hold."},
    {.name = "items_estimated",
     .info = "items_estimated",
     .lacking = BY_FILL,
     .unit = "keys",
     .sentence = "The number of keys, estimated from the bits that are set (tamis-compare(1)). "
                 "To count these bits, the command reads the whole filter. "
                 "If the number is far greater than *items*, bits were set by something other than "
                 "tamis-add(1). "
                 "If it is far smaller, the hash set is weak."},
    {.name = "fill",
     .info = "fill",
     .lacking = BY_FILL,
     .sentence = "The share of the bits that are set, or of the counters that are above 0, or of "
                 "the fingerprints that are not 0. "
                 "To count them, the command reads the whole filter."},
    {FILTER(bits_per_key, REAL), .info = "bits_per_key", .reply = "bits per key", PLACES(12, 7),
     SUM(MEAN), .unit = "bits for each key",
     .sentence = "*m_bits* (times *counter_bits*) divided by *capacity*."},
    {FILTER(size_bytes, NUMBER), .info = "size_bytes", .reply = "bytes", PLACES(15, 13), SUM(ADD),
     .unit = "bytes", .sentence = "The size of the files in bytes."},
    {FILTER(generation, NUMBER), .info = "generation", .reply = "generation", PLACES(17, 14),
     SUM(MOST),
     .sentence =
         "The number of the generation in force. "
         "It goes up with every build, merge and import that replaces the filter, and back with "
         "tamis-rollback(1); tamis-generations(1) lists those that are kept. "
         "Growth, and the next slice of a window, take a number each too, which says nothing about "
         "the keys. "
         "So the line is left out for a filter that only grew or has a window; --json and FIELD "
         "always have the number."},
    {.name = "shards",
     .info = "shards",
     .unit = "keys of Redis",
     .lacking = "it is of a filter that is several keys, and each tells of itself",
     .sentence =
         "The number of Redis keys of a sharded filter on a server; other filters do not have this "
         "field. "
         "Such a filter has no *segments*, *fill* and *items_estimated* of its own; each shard has "
         "them: `tamis info seen:{0} segments`."},
    {.name = "segments",
     .info = "segments",
     .reply = "segment list",
     PLACES(34, 0),
     .lacking = "Python and PHP tell their number, *segment_count*",
     .sentence =
         "A line for each segment, the oldest first: file, kind, hash set, bits, k, items, fill, "
         "size. "
         "With --json there are more fields, such as *bit_order*: 'lsb-first', or 'msb-first' "
         "where "
         "the first bit of a byte is its greatest, as for `SETBIT` of Redis."},
    {.name = "sealed",
     .info = "sealed",
     .unit = "segments",
     .lacking = "each of *segments* says it of itself",
     .sentence = "How many of the segments are sealed: nobody adds to them, and they have "
                 "checksums, so tamis-verify(1) names each byte that changes."},
    {FILTER(segment_count, NUMBER), .reply = "segments", PLACES(16, 15), SUM(ADD),
     .unit = "segments", .lacking = "`tamis info` has a line for each of *segments*",
     .sentence = "The number of segments."},
    {FILTER(created_at, TIME), .info = "created_at", .reply = "created ns", PLACES(21, 17),
     SUM(EARLIEST), .unit = "ns", .sentence = "When the filter was made."},
    {FILTER(published_at, TIME), .info = "published_at", .reply = "published ns", PLACES(25, 18),
     SUM(MOST), .unit = "ns",
     .sentence = "When the last change of the filter was published; 'never', or null with --json, "
                 "if that has not happened."},
    {FILTER(checkpointed_at, TIME), .info = "checkpointed_at", .reply = "checkpointed ns",
     PLACES(22, 19), SUM(EARLIEST), .unit = "ns",
     .sentence = "When the filter was last synced (tamis-sync(1)); 'never' (null), if that has not "
                 "happened."},
    {FILTER(on_full, WORD), .word = TAMIS__WORD_ON_FULL, .info = "on_full", .reply = "when full",
     PLACES(5, 4),
     .sentence = "What the filter does when it is full: 'grow', 'refuse' or 'warn'; see "
                 "tamis-create(1)."},
    {FILTER(window_ns, SPAN), .info = "window_seconds", .reply = "window ns", PLACES(19, 20),
     .unit = "ns",
     .sentence = "For how many seconds keys are remembered; 0 if none is forgotten by the time."},
    {FILTER(window_items, NUMBER), .info = "window_items", .reply = "window items", PLACES(28, 21),
     .unit = "keys",
     .sentence = "How many keys are remembered; 0 if none is forgotten by their number."},
    {FROM(tamis_filter_stat, flags, window_from, WORD), .word = TAMIS__WORD_WINDOW_FROM,
     .info = "window_from", .reply = "window from", PLACES(30, 0),
     .sentence = "'last' or 'first': the add of a key from which the window counts; 'none' without "
                 "a window."},
    {FILTER(slices, NUMBER), .info = "slices", .reply = "slices", PLACES(20, 22), .unit = "slices",
     .sentence = "In how many steps the window moves; 0 if nothing is forgotten."},
    {FILTER(live_slices, NUMBER), .info = "live_slices", .reply = "live slices", PLACES(29, 23),
     SUM(MOST), .unit = "slices",
     .sentence = "The number of slices in which keys are still found: at most one more than "
                 "*slices*, and 0 if nobody has added keys for the whole time of the window."},
    {FILTER(counter_bits, NUMBER), .info = "counter_bits", .reply = "counter bits", PLACES(31, 24),
     .unit = "bits",
     .sentence = "The number of bits of a counter of kind 'counting'; 0 for the other kinds."},
    {FILTER(fingerprint_bits, NUMBER), .info = "fingerprint_bits", .reply = "fingerprint bits",
     PLACES(32, 25), .unit = "bits",
     .sentence = "The number of bits of a fingerprint of kind 'fuse': 8 to 32. "
                 "The rate is 2^-bits. "
                 "0 for the other kinds."},
    {FILTER(keep, NUMBER), .info = "keep", .reply = "keep", PLACES(33, 27), .unit = "generations",
     .sentence = "How many older generations stay when a build publishes another "
                 "(tamis-generations(1))."},
    {FILTER(exceptions, NUMBER), .info = "exceptions", .reply = "exceptions", PLACES(18, 26),
     SUM(ADD), .unit = "keys",
     .sentence = "The number of keys that answer absent whatever the bits say "
                 "(tamis-except(1))."},
    {FROM(tamis_filter_stat, flags, durable, YES), .bit = TAMIS_FILTER_DURABLE, .info = "durable",
     .reply = "durable", PLACES(7, 30),
     .sentence = "'true' if no key is answered before it is on the disk (--durable, "
                 "tamis-create(1))."},
    {FILTER(key_rule, TEXT), .info = "key_rule", .reply = "key rule", PLACES(36, 39),
     .sentence = "What the key of a record is: 'bytes', or the rule by which the library makes the "
                 "form of a key (--key-rule, tamis-create(1))."},
    {FILTER(pages, WORD), .word = TAMIS__WORD_PAGES, .info = "pages", .reply = "pages",
     PLACES(35, 31),
     .sentence =
         "In which pages the filter is mapped: 'auto', 'small' or 'huge' (tamis-pages(1))."},
    {.name = "huge_bytes",
     .info = "huge_bytes",
     .unit = "bytes",
     .lacking = "it is of one process, and `tamis info` tells its own; tamis_filter_mapped()",
     .sentence = "How much of the filter this process has mapped by entries of 2 MiB. "
                 "The line is left out for a filter of less than that, and on a server."},
    {.name = "huge_note",
     .info = "huge_note",
     .lacking = "it goes with *huge_bytes*",
     .sentence =
         "Why entries of 2 MiB are wanted and not had, and what can be done about it; empty "
         "if nothing is lacking."},
    {FILTER(imported_at, TIME), .info = "imported_at", PLACES(0, 32), SUM(MOST), .unit = "ns",
     .lacking = OF_FILES,
     .sentence =
         "When the list in force was imported (tamis-import(1)); the line is left out for a "
         "list that was not."},
    {FILTER(imported_from, TEXT), .info = "imported_from", PLACES(0, 33), .lacking = OF_FILES,
     .sentence = "From where: the path of the file as it was given, or '-'; of one of more than 79 "
                 "bytes the end."},
    {FILTER(imported_digest, TEXT), .info = "imported_digest", PLACES(0, 34), .lacking = OF_FILES,
     .sentence = "Which stream that was: what `xxh128sum` prints for the file, or, of format "
                 "'tamis', for the file without the 16 bytes at its end, which are this digest."},
    {FILTER(imported_signed_at, TIME), .info = "imported_signed_at", PLACES(0, 35), SUM(MOST),
     .unit = "ns", .lacking = OF_FILES,
     .sentence = "When it was signed, by the trusted comment of the signature that --verify has "
                 "checked; this line and the next two are left out for a list that was taken "
                 "without."},
    {FILTER(imported_signed_by, TEXT), .info = "imported_signed_by", PLACES(0, 36),
     .lacking = OF_FILES, .sentence = "The id of the key that has signed it."},
    {FILTER(imported_signed_comment, TEXT), .info = "imported_signed_comment", PLACES(0, 37),
     .lacking = OF_FILES,
     .sentence = "The trusted comment; of one of more than 319 bytes the begin."},
    {FILTER(flags, NUMBER), .hidden = true,
     .lacking =
         "*durable* and *window_from* are its bits, and what else is in it is between programs",
     .sentence = "TAMIS_FILTER_* bits."},
    {FILTER(unclean_since, TIME), .info = "unclean_since", .reply = "unclean since ns",
     PLACES(23, 28), SUM(EARLIEST), .unit = "ns",
     .sentence = "Since when the filter is 'unclean'; 'never' (null) if it is not."},
    {FILTER(missing_keys, NUMBER), .info = "missing_keys", .reply = "missing keys", PLACES(0, 38),
     SUM(ADD), .unit = "keys",
     .sentence = "How many keys of a filter that is 'unclean' are known to be missing, as the "
                 "catalog had counted them; 0 if that is not known, or nothing is missing."},
    {FILTER(degraded_since, TIME), .info = "degraded_since", .reply = "degraded since ns",
     PLACES(24, 29), SUM(EARLIEST), .unit = "ns",
     .sentence = "Since when the filter is 'degraded'; 'never' (null) if it is not."},
    {.name = "note",
     .info = "note",
     .lacking = "programs read *state*",
     .sentence = "What the state means, what can be done about it, and what a weak hash set costs; "
                 "empty if all is well."},
    {FILTER(room, LIMIT), .reply = "room", SUM(ADD), .unit = "keys",
     .lacking = "it changes with each add, and *note* of `tamis info` says when it matters",
     .sentence = "How many keys the filter takes before it needs another segment, or refuses; none "
                 "if it takes any number."},
    {FILTER(lacks_bytes, NUMBER), .reply = "lacks bytes", SUM(ADD), .unit = "bytes",
     .lacking = "*note* of `tamis info` says it",
     .sentence = "What the disk lacks for the next segment of a filter that is 'full' for want of "
                 "it, about; else 0."},
    {FILTER(new_keys, NUMBER), .hidden = true, .unit = "keys",
     .lacking = "only tamis_watch_look() knows it, and `tamis top` shows it",
     .sentence = "How many keys were new since tamis_watch_look() looked before."},
};

/* ---- Segments ----------------------------------------------------------------------------- */

#define SEGMENT(which, what) MEMBER(tamis_segment_stat, which, what)
#define PLACE(in_reply) .reply_place = in_reply

static const char OF_COMMAND[] = "`tamis info` makes it of other fields";
static const char IN_FLAGS[] = "*flags* has it";
static const char FOR_PROGRAMS[] = "it is for programs that work on the files";

static const struct tamis__field_row SEGMENT_ROWS[] = {
    {SEGMENT(number, NUMBER), .info = "number", .reply = "number", PLACE(2),
     .sentence = "The number in the name of the file."},
    {SEGMENT(kind, WORD), .word = TAMIS__WORD_KIND, .info = "kind", .reply = "kind", PLACE(3),
     .sentence = "As of a filter."},
    {SEGMENT(hash_set, TEXT), .info = "hash_set", .reply = "hash set", PLACE(1),
     .sentence = "As of a filter."},
    {SEGMENT(m_bits, NUMBER), .info = "m_bits", .reply = "bits", PLACE(7), .unit = "bits",
     .sentence = "As of a filter."},
    {SEGMENT(k, NUMBER), .info = "k", .reply = "hashes", PLACE(4), .sentence = "As of a filter."},
    {SEGMENT(words, NUMBER), .info = "words", .reply = "words", PLACE(5), .unit = "words",
     .sentence = "The words that a key touches in its block; 0 for kind 'bloom'."},
    {SEGMENT(seed, NUMBER), .info = "seed", .reply = "seed", PLACE(8),
     .sentence = "As of a filter."},
    {SEGMENT(bit_order, NUMBER), .info = "bit_order", .reply = "bit order", PLACE(6),
     .sentence = "'lsb-first', or 'msb-first' where the first bit of a byte is its greatest."},
    {SEGMENT(capacity, NUMBER), .info = "capacity", .reply = "capacity", PLACE(9), .unit = "keys",
     .sentence = "The number of distinct keys that the segment was made for."},
    {SEGMENT(fp_rate, REAL), .info = "fp_rate", .reply = "rate", PLACE(10),
     .sentence = "The rate of false positives at capacity."},
    {SEGMENT(items, NUMBER), .info = "items", .reply = "items", PLACE(11), .unit = "keys",
     .sentence = "As of a filter."},
    {SEGMENT(step, NUMBER), .info = "step", .reply = "step", PLACE(23),
     .sentence = "How often the filter, or the slice, had grown before the segment was made."},
    {SEGMENT(counter_bits, NUMBER), .info = "counter_bits", .reply = "counter bits", PLACE(22),
     .unit = "bits", .sentence = "As of a filter."},
    {SEGMENT(fingerprint_bits, NUMBER), .info = "fingerprint_bits", .reply = "fingerprint bits",
     PLACE(26), .unit = "bits", .sentence = "As of a filter."},
    {SEGMENT(pieces, NUMBER), .info = "pieces", .reply = "pieces", PLACE(24), .unit = "pieces",
     .sentence = "The parts that were built each by itself, of kind 'fuse'; else 0."},
    {SEGMENT(slice, NUMBER), .info = "slice", .reply = "slice", PLACE(20),
     .sentence = "The slice of the window that the segment belongs to, from 0."},
    {SEGMENT(slice_start, TIME), .info = "slice_start", .reply = "slice start ns", PLACE(21),
     .unit = "ns", .sentence = "When that slice began."},
    {.name = "live",
     .info = "live",
     .lacking = OF_COMMAND,
     .sentence = "'true' if the window still reaches the segment."},
    {FROM(tamis_segment_stat, flags, sealed, YES), .bit = TAMIS_SEGMENT_SEALED, .info = "sealed",
     .lacking = IN_FLAGS,
     .sentence = "'true' if nobody adds to the segment and it has checksums: tamis-verify(1) names "
                 "each byte that changes."},
    {SEGMENT(items_estimated, NUMBER), .info = "items_estimated", .reply = "items by fill",
     PLACE(25), .unit = "keys", .sentence = "As of a filter."},
    {SEGMENT(fill, REAL), .info = "fill", .reply = "fill", PLACE(17),
     .sentence = "As of a filter."},
    {SEGMENT(fp_rate_now, REAL), .info = "fp_rate_now", .reply = "rate by fill", PLACE(18),
     .sentence = "As of a filter."},
    {SEGMENT(file_bytes, NUMBER), .info = "size_bytes", .reply = "bytes", PLACE(12),
     .unit = "bytes", .sentence = "The size of the file."},
    {SEGMENT(data_offset, NUMBER), .info = "data_offset", .reply = "data offset", PLACE(13),
     .unit = "bytes", .sentence = "Where the bits begin in the file."},
    {.name = "file",
     .info = "file",
     .lacking = OF_COMMAND,
     .sentence = "The file, in the directory of the store."},
    {SEGMENT(data_bytes, NUMBER), .reply = "data bytes", PLACE(14), .unit = "bytes",
     .lacking = FOR_PROGRAMS, .sentence = "How many bytes of the file the bits are."},
    {SEGMENT(created_at, TIME), .reply = "created ns", PLACE(15), .unit = "ns",
     .lacking = FOR_PROGRAMS, .sentence = "When the segment was made."},
    {SEGMENT(ones, NUMBER), .reply = "ones", PLACE(16), .unit = "bits",
     .lacking = "`tamis info` has *fill* of it", .sentence = "How many bits are set."},
    {SEGMENT(flags, NUMBER), .reply = "flags", PLACE(19),
     .lacking = "*live* and *sealed*, and *note* of the filter, are its bits",
     .sentence = "TAMIS_SEGMENT_* bits."},
};

const struct tamis__field_table *tamis__field_table(uint32_t of)
{
    static const struct tamis__field_table filter = {
        FILTER_ROWS, sizeof FILTER_ROWS / sizeof *FILTER_ROWS, .has_bindings = true};
    static const struct tamis__field_table segment = {
        SEGMENT_ROWS, sizeof SEGMENT_ROWS / sizeof *SEGMENT_ROWS, .has_bindings = false};
    if (of == TAMIS_FIELDS_FILTER) return &filter;
    return of == TAMIS_FIELDS_SEGMENT ? &segment : NULL;
}
