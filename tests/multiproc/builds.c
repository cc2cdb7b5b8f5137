/* SPDX-License-Identifier: BSD-2-Clause */
#include "builds.h"

#include <stdlib.h>
#include <string.h>

#include "build/piece.h"
#include "kind/fuse.h"
#include "publish.h"

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int fill(struct tamis_store *store, struct tamis__draft *draft, const uint64_t *keys,
                size_t count, const struct tamis__fuse_shape *shape)
{
    struct tamis__segment segment;
    int rc = tamis__draft_stage(store, draft);
    if (rc == 0)
        rc = tamis__segment_map_staged(&store->place, &draft->staged, &draft->header, &segment);
    if (rc < 0) return rc;
    if (shape == NULL) {
        for (size_t i = 0; i < count; i++)
            (void)tamis__kind_by_id(draft->header.kind)->add(&segment, &keys[i], sizeof keys[i]);
    } else {
        uint64_t *digests = calloc(count + 1, sizeof *digests);
        void *workspace = malloc(tamis__piece_workspace_bytes(shape, count));
        for (size_t i = 0; i < count; i++)
            digests[i] = tamis__fuse_digest(&keys[i], sizeof keys[i], draft->header.seed);
        qsort(digests, count, sizeof *digests, ascending);
        rc = tamis__piece_build(shape, digests, count, workspace,
                                (char *)segment.data + tamis__fuse_seeds_bytes(1), segment.data);
        draft->header.data_checksum =
            tamis__checksum(segment.data, (size_t)draft->header.data_bytes);
        free(workspace);
        free(digests);
    }
    tamis__segment_close(&segment);
    tamis__header_set_items(&draft->header, count);
    return rc < 0 ? rc : tamis__segment_settle(&store->place, &draft->staged);
}

int builds_publish(tamis_store *store, const char *name, const struct tamis_build_spec *spec,
                   const uint64_t *keys, size_t count, struct tamis_build_result *result)
{
    const bool is_fuse = spec->filter.kind == 0;
    struct tamis_filter_spec filter = spec->filter;
    struct tamis__plan plan;
    struct tamis__record_segment described;
    struct tamis__draft draft;
    struct tamis__fuse_shape shape;
    if (filter.capacity == 0) filter.capacity = count;
    if (is_fuse) filter.kind = TAMIS_KIND_BLOCKED;
    int rc = tamis__plan_filter(&filter, &plan);
    if (rc < 0) return rc;
    tamis__plan_describe(&plan, &described);
    if (is_fuse) {
        tamis__fuse_shape(count, tamis__fuse_fingerprint_bits(filter.fp_rate), 1, &shape);
        tamis__draft_init_fuse(store, name, &described, &shape, &draft);
    } else {
        tamis__draft_init(store, name, &described, &draft);
    }
    rc = fill(store, &draft, keys, count, is_fuse ? &shape : NULL);
    if (rc < 0) return rc;
    struct tamis__edition edition = {.name = name,
                                     .draft = &draft,
                                     .capacity = filter.capacity,
                                     .fp_rate = plan.policy.fp_rate,
                                     .policy = plan.policy,
                                     .set_keep = (spec->flags & TAMIS_BUILD_KEEP) != 0,
                                     .keep = spec->keep};
    rc = tamis__publish_edition(store, &edition, result);
    return rc < 0 ? rc : 1;
}
