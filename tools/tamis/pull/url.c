/* SPDX-License-Identifier: BSD-2-Clause */
/* url.c: the URL of a pull; see url.h. */
#include "pull/url.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "memory.h"
#include "text.h"

enum url_scheme url_scheme(const char *url)
{
    static const struct {
        const char *begin;
        enum url_scheme scheme;
    } schemes[] = {{"https://", URL_HTTPS}, {"http://", URL_HTTP}, {"file://", URL_FILE}};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncasecmp(url, schemes[i].begin, strlen(schemes[i].begin)) == 0)
            return schemes[i].scheme;
    return URL_OTHER;
}

/* Where the query or the fragment begins, or the end. */
static size_t path_end(const char *url)
{
    return strcspn(url, "?#");
}

/* Where the host begins, behind user and password, if these are there.  A password with a slash in
 * it makes no good URL, as the host would be the user and the port the password; it is not shown
 * for that. */
static size_t host_begin(const char *url, size_t scheme, size_t end)
{
    size_t authority = scheme + strcspn(url + scheme, "/\\?#");
    const char *colon = memrchr(url + scheme, ':', authority - scheme);
    if (colon != NULL && colon[1] != '\0' && strspn(colon + 1, "0123456789]") == 0) authority = end;
    const char *at = memrchr(url + scheme, '@', authority - scheme);
    return at != NULL ? (size_t)(at + 1 - url) : scheme;
}

char *url_shown(const char *url)
{
    const size_t end = path_end(url);
    const char *slashes = strstr(url, "://");
    size_t scheme = 0, host = 0;
    if (slashes != NULL && slashes < url + end) {
        scheme = (size_t)(slashes - url) + 3;
        host = host_begin(url, scheme, end);
    }
    return cli_format("%.*s%.*s%s", (int)scheme, url, (int)(end - host), url + host,
                      url[end] == '?' ? "?..." : "");
}

char *url_beside(const char *url, const char *suffix)
{
    const size_t end = path_end(url);
    return cli_format("%.*s%s%.*s", (int)end, url, suffix, (int)strcspn(url + end, "#"), url + end);
}

/* Decodes %XX in place.  false: it has a byte that no path has. */
static bool decode_path(char *path)
{
    char *to = path;
    for (const char *from = path; *from != '\0'; from++, to++) {
        const int high = *from == '%' ? text_hex_digit(from[1]) : -1;
        const int low = high >= 0 ? text_hex_digit(from[2]) : -1;
        *to = *from;
        if (low >= 0) *to = (char)(high << 4 | low);
        if (*to == '\0') return false;
        if (low >= 0) from += 2;
    }
    *to = '\0';
    return true;
}

char *url_name(const char *url)
{
    const char *slashes = strstr(url, "://");
    const size_t begin = slashes != NULL ? (size_t)(slashes - url) + 3 : 0, end = path_end(url);
    const char *slash = begin < end ? memrchr(url + begin, '/', end - begin) : NULL;
    if (slash == NULL) return cli_strdup("");
    char *name = cli_copy(slash + 1, (size_t)(url + end - slash - 1));
    if (!decode_path(name)) *name = '\0';
    return name;
}

char *url_file(const char *url)
{
    const char *host = url + strlen("file://");
    const size_t host_bytes = strcspn(host, "/?#");
    const char *path = host + host_bytes;
    const bool is_here = host_bytes == 0 || strncasecmp(host, "localhost/", 10) == 0 ||
                         strncasecmp(host, "127.0.0.1/", 10) == 0;
    if (url_scheme(url) != URL_FILE || !is_here || *path != '/') return NULL;
    char *file = cli_format("%.*s", (int)path_end(path), path);
    if (decode_path(file)) return file;
    free(file);
    return NULL;
}

uint64_t url_id(const char *text)
{
    uint64_t id = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++)
        id = (id ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return id;
}
