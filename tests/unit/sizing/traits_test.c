/* SPDX-License-Identifier: BSD-2-Clause */
/* traits_test.c: what everybody may ask of a kind. */
#include "fixture.h"

/* A kind is asked what it can do; nobody needs to know its number.  (Broken: COUNTS left out of the
 * line of counting in traits.c.) */
CASE(sizing_tells_what_a_kind_can_do)
{
    unsigned kinds = 0, statics = 0, counters = 0, plain = 0, durable = 0, growing = 0;
    for (uint32_t kind = tamis_kind_next(TAMIS_KIND_DEFAULT); kind != TAMIS_KIND_DEFAULT;
         kind = tamis_kind_next(kind)) {
        uint32_t again = 0;
        assert_int_equal(tamis_kind_from_name(tamis_kind_name(kind), &again), 0);
        assert_int_equal(again, kind);
        kinds++;
        statics += (unsigned)tamis_kind_has(kind, TAMIS_KIND_IS_STATIC);
        counters += (unsigned)tamis_kind_has(kind, TAMIS_KIND_COUNTS);
        plain += (unsigned)tamis_kind_has(kind, TAMIS_KIND_IS_PLAIN);
        durable += (unsigned)tamis_kind_has(kind, TAMIS_KIND_MAY_BE_DURABLE);
        growing += (unsigned)tamis_kind_has(kind, TAMIS_KIND_MAY_GROW);
    }
    assert_int_equal(kinds, 4);
    assert_int_equal(statics, 1);
    assert_int_equal(counters, 1);
    assert_int_equal(plain, 1);
    assert_int_equal(durable, 2);
    assert_int_equal(growing, 2);
    assert_int_equal(tamis_kind_has(TAMIS_KIND_FUSE, TAMIS_KIND_IS_STATIC), 1);
    assert_int_equal(tamis_kind_has(TAMIS_KIND_COUNTING, TAMIS_KIND_COUNTS), 1);
    assert_int_equal(tamis_kind_has(TAMIS_KIND_BLOOM, TAMIS_KIND_IS_PLAIN | TAMIS_KIND_IS_STATIC),
                     0);
    assert_int_equal(tamis_kind_has(99, TAMIS_KIND_MAY_GROW), 0);
    assert_int_equal(tamis_kind_next(99), TAMIS_KIND_DEFAULT);
}
