/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flags_test.c: each flag has a number of its own, and a call refuses the flags of the other calls
 * (docs/decisions/0046-the-c-api.md).
 */
#include "fixture.h"

enum of { FILTER, OPEN, MANY, BUILD, PUBLISH, IMPORT, EXPORT, MERGE, REPAIR, BACKUP };

static const struct {
    uint32_t flag;
    enum of of;
} flags[] = {
    {TAMIS_FILTER_DURABLE, FILTER},
    {TAMIS_FILTER_OWNED, FILTER},
    {TAMIS_FILTER_FROM_FIRST, FILTER},
    {TAMIS_OPEN_READ_ONLY, OPEN},
    {TAMIS_OPEN_CREATE, OPEN},
    {TAMIS_OPEN_NO_SYNC, OPEN},
    {TAMIS_OPEN_POPULATE, OPEN},
    {TAMIS_OPEN_FORCE_NETWORK_FS, OPEN},
    {TAMIS_MANY_IF_MISSING, MANY},
    {TAMIS_BUILD_IF_CHANGED, BUILD},
    {TAMIS_BUILD_KEEP, BUILD},
    {TAMIS_BUILD_MAX_SHRINK, BUILD},
    {TAMIS_PUBLISH_IF_CHANGED, PUBLISH},
    {TAMIS_PUBLISH_KEEP, PUBLISH},
    {TAMIS_PUBLISH_NEWER, PUBLISH},
    {TAMIS_PUBLISH_MAX_SHRINK, PUBLISH},
    {TAMIS_IMPORT_HEAD, IMPORT},
    {TAMIS_IMPORT_AS_THERE, IMPORT},
    {TAMIS_IMPORT_OWNED, IMPORT},
    {TAMIS_IMPORT_DURABLE, IMPORT},
    {TAMIS_EXPORT_WITH_KEY, EXPORT},
    {TAMIS_EXPORT_WITHOUT_EXCEPTIONS, EXPORT},
    {TAMIS_EXPORT_WITH_DIGEST, EXPORT},
    {TAMIS_MERGE_INTERSECT, MERGE},
    {TAMIS_REPAIR_DRY_RUN, REPAIR},
    {TAMIS_REPAIR_REBUILD, REPAIR},
    {TAMIS_REPAIR_FORCE_NETWORK_FS, REPAIR},
    {TAMIS_BACKUP_FOR_USE, BACKUP},
};
#define FLAGS (sizeof flags / sizeof flags[0])

CASE(no_two_flags_have_one_number)
{
    for (size_t i = 0; i < FLAGS; i++)
        for (size_t j = 0; j < i; j++)
            assert_int_equal(flags[i].flag & flags[j].flag, 0);
}

static int64_t nothing(void *context, void *buffer, size_t bytes)
{
    (void)context;
    (void)buffer;
    (void)bytes;
    return 0;
}

static int drain(void *context, const void *buffer, size_t bytes)
{
    (void)context;
    (void)buffer;
    (void)bytes;
    return 0;
}

/* Each call, with a flag of another one. */
static void refuse(tamis_store *store, const char *path, tamis_filter *filter, uint32_t flag,
                   enum of of)
{
    const struct tamis_source source = {.size = sizeof source, .read = nothing};
    const struct tamis_sink sink = {.size = sizeof sink, .write = drain};
    const struct tamis_import_spec import = {.size = sizeof import, .flags = flag};
    const struct tamis_publish_spec publish = {.size = sizeof publish, .flags = flag};
    const struct tamis_build_spec build = {.size = sizeof build, .flags = flag};
    const struct tamis_merge merge = {
        .size = sizeof merge, .flags = flag, .sources = &filter, .count = 1};
    const struct tamis_backup_options backup = {.size = sizeof backup, .flags = flag};
    const char *name = "many";
    AUTO_FREE char *copy = scratch_path("copy");
    tamis_store *opened;
    tamis_filter *other;
    tamis_build *begun;
    if (of != FILTER)
        assert_refused(TAMIS_EINVAL, "flags",
                       tamis_filter_create(store, "new", SPEC(.capacity = 9, .flags = flag), NULL));
    if (of != OPEN) {
        assert_refused(TAMIS_EINVAL, "flags", tamis_store_open(path, flag, &opened));
        assert_refused(TAMIS_EINVAL, "flags", tamis_filter_open(store, "x", flag, &other));
    }
    if (of != MANY)
        assert_refused(TAMIS_EINVAL, "flags",
                       tamis_filter_create_many(store, &name, 1, SPEC(.capacity = 9), flag));
    if (of != BUILD)
        assert_refused(TAMIS_EINVAL, "flags", tamis_build_begin(store, "b", &build, &begun));
    if (of != PUBLISH)
        assert_refused(TAMIS_EINVAL, "flags",
                       tamis_filter_publish(store, "p", "tamis", &publish, &source, NULL));
    if (of != IMPORT)
        assert_refused(TAMIS_EINVAL, "flags",
                       tamis_filter_import(store, "i", "tamis", &import, &source, NULL));
    if (of != EXPORT)
        assert_refused(TAMIS_EINVAL, "flags", tamis_filter_export(filter, "tamis", flag, &sink));
    if (of != MERGE)
        assert_refused(TAMIS_EINVAL, "flags", tamis_filter_create_merged(store, "m", &merge, NULL));
    if (of != REPAIR)
        assert_refused(TAMIS_EINVAL, "flags", tamis_store_repair(path, flag, NULL, NULL));
    if (of != BACKUP)
        assert_refused(TAMIS_EINVAL, "flags", tamis_store_backup_with(store, copy, &backup, NULL));
}

CASE(a_flag_of_another_call_is_refused)
{
    AUTO_FREE char *path;
    AUTO_STORE *store = fixture_store(&path);
    AUTO_FILTER *filter = fixture_filter(store, "x", 100);
    for (size_t i = 0; i < FLAGS; i++)
        refuse(store, path, filter, flags[i].flag, flags[i].of);
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
