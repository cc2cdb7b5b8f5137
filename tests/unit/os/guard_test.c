/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guard_test.c: a mapping that lost its file is known to be broken before its pages read as zeros.
 *
 * Broken to see it fail: mend() sets `broken` after it has replaced the page; a thread that read
 * the zeros in between would have answered "absent".
 */
#include "keys.h"

#include <unistd.h>

#include "handle/view.h"
#include "os/guard.h"
#include "points.h"
#include "spawn.h"

static const void *mapping;
static unsigned replaced, known;

/* What another thread could find that reads the new page at once. */
static void look(unsigned point)
{
    if (point != TAMIS__POINT_PAGE_REPLACED) return;
    replaced++;
    known += tamis__guard_is_broken(tamis__guard_of(mapping));
}

/* A child, as cmocka handles SIGBUS itself here. */
static void lose_the_file(void *context)
{
    AUTO_FREE char *path;
    (void)context;
    tamis_filter *filter = fixture_filter(fixture_store(&path), "x", 1000000);
    SPAWN_CHECK(texts_add(filter, 0, 100) == 100);
    mapping = tamis__newest(filter->view)->segment.header;
    SPAWN_CHECK(tamis__guard_of(mapping) != NULL);
    SPAWN_CHECK(truncate(fixture_segment_path(path, 1), 4096) == 0);
    tamis__point_hook = look;
    for (uint64_t n = 0; n < 100; n++)
        SPAWN_CHECK(text_has(filter, n) < 0);
    SPAWN_CHECK(replaced > 0);
    SPAWN_CHECK(known == replaced);
}

CASE(broken_is_told_before_the_page_is_replaced)
{
    (void)scratch_directory();
    assert_int_equal(fixture_child(lose_the_file, NULL), 0);
}
