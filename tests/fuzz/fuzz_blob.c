/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_blob.c: BF.LOAD: filters as the AOF of valkey-bloom has them. */
#include "loaders.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const struct fake_word words[] = {FAKE_WORD("bf.load"), {data, bytes}};
    loaders_begin(false);
    const bool loaded = fake_command(words, 2);
    FUZZ_CHECK(loaded == fake_has_key());
    loaders_judge(bytes, 0);
    loaders_end(loaded);
    return 0;
}
