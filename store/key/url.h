/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * url.h: URLs as keys: the rule `url`, by the URL standard of the WHATWG (url.spec.whatwg.org).
 *
 * A URL here is one of http, https, ftp, ws and wss, and absolute.  Its form is what the standard
 * calls its serialization without the fragment, changed by the options of the rule.  All else is no
 * URL and stays as it is.
 *
 * Two things differ from the standard, which takes text in Unicode, and names in any script.  A
 * byte that is not UTF-8 is percent-encoded as it is.  And a byte above 0x7f in the name of a host
 * stays, unless the rule has the option `idn`.
 */
#pragma once

#include "key/rule.h"

/* What is longer is no URL. */
#define TAMIS__URL_BYTES_MAX ((size_t)1 << 20)

/* Is that URL its own form?  May say no where it is. */
bool tamis__url_is_form(const struct tamis__key_rule *rule, const unsigned char *url, size_t bytes);

/* How many bytes of room does tamis__url_write() need? */
size_t tamis__url_room_bytes(const struct tamis__key_rule *rule, const unsigned char *url,
                             size_t bytes);
/* Writes the form, and uses the room behind it, too.  Returns how many bytes the form has; 0: this
 * is no URL; TAMIS_ENOMEM. */
int64_t tamis__url_write(const struct tamis__key_rule *rule, const unsigned char *url, size_t bytes,
                         unsigned char *room);
