/* SPDX-License-Identifier: BSD-2-Clause */
/* damages.h: what tests do to the bytes of a file. */
#ifndef TAMIS_UNIT_DAMAGES_H
#define TAMIS_UNIT_DAMAGES_H

#include <stddef.h>
#include <stdint.h>

struct bytes {
    unsigned char *data;
    size_t count, room;
};

/* A bit or 20 flipped, bytes replaced, zeroed, exchanged or written twice, within [begin, end):
 * afterwards something is not as it was.  `unit`, at most 4096: of what is exchanged or zeroed. */
void damage(struct bytes *b, size_t begin, size_t end, size_t unit, uint64_t *random);
/* Cut off, or longer by up to 8192 bytes, for which there is room, of what has been seen before. */
void damage_length(struct bytes *b, uint64_t *random);

/* The file is these bytes. */
void damage_write(const char *file, const struct bytes *b);

#endif
