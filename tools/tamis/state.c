/* SPDX-License-Identifier: BSD-2-Clause */
/* state.c: the state of a filter in words; see state.h. */
#include "state.h"

#include "command.h"

static void add_state(char text[STATE_BYTES], const char *name, int64_t since)
{
    char time[32];
    size_t used = strlen(text);
    if (since != 0) text_time(time, sizeof time, since);
    (void)snprintf(text + used, STATE_BYTES - used, "%s%s%s%s", used ? ", " : "", name,
                   since != 0 ? " since " : "", since != 0 ? time : "");
}

void state_text(const struct tamis_filter_stat *stat, char text[STATE_BYTES])
{
    text[0] = '\0';
    if (stat->state & TAMIS_STATE_OVER)
        add_state(text, "over", 0); /* and full, then */
    else if (stat->state & TAMIS_STATE_FULL)
        add_state(text, "full", 0);
    if (stat->state & TAMIS_STATE_DAMAGED) add_state(text, "damaged", 0);
    if (stat->state & TAMIS_STATE_DEGRADED) add_state(text, "degraded", stat->degraded_since);
    if (stat->state & TAMIS_STATE_UNCLEAN) add_state(text, "unclean", stat->unclean_since);
    if (!text[0]) add_state(text, "ok", 0);
}

const char *state_name(uint32_t state, char text[STATE_BYTES])
{
    const struct tamis_filter_stat stat = {.size = sizeof stat, .state = state}; /* without times */
    state_text(&stat, text);
    return text;
}
