/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fake_server.h: what of a redis-server the module needs, inside the process of a fuzz target: the
 * functions that its loaders call, a keyspace of one key, and an account of what is allocated.
 *
 * The module is loaded as a server loads it, by RedisModule_OnLoad().  Functions that no loader
 * calls end the process, with their name.  What a function does is what redis-server 7.0 does.
 */
#ifndef TAMIS_TESTS_FAKE_SERVER_H
#define TAMIS_TESTS_FAKE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fake_word {
    const void *data;
    size_t bytes;
};
#define FAKE_WORD(text) ((struct fake_word){(text), sizeof(text) - 1})

enum fake_type { FAKE_BLOOM, FAKE_CUCKOO, FAKE_VALKEY, FAKE_TYPES };

/* Loads the module, with a new store of its own and these arguments (at most 8). */
void fake_load_module(const char *const *arguments, int count);
/* Is a dump being loaded, so that RESTORE is not a client's? */
void fake_set_loading(bool loading);
/* Loads the key from the body of a RESTORE payload, behind the type's id; false: it was refused. */
bool fake_restore(enum fake_type type, int encoding, const uint8_t *body, size_t bytes);
/* Runs a command of the module on the key, where `words` does not have the key and begins with the
 * name; false: the answer was an error. */
bool fake_command(const struct fake_word *words, int count);
/* Is the key there? */
bool fake_has_key(void);
/* Saves the key as DUMP and as the rewrite of an AOF do; returns the bytes of both. */
uint64_t fake_save(void);
void fake_delete(void);
/* What a server does now and then. */
void fake_cron(void);

/* Bytes that the module holds; the most since fake_account_begin(); and the blocks on the disk that
 * were asked for since then. */
uint64_t fake_held_bytes(void);
uint64_t fake_most_bytes(void);
uint64_t fake_disk_bytes(void);
void fake_account_begin(void);
/* Files in the store, but those of its catalog. */
unsigned fake_files(void);

#endif
