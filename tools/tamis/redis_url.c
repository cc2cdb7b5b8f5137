/* SPDX-License-Identifier: BSD-2-Clause */
/* redis_url.c: redis://[[USER]:PASSWORD@]HOST[:PORT][/DB], taken apart; see redis_url.h. */
#include "redis_url.h"

#include "command.h"
#include "stream.h"

#define SCHEME "redis://"
#define DEFAULT_PORT 6379

bool redis_is_url(const char *text)
{
    return strncmp(text, SCHEME, strlen(SCHEME)) == 0;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* %40 is @, and so on (RFC 3986); in place.  false for a % without two digits, or for %00. */
static bool percent_decode(char *text)
{
    char *out = text;
    for (; *text != '\0'; text++, out++) {
        *out = *text;
        if (*text != '%') continue;
        const int high = hex_digit(text[1]), low = high < 0 ? -1 : hex_digit(text[2]);
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
static bool parse_host(struct redis_url *address, const char *begin, const char *end)
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

bool redis_url_parse(const char *url, struct redis_url *address)
{
    const char *begin = url + strlen(SCHEME);
    *address = (struct redis_url){.port = DEFAULT_PORT};
    const char *slash = strchr(begin, '/');
    const char *end = slash ? slash : begin + strlen(begin);
    const char *at = memrchr(begin, '@', (size_t)(end - begin));
    if (at != NULL && !parse_user(address, begin, at)) return false;
    if (!parse_host(address, at ? at + 1 : begin, end)) return false;
    if (slash == NULL || slash[1] == '\0') return true;
    const int database = parse_digits(slash + 1, slash + strlen(slash), 65535);
    address->database = (unsigned)database;
    return database >= 0;
}
