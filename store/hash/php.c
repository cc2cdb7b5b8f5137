/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * php.c: the hash set php:LIST, made of string hash functions as PHP programs over Redis have them.
 *
 * The functions are well known in C.  A program that computes them in PHP gets other values,
 * because PHP's integers are 64 bits wide and do not wrap: a sum, difference or product that does
 * not fit becomes a float, which has 53 bits.  The next shift, mask or (int) turns what is left of
 * it into an integer again.  The bits in years of users' data were set in this way, so this file
 * computes with PHP's values, step by step:
 *
 *     + - *           int if it fits, else float: both operands to double first, one operation
 *     << >> & ^ %     operands to int; << wraps, >> is arithmetic, % has the dividend's sign
 *     float to int    truncated, modulo 2^64; NaN and infinities are 0
 *
 * The result of a function is ((int)hash % 0xFFFFFFFF) & 0xFFFFFFFF, which has 32 bits.  A position
 * is that result modulo m.  docs/hash-sets.md has the functions in PHP.
 */
#include "hash/hash_set.h"

#define FUNCTIONS_MAX 32u
#define TWO_63 9223372036854775808.0

/* cppcheck-suppress shiftNegativeLHS */
_Static_assert(~0 >> 1 == ~0, "PHP's >> is arithmetic, and C's must be");

/* ---- PHP's numbers --------------------------------------------------------------------------- */

struct value {
    bool is_float;
    int64_t whole; /* unless is_float */
    double real;   /* if is_float     */
};

static inline struct value whole(int64_t number)
{
    return (struct value){.whole = number};
}

static inline struct value real(double number)
{
    return (struct value){.is_float = true, .real = number};
}

static inline double to_float(struct value v)
{
    return v.is_float ? v.real : (double)v.whole;
}

/*
 * From 2^63 on, a double is a 53-bit integer times a power of two, so the value modulo 2^64 is a
 * shift of that integer.  From 2^116 on nothing is left after the shift; nor is it for NaN and the
 * infinities, whose exponent is the greatest.  Such a double is never cast: C leaves that
 * undefined, and processors answer differently.
 */
static int64_t wrap(double number)
{
    const uint64_t bits = tamis__double_to_bits(number);
    const uint64_t mantissa = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    const uint64_t shift = (bits >> 52 & 2047) - 1075; /* 11 or more, as |number| >= 2^63 */
    const uint64_t size = shift < 64 ? mantissa << shift : 0;
    return (int64_t)(bits >> 63 ? 0 - size : size);
}

static inline int64_t to_int(struct value v)
{
    if (!v.is_float) return v.whole;
    return v.real >= -TWO_63 && v.real < TWO_63 ? (int64_t)v.real : wrap(v.real);
}

static inline struct value add_values(struct value a, struct value b)
{
    int64_t sum;
    if (!a.is_float && !b.is_float && !__builtin_add_overflow(a.whole, b.whole, &sum))
        return whole(sum);
    return real(to_float(a) + to_float(b));
}

static inline struct value subtract(struct value a, struct value b)
{
    int64_t difference;
    if (!a.is_float && !b.is_float && !__builtin_sub_overflow(a.whole, b.whole, &difference))
        return whole(difference);
    return real(to_float(a) - to_float(b));
}

static inline struct value multiply(struct value a, struct value b)
{
    int64_t product;
    if (!a.is_float && !b.is_float && !__builtin_mul_overflow(a.whole, b.whole, &product))
        return whole(product);
    return real(to_float(a) * to_float(b));
}

static inline int64_t shift_left(int64_t number, unsigned bits)
{
    return (int64_t)((uint64_t)number << bits);
}

/* ---- The functions ---------------------------------------------------------------------------
 * Each returns PHP's $hash as it stands before the final % and &.
 */

static struct value js(const uint8_t *key, size_t key_bytes)
{
    int64_t hash = 1315423911;
    for (size_t i = 0; i < key_bytes; i++)
        hash ^= to_int(
            add_values(add_values(whole(shift_left(hash, 5)), whole(key[i])), whole(hash >> 2)));
    return whole(hash);
}

/* In C the fold of the high bits is part of the loop.  In these programs it stands behind the
 * loop, and its mask, 0xFFFFFFFF << 28, has 60 bits.  So all but the last 16 bytes of a key
 * are shifted out. */
static struct value pjw(const uint8_t *key, size_t key_bytes)
{
    const int64_t high_bits = 0x0FFFFFFFF0000000;
    struct value hash = whole(0);
    for (size_t i = 0; i < key_bytes; i++)
        hash = add_values(whole(shift_left(to_int(hash), 4)), whole(key[i]));
    const int64_t test = to_int(hash) & high_bits;
    return test == 0 ? hash : whole((to_int(hash) ^ test >> 24) & ~high_bits);
}

static struct value elf(const uint8_t *key, size_t key_bytes)
{
    int64_t hash = 0;
    for (size_t i = 0; i < key_bytes; i++) {
        hash = to_int(add_values(whole(shift_left(hash, 4)), whole(key[i])));
        const int64_t x = hash & 0xF0000000;
        hash = (hash ^ x >> 24) & ~x;
    }
    return whole(hash);
}

static struct value bkdr(const uint8_t *key, size_t key_bytes)
{
    int64_t hash = 0;
    for (size_t i = 0; i < key_bytes; i++)
        hash = to_int(add_values(multiply(whole(hash), whole(131)), whole(key[i])));
    return whole(hash);
}

static struct value sdbm(const uint8_t *key, size_t key_bytes)
{
    int64_t hash = 0;
    for (size_t i = 0; i < key_bytes; i++) {
        const struct value sum = add_values(add_values(whole(key[i]), whole(shift_left(hash, 6))),
                                            whole(shift_left(hash, 16)));
        hash = to_int(subtract(sum, whole(hash)));
    }
    return whole(hash);
}

/* The cast binds tighter than the last +, so a float can be carried into the next round. */
static struct value djb(const uint8_t *key, size_t key_bytes)
{
    struct value hash = whole(5381);
    for (size_t i = 0; i < key_bytes; i++) {
        const struct value sum = add_values(whole(shift_left(to_int(hash), 5)), hash);
        hash = add_values(whole(to_int(sum)), whole(key[i]));
    }
    return hash;
}

static struct value dek(const uint8_t *key, size_t key_bytes)
{
    int64_t hash = (int64_t)key_bytes;
    for (size_t i = 0; i < key_bytes; i++)
        hash = shift_left(hash, 5) ^ hash >> 27 ^ key[i];
    return whole(hash);
}

/* The function works modulo 2^32-1, not 2^32.  The product stays below 2^57. */
static struct value fnv(const uint8_t *key, size_t key_bytes)
{
    int64_t hash = 2166136261;
    for (size_t i = 0; i < key_bytes; i++)
        hash = hash * 16777619 % 0xFFFFFFFF ^ key[i];
    return whole(hash);
}

/* The functions in the order of their ids, 1 to 8.  The ids stand in segment headers and are part
 * of the format. */
static const struct {
    const char *name;
    struct value (*hash)(const uint8_t *key, size_t key_bytes);
} functions[] = {
    {"js", js},     {"pjw", pjw}, {"elf", elf}, {"bkdr", bkdr},
    {"sdbm", sdbm}, {"djb", djb}, {"dek", dek}, {"fnv", fnv},
};
#define FUNCTION_COUNT (sizeof functions / sizeof functions[0])
enum { JS = 1, PJW, ELF, BKDR, SDBM, DJB, DEK, FNV };

/* ---- Parameters: their number, then an id each, then zeros ----------------------------------- */

static uint32_t php_fixed_k(const uint8_t *parameters)
{
    const uint32_t count = parameters[0];
    if (count > FUNCTIONS_MAX) return 0;
    for (uint32_t i = 1; i < TAMIS__HASH_PARAMETER_BYTES; i++) {
        const unsigned id = parameters[i];
        if (i <= count ? id == 0 || id > FUNCTION_COUNT : id != 0) return 0;
    }
    return count;
}

/* The id of the function of that name, 0 if there is none. */
static uint8_t function_id(const char *name, size_t bytes)
{
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        if (strlen(functions[i].name) == bytes && memcmp(functions[i].name, name, bytes) == 0)
            return (uint8_t)(i + 1);
    return 0;
}

static int fail_function(const char *name, size_t bytes)
{
    char quoted[TAMIS__QUOTED_BYTES], text[64];
    (void)snprintf(text, sizeof text, "%.*s", bytes < sizeof text ? (int)bytes : 63, name);
    return tamis__fail(TAMIS_EINVAL,
                       "hash set php has no function %s; it has js, pjw, elf, bkdr, sdbm, djb, "
                       "dek, fnv",
                       tamis__quote(quoted, text));
}

static int php_parse(const char *list, uint8_t *parameters)
{
    uint8_t count = 0;
    if (*list == '\0')
        return tamis__fail(TAMIS_EINVAL, "hash set php needs its functions in their order; give "
                                         "them as in php:bkdr,sdbm,js");
    for (;;) {
        const size_t bytes = strcspn(list, ",");
        const uint8_t id = function_id(list, bytes);
        if (id == 0) return fail_function(list, bytes);
        if (count == FUNCTIONS_MAX)
            return tamis__fail(TAMIS_EINVAL, "hash set php takes up to %u functions, not more",
                               FUNCTIONS_MAX);
        parameters[++count] = id;
        if (list[bytes] == '\0') break;
        list += bytes + 1;
    }
    parameters[0] = count;
    return 0;
}

static void php_print(const uint8_t *parameters, char *list)
{
    const uint32_t count = php_fixed_k(parameters);
    for (uint32_t i = 1; i <= count; i++) {
        if (i > 1) *list++ = ',';
        list = stpcpy(list, functions[parameters[i] - 1].name);
    }
    *list = '\0';
}

/* ---- The set --------------------------------------------------------------------------------- */

static void php_positions(const struct tamis__hashing *hashing, const void *key, size_t key_bytes,
                          uint64_t *places)
{
    for (uint32_t i = 0; i < hashing->k; i++) {
        const struct value hash = functions[hashing->parameters[1 + i] - 1].hash(key, key_bytes);
        /* 2^32 is added to a negative remainder. */
        places[i] = (uint64_t)(to_int(hash) % 0xFFFFFFFF & 0xFFFFFFFF) % hashing->m_bits;
    }
}

/* Writes $hash of each function in decimal.  Where PHP holds a float, "float:" stands
 * before the value. */
static size_t php_describe(const struct tamis__hashing *hashing, const void *key, size_t key_bytes,
                           char *text, size_t text_bytes)
{
    size_t used = 0;
    if (text_bytes > 0) text[0] = '\0';
    for (uint32_t i = 0; i < hashing->k; i++) {
        const struct value hash = functions[hashing->parameters[1 + i] - 1].hash(key, key_bytes);
        char *end = used < text_bytes ? text + used : NULL;
        const size_t room = used < text_bytes ? text_bytes - used : 0;
        const char *comma = i > 0 ? "," : "";
        used += (size_t)(hash.is_float ? snprintf(end, room, "%sfloat:%.0f", comma, hash.real)
                                       : snprintf(end, room, "%s%" PRId64, comma, hash.whole));
    }
    return used;
}

static const char *php_weakness(const uint8_t *parameters)
{
    unsigned used = 0;
    for (uint32_t i = 1; i <= parameters[0]; i++)
        used |= 1u << parameters[i];
    if (used & (1u << JS | 1u << BKDR | 1u << SDBM | 1u << DJB))
        return "js, bkdr, sdbm and djb lose the later bytes of a key to PHP's float rounding "
               "(20,000 URLs that differ in a number gave 5 values of bkdr), so similar "
               "keys share their bits, and keys that were never added seem present far more often "
               "than the rate says; see docs/migrating.md";
    if (used & (1u << PJW | 1u << ELF | 1u << DEK))
        return "pjw heeds the last 16 bytes of a key alone, elf has 28 bits, and dek mixes little "
               "(20,000 URLs that differ in a number gave 4,540 values), so keys that were "
               "never added seem present more often than the rate says; see docs/migrating.md";
    return NULL;
}

const struct tamis__hash_set tamis__hash_set_php = {
    .id = TAMIS__HASH_PHP,
    .bit_order = TAMIS__BITS_MSB_FIRST,
    .m_bits_max = UINT64_MAX,
    .name = "php",
    .positions = php_positions,
    .describe = php_describe,
    .weakness = php_weakness,
    .parse = php_parse,
    .print = php_print,
    .fixed_k = php_fixed_k,
};
