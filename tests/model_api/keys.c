/* SPDX-License-Identifier: BSD-2-Clause */
/* keys.c: the model's judges of adds, questions, removes and counts; how a list of segments goes
 * on, and what is left of a filter after a call that failed half way. */
#include <math.h>
#include <string.h>

#include "model.h"

/* ---- Keys ------------------------------------------------------------------------------------ */

/* Why no key can be added or taken off; 0: it can. */
static int refusal(const struct step *s)
{
    const struct filter *f = s->filter;
    if (s->handle->read_only) return TAMIS_EREADONLY;
    if (f->dropped) return TAMIS_EDROPPED;
    if (f->now.list.segments[0]->keys != NULL) return TAMIS_EUNSUPPORTED;
    return 0;
}

struct shadow *newest_of(struct filter *filter)
{
    return filter->now.list.segments[filter->now.list.count - 1];
}

/* Which part of the list has the key: 2 the newest slice, 1 an older one, 0 none. */
static unsigned where_is(struct step *s, struct filter *f, uint32_t key)
{
    const struct list *list = &f->now.list;
    const uint64_t newest = list->segments[list->count - 1]->is.slice;
    unsigned found = 0;
    for (uint32_t i = first_alive(s->model, list, &f->now.policy); i < list->count; i++)
        if (shadow_lacks(s->model, f, list->segments[i], key, NULL) == 0)
            found = list->segments[i]->is.slice == newest ? 2 : found > 1 ? found : 1;
    return found;
}

static void forget_first(struct list *list)
{
    shadow_free(list->segments[0]);
    memmove(list->segments, list->segments + 1, --list->count * sizeof list->segments[0]);
}

/* The list goes on with the next segment of the outcome.  A window of keys may have left it by now:
 * then it is like the one before it, and adopt_new() learns its number if it is still there. */
bool go_on(struct step *s, struct filter *f, uint32_t *taken)
{
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

static bool is_before(const struct tamis_segment_stat *mine, const struct tamis_segment_stat *first)
{
    return mine->number == UNKNOWN_NUMBER ? mine->slice < first->slice
                                          : mine->number < first->number;
}

/* Takes out of the list what a window has left. */
static bool leave_behind(struct step *s, struct filter *f)
{
    struct list *list = &f->now.list;
    const struct policy *p = &f->now.policy;
    const struct outcome *out = s->out;
    while (list->count > 1 && out->segments > 0 &&
           is_before(&list->segments[0]->is, &out->segment[0])) {
        const struct shadow *gone = list->segments[0];
        const uint64_t newest = newest_of(f)->is.slice;
        const bool behind = newest > p->slices && gone->is.slice < newest - p->slices;
        if (p->slices == 0 || (!behind && first_alive(s->model, list, p) == 0))
            return wrong(s->model,
                         "segment %llu, slice %llu, left a window whose newest slice is %llu",
                         (unsigned long long)gone->is.number, (unsigned long long)gone->is.slice,
                         (unsigned long long)newest);
        forget_first(list);
    }
    for (uint32_t i = 0; i < list->count && i < out->segments; i++)
        if (list->segments[i]->is.number == UNKNOWN_NUMBER) {
            list->segments[i]->is.number = out->segment[i].number;
            list->segments[i]->is.created_at = out->segment[i].created_at;
            if (out->segment[i].slice_start >= MODEL_BEGIN &&
                out->segment[i].slice_start <= s->model->now)
                list->segments[i]->is.slice_start =
                    out->segment[i].slice_start; /* it was made ahead */
        }
    return true;
}

/* Takes over one segment as it is now.  No cell may be lower than it was: nothing is taken off but
 * by a remove that was answered. */
static bool adopt_cells(struct step *s, struct shadow *shadow, const uint8_t *data, uint32_t index)
{
    shadow->ones = 0;
    for (uint64_t at = 0; at < shadow->is.m_bits; at++) {
        const uint32_t now = cell_of(data, &shadow->is, at);
        if (now < shadow->cells[at] && shadow->is.counter_bits == 0)
            return wrong(s->model, "bit %llu of segment %u is gone", (unsigned long long)at, index);
        shadow->cells[at] = now;
        shadow->ones += now != 0;
    }
    return true;
}

/* Takes over what a filter is after a call that failed half way, or a process that was killed: as
 * much of the change as came about. */
bool adopt(struct step *s, struct filter *f)
{
    static struct outcome out;
    const struct op open = {.kind = OP_LOOK_DATA, .name = (uint8_t)f->name};
    struct list was = f->now.list;
    if (f->dropped) return true;
    out.segments = 0;
    s->model->executor->look(s->model->executor->self, f->name, &out);
    s->model->executor->run(s->model->executor->self, &open, &out);
    s->model->executor->look(s->model->executor->self, f->name, &out);
    if (!out.ran || out.rc < 0 || out.filter_error < 0)
        return wrong(s->model, "%s cannot be read after a call that failed: %s", names[f->name],
                     tamis_last_error());
    const uint8_t *data = out.data;
    f->now.list.count = 0;
    for (uint32_t i = 0; i < out.segments; i++) {
        struct shadow *same = NULL;
        for (uint32_t j = 0; j < was.count; j++)
            if (was.segments[j]->is.number == out.segment[i].number) same = was.segments[j];
        if (same != NULL) same->users++;
        if (same == NULL) same = shadow_new(&out.segment[i]);
        same->is = out.segment[i];
        f->now.list.segments[f->now.list.count++] = same;
        if (same->keys == NULL && !adopt_cells(s, same, data, i)) return false;
        same->mixed = true;
        data += same->is.data_bytes;
    }
    list_clear(&was);
    if (out.stat.generation < f->now.number) return wrong(s->model, "the generation went back");
    f->now.number = out.stat.generation;
    if (f->last_generation < f->now.number) f->last_generation = f->now.number;
    f->now.published_at = out.stat.published_at;
    f->degraded_since = out.stat.degraded_since;
    f->recorded_unsure = true;
    f->checkpointed_at = out.stat.checkpointed_at;
    return true;
}

/* After a call that may have added keys: those that were answered are in. */
static bool adopt_keys(struct step *s, const uint8_t *answers)
{
    struct filter *f = s->filter;
    s->handle->wrote = true;
    if (!adopt(s, f)) return false;
    if (f->now.policy.slices > 0) return true; /* it may have left them behind already */
    for (uint32_t i = 0;
         answers != NULL && i < s->op->keys.count && f->now.list.segments[0]->keys == NULL; i++)
        if (answers[i] < TAMIS_ANSWER_REFUSED && where_is(s, f, key_at(&s->op->keys, i)) == 0)
            return wrong(s->model, "key %u was answered, and is not in", key_at(&s->op->keys, i));
    return true;
}

/* A window in time begins a slice before it takes a key, when the newest one is over. */
static bool renew(struct step *s, struct filter *f, uint32_t *taken)
{
    const struct policy *p = &f->now.policy;
    if (p->window_ns == 0) return true;
    const int64_t length = p->window_ns / p->slices;
    const struct shadow *newest = newest_of(f);
    const int64_t start = newest->is.slice_start;
    if (s->model->now - start < length) return true;
    const uint64_t slice = newest->is.slice;
    if (!go_on(s, f, taken)) return false;
    newest = newest_of(f);
    if (newest->is.slice != slice + 1)
        return wrong(s->model, "slice %llu came after %llu", (unsigned long long)newest->is.slice,
                     (unsigned long long)slice);
    const int64_t begins = start + (s->model->now - start) / length * length;
    if (newest->is.slice_start != begins)
        return wrong(s->model, "a slice begins at %lld, not at %lld",
                     (long long)newest->is.slice_start, (long long)begins);
    return true;
}

static bool is_full(const struct filter *f)
{
    const struct tamis_segment_stat *newest = &f->now.list.segments[f->now.list.count - 1]->is;
    return is_limited(&f->now.policy) && newest->items >= newest->capacity;
}

static bool refuses(const struct policy *p)
{
    return p->window_items == 0 &&
           (p->slices > 0 ? p->on_full != TAMIS_ON_FULL_GROW : p->on_full == TAMIS_ON_FULL_REFUSE);
}

/* Asks for the keys of a chunk that are still open, and closes those that are known. */
static uint32_t ask_open(struct step *s, struct filter *f, uint32_t *open, uint32_t count,
                         uint8_t *older, uint8_t *answers)
{
    const struct policy *p = &f->now.policy;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const unsigned found = where_is(s, f, key_at(&s->op->keys, open[i]));
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
static bool add_chunk(struct step *s, struct filter *f, uint32_t from, uint32_t count,
                      uint8_t *answers, uint32_t *taken)
{
    static uint32_t open[CHUNK];
    static uint8_t older[CHUNK];
    const struct policy *p = &f->now.policy;
    for (uint32_t i = 0; i < count; i++)
        open[i] = from + i;
    for (uint32_t left = ask_open(s, f, open, count, older, answers); left > 0;) {
        uint32_t done = 0;
        for (; done < left && !is_full(f); done++) {
            struct shadow *newest = newest_of(f);
            const uint32_t key = key_at(&s->op->keys, open[done]);
            if (shadow_lacks(s->model, f, newest, key, NULL) == 0) continue;
            shadow_add(s->model, f, newest, key, 1);
            newest->is.items++;
            s->model->gained++;
            answers[open[done]] = !older[done];
        }
        memmove(open, open + done, (left - done) * sizeof open[0]);
        left -= done;
        if (left > 0 && refuses(p)) {
            for (uint32_t i = 0; i < left; i++)
                answers[open[i]] =
                    where_is(s, f, key_at(&s->op->keys, open[i])) > 0 ? 0 : TAMIS_ANSWER_REFUSED;
            return true;
        }
        if (left > 0 && !go_on(s, f, taken)) return false;
        if (left > 0) left = ask_open(s, f, open, left, older, answers);
    }
    return *s->model->complaint == '\0';
}

static void count_keys(struct step *s, struct filter *f, uint8_t *answers)
{
    struct shadow *newest = newest_of(f);
    for (uint32_t i = 0; i < s->op->keys.count; i++) {
        const uint32_t key = key_at(&s->op->keys, i);
        answers[i] = shadow_lacks(s->model, f, newest, key, NULL) > 0;
        newest->is.items += answers[i];
        s->model->gained += answers[i];
        shadow_add(s->model, f, newest, key, 1);
    }
}

static bool answers_fit(struct step *s, const uint8_t *told, const uint8_t *foretold)
{
    for (uint32_t i = 0; i < s->op->keys.count; i++)
        if (told[i] != foretold[i])
            return wrong(s->model, "key %u, number %u of the batch: answer %u, not %u",
                         key_at(&s->op->keys, i), i, told[i], foretold[i]);
    return true;
}

bool list_is_told(struct step *s)
{
    if ((s->out->has & HAS_SEGMENTS) == 0 || s->filter == NULL || s->filter->dropped) return true;
    if (s->out->filter_error < 0)
        return wrong(s->model, "the filter cannot be looked at behind this: %lld",
                     (long long)s->out->filter_error);
    return leave_behind(s, s->filter) && segments_fit(s->model, s->filter, s->out);
}

/* The answers of a filter whose room nobody knows: a key that was there is not new, and a key that
 * was refused is not there. */
static bool add_loosely(struct step *s, const uint8_t *told)
{
    struct filter *f = s->filter;
    for (uint32_t i = 0; i < s->op->keys.count; i++) {
        const uint32_t key = key_at(&s->op->keys, i);
        const bool had = where_is(s, f, key) > 0;
        if (had && told[i] != 0 && f->now.policy.slices == 0)
            return wrong(s->model, "key %u was there, and the answer is %u", key, told[i]);
    }
    return adopt_keys(s, told) && list_is_told(s);
}

bool step_add(struct step *s)
{
    static uint8_t foretold[KEYS_MAX];
    struct filter *f = s->filter;
    const struct op_keys *keys = &s->op->keys;
    const bool batch = s->op->kind != OP_ADD;
    const int code = refusal(s);
    uint32_t taken = 0;
    int64_t fresh = 0;
    if (is_fault(s) && s->op->fault == FAULT_KILL) {
        f->holed = true;
        return adopt(s, f);
    }
    if (is_fault(s)) return adopt_keys(s, batch ? s->out->answers : NULL);
    if (f->dropped && s->out->rc == TAMIS_EDROPPED) return true;
    if (keys->count == 0 && s->out->rc == 0) return true;
    if (code != 0) return ends(s, code, code == TAMIS_EUNSUPPORTED ? "fuse" : names[f->name]);
    if (s->out->filter_error < 0)
        return wrong(s->model, "the filter cannot be opened: %lld",
                     (long long)s->out->filter_error);
    if (f->holed) {
        const uint8_t one = s->out->rc < 0 ? TAMIS_ANSWER_REFUSED : (uint8_t)s->out->rc;
        if (s->out->rc < 0 && s->out->rc != TAMIS_EFULL) return ends(s, 0, NULL);
        return add_loosely(s, batch ? s->out->answers : &one);
    }
    if (newest_of(f)->is.counter_bits != 0) count_keys(s, f, foretold);
    for (uint32_t i = 0; i < keys->count && newest_of(f)->is.counter_bits == 0; i += CHUNK) {
        const uint32_t count = keys->count - i < CHUNK ? keys->count - i : CHUNK;
        if (!renew(s, f, &taken) || !add_chunk(s, f, i, count, foretold, &taken)) return false;
    }
    for (uint32_t i = 0; i < keys->count; i++)
        fresh += foretold[i] == 1;
    const bool full = memchr(foretold, TAMIS_ANSWER_REFUSED, keys->count) != NULL;
    s->handle->wrote = true;
    if (!ends(s, full ? TAMIS_EFULL : batch ? fresh : foretold[0], names[f->name])) return false;
    if (batch && !answers_fit(s, s->out->answers, foretold)) return false;
    return list_is_told(s);
}

static bool asked_fit(struct step *s)
{
    struct filter *f = s->filter;
    const struct list *list = &f->now.list;
    int64_t yes = 0;
    for (uint32_t i = 0; i < s->op->keys.count; i++) {
        const uint32_t key = key_at(&s->op->keys, i);
        uint8_t told = s->op->kind == OP_ASK ? (uint8_t)s->out->rc : s->out->answers[i];
        uint8_t foretold = where_is(s, f, key) > 0;
        yes += told;
        if (foretold == 1 && is_exception(f, key)) foretold = 0;
        if (list->segments[0]->keys != NULL && foretold == 0 && !is_exception(f, key)) {
            s->model->asked++; /* a stranger: judged by the rate, over the whole run */
            s->model->expected += pow(2, -(double)list->segments[0]->is.fingerprint_bits);
            s->model->mistaken += told;
            if (told <= 1) continue;
        }
        if (told != foretold)
            return wrong(s->model, "key %u: answer %u, not %u", key, told, foretold);
    }
    return s->op->kind == OP_ASK || ends(s, yes, NULL);
}

static bool step_ask(struct step *s)
{
    if (is_fault(s)) return true;
    if (s->filter->dropped) return ends(s, TAMIS_EDROPPED, names[s->filter->name]);
    if (s->out->rc < 0) return ends(s, 0, NULL);
    return asked_fit(s);
}

static bool step_remove(struct step *s)
{
    static uint8_t foretold[KEYS_MAX];
    struct filter *f = s->filter;
    struct shadow *newest = newest_of(f);
    const bool batch = s->op->kind == OP_REMOVE_BATCH;
    int64_t gone = 0;
    if (is_fault(s)) return adopt_keys(s, NULL);
    if (newest->is.counter_bits == 0 && s->out->rc == TAMIS_EUNSUPPORTED)
        return ends(s, TAMIS_EUNSUPPORTED, names[f->name]);
    if (s->handle->read_only) return ends(s, TAMIS_EREADONLY, NULL);
    if (f->dropped) return ends(s, TAMIS_EDROPPED, names[f->name]);
    if (newest->is.counter_bits == 0) return ends(s, TAMIS_EUNSUPPORTED, names[f->name]);
    for (uint32_t i = 0; i < s->op->keys.count; i++) {
        const uint32_t key = key_at(&s->op->keys, i);
        foretold[i] = shadow_lacks(s->model, f, newest, key, NULL) == 0;
        gone += foretold[i];
        if (foretold[i] == 0) continue;
        shadow_add(s->model, f, newest, key, -1);
        newest->is.items -=
            shadow_lacks(s->model, f, newest, key, NULL) > 0 && newest->is.items > 0;
    }
    s->handle->wrote = true;
    return ends(s, batch ? gone : foretold[0], NULL) &&
           (!batch || answers_fit(s, s->out->answers, foretold)) && list_is_told(s);
}

static bool step_count(struct step *s)
{
    struct filter *f = s->filter;
    const struct shadow *newest = newest_of(f);
    const bool batch = s->op->kind == OP_COUNT_BATCH;
    int64_t some = 0;
    if (is_fault(s)) return true;
    if (newest->is.counter_bits == 0 && s->out->rc == TAMIS_EUNSUPPORTED)
        return ends(s, TAMIS_EUNSUPPORTED, names[f->name]);
    if (f->dropped) return ends(s, TAMIS_EDROPPED, names[f->name]);
    if (newest->is.counter_bits == 0) return ends(s, TAMIS_EUNSUPPORTED, names[f->name]);
    for (uint32_t i = 0; i < s->op->keys.count; i++) {
        uint32_t least = 0;
        const uint32_t key = key_at(&s->op->keys, i);
        (void)shadow_lacks(s->model, f, newest, key, &least);
        const uint64_t told = batch ? s->out->counts[i] : (uint64_t)s->out->rc;
        some += least != 0;
        if (told != least)
            return wrong(s->model, "key %u: counted %llu times, not %u", key,
                         (unsigned long long)told, least);
    }
    return !batch || ends(s, some, NULL);
}

step_fn *keys_step(enum op_kind kind)
{
    static step_fn *const judges[OP_COUNT_OF] = {
        [OP_ADD] = step_add,       [OP_ADD_BATCH] = step_add,     [OP_ASK] = step_ask,
        [OP_ASK_BATCH] = step_ask, [OP_REMOVE] = step_remove,     [OP_REMOVE_BATCH] = step_remove,
        [OP_COUNT] = step_count,   [OP_COUNT_BATCH] = step_count,
    };
    return judges[kind];
}
