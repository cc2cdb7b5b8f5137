/* SPDX-License-Identifier: BSD-2-Clause */
/* pace.c: how many keys a batch may have; see pace.h. */
#include "input/pace.h"

#define SLOW_S 0.1
#define AIM_S 0.05   /* as the next batch may be slower */
#define FAST_S 0.025 /* twice as many keys take AIM_S */
#define PROBE_SHARE 8
#define WAITS_MOST 16

void pace_init(struct pace *pace, size_t first, size_t most)
{
    *pace = (struct pace){.keys = first, .most = most, .waits = 1};
}

/* `keys`, within the limits. */
static void set_keys(struct pace *pace, double keys)
{
    pace->keys = keys < 1 ? 1 : keys < (double)pace->most ? (size_t)keys : pace->most;
}

/* A probe was faster if its time is not half of what the larger batch took. */
static void note_probe(struct pace *pace, size_t keys, double seconds)
{
    if (seconds < pace->slow_s / 2) {
        const double at_aim = (double)keys * AIM_S / seconds, before = (double)pace->slow_keys;
        set_keys(pace, at_aim < before ? at_aim : before);
        pace->waits = 1;
    } else {
        set_keys(pace, 2 * (double)pace->slow_keys);
        pace->wait = pace->waits;
        if (pace->waits < WAITS_MOST) pace->waits *= 2;
    }
    pace->slow_s = 0;
}

void pace_note(struct pace *pace, size_t keys, double seconds)
{
    if (pace->slow_s > 0) {
        note_probe(pace, keys, seconds);
    } else if (seconds > SLOW_S && pace->wait > 0) {
        pace->wait--;
    } else if (seconds > SLOW_S && keys > 1) {
        pace->slow_s = seconds;
        pace->slow_keys = keys;
        set_keys(pace, (double)keys / PROBE_SHARE);
    } else if (seconds < FAST_S && keys == pace->keys) { /* fewer keys say nothing of so many */
        set_keys(pace, 2 * (double)keys);
    }
}
