/* SPDX-License-Identifier: BSD-2-Clause */
/* keys.c: the model's judges of adds, questions, removes and counts; how a list of segments goes
 * on, and what is left of a filter after a call that failed half way. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "model.h"

/* Which part of the list has the key: 2 the newest slice, 1 an older one, 0 none. */
static unsigned where_is(struct step *s, uint32_t key)
{
    const struct list *list = &s->filter->now.list;
    const uint64_t newest = newest_of(s->filter)->is.slice;
    unsigned found = 0;
    for (uint32_t i = first_alive(s->model, s->filter); i < list->count; i++)
        if (shadow_lacks(s, list->segments[i], key, NULL) == 0)
            found = list->segments[i]->is.slice == newest ? 2 : found > 1 ? found : 1;
    return found;
}

/* ---- How a list goes on -----------------------------------------------------------------------
 */

static void forget_first(struct list *list)
{
    shadow_free(list->segments[0]);
    memmove(list->segments, list->segments + 1, --list->count * sizeof list->segments[0]);
}

/* The list goes on with the next segment of the outcome.  A window of keys may have left it by now:
 * then it is like the one before it, and learn_number() is told which it is if it is still there.
 */
static bool go_on(struct step *s, uint32_t *taken)
{
    struct filter *f = s->filter;
    struct list *list = &f->now.list;
    const struct outcome *out = s->out;
    struct tamis_segment_stat next = newest_of(f)->is;
    uint32_t at = *taken; /* numbers are given out once, in order */
    while (at < out->segments && out->segment[at].number <= next.number)
        at++;
    if (f->now.policy.window_items > 0) {
        next.number = UNKNOWN_NUMBER;
        next.slice++;
        next.slice_start = s->model->now;
    } else if (at < out->segments) {
        next = out->segment[at];
        *taken = at;
    } else {
        return wrong(s->model, "the filter did not go on when segment %u was full",
                     list->count - 1);
    }
    if (list->count == SEGMENTS_MAX) forget_first(list);
    next.items = 0;
    list->segments[list->count++] = shadow_new(&next);
    f->now.number = ++f->last_generation;
    f->now.published_at = out->stat.published_at;
    return true;
}

static void learn_number(struct tamis_segment_stat *mine, const struct tamis_segment_stat *told,
                         int64_t now)
{
    if (mine->number != UNKNOWN_NUMBER) return;
    mine->number = told->number;
    mine->created_at = told->created_at;
    if (told->slice_start >= MODEL_BEGIN && told->slice_start <= now)
        mine->slice_start = told->slice_start; /* it was made ahead */
}

/* Takes out of the list what a window has left, which must not be too early. */
static bool leave_behind(struct step *s, struct filter *f)
{
    struct list *list = &f->now.list;
    const struct policy *p = &f->now.policy;
    const struct outcome *out = s->out;
    for (; list->count > 1 && out->segments > 0; forget_first(list)) {
        const struct tamis_segment_stat *mine = &first_of(f)->is;
        if (mine->number == UNKNOWN_NUMBER ? mine->slice >= s->told->slice
                                           : mine->number >= s->told->number)
            break;
        const uint64_t newest = newest_of(f)->is.slice;
        if (p->slices == 0 || (mine->slice + p->slices >= newest && first_alive(s->model, f) == 0))
            return wrong(s->model,
                         "segment %" PRIu64 ", slice %" PRIu64
                         ", left a window whose newest slice is %" PRIu64,
                         mine->number, mine->slice, newest);
    }
    for (uint32_t i = 0; i < list->count && i < out->segments; i++)
        learn_number(&list->segments[i]->is, &s->told[i], s->model->now);
    return true;
}

bool list_is_told(struct step *s)
{
    struct filter *f = s->filter;
    if ((s->out->has & HAS_SEGMENTS) == 0 || f == NULL || f->dropped) return true;
    if (s->out->filter_error < 0)
        return wrong(s->model, "the filter cannot be looked at behind this: %" PRId64,
                     s->out->filter_error);
    return leave_behind(s, f) && segments_fit(s->model, f, s->out) &&
           stat_fits(s->model, f, &s->out->stat, BY_STAT);
}

bool next_slice(struct step *s, uint32_t *taken)
{
    const struct policy *p = &s->filter->now.policy;
    const struct tamis_segment_stat last = newest_of(s->filter)->is, *next;
    const int64_t length = p->window_ns / p->slices, since = s->model->now - last.slice_start;
    const int64_t start =
        length == 0 || since < length ? s->model->now : last.slice_start + since / length * length;
    if (!go_on(s, taken)) return false;
    next = &newest_of(s->filter)->is;
    return (next->slice == last.slice + 1 && next->slice_start == start) ||
           wrong(s->model, "slice %" PRIu64 " begins at %" PRId64 ", not %" PRId64, next->slice,
                 next->slice_start, start);
}

bool is_slice_over(const struct model *model, const struct filter *f)
{
    const struct policy *p = &f->now.policy;
    return p->window_ns > 0 &&
           model->now - newest_of(f)->is.slice_start >= p->window_ns / p->slices;
}

/* ---- After a failure --------------------------------------------------------------------------
 */

/* Takes over one segment as it is now.  No cell may be lower than it was: nothing is taken off but
 * by a remove that was answered. */
static bool adopt_cells(struct step *s, struct shadow *shadow, const uint8_t *data, uint32_t index)
{
    shadow->ones = 0;
    for (uint64_t at = 0; at < shadow->is.m_bits; at++) {
        const uint32_t now = cell_of(data, &shadow->is, at);
        if (now < shadow->cells[at] && shadow->is.counter_bits == 0)
            return wrong(s->model, "bit %" PRIu64 " of segment %u is gone", at, index);
        shadow->cells[at] = now;
        shadow->ones += now != 0;
    }
    return true;
}

static struct shadow *adopt_segment(const struct list *was, const struct tamis_segment_stat *told)
{
    struct shadow *same = NULL;
    for (uint32_t i = 0; i < was->count; i++)
        if (was->segments[i]->is.number == told->number) same = was->segments[i];
    if (same != NULL)
        same->users++;
    else
        same = shadow_new(told);
    same->is = *told;
    same->mixed = true;
    return same;
}

static bool adopt_list(struct step *s, struct list *list, const struct outcome *out)
{
    struct list was = *list;
    const uint8_t *data = out->data;
    bool fit = true;
    list->count = 0;
    for (uint32_t i = 0; i < out->segments; i++) {
        struct shadow *same = adopt_segment(&was, &out->segment[i]);
        list->segments[list->count++] = same;
        if (same->keys == NULL) fit = fit && adopt_cells(s, same, data, i);
        data += same->is.data_bytes;
    }
    list_clear(&was);
    return fit;
}

bool adopt(struct step *s, const uint8_t *answers)
{
    static struct outcome out;
    struct filter *f = s->filter;
    const struct executor *executor = s->model->executor;
    const struct op open = {.kind = OP_LOOK_DATA, .name = (uint8_t)f->name};
    if (f->dropped) return true;
    out.segments = 0;
    executor->look(executor->self, f->name, &out);
    executor->run(executor->self, &open, &out);
    executor->look(executor->self, f->name, &out);
    if (!out.ran || out.rc < 0 || out.filter_error < 0)
        return wrong(s->model, "%s cannot be read after a call that failed: %s", names[f->name],
                     tamis_last_error());
    if (!adopt_list(s, &f->now.list, &out)) return false;
    if (out.stat.generation < f->now.number) return wrong(s->model, "the generation went back");
    f->now.number = out.stat.generation;
    if (f->last_generation < f->now.number) f->last_generation = f->now.number;
    f->now.published_at = out.stat.published_at;
    f->degraded_since = out.stat.degraded_since;
    f->checkpointed_at = out.stat.checkpointed_at;
    may_checkpoint(s, f); /* others may make up for it */
    f->recorded_unsure = true;
    /* The keys that were answered are in; a window may have left them behind already. */
    for (uint32_t i = 0; answers != NULL && f->now.policy.slices == 0 && i < s->op->keys.count; i++)
        if (answers[i] < TAMIS_ANSWER_REFUSED && where_is(s, key_at(&s->op->keys, i)) == 0)
            return wrong(s->model, "key %u was answered, and is not in", key_at(&s->op->keys, i));
    return true;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static bool is_full(const struct filter *f)
{
    const struct tamis_segment_stat *newest = &newest_of(f)->is;
    return is_limited(&f->now.policy) && newest->items >= newest->capacity;
}

bool refuses(const struct policy *p)
{
    return p->window_items == 0 &&
           (p->slices > 0 ? p->on_full != TAMIS_ON_FULL_GROW : p->on_full == TAMIS_ON_FULL_REFUSE);
}

/* Asks for the keys of a chunk that are still open, and closes those that are known. */
static uint32_t ask_open(struct step *s, uint32_t *open, uint32_t count, uint8_t *older,
                         uint8_t *answers)
{
    const struct policy *p = &s->filter->now.policy;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const unsigned found = where_is(s, key_at(&s->op->keys, open[i]));
        const bool known = found == 2 || (found == 1 && (p->slices == 0 || p->from_first));
        answers[open[i]] = 0;
        older[kept] = found == 1;
        if (!known) open[kept++] = open[i];
    }
    return kept;
}

/*
 * Foretells the answers to a chunk of keys, and adds them: keys that are known when the chunk
 * begins are done, and the others are added in their order while there is room.  Then the list goes
 * on, and it is asked again for the rest.
 */
static bool add_chunk(struct step *s, uint32_t from, uint32_t count, uint8_t *answers,
                      uint32_t *taken)
{
    static uint32_t open[CHUNK];
    static uint8_t older[CHUNK];
    struct filter *f = s->filter;
    for (uint32_t i = 0; i < count; i++)
        open[i] = from + i;
    for (uint32_t left = ask_open(s, open, count, older, answers); left > 0;) {
        uint32_t done = 0;
        for (; done < left && !is_full(f); done++) {
            struct shadow *newest = newest_of(f);
            const uint32_t key = key_at(&s->op->keys, open[done]);
            if (!shadow_add(s, newest, key, 1)) continue;
            newest->is.items++;
            s->model->gained++;
            answers[open[done]] = !older[done];
        }
        memmove(open, open + done, (left - done) * sizeof open[0]);
        left -= done;
        if (left == 0) break;
        for (uint32_t i = 0; i < left && refuses(&f->now.policy); i++)
            answers[open[i]] =
                where_is(s, key_at(&s->op->keys, open[i])) > 0 ? 0 : TAMIS_ANSWER_REFUSED;
        if (refuses(&f->now.policy)) break;
        if (!go_on(s, taken)) return false;
        left = ask_open(s, open, left, older, answers);
    }
    return *s->model->complaint == '\0';
}

static void count_keys(struct step *s, uint8_t *answers)
{
    struct shadow *newest = newest_of(s->filter);
    for (uint32_t i = 0; i < s->op->keys.count; i++) {
        answers[i] = shadow_add(s, newest, key_at(&s->op->keys, i), 1);
        newest->is.items += answers[i];
        s->model->gained += answers[i];
    }
}

static bool answers_fit(struct step *s, const uint8_t *foretold, bool batch)
{
    for (uint32_t i = 0; batch && i < s->op->keys.count; i++)
        if (s->out->answers[i] != foretold[i])
            return wrong(s->model, "key %u, number %u of the batch: answer %u, not %u",
                         key_at(&s->op->keys, i), i, s->out->answers[i], foretold[i]);
    return true;
}

/* The answers of a filter whose room nobody knows: a key that was there is not new. */
static bool add_loosely(struct step *s, const uint8_t *told)
{
    for (uint32_t i = 0; i < s->op->keys.count && s->filter->now.policy.slices == 0; i++)
        if (told[i] != 0 && where_is(s, key_at(&s->op->keys, i)) > 0)
            return wrong(s->model, "key %u was there, and the answer is %u",
                         key_at(&s->op->keys, i), told[i]);
    return adopt(s, told);
}

bool step_add(struct step *s)
{
    static uint8_t foretold[KEYS_MAX];
    const uint32_t count = s->op->keys.count;
    const bool batch = s->op->kind != OP_ADD;
    uint32_t taken = 0;
    int64_t fresh = 0;
    if (s->op->where != HERE) may_checkpoint(s, s->filter); /* its process has ended */
    /* A window whose next slice cannot be made goes on in the one that it has. */
    if (s->filter->holed || (s->out->reached && s->filter->now.policy.slices > 0)) {
        const uint8_t one = s->out->rc < 0 ? TAMIS_ANSWER_REFUSED : (uint8_t)s->out->rc;
        if (s->out->rc < 0 && s->out->rc != TAMIS_EFULL) return ends(s, 0);
        return add_loosely(s, batch ? s->out->answers : &one);
    }
    if (counts(s->filter)) count_keys(s, foretold);
    for (uint32_t i = 0; i < count && !counts(s->filter); i += CHUNK)
        if ((is_slice_over(s->model, s->filter) && !next_slice(s, &taken)) ||
            !add_chunk(s, i, count - i < CHUNK ? count - i : CHUNK, foretold, &taken))
            return false;
    for (uint32_t i = 0; i < count; i++)
        fresh += foretold[i] == 1;
    const bool full = memchr(foretold, TAMIS_ANSWER_REFUSED, count) != NULL;
    return ends(s, full    ? TAMIS_EFULL
                   : batch ? fresh
                           : foretold[0]) &&
           answers_fit(s, foretold, batch);
}

/* Do the answers of the filter fit?  *yes: how many keys it has. */
static bool asked_fit(struct step *s, const uint8_t *answers, int64_t *yes)
{
    const struct shadow *first = first_of(s->filter);
    const struct op_keys *keys = &s->op->keys;
    const uint32_t fresh = keys->step == 0 ? 1 : keys->period != 0 ? keys->period : keys->count;
    for (uint32_t i = 0; i < s->op->keys.count; i++) {
        const uint32_t key = key_at(&s->op->keys, i);
        const bool excepted = is_exception(s->filter, key);
        const uint8_t foretold = !excepted && where_is(s, key) > 0 ? 1 : 0;
        *yes += answers[i];
        if (first->keys != NULL && foretold == 0 && !excepted) {
            if (i < fresh) { /* a stranger: judged by the rate, over the whole run */
                s->model->asked++;
                s->model->expected += pow(2, -(double)first->is.fingerprint_bits);
                s->model->mistaken += answers[i];
            }
            if (answers[i] <= 1) continue;
        }
        if (answers[i] != foretold)
            return wrong(s->model, "key %u: answer %u, not %u", key, answers[i], foretold);
    }
    return true;
}

bool step_ask(struct step *s)
{
    const uint8_t one = (uint8_t)s->out->rc;
    const bool batch = strchr(takes[s->op->kind], '1') == NULL;
    static struct outcome seen;
    const struct executor *executor = s->model->executor;
    struct step of = *s;
    int64_t yes = 0;
    of.filter = s->model->handles[s->op->source].filter;
    if (s->op->kind == OP_ASK_SEVERAL) /* it may have another name by now */
        executor->look(executor->self, of.filter->name, &seen);
    return asked_fit(s, batch ? s->out->answers : &one, &yes) &&
           (s->op->kind != OP_ASK_SEVERAL ||
            asked_fit(&of, s->out->answers + s->op->keys.count, &yes)) &&
           ends(s, yes);
}

bool step_remove(struct step *s)
{
    static uint8_t foretold[KEYS_MAX];
    struct shadow *newest = newest_of(s->filter);
    const bool batch = s->op->kind == OP_REMOVE_BATCH;
    int64_t gone = 0;
    for (uint32_t i = 0; i < s->op->keys.count; i++) {
        const uint32_t key = key_at(&s->op->keys, i);
        foretold[i] = shadow_lacks(s, newest, key, NULL) == 0;
        gone += foretold[i];
        if (foretold[i] == 0) continue;
        (void)shadow_add(s, newest, key, -1);
        newest->is.items -= shadow_lacks(s, newest, key, NULL) > 0 && newest->is.items > 0;
    }
    return ends(s, batch ? gone : foretold[0]) && answers_fit(s, foretold, batch);
}

bool step_count(struct step *s)
{
    const bool batch = s->op->kind == OP_COUNT_BATCH;
    int64_t some = 0;
    for (uint32_t i = 0; i < s->op->keys.count; i++) {
        const uint32_t key = key_at(&s->op->keys, i);
        const uint64_t told = batch ? s->out->counts[i] : (uint64_t)s->out->rc;
        uint32_t least = 0;
        (void)shadow_lacks(s, newest_of(s->filter), key, &least);
        some += least != 0;
        if (told != least)
            return wrong(s->model, "key %u: counted %" PRIu64 " times, not %u", key, told, least);
    }
    return !batch || ends(s, some);
}
