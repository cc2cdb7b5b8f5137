/* SPDX-License-Identifier: BSD-2-Clause */
/* arguments.c: see arguments.h. */
/*
 * The structs with the fields of the table (filter/schema.h) have no padding anywhere: so a new
 * field needs no line here, and unit/filter/fields_test.c sees by the bytes that the table has them
 * all.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"
#include "tamis_stat.h"
#pragma GCC diagnostic pop

#include "base/base.h"

#include <assert.h>

#include "tamis_build.h"

/*
 * A new field goes where no older caller has anything.  So no struct may end in padding: the
 * padding bytes belong to the caller, and nobody has set them.
 */
#define ENDS_WITH(name, field)                                                                     \
    static_assert(offsetof(struct name, size) == 0, "the size comes first");                       \
    static_assert(offsetof(struct name, field) + sizeof(((struct name *)0)->field) ==              \
                      sizeof(struct name),                                                         \
                  "padding at the end")
ENDS_WITH(tamis_store_options, busy_every_ms);
ENDS_WITH(tamis_sizing, pieces);
ENDS_WITH(tamis_filter_spec, key_rule);
ENDS_WITH(tamis_filter_mapped, mend_command);
ENDS_WITH(tamis_field, sum);
ENDS_WITH(tamis_field_value, real);
ENDS_WITH(tamis_explanation, positions_count);
ENDS_WITH(tamis_source, bytes);
ENDS_WITH(tamis_sink, all_bytes);
ENDS_WITH(tamis_import_spec, signed_comment);
ENDS_WITH(tamis_publish_spec, max_shrink);
ENDS_WITH(tamis_publish_result, digest);
ENDS_WITH(tamis_merge, context);
ENDS_WITH(tamis_comparison, error);
ENDS_WITH(tamis_problem, reason);
ENDS_WITH(tamis_build_spec, max_shrink);
ENDS_WITH(tamis_build_result, key_digest);
ENDS_WITH(tamis_generation_stat, key_digest);
ENDS_WITH(tamis_repair_step, mend);
ENDS_WITH(tamis_repair_options, from);
ENDS_WITH(tamis_lost_file, bytes);
ENDS_WITH(tamis_verify_options, context);
ENDS_WITH(tamis_backup_options, context);
ENDS_WITH(tamis_backup_result, kept_bytes);
ENDS_WITH(tamis_memory_filter, reserved);
ENDS_WITH(tamis_label, reserved);
ENDS_WITH(tamis_event, segments);
ENDS_WITH(tamis_store_stat, format);
ENDS_WITH(tamis_error_details, system_error);

int tamis__fail_null(const char *call, const char *argument)
{
    return tamis__fail(TAMIS_EINVAL, "%s(): the argument '%s' is NULL; pass one", call, argument);
}

/* Uses memcpy, because the buffer of a foreign-function user need not be aligned. */
static size_t size_of(const void *theirs)
{
    size_t size;
    memcpy(&size, theirs, sizeof size);
    return size;
}

int tamis__check_struct(const void *theirs, const char *name)
{
    if (theirs == NULL)
        return tamis__fail(TAMIS_EINVAL, "the argument of type %s is NULL; pass one", name);
    const size_t size = size_of(theirs);
    if (size > sizeof size && size <= TAMIS__STRUCT_BYTES_MAX) return 0;
    return tamis__fail(TAMIS_EINVAL,
                       "the field 'size' of a %s says %zu bytes; set it to sizeof(%s) before the "
                       "call, as TAMIS_INIT() does",
                       name, size, name);
}

int tamis__take_struct(const void *theirs, void *ours, size_t ours_bytes, const char *name)
{
    const int rc = tamis__check_struct(theirs, name);
    if (rc < 0) return rc;
    const size_t size = size_of(theirs), both = size < ours_bytes ? size : ours_bytes;
    for (size_t i = ours_bytes; i < size; i++)
        if (((const unsigned char *)theirs)[i] != 0)
            return tamis__fail(TAMIS_EUNSUPPORTED,
                               "a %s has something set at byte %zu, which Tamis %s does not know; "
                               "leave it 0, or use a newer library",
                               name, i, tamis_version());
    memset(ours, 0, ours_bytes);
    memcpy(ours, theirs, both);
    memcpy(ours, &ours_bytes, sizeof ours_bytes);
    return 0;
}

void tamis__give_struct(const void *ours, size_t ours_bytes, void *theirs)
{
    size_t both = size_of(theirs);
    if (both > ours_bytes) both = ours_bytes;
    memcpy(theirs, ours, both);
    memcpy(theirs, &both, sizeof both);
}
