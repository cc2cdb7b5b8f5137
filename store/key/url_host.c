/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * url_host.c: see url_host.h.  The host parser of the URL standard: a name gets its
 * percent-encoding off, and lower case in ASCII.  With the option `idn` a name in another script
 * gets the form xn--.
 */
#include "key/url_host.h"

#include "key/idn.h"

/* ---- Names ----------------------------------------------------------------------------------- */

/* May a byte not stand in a name?  The standard's "forbidden domain code point". */
static bool is_forbidden(unsigned char byte)
{
    static const char forbidden[] = "#/:<>?@[\\]^|%";
    return byte <= ' ' || byte == 0x7f || memchr(forbidden, byte, sizeof forbidden - 1) != NULL;
}

static unsigned char *write_name(const unsigned char *from, const unsigned char *end,
                                 unsigned char *to)
{
    while (from < end) {
        unsigned char byte = *from++;
        if (byte == '%' && end - from >= 2) {
            const int high = tamis__hex_value(from[0]), low = tamis__hex_value(from[1]);
            if (high < 0 || low < 0) return NULL;
            byte = (unsigned char)(high << 4 | low);
            from += 2;
        }
        if (is_forbidden(byte)) return NULL;
        *to++ = (unsigned char)(byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte);
    }
    return to;
}

/* ---- Addresses in four numbers or fewer ------------------------------------------------------ */

/* Reads a number as C has them: 0x and 0 say that it is hexadecimal, octal.  A number above 2^32 is
 * 2^32.  Returns false if it is none. */
static bool read_number(const unsigned char *from, const unsigned char *end, uint64_t *number)
{
    unsigned base = 10;
    if (from == end) return false;
    if (end - from >= 2 && from[0] == '0') {
        base = from[1] == 'x' ? 16 : 8;
        from += base == 16 ? 2 : 1;
    }
    for (*number = 0; from < end; from++) {
        const int value = tamis__hex_value(*from);
        if (value < 0 || (unsigned)value >= base) return false;
        *number = *number * base + (unsigned)value;
        if (*number > UINT32_MAX) *number = (uint64_t)UINT32_MAX + 1;
    }
    return true;
}

static bool is_digits(const unsigned char *from, const unsigned char *end)
{
    while (from < end && *from >= '0' && *from <= '9')
        from++;
    return from == end;
}

/* Is the last label a number?  Then the host is an address, or nothing. */
static bool ends_in_number(const unsigned char *name, const unsigned char *end)
{
    uint64_t number;
    if (end[-1] == '.') end--;
    const unsigned char *label = end;
    while (label > name && label[-1] != '.')
        label--;
    return label < end && (is_digits(label, end) || read_number(label, end, &number));
}

static unsigned char *write_decimal(unsigned number, unsigned char *to)
{
    if (number >= 100) *to++ = (unsigned char)('0' + number / 100);
    if (number >= 10) *to++ = (unsigned char)('0' + number / 10 % 10);
    *to++ = (unsigned char)('0' + number % 10);
    return to;
}

/* Writes the address in place of its text from `name` to `end`. */
static unsigned char *write_ipv4(unsigned char *name, const unsigned char *end)
{
    uint64_t numbers[4] = {0}, address = 0;
    size_t count = 0;
    if (end[-1] == '.') end--;
    for (const unsigned char *from = name; from <= end; count++) {
        const unsigned char *dot = from;
        while (dot < end && *dot != '.')
            dot++;
        if (count == 4 || !read_number(from, dot, &numbers[count])) return NULL;
        from = dot + 1;
    }
    for (size_t i = 0; i + 1 < count; i++) {
        if (numbers[i] > 255) return NULL;
        address |= numbers[i] << (8 * (3 - i));
    }
    if (numbers[count - 1] >> (8 * (5 - count)) != 0) return NULL;
    address |= numbers[count - 1];
    unsigned char *to = name;
    for (unsigned i = 0; i < 4; i++) {
        if (i > 0) *to++ = '.';
        to = write_decimal((unsigned)(address >> (24 - 8 * i) & 0xff), to);
    }
    return to;
}

/* ---- Addresses in eight pieces --------------------------------------------------------------- */

struct ipv6 {
    uint16_t pieces[8];
    size_t count; /* of the pieces read so far */
    size_t gap;   /* the :: is before the piece with this number; 8: there is none */
};

/* Reads four decimal numbers up to the end as the last two pieces. */
static bool read_dotted(const unsigned char *from, const unsigned char *end, struct ipv6 *ip)
{
    unsigned numbers[4];
    for (size_t i = 0; i < 4; i++) {
        if (i > 0 && (from == end || *from++ != '.')) return false;
        if (from == end || !is_digits(from, from + 1)) return false;
        if (*from == '0' && end - from > 1 && is_digits(from + 1, from + 2)) return false;
        for (numbers[i] = 0; from < end && is_digits(from, from + 1); from++) {
            numbers[i] = numbers[i] * 10 + (unsigned)(*from - '0');
            if (numbers[i] > 255) return false;
        }
    }
    if (from != end || ip->count > 6) return false;
    ip->pieces[ip->count++] = (uint16_t)(numbers[0] << 8 | numbers[1]);
    ip->pieces[ip->count++] = (uint16_t)(numbers[2] << 8 | numbers[3]);
    return true;
}

/* Reads up to four hexadecimal digits.  Returns how many. */
static size_t read_piece(const unsigned char *from, const unsigned char *end, uint16_t *piece)
{
    size_t digits = 0;
    for (*piece = 0; digits < 4 && from + digits < end; digits++) {
        const int value = tamis__hex_value(from[digits]);
        if (value < 0) break;
        *piece = (uint16_t)(*piece << 4 | value);
    }
    return digits;
}

/* Reads all pieces; there are fewer than eight if there is a gap. */
static bool read_pieces(const unsigned char *from, const unsigned char *end, struct ipv6 *ip)
{
    if (end - from >= 2 && from[0] == ':' && from[1] == ':') {
        ip->gap = 0;
        from += 2;
    }
    while (from < end) {
        uint16_t piece;
        const size_t digits = read_piece(from, end, &piece);
        if (digits == 0) return false;
        if (from + digits < end && from[digits] == '.') return read_dotted(from, end, ip);
        if (ip->count == 8) return false;
        ip->pieces[ip->count++] = piece;
        from += digits;
        if (from == end) return true;
        if (*from++ != ':' || from == end) return false;
        if (*from != ':') continue;
        if (ip->gap != 8 || ip->count == 8) return false;
        ip->gap = ip->count;
        from++;
    }
    return true;
}

/* A gap stands for one zero or more, so there are seven pieces beside it at most. */
static bool fill_gap(struct ipv6 *ip)
{
    if (ip->gap == 8) return ip->count == 8;
    if (ip->count > 7) return false;
    const size_t behind = ip->count - ip->gap, zeros = 8 - ip->count;
    memmove(ip->pieces + ip->gap + zeros, ip->pieces + ip->gap, behind * sizeof ip->pieces[0]);
    memset(ip->pieces + ip->gap, 0, zeros * sizeof ip->pieces[0]);
    return true;
}

/* Finds the first of the longest runs of two zeros or more.  Returns its length, or 0. */
static size_t find_zeros(const uint16_t pieces[8], size_t *start)
{
    size_t longest = 1, run = 0;
    for (size_t i = 0; i < 8; i++) {
        run = pieces[i] == 0 ? run + 1 : 0;
        if (run <= longest) continue;
        longest = run;
        *start = i + 1 - run;
    }
    return longest > 1 ? longest : 0;
}

static unsigned char *write_piece(unsigned piece, unsigned char *to)
{
    for (int shift = 12; shift >= 0; shift -= 4)
        if (shift == 0 || piece >> shift != 0)
            *to++ = (unsigned char)"0123456789abcdef"[piece >> shift & 15];
    return to;
}

/* The brackets are left out of `from` and `end`, and written. */
static unsigned char *write_ipv6(const unsigned char *from, const unsigned char *end,
                                 unsigned char *to)
{
    struct ipv6 ip = {.gap = 8};
    size_t start = 8;
    if (!read_pieces(from, end, &ip) || !fill_gap(&ip)) return NULL;
    const size_t zeros = find_zeros(ip.pieces, &start);
    *to++ = '[';
    for (size_t i = 0; i < 8; i++) {
        if (i == start) {
            *to++ = ':';
            if (i == 0) *to++ = ':';
            i += zeros - 1;
            continue;
        }
        to = write_piece(ip.pieces[i], to);
        if (i < 7) *to++ = ':';
    }
    *to++ = ']';
    return to;
}

/* ---- Names in other scripts ------------------------------------------------------------------ */

/*
 * Writes the form xn-- in place of the name from `name` to `*end`.  What libidn2 refuses stays.
 *
 * The option `nowww` may take "www." off later.  libidn2 does not see that, as the same name must
 * not be refused with it, for its length, and be taken without it.
 *
 * Returns 0, or TAMIS_ENOMEM.
 */
static int write_idn(unsigned char *name, unsigned char **end)
{
    unsigned char form[TAMIS__IDN_BYTES_MAX];
    while (*end - name > 4 && memcmp(name, "www.", 4) == 0)
        name += 4;
    if (!tamis__idn_is_needed(name, *end)) return 0;
    const int bytes = tamis__idn_write(name, (size_t)(*end - name), form);
    if (bytes <= 0) return bytes;
    memcpy(name, form, (size_t)bytes);
    *end = name + bytes;
    return 0;
}

/* The form may have bytes that a name may not have: a full-width percent sign becomes `%`. */
static bool is_name(const unsigned char *name, const unsigned char *end)
{
    while (name < end)
        if (is_forbidden(*name++)) return false;
    return true;
}

int64_t tamis__url_write_host(const struct tamis__key_rule *rule, const unsigned char *host,
                              const unsigned char *end, unsigned char *to)
{
    unsigned char *end_to;
    if (*host == '[') {
        end_to = end[-1] == ']' ? write_ipv6(host + 1, end - 1, to) : NULL;
        return end_to != NULL ? end_to - to : 0;
    }
    end_to = write_name(host, end, to);
    if (end_to == NULL) return 0;
    if ((rule->options & TAMIS__KEY_IDN) != 0) {
        if (write_idn(to, &end_to) < 0) return TAMIS_ENOMEM;
        if (!is_name(to, end_to)) return 0;
    }
    if (ends_in_number(to, end_to)) end_to = write_ipv4(to, end_to);
    return end_to != NULL ? end_to - to : 0;
}
