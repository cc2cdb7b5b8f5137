/* SPDX-License-Identifier: BSD-2-Clause */
/* parents.c: see parents.h. */
#include "parents.h"

int64_t parents_ask(tamis_filter *filter, const struct tamis_key *names, size_t count,
                    uint8_t *answers)
{
    int64_t present = 0;
    for (size_t i = 0; i < count; i++) {
        const int rc = tamis_filter_contains_name(filter, names[i].data, names[i].bytes, NULL);
        if (rc < 0) return rc;
        answers[i] = rc > 0;
        present += rc;
    }
    return present;
}
