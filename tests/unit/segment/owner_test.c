/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * owner_test.c: two who wait for a lock see the death of its holder at once.
 *
 * Broken to see it fail: tamis__owner_lock() stores its nonce over the dead one's and does not
 * swap it, so both had the lock.
 */
#include "fixture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "os/io.h"
#include "points.h"
#include "segment/header.h"
#include "segment/owner.h"

#define DEAD 12345u /* a nonce that nobody has locked */

static uint64_t words[TAMIS__BLOCK_LOCKS];
static struct tamis__owner faster, slower;
static bool faster_has_it;

static void announce(struct tamis__owner *owner, const char *path)
{
    assert_done(tamis__private_open(AT_FDCWD, path, O_RDWR | O_CREAT, 0600, path, &owner->file));
    assert_done(tamis__owner_announce(owner, words, path));
}

/* The slower one has found the holder dead; the faster one takes the lock now. */
static void take_before(unsigned point)
{
    if (point != TAMIS__POINT_HOLDER_DEAD) return;
    tamis__point_hook = NULL;
    assert_int_equal(tamis__owner_lock(&faster, &words[0]), 0);
    faster_has_it = true;
}

/* The slower one asks whether the faster one lives: that has done its work. */
static int let_go(const char *verb, const char *what)
{
    (void)what;
    if (strcmp(verb, "lock") == 0 && faster_has_it) {
        faster_has_it = false;
        tamis__owner_unlock(&words[0]);
    }
    return 0;
}

CASE(lock_of_a_dead_holder_is_taken_by_one)
{
    AUTO_FREE char *path = scratch_path("locks");
    (void)scratch_directory();
    announce(&faster, path);
    announce(&slower, path);
    words[0] = DEAD;
    tamis__point_hook = take_before;
    tamis__io_hook = let_go;
    assert_int_equal(tamis__owner_lock(&slower, &words[0]), 0);
    tamis__io_hook = NULL;
    assert_true(tamis__point_hook == NULL); /* it was passed */
    assert_false(faster_has_it);
    assert_int_equal(words[0], slower.nonce);
    tamis__owner_unlock(&words[0]);
    tamis__private_close(&faster.file);
    tamis__private_close(&slower.file);
}
