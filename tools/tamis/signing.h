/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * signing.h: a stream that is signed while it is written: --sign KEY.
 *
 * The file and its signature get their names one right after the other, when both are on the disk.
 */
#pragma once

#include <stdbool.h>

struct invocation;
struct signing;
struct stream;

/* Do the options of a signature fit each other?  `path` is where the stream goes, NULL if that is
 * no file.  false after a message. */
bool signing_options_suffice(const struct invocation *call, const char *path);

/* With --sign, reads the key, and asks for its password.  NULL after a message. */
struct signing *signing_new(const struct invocation *call, const char *path);

/* A stream that writes to `to`, which it closes.  stream_keep() keeps both. */
struct stream *signing_stream(struct signing *signing, struct stream *to);

const char *signing_path(const struct signing *signing); /* of the signature */
const char *signing_key(const struct signing *signing);  /* the id of the key */

void signing_free(struct signing *signing); /* NULL is allowed */
