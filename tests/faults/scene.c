/* SPDX-License-Identifier: BSD-2-Clause */
/* scene.c: see scene.h. */
#include "scene.h"

#include <dirent.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#define KEYS SCENE_KEYS

const char *const scene_names[SCENE_FILTERS] = {"blocked", "php",     "counting",
                                                "grown",   "durable", "static"};
int64_t scene_items_before[SCENE_FILTERS];
uint64_t scene_ones_before[SCENE_FILTERS];
struct stream scene_export_before, scene_export_again;
struct tamis_key scene_keys[KEYS], scene_fresh_keys[KEYS];
bool scene_acknowledged[SCENE_FILTERS][KEYS];

static char *template_path;
static struct builds_key bytes_of[KEYS], fresh_of[KEYS];

static void make(tamis_store *store, enum scene_filter which, const struct tamis_filter_spec *spec,
                 size_t count, unsigned times)
{
    AUTO_FILTER *filter = fixture_create(store, scene_names[which], spec);
    for (unsigned i = 0; i < times; i++)
        assert_done(tamis_filter_add_batch(filter, scene_keys, count, NULL));
}

static void remember(void)
{
    struct tamis_segment_stat stat = {.size = sizeof stat};
    AUTO_STORE *store = fixture_open(template_path, TAMIS_OPEN_READ_ONLY);
    for (size_t i = 0; i < SCENE_FILTERS; i++) {
        AUTO_FILTER *filter = fixture_opened(store, scene_names[i], 0);
        scene_items_before[i] = tamis_filter_items(filter);
        assert_done(tamis_filter_fill(filter, 0, &stat));
        scene_ones_before[i] = stat.ones;
        if (i == BLOCKED) {
            const struct tamis_sink sink = stream_sink(&scene_export_before);
            assert_done(tamis_filter_export(filter, "tamis", 0, &sink));
            scene_export_again = stream_of(scene_export_before.data, scene_export_before.bytes);
        }
    }
}

int scene_build(tamis_store *store, const char *name, uint32_t kind, uint32_t flags)
{
    const struct tamis_build_spec spec = {.size = sizeof spec,
                                          .filter = SPEC(.kind = kind, .fp_rate = 1e-5),
                                          .memory_bytes = 1 << 20,
                                          .threads = 1,
                                          .flags = flags};
    const struct builds_keys all = {.family = 'k', .count = KEYS};
    return builds_run(store, name, &spec, &all, NULL);
}

static void make_template(void)
{
    const struct tamis_filter_spec
        blocked = {.size = sizeof blocked, .capacity = 7000, .on_full = TAMIS_ON_FULL_WARN},
        php = {.size = sizeof php, .m_bits = 70000, .hash_set = "php:js,pjw,elf"},
        counting = {.size = sizeof counting, .capacity = 1300, .kind = TAMIS_KIND_COUNTING},
        grown = {.size = sizeof grown, .capacity = 333, .fp_rate = 1e-6},
        durable = {.size = sizeof durable, .capacity = 7000, .flags = TAMIS_FILTER_DURABLE};
    for (size_t i = 0; i < KEYS; i++) {
        bytes_of[i] = builds_key('k', i);
        fresh_of[i] = builds_key('f', i);
        scene_keys[i] = (struct tamis_key){&bytes_of[i], BUILDS_KEY_BYTES};
        scene_fresh_keys[i] = (struct tamis_key){&fresh_of[i], BUILDS_KEY_BYTES};
    }
    tamis_store *store = fixture_store(&template_path);
    make(store, BLOCKED, &blocked, KEYS, 1);
    make(store, PHP, &php, KEYS, 1);
    make(store, COUNTING, &counting, SCENE_COUNTED, SCENE_TIMES);
    make(store, GROWN, &grown, KEYS, 1);
    make(store, DURABLE, &durable, KEYS, 1);
    assert_done(scene_build(store, scene_names[STATIC], TAMIS_KIND_FUSE, 0));
    assert_int_equal(tamis_filter_except(store, scene_names[STATIC], scene_keys, SCENE_OUT),
                     SCENE_OUT);
    tamis_store_close(store);
    remember();
}

void scene_copy(struct scene *scene)
{
    AUTO_FREE char *path = scratch_path("scene"), *away = scratch_path("away");
    scene_copy_to(scene, path, away);
}

void scene_copy_to(struct scene *scene, const char *path, const char *away)
{
    if (template_path == NULL) make_template();
    *scene = (struct scene){.path = strdup(path), .away = strdup(away)};
    if (scene->path == NULL || scene->away == NULL) err(1, "strdup");
    memset(scene_acknowledged, 0, sizeof scene_acknowledged);
    scratch_copy(template_path, scene->path);
}

int scene_open_with(struct scene *scene, unsigned flags)
{
    int rc = tamis_store_open(scene->path, 0, &scene->store);
    for (size_t i = 0; rc == 0 && i < SCENE_FILTERS; i++)
        rc = tamis_filter_open(scene->store, scene_names[i],
                               i == STATIC ? TAMIS_OPEN_READ_ONLY : flags, &scene->filters[i]);
    return rc;
}

int scene_open(struct scene *scene)
{
    return scene_open_with(scene, 0);
}

void scene_set(struct scene *scene)
{
    scene_copy(scene);
    assert_done(scene_open(scene));
}

void scene_set_for(struct scene *scene, const struct act *act)
{
    scene_set(scene);
    if (act->prepare != NULL) act->prepare(scene);
}

void scene_name_back(const struct scene *scene)
{
    if (scene->store != NULL) (void)!tamis_filter_rename(scene->store, "renamed", scene_names[PHP]);
}

int scene_close(struct scene *scene)
{
    int rc = 0;
    for (size_t i = 0; i < SCENE_FILTERS; i++) {
        const int closed = tamis_filter_close(scene->filters[i]);
        if (rc == 0) rc = closed;
        scene->filters[i] = NULL;
    }
    tamis_store_close(scene->store);
    scene->store = NULL;
    return rc;
}

void scene_clear(struct scene *scene)
{
    (void)scene_close(scene);
    scratch_remove(scene->path);
    scratch_remove(scene->away);
    free(scene->path);
    free(scene->away);
}

void scene_each_file(const struct scene *scene, scene_file_fn *fn, void *context)
{
    char file[4096];
    const struct dirent *entry;
    (void)snprintf(file, sizeof file, "%s/catalog.mdb", scene->path);
    fn(context, file);
    DIR *dir = opendir(fixture_join(scene->path, "segments"));
    if (dir == NULL) err(1, "%s", scene->path);
    while ((entry = readdir(dir)) != NULL) {
        if (*entry->d_name == '.') continue;
        (void)snprintf(file, sizeof file, "%s/segments/%s", scene->path, entry->d_name);
        fn(context, file);
    }
    (void)closedir(dir);
}
