/* SPDX-License-Identifier: BSD-2-Clause */
/* flight.c: see flight.h. */
#include "handle/flight.h"
#include "handle/points.h"

void tamis__unlogged_raise(const struct tamis__segment *segment)
{
    /* ORDER: tamis__mark_checkpoint says what this count is for. */
    (void)__atomic_add_fetch(&segment->writer->flights_begun, 1, __ATOMIC_SEQ_CST);
    /* ORDER seq_cst: comes before the bits.  Whoever sees one of the bits, which are released, sees
     * this. */
    (void)__atomic_add_fetch(&segment->live->unlogged, 1, __ATOMIC_SEQ_CST);
}

void tamis__unlogged_lower(const struct tamis__segment *segment)
{
    /* ORDER seq_cst: comes after the sync. */
    (void)__atomic_sub_fetch(&segment->live->unlogged, 1, __ATOMIC_SEQ_CST);
    (void)__atomic_add_fetch(&segment->writer->flights_done, 1, __ATOMIC_SEQ_CST);
}

void tamis__unlogged_crash(const struct tamis__segment *segment)
{
    (void)__atomic_add_fetch(&segment->writer->flights_done, 1, __ATOMIC_SEQ_CST);
}

int tamis__flight_enter(struct tamis__flight *flight, const struct tamis__view *view)
{
    const struct tamis__segment *newest = &tamis__newest(view)->segment;
    for (uint32_t i = 0; i < flight->count; i++)
        if (flight->numbers[i] == newest->header->number) {
            flight->current = (uint8_t)i;
            return 0;
        }
    if (flight->count == TAMIS__FLIGHT_MAX)
        return tamis__fail(TAMIS_ELIMIT,
                           "the filter went on in %u further segments while one batch was added; "
                           "give it larger segments, or smaller batches",
                           TAMIS__FLIGHT_MAX);
    flight->current = (uint8_t)flight->count;
    flight->numbers[flight->count++] = newest->header->number;
    tamis__unlogged_raise(newest);
    TAMIS__POINT(TAMIS__POINT_DURABLE_BEGUN);
    return 0;
}

/* A segment that the list has left meanwhile keeps its count; nobody reads it. */
void tamis__flight_end(struct tamis__flight *flight, const struct tamis__view *view, bool landed)
{
    for (uint32_t i = 0; i < flight->count; i++) {
        const struct tamis__mapped_segment *s = tamis__view_find(view, flight->numbers[i]);
        if (s != NULL && landed) tamis__unlogged_lower(&s->segment);
        if (s != NULL && !landed) tamis__unlogged_crash(&s->segment);
    }
    flight->count = 0;
}

bool tamis__flight_is_alone(const struct tamis__flight *flight, const struct tamis__view *view)
{
    /* ORDER: the bits were read before this.  Whoever sees a bit of an adder sees its count in
     * `unlogged`. */
    tamis__fence_acquire();
    for (uint32_t i = 0; i < view->count; i++) {
        const struct tamis__segment *segment = &view->segments[i].segment;
        uint64_t own = 0;
        for (uint32_t j = 0; j < flight->count; j++)
            own += flight->numbers[j] == segment->header->number;
        if (__atomic_load_n(&segment->live->unlogged, __ATOMIC_ACQUIRE) != own) return false;
    }
    return true;
}
