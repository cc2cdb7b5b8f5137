/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * acts.h: a store with a filter of each sort, handles on it, and everything that can be done with
 * it.
 *
 * An act is one public call, or several alike, whose result can be judged: it was right, it was an
 * error, or it was WRONG: a key that is in was "absent" or NEW, a count too low, bytes of an export
 * others than they were.  The tests of faults run all acts under each fault.
 */
#ifndef TAMIS_FAULTS_ACTS_H
#define TAMIS_FAULTS_ACTS_H

#include "builds.h"

enum scene_filter { BLOCKED, PHP, COUNTING, GROWN, DURABLE, STATIC, SCENE_FILTERS };

struct scene {
    char *path;
    char *away; /* where acts put what they make outside */
    tamis_store *store;
    tamis_filter *filters[SCENE_FILTERS];
};

#define SCENE_WRONG 1000000
#define SCENE_KEYS 1000u /* builds_key('k', 0) and on: what is in all of them but COUNTING */

struct act {
    const char *name;
    int64_t (*run)(struct scene *scene);  /* 0 and more: right; below 0: an error; SCENE_WRONG */
    void (*prepare)(struct scene *scene); /* NULL: nothing to be done before, where nothing fails */
};
extern const struct act acts[];
extern const size_t acts_count;

/* The template is made once a process; each scene is a copy of it, with all handles open. */
void scene_set(struct scene *scene);
/* The same, made ready for that act. */
void scene_set_for(struct scene *scene, const struct act *act);
/* The copy alone, with nothing open. */
void scene_copy(struct scene *scene);
/* The same in directories of these names. */
void scene_copy_to(struct scene *scene, const char *path, const char *away);
int scene_open(struct scene *scene); /* 0 or the first error; scene_close() then too */
/* A fault between the two renames of an act has left the filter under the other name. */
void scene_name_back(const struct scene *scene);
/* The first error of the closes. */
int scene_close(struct scene *scene);
/* Closed or not, all that is left of it goes. */
void scene_clear(struct scene *scene);
/* Freed at the end of its block, see auto.h. */
#define AUTO_SCENE __attribute__((cleanup(scene_clear))) struct scene

/* Of two results: a wrong answer outweighs an error, an error a right one. */
int64_t worse(int64_t a, int64_t b);

/* Build a filter of all keys: what tamis_build_publish() returned. */
int scene_build(tamis_store *store, const char *name, uint32_t kind, uint32_t flags);

/* Ask every filter for every key, and every one that an act was told is in, by each of its handles:
 * SCENE_WRONG, the last error, or 0. */
int64_t scene_ask(struct scene *scene);

/* 0, an error, or the error of the last problem that was found. */
int64_t scene_verify(tamis_store *store, const char *name);

/* Call fn with the path of each file of the store: the catalog, then the segments. */
typedef void scene_file_fn(void *context, const char *file);
void scene_each_file(const struct scene *scene, scene_file_fn *fn, void *context);

#endif
