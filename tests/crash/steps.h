/* SPDX-License-Identifier: BSD-2-Clause */
/* steps.h: the steps that scenes are made of; see scene.h. */
#ifndef TAMIS_CRASH_STEPS_H
#define TAMIS_CRASH_STEPS_H

#include "scene.h"

void step_open_store(struct scene *scene);
void step_close_store(struct scene *scene); /* its filters too */

void step_create(struct scene *scene, unsigned filter, const char *name,
                 const struct tamis_filter_spec *spec);
/* `count` filters from place `first` on, by one call. */
void step_create_many(struct scene *scene, unsigned first, const char *const *names, unsigned count,
                      const struct tamis_filter_spec *spec);
void step_open(struct scene *scene, unsigned filter);
void step_close(struct scene *scene, unsigned filter);
void step_drop(struct scene *scene, unsigned filter);
void step_rename(struct scene *scene, unsigned filter, const char *to);

void step_add(struct scene *scene, unsigned filter, unsigned from, unsigned to);
void step_add_batch(struct scene *scene, unsigned filter, unsigned from, unsigned to);
void step_remove(struct scene *scene, unsigned filter, unsigned from, unsigned to);
void step_rotate(struct scene *scene, unsigned filter);
void step_sync(struct scene *scene, unsigned filter);

/* Build `edition`, with the first key excepted by hand or not. */
void step_publish(struct scene *scene, unsigned filter, const char *name, uint32_t kind,
                  unsigned edition, bool excepting);
void step_rollback(struct scene *scene, unsigned filter, unsigned edition);
void step_except(struct scene *scene, unsigned filter, unsigned edition, unsigned key,
                 bool take_off);

/* Keys of `source`, all of which are synced. */
void step_merge(struct scene *scene, unsigned filter, unsigned source);
void step_create_merged(struct scene *scene, unsigned filter, const char *name, unsigned source);
void step_import(struct scene *scene, unsigned filter, const char *name, unsigned source);

/* A copy of the store, beside it; one a scene. */
void step_backup(struct scene *scene);

void step_lose_catalog(struct scene *scene);
void step_repair(struct scene *scene, unsigned flags);

#endif
