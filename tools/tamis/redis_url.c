/* SPDX-License-Identifier: BSD-2-Clause */
/* redis_url.c: URLs of Redis servers, taken apart; see redis_url.h. */
#include "redis_url.h"

#include "command.h"

#define SCHEME "redis://"
#define TLS_SCHEME "rediss://"
#define SOCKET_SCHEME "unix://"
#define DEFAULT_PORT 6379

bool redis_url_is_tls(const char *text)
{
    return strncmp(text, TLS_SCHEME, strlen(TLS_SCHEME)) == 0;
}

bool redis_is_url(const char *text)
{
    return strncmp(text, SCHEME, strlen(SCHEME)) == 0 || redis_url_is_tls(text) ||
           strncmp(text, SOCKET_SCHEME, strlen(SOCKET_SCHEME)) == 0;
}

bool redis_url_is_other(const char *text)
{
    static const char *const schemes[] = {"redis:", "rediss:", "valkey:", "valkeys:"};
    if (redis_is_url(text)) return false;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(text, schemes[i], strlen(schemes[i])) == 0) return true;
    const char *slashes = strstr(text, "://");
    return slashes != NULL && slashes > text && memchr(text, '/', (size_t)(slashes - text)) == NULL;
}

/* %40 is @, and so on (RFC 3986); in place.  false for a % without two digits, or for %00. */
static bool percent_decode(char *text)
{
    char *out = text;
    for (; *text != '\0'; text++, out++) {
        *out = *text;
        if (*text != '%') continue;
        const int high = text_hex_digit(text[1]), low = high < 0 ? -1 : text_hex_digit(text[2]);
        if (low < 0 || high * 16 + low == 0) return false;
        *out = (char)(high * 16 + low);
        text += 2;
    }
    *out = '\0';
    return true;
}

void redis_url_clear(struct redis_url *address)
{
    free(address->user);
    free(address->password);
    free(address->host);
    for (size_t i = 0; i < address->other_count; i++)
        free(address->others[i].host);
    free(address->others);
    *address = (struct redis_url){0};
}

/* Digits up to `end`, at most `most`; -1 for anything else. */
static int parse_digits(const char *begin, const char *end, int most)
{
    int number = 0;
    if (begin == end || end - begin > 6) return -1;
    for (; begin < end; begin++) {
        if (*begin < '0' || *begin > '9') return -1;
        number = number * 10 + (*begin - '0');
    }
    return number <= most ? number : -1;
}

/* [user]:password before the @ */
static bool parse_user(struct redis_url *address, const char *begin, const char *end)
{
    const char *colon = memchr(begin, ':', (size_t)(end - begin));
    if (colon == NULL) return false;
    if (colon > begin) address->user = cli_copy(begin, (size_t)(colon - begin));
    address->password = cli_copy(colon + 1, (size_t)(end - colon - 1));
    return percent_decode(address->password) &&
           (address->user == NULL || percent_decode(address->user));
}

/* host, host:port, [v6 address]:port */
static bool parse_host(struct redis_host *address, const char *begin, const char *end)
{
    const char *host_end = end, *colon;
    if (*begin == '[') {
        const char *bracket = memchr(begin, ']', (size_t)(end - begin));
        if (bracket == NULL) return false;
        begin++;
        host_end = bracket;
        colon = bracket + 1 < end ? bracket + 1 : NULL;
        if (colon != NULL && *colon != ':') return false;
    } else {
        colon = memchr(begin, ':', (size_t)(end - begin));
        if (colon != NULL) host_end = colon;
    }
    address->port = DEFAULT_PORT;
    if (colon != NULL) address->port = parse_digits(colon + 1, end, 65535);
    address->host = cli_copy(begin, (size_t)(host_end - begin));
    return host_end > begin && address->port > 0;
}

/* One host, or several with commas between them. */
static bool parse_hosts(struct redis_url *address, const char *begin, const char *end)
{
    for (bool first = true;; first = false) {
        const char *comma = memchr(begin, ',', (size_t)(end - begin));
        struct redis_host host = {0};
        const bool good = parse_host(&host, begin, comma != NULL ? comma : end);
        if (first) {
            address->host = host.host;
            address->port = host.port;
        } else {
            address->others =
                cli_realloc(address->others, (address->other_count + 1) * sizeof *address->others);
            address->others[address->other_count++] = host;
        }
        if (!good || comma == NULL) return good;
        begin = comma + 1;
    }
}

/* /PATH, or [USER]:PASSWORD@/PATH: a password with a slash has it as %2F. */
static bool parse_socket(const char *begin, struct redis_url *address)
{
    const char *path = strchr(begin, '/');
    *address = (struct redis_url){0};
    if (path == NULL || (path > begin && path[-1] != '@')) return false;
    if (path > begin && !parse_user(address, begin, path - 1)) return false;
    address->host = cli_strdup(path);
    return true;
}

bool redis_url_parse(const char *url, struct redis_url *address)
{
    if (strncmp(url, SOCKET_SCHEME, strlen(SOCKET_SCHEME)) == 0)
        return parse_socket(url + strlen(SOCKET_SCHEME), address);
    const bool tls = redis_url_is_tls(url);
    const char *begin = url + strlen(tls ? TLS_SCHEME : SCHEME);
    *address = (struct redis_url){.port = DEFAULT_PORT, .tls = tls};
    const char *slash = strchr(begin, '/');
    const char *end = slash != NULL ? slash : begin + strlen(begin);
    const char *at = memrchr(begin, '@', (size_t)(end - begin));
    if (at != NULL && !parse_user(address, begin, at)) return false;
    if (!parse_hosts(address, at != NULL ? at + 1 : begin, end)) return false;
    if (slash == NULL || slash[1] == '\0') return true;
    const int database = parse_digits(slash + 1, slash + strlen(slash), 65535);
    address->database = (unsigned)database;
    return database >= 0;
}
