/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rollback_words_test.c: a rollback that is stopped while it tells, and a handle that sleeps.
 *
 * The handle knows the list that comes into force again from before, with other exceptions.  While
 * the live words of that list change, one after another, the catalog is locked, so the words are
 * all that the handle has.  It must never answer from the list as it was at first.
 *
 * Seen to fail with tamis__segment_stay() told before the exceptions: at the first word the handle
 * found nothing that goes on behind its list, and went on with the exceptions that it had.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "editions.h"
#include "fixture.h"
#include "hooks.h"
#include "points.h"
#include "spawn.h"

static unsigned words;

static bool has(tamis_filter *filter, uint64_t key)
{
    const int rc = tamis_filter_contains(filter, &key, sizeof key);
    assert_true(rc >= 0);
    return rc == 1;
}

static pid_t roll_back_in_steps(const char *path)
{
    const pid_t parent = getpid(), child = fork();
    if (child != 0) return child;
    spawn_settle(parent);
    tamis_store *store = fixture_open(path, 0);
    hooks_signal_at(TAMIS__POINT_PUBLISH_WORD, SIGSTOP, 0);
    _exit(tamis_filter_rollback(store, "list", 0) == 0 ? 0 : 1);
}

/* `sleeper`: a handle for each word that may be told; each looks once. */
STORE_CASE(rollback_words_are_told_in_an_order_that_no_sleeper_misreads)
{
    tamis_filter *sleepers[8];
    const uint64_t shared = 50;
    const struct tamis_key key = {&shared, sizeof shared};
    int status;
    assert_done(editions_publish(store, "list", 0, 100, NULL, NULL));
    for (size_t i = 0; i < 8; i++)
        assert_done(tamis_filter_open(store, "list", TAMIS_OPEN_READ_ONLY, &sleepers[i]));
    assert_true(has(sleepers[0], 50));
    assert_done(editions_publish(store, "list", 10, 100, NULL, NULL));
    assert_int_equal(tamis_filter_except(store, "list", &key, 1), 1);
    const pid_t child = roll_back_in_steps(path);
    (void)alarm(60);
    while (waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status)) {
        assert_in_range(words, 0, 7);
        assert_false(has(sleepers[words++], 50)); /* an exception, in the list before and after */
        assert_int_equal(kill(child, SIGCONT), 0);
    }
    (void)alarm(0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(words, 3);
    for (size_t i = 0; i < 8; i++) {
        assert_false(has(sleepers[i], 50));
        assert_true(has(sleepers[i], 5)); /* of the first generation alone */
        assert_done(tamis_filter_close(sleepers[i]));
    }
}

/* ---- A handle that follows meanwhile --------------------------------------------------------- */

static pid_t teller;

static void let_tell(void)
{
    int status;
    assert_int_equal(kill(teller, SIGCONT), 0);
    assert_int_equal(waitpid(teller, &status, WUNTRACED), teller);
    assert_true(WIFSTOPPED(status));
}

/* It has read the words of the list, and two more are told before it reads `next`. */
static void read_slowly(unsigned point)
{
    if (point != TAMIS__POINT_LIST_FOLLOWED) return;
    tamis__point_hook = NULL;
    let_tell();
    let_tell();
}

/* It comes to the list by `next` of the one before, after the first word was told.  Seen to fail
 * with in_force told before the exceptions: the handle took the list for one of the rollback, with
 * the exceptions of before. */
STORE_CASE(rollback_words_are_told_in_an_order_that_no_follower_misreads)
{
    const uint64_t shared = 50;
    const struct tamis_key key = {&shared, sizeof shared};
    int status;
    assert_done(editions_publish(store, "list", 0, 100, NULL, NULL));
    AUTO_FILTER *follower = fixture_opened(store, "list", TAMIS_OPEN_READ_ONLY);
    assert_done(editions_publish(store, "list", 0, 100, NULL, NULL));
    assert_done(editions_publish(store, "list", 10, 100, NULL, NULL));
    assert_int_equal(tamis_filter_except(store, "list", &key, 1), 1);
    teller = roll_back_in_steps(path);
    (void)alarm(60);
    assert_int_equal(waitpid(teller, &status, WUNTRACED), teller);
    assert_true(WIFSTOPPED(status)); /* at its first word */
    tamis__point_hook = read_slowly;
    assert_false(has(follower, 50)); /* an exception, in the list before and after */
    assert_true(tamis__point_hook == NULL);
    assert_int_equal(kill(teller, SIGCONT), 0);
    assert_int_equal(waitpid(teller, &status, 0), teller);
    (void)alarm(0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_false(has(follower, 50));
}
