/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * url.c: see url.h.
 *
 * Most URLs that a program meets are their own form, which one scan tells (tamis__url_is_form()).
 * The others are cut into parts, and the form of each part is written behind that of the last one.
 */
#include "key/url.h"

#include "key/idn.h"
#include "key/url_host.h"
#include "key/url_query.h"

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* What is percent-encoded in each part: the standard's "percent-encode sets". */
enum { IN_QUERY = 1, IN_PATH = 2, IN_USER = 4 };
/* What a scan of a URL in its normal form meets. */
enum { NAME_BYTE = 8, PATH_BYTE = 16, QUERY_BYTE = 32, SLASH = 64, DOT = 128 };

#define IS_ONE_OF_4(c, a, b, d, e) ((c) == (a) || (c) == (b) || (c) == (d) || (c) == (e))
#define IS_ENCODED(c) ((c) <= ' ' || (c) > '~' || IS_ONE_OF_4(c, '"', '#', '<', '>'))
#define IS_ENCODED_IN_QUERY(c) (IS_ENCODED(c) || (c) == '\'')
#define IS_ENCODED_IN_PATH(c) (IS_ENCODED(c) || IS_ONE_OF_4(c, '?', '^', '`', '{') || (c) == '}')
#define IS_ENCODED_IN_USER(c)                                                                      \
    (IS_ENCODED_IN_PATH(c) || IS_ONE_OF_4(c, '/', ':', ';', '=') ||                                \
     IS_ONE_OF_4(c, '@', '[', '\\', ']') || (c) == '|')
#define IS_IN_NAME(c)                                                                              \
    (((c) >= 'a' && (c) <= 'z') || ((c) >= '0' && (c) <= '9') || (c) == '-' || (c) == '_')
/* A dot and a percent sign may begin a segment of dots. */
#define SORTS_OF(c)                                                                                \
    ((IS_ENCODED_IN_QUERY(c) ? IN_QUERY : QUERY_BYTE) | (IS_ENCODED_IN_PATH(c) ? IN_PATH : 0) |    \
     (IS_ENCODED_IN_USER(c) ? IN_USER : 0) | (IS_IN_NAME(c) ? NAME_BYTE : 0) |                     \
     (IS_ENCODED_IN_PATH(c) || (c) == '\\' ? 0 : PATH_BYTE) | ((c) == '/' ? SLASH : 0) |           \
     ((c) == '.' || (c) == '%' ? DOT : 0))
#define FOUR(c) SORTS_OF(c), SORTS_OF((c) + 1), SORTS_OF((c) + 2), SORTS_OF((c) + 3)
#define ROW(c) FOUR(c), FOUR((c) + 4), FOUR((c) + 8), FOUR((c) + 12)

static const uint8_t sorts[256] = {
    ROW(0x00), ROW(0x10), ROW(0x20), ROW(0x30), ROW(0x40), ROW(0x50), ROW(0x60), ROW(0x70),
    ROW(0x80), ROW(0x90), ROW(0xa0), ROW(0xb0), ROW(0xc0), ROW(0xd0), ROW(0xe0), ROW(0xf0),
};

static bool has(const struct tamis__key_rule *rule, uint32_t option)
{
    return (rule->options & option) != 0;
}

/* ---- URLs that are their form ---------------------------------------------------------------- */

/* Returns the slash behind a name of a host that is its form; NULL: it is not, or may not be. */
static const unsigned char *pass_name(const unsigned char *from, const unsigned char *end)
{
    const unsigned char *label = from;
    for (; from < end; from++) {
        if ((sorts[*from] & NAME_BYTE) != 0) continue;
        if (*from != '.') break;
        label = from + 1;
    }
    /* A last label that begins with a digit may be a number. */
    return from < end && *from == '/' && label < from && (*label > '9' || *label < '0') ? from
                                                                                        : NULL;
}

/* Returns the question mark behind a path that is its form, or the end; NULL: as above. */
static const unsigned char *pass_path(const unsigned char *from, const unsigned char *end)
{
    unsigned before = 0, dots = 0;
    for (; from < end; from++) {
        const unsigned sort = sorts[*from];
        if ((sort & PATH_BYTE) == 0) break;
        dots |= (before & SLASH) << 1 & sort; /* SLASH << 1 is DOT */
        before = sort;
    }
    return dots == 0 && (from == end || *from == '?') ? from : NULL;
}

static bool is_query(const unsigned char *from, const unsigned char *end)
{
    unsigned all = QUERY_BYTE;
    for (; from < end; from++)
        all &= sorts[*from];
    return all != 0;
}

bool tamis__url_is_form(const struct tamis__key_rule *rule, const unsigned char *url, size_t bytes)
{
    const unsigned char *end = url + bytes;
    if (bytes < sizeof "http://a" || memcmp(url, "http", 4) != 0) return false;
    const bool tls = url[4] == 's';
    const unsigned char *host = url + 7 + tls;
    if (memcmp(url + 4 + tls, "://", 3) != 0 || (tls && has(rule, TAMIS__URL_HTTPS_IS_HTTP)))
        return false;
    const unsigned char *path = pass_name(host, end);
    if (path == NULL) return false;
    if (has(rule, TAMIS__URL_NOWWW) && path - host > 4 && memcmp(host, "www.", 4) == 0)
        return false;
    const unsigned char *query = pass_path(path, end);
    if (query == NULL) return false;
    if (has(rule, TAMIS__URL_NOSLASH) && query - path > 1 && query[-1] == '/') return false;
    if (query == end) return true;
    query++;
    if (!is_query(query, end)) return false;
    return !has(rule, TAMIS__URL_SORT | TAMIS__URL_DROP) ||
           tamis__url_query_is_form(rule, query, (size_t)(end - query));
}

/* ---- Parts ----------------------------------------------------------------------------------- */

struct text {
    const unsigned char *from, *end;
};

struct scheme {
    const char *name;
    uint32_t port;
};

static const struct scheme schemes[] = {
    {"http", 80}, {"https", 443}, {"ftp", 21}, {"ws", 80}, {"wss", 443}};

struct parts {
    const struct scheme *scheme;
    struct text user, password, host;
    uint32_t port; /* the default port of the scheme if there is none */
    struct text path, query;
    bool has_query;
};

static bool is_blank(unsigned char byte)
{
    return byte == '\t' || byte == '\n' || byte == '\r';
}

static bool is_slash(unsigned char byte)
{
    return byte == '/' || byte == '\\';
}

/* Cuts the blanks and control characters off both ends. */
static struct text trim(const unsigned char *url, size_t bytes)
{
    struct text text = {url, url + bytes};
    while (text.from < text.end && *text.from <= ' ')
        text.from++;
    while (text.from < text.end && text.end[-1] <= ' ')
        text.end--;
    return text;
}

/* Copies the text without tabs and ends of lines; returns it as it is if it has none. */
static struct text without_blanks(struct text text, unsigned char *copy)
{
    const unsigned char *blank = text.from;
    while (blank < text.end && !is_blank(*blank))
        blank++;
    if (blank == text.end) return text;
    unsigned char *to = copy;
    for (const unsigned char *from = text.from; from < text.end; from++)
        if (!is_blank(*from)) *to++ = *from;
    return (struct text){copy, to};
}

/* Returns the colon behind the scheme; NULL: the scheme is none of ours. */
static const unsigned char *read_scheme(struct text url, const struct scheme **scheme)
{
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        const size_t bytes = strlen(schemes[i].name);
        size_t same = 0;
        if ((size_t)(url.end - url.from) <= bytes || url.from[bytes] != ':') continue;
        while (same < bytes && (url.from[same] | 0x20) == schemes[i].name[same])
            same++;
        *scheme = &schemes[i];
        if (same == bytes) return url.from + bytes;
    }
    return NULL;
}

/* Reads the port between its colon and the end; an empty one is the default one. */
static bool read_port(struct text text, struct parts *parts)
{
    uint32_t port = 0;
    parts->port = parts->scheme->port;
    if (text.from == text.end) return true;
    for (; text.from < text.end; text.from++) {
        if (*text.from < '0' || *text.from > '9') return false;
        port = port * 10 + (uint32_t)(*text.from - '0');
        if (port > 65535) return false;
    }
    parts->port = port;
    return true;
}

/* Reads name, password, host and port. */
static bool read_authority(struct text text, struct parts *parts)
{
    const unsigned char *host = text.end, *colon;
    while (host > text.from && host[-1] != '@')
        host--;
    parts->user = parts->password = (struct text){text.from, text.from};
    if (host > text.from) {
        const unsigned char *at = host - 1;
        for (colon = text.from; colon < at && *colon != ':';)
            colon++;
        parts->user.end = colon;
        parts->password = (struct text){colon < at ? colon + 1 : at, at};
    }
    bool brackets = false;
    for (colon = host; colon < text.end && (brackets || *colon != ':'); colon++) {
        if (*colon == '[') brackets = true;
        if (*colon == ']') brackets = false;
    }
    parts->host = (struct text){host, colon};
    return host < colon &&
           read_port((struct text){colon < text.end ? colon + 1 : colon, text.end}, parts);
}

static bool read_parts(struct text url, struct parts *parts)
{
    const unsigned char *from = read_scheme(url, &parts->scheme), *end;
    if (from == NULL) return false;
    do
        from++; /* the colon first */
    while (from < url.end && is_slash(*from));
    for (end = from; end < url.end && !is_slash(*end) && *end != '?' && *end != '#';)
        end++;
    if (!read_authority((struct text){from, end}, parts)) return false;
    for (from = end; end < url.end && *end != '?' && *end != '#';)
        end++;
    parts->path = (struct text){from, end};
    parts->has_query = end < url.end && *end == '?';
    if (!parts->has_query) return true;
    from = end + 1;
    const unsigned char *fragment = memchr(from, '#', (size_t)(url.end - from));
    parts->query = (struct text){from, fragment != NULL ? fragment : url.end};
    return true;
}

/* ---- Forms of parts -------------------------------------------------------------------------- */

static unsigned char *write_text(const char *text, unsigned char *to)
{
    while (*text != '\0')
        *to++ = (unsigned char)*text++;
    return to;
}

/* Writes the text with the bytes of that set percent-encoded. */
static unsigned char *encode(struct text text, uint8_t set, unsigned char *to)
{
    static const char digits[] = "0123456789ABCDEF";
    for (; text.from < text.end; text.from++) {
        const unsigned char byte = *text.from;
        if ((sorts[byte] & set) == 0) {
            *to++ = byte;
            continue;
        }
        *to++ = '%';
        *to++ = (unsigned char)digits[byte >> 4];
        *to++ = (unsigned char)digits[byte & 15];
    }
    return to;
}

/* https with the port of http stays, as its form would lose the port. */
static unsigned char *write_scheme(const struct tamis__key_rule *rule, struct parts *parts,
                                   unsigned char *to)
{
    if (has(rule, TAMIS__URL_HTTPS_IS_HTTP) && strcmp(parts->scheme->name, "https") == 0 &&
        parts->port != schemes[0].port) {
        if (parts->port == parts->scheme->port) parts->port = schemes[0].port;
        parts->scheme = &schemes[0];
    }
    return write_text("://", write_text(parts->scheme->name, to));
}

static unsigned char *write_user(const struct parts *parts, unsigned char *to)
{
    const bool password = parts->password.from < parts->password.end;
    if (parts->user.from == parts->user.end && !password) return to;
    to = encode(parts->user, IN_USER, to);
    if (password) {
        *to++ = ':';
        to = encode(parts->password, IN_USER, to);
    }
    *to++ = '@';
    return to;
}

/* Takes "www." off a name of two labels more. */
static unsigned char *cut_www(unsigned char *host, unsigned char *end)
{
    while (end - host > 6 && memcmp(host, "www.", 4) == 0 &&
           memchr(host + 4, '.', (size_t)(end - host) - 5) != NULL) {
        memmove(host, host + 4, (size_t)(end - host) - 4);
        end -= 4;
    }
    return end;
}

static unsigned char *write_port(uint32_t port, unsigned char *to)
{
    char text[12];
    (void)snprintf(text, sizeof text, ":%u", port);
    return write_text(text, to);
}

/* How many dots are all of that segment, one or two, percent-encoded or not?  0: it is another. */
static int count_dots(struct text segment)
{
    int dots = 0;
    while (segment.from < segment.end && dots < 3) {
        const bool encoded = segment.end - segment.from >= 3 && segment.from[0] == '%' &&
                             segment.from[1] == '2' && (segment.from[2] | 0x20) == 'e';
        if (!encoded && *segment.from != '.') return 0;
        segment.from += encoded ? 3 : 1;
        dots++;
    }
    return dots < 3 ? dots : 0;
}

static unsigned char *write_path(const struct tamis__key_rule *rule, struct text path,
                                 unsigned char *to)
{
    unsigned char *root = to;
    bool last;
    if (path.from < path.end && is_slash(*path.from)) path.from++;
    do {
        struct text segment = {path.from, path.from};
        while (segment.end < path.end && !is_slash(*segment.end))
            segment.end++;
        last = segment.end == path.end;
        const int dots = count_dots(segment);
        if (dots == 2 && to > root)
            while (*--to != '/')
                ;
        if (dots == 0 || last) *to++ = '/';
        if (dots == 0) to = encode(segment, IN_PATH, to);
        path.from = segment.end + 1;
    } while (!last);
    while (has(rule, TAMIS__URL_NOSLASH) && to - root > 1 && to[-1] == '/')
        to--;
    return to;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* A byte becomes three at most.  More are: the marks between parts, a scheme, an address that was a
 * number, and a name in the form xn--. */
static size_t form_bytes_max(const struct tamis__key_rule *rule, size_t bytes)
{
    return 3 * bytes + 64 + (has(rule, TAMIS__KEY_IDN) ? TAMIS__IDN_BYTES_MAX : 0);
}

static size_t count_parameters(const unsigned char *url, size_t bytes)
{
    size_t count = 1;
    for (size_t i = 0; i < bytes; i++)
        count += url[i] == '&';
    return count;
}

/* The form; then the URL without blanks or, once it was read, the query copied; then parameters. */
size_t tamis__url_room_bytes(const struct tamis__key_rule *rule, const unsigned char *url,
                             size_t bytes)
{
    const size_t most = form_bytes_max(rule, bytes);
    if (!has(rule, TAMIS__URL_SORT | TAMIS__URL_DROP)) return most + bytes;
    return 2 * most + sizeof(struct tamis__url_parameter) +
           2 * count_parameters(url, bytes) * sizeof(struct tamis__url_parameter);
}

static unsigned char *write_query(const struct tamis__key_rule *rule, struct text query,
                                  size_t url_bytes, unsigned char *room, unsigned char *to)
{
    unsigned char *start = to + 1;
    *to = '?';
    to = encode(query, IN_QUERY, start);
    size_t bytes = (size_t)(to - start);
    if (!has(rule, TAMIS__URL_SORT | TAMIS__URL_DROP)) return to;
    if (bytes > 0 && !tamis__url_query_is_form(rule, start, bytes)) {
        unsigned char *copy = room + form_bytes_max(rule, url_bytes);
        const uintptr_t behind = (uintptr_t)copy + form_bytes_max(rule, url_bytes);
        const size_t align = _Alignof(struct tamis__url_parameter);
        struct tamis__url_parameter *parameters = (void *)((behind + align - 1) / align * align);
        bytes = tamis__url_query_write(rule, start, bytes, parameters, copy);
    }
    return bytes > 0 ? start + bytes : start - 1;
}

int64_t tamis__url_write(const struct tamis__key_rule *rule, const unsigned char *url, size_t bytes,
                         unsigned char *room)
{
    struct parts parts = {0};
    const struct text text = without_blanks(trim(url, bytes), room + form_bytes_max(rule, bytes));
    if (!read_parts(text, &parts)) return 0;
    unsigned char *host = write_user(&parts, write_scheme(rule, &parts, room));
    const int64_t host_bytes = tamis__url_write_host(rule, parts.host.from, parts.host.end, host);
    if (host_bytes <= 0) return host_bytes;
    unsigned char *to = host + host_bytes;
    if (has(rule, TAMIS__URL_NOWWW)) to = cut_www(host, to);
    if (parts.port != parts.scheme->port) to = write_port(parts.port, to);
    to = write_path(rule, parts.path, to);
    if (parts.has_query) to = write_query(rule, parts.query, bytes, room, to);
    return to - room;
}
