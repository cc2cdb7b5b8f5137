/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_guess.c: the first lines of a list of any format, and what the bytes of any text begin with.
 */
#include <string.h>

#include "fuzz.h"
#include "input/encoding.h"
#include "input/guess.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = malloc(bytes + 1);
    FUZZ_CHECK(text != NULL);
    if (bytes > 0) memcpy(text, data, bytes);
    const struct guess guess = guess_format(text, text + bytes);
    FUZZ_CHECK(guess.fitting <= guess.lines && guess.lines <= GUESS_LINES);
    FUZZ_CHECK(guess.options == NULL || guess.has_title || 2 * guess.fitting > guess.lines);
    FUZZ_CHECK(!guess.is_sure || guess.format->has_names);
    (void)encoding_of(text, bytes);
    free(text);
    return 0;
}
