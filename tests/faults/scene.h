/* SPDX-License-Identifier: BSD-2-Clause */
/* scene.h: what the acts know of the scene that they are played in, beside acts.h. */
#ifndef TAMIS_FAULTS_SCENE_H
#define TAMIS_FAULTS_SCENE_H

#include "acts.h"
#include "streams.h"

#define SCENE_OUT 100u     /* the first keys of STATIC are exceptions */
#define SCENE_TIMES 20u    /* each key of COUNTING was added */
#define SCENE_COUNTED 100u /* keys of COUNTING */

extern const char *const scene_names[SCENE_FILTERS];
extern struct tamis_key scene_keys[SCENE_KEYS], scene_fresh_keys[SCENE_KEYS];
/* Of the template: the items and the bits that are set of each filter, and BLOCKED as a stream. */
extern int64_t scene_items_before[SCENE_FILTERS];
extern uint64_t scene_ones_before[SCENE_FILTERS];
extern struct stream scene_export_before;
extern struct stream scene_export_again; /* with room enough: memory may be what fails */
/* Of the fresh keys, in the scene there is. */
extern bool scene_acknowledged[SCENE_FILTERS][SCENE_KEYS];

/* scene_open() with these flags for all filters but the static one. */
int scene_open_with(struct scene *scene, unsigned flags);

#endif
