/* SPDX-License-Identifier: BSD-2-Clause */
/* builds.c: see builds.h. */
#include "builds.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "handle/view.h"

#define AT_ONCE 1000u

struct builds_key builds_key(char family, uint64_t number)
{
    struct builds_key key;
    char text[BUILDS_KEY_BYTES + 1];
    (void)snprintf(text, sizeof text, "%c-%014llx", family, (unsigned long long)number);
    memcpy(key.bytes, text, sizeof key.bytes);
    return key;
}

static uint64_t *numbers_of(const struct builds_keys *keys, size_t *count)
{
    const unsigned times = keys->times ? keys->times : 1;
    uint64_t random = keys->shuffle, *numbers;
    *count = (size_t)keys->count * times;
    numbers = calloc(*count + 1, sizeof *numbers);
    if (numbers == NULL) return NULL;
    for (size_t i = 0; i < *count; i++)
        numbers[i] = keys->first + i % keys->count;
    for (size_t i = *count; keys->shuffle != 0 && i > 1; i--) {
        const size_t other = (size_t)random_below(&random, i);
        const uint64_t kept = numbers[i - 1];
        numbers[i - 1] = numbers[other];
        numbers[other] = kept;
    }
    return numbers;
}

int builds_give(tamis_build *build, builds_fn *fn, const struct builds_keys *keys)
{
    static struct builds_key bytes[AT_ONCE];
    static struct tamis_key list[AT_ONCE];
    size_t count;
    AUTO_FREE uint64_t *numbers = numbers_of(keys, &count);
    int rc = numbers != NULL ? 0 : tamis__fail(TAMIS_ENOMEM, "out of memory in the test itself");
    for (size_t done = 0; rc == 0 && done < count;) {
        size_t batch = 0;
        for (; batch < AT_ONCE && done < count; batch++, done++) {
            bytes[batch] = builds_key(keys->family, numbers[done]);
            list[batch] = (struct tamis_key){.data = bytes[batch].bytes, .bytes = BUILDS_KEY_BYTES};
        }
        rc = fn(build, list, batch);
    }
    return rc;
}

int builds_run(tamis_store *store, const char *name, const struct tamis_build_spec *spec,
               const struct builds_keys *keys, struct tamis_build_result *result)
{
    AUTO_BUILD *build = NULL;
    int rc = tamis_build_begin(store, name, spec, &build);
    if (rc == 0) rc = builds_give(build, tamis_build_add, keys);
    if (rc == 0) rc = tamis_build_publish(build, result);
    return rc;
}

uint64_t builds_count_yes(tamis_store *store, const char *name, const struct builds_keys *keys)
{
    static struct builds_key bytes[AT_ONCE];
    static struct tamis_key list[AT_ONCE];
    static uint8_t answers[AT_ONCE];
    uint64_t yes = 0;
    AUTO_FILTER *filter = fixture_opened(store, name, TAMIS_OPEN_READ_ONLY);
    for (uint64_t done = 0; done < keys->count;) {
        size_t batch = 0;
        for (; batch < AT_ONCE && done < keys->count; batch++, done++) {
            bytes[batch] = builds_key(keys->family, keys->first + done);
            list[batch] = (struct tamis_key){.data = bytes[batch].bytes, .bytes = BUILDS_KEY_BYTES};
        }
        yes += (uint64_t)assert_done(tamis_filter_contains_batch(filter, list, batch, answers));
    }
    return yes;
}

uint64_t builds_segment(tamis_store *store, const char *name)
{
    AUTO_FILTER *filter = fixture_opened(store, name, TAMIS_OPEN_READ_ONLY);
    assert_int_equal(filter->view->count, 1);
    return filter->view->segments[0].segment.header->number;
}
