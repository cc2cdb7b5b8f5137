/* SPDX-License-Identifier: BSD-2-Clause */
/* url.h: what can be said of the URL of a pull without asking anybody. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum url_scheme { URL_OTHER, URL_HTTPS, URL_HTTP, URL_FILE };

enum url_scheme url_scheme(const char *url);

/* The URL as it may be shown and noted: without user and password, and with "?..." in the place of
 * a query, which may be as secret.  The caller frees it. */
char *url_shown(const char *url);

/* The URL with `suffix` behind its path.  The caller frees it. */
char *url_beside(const char *url, const char *suffix);

/* The last part of the path, decoded: the name of the file.  The caller frees it.  "": it has none.
 */
char *url_name(const char *url);

/* The file of a file:// URL, as libcurl opens it.  The caller frees it.  NULL: it is of another
 * machine, which libcurl refuses, or of none. */
char *url_file(const char *url);

/* A number that tells one URL, or one name, from others: FNV-1a of 64 bits.  Nothing that matters
 * rests on it: what is found by it says itself what it is. */
uint64_t url_id(const char *text);
