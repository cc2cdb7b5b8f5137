/* SPDX-License-Identifier: BSD-2-Clause */
/* keys.h: the keys of a call, which lie outside of Java's heap (Arena.java). */
#pragma once

#include "java_tamis.h"

#define FEW_KEYS 1024
struct keys {
    struct tamis_key *list;
    struct tamis_key few[FEW_KEYS];
};

/* The keys at an address whose ends are at another one.  Returns 0, or TAMIS_ENOMEM with an
 * exception. */
int keys_take(JNIEnv *env, struct keys *keys, jlong data, jlong ends, jint count);
void keys_free(struct keys *keys);
