/* SPDX-License-Identifier: BSD-2-Clause */
/* owner.c: see owner.h. */
#include "segment/owner.h"

#include "os/io.h"
#include "segment/header.h"
#include "segment/points.h"

/* The offset of the bytes that owners lock, far behind the bytes of any file.  Nothing is
 * ever written there. */
#define OWNER_BYTES ((uint64_t)1 << 60)
#define NONCE_MAX (((uint64_t)1 << 40) - 1)
/* A lock is held for some hundred nanoseconds.  If it is still held after this many looks, its
 * owner was probably put to sleep. */
#define SPINS 200u

/* Is the nonce in a lock already?  A word that a dead owner of the same nonce left would be
 * taken for ours. */
static bool is_in_use(uint64_t nonce, const uint64_t *words)
{
    for (size_t i = 0; i < TAMIS__BLOCK_LOCKS; i++)
        if (__atomic_load_n(&words[i], __ATOMIC_RELAXED) == nonce) return true; /* ORDER: a hint */
    return false;
}

int tamis__owner_announce(struct tamis__owner *owner, const uint64_t *words, const char *what)
{
    int rc;
    do {
        tamis__random_bytes(&owner->nonce, sizeof owner->nonce);
        owner->nonce &= NONCE_MAX;
        if (owner->nonce == 0 || is_in_use(owner->nonce, words))
            rc = 0;
        else
            rc = tamis__lock_byte(owner->file.fd, OWNER_BYTES + owner->nonce, what);
    } while (rc == 0);
    return rc < 0 ? rc : 0;
}

/* Closed: it is the parent process's. */
static bool is_ours(const struct tamis__owner *owner)
{
    /* ORDER seq_cst: see tamis__mark_let_go(). */
    return owner != NULL && owner->file.fd >= 0 &&
           !__atomic_load_n(&owner->has_let_go, __ATOMIC_SEQ_CST);
}

struct tamis__owner *tamis__owner_current(struct tamis__owner **handle)
{
    /* ORDER acquire: pairs with the release in tamis__owner_enter; the owner is whole. */
    struct tamis__owner *owner = __atomic_load_n(handle, __ATOMIC_ACQUIRE);
    return is_ours(owner) ? owner : NULL;
}

struct tamis__owner *tamis__owner_enter(struct tamis__owner **handle, struct tamis__owner *fresh)
{
    /* ORDER acquire, release: see tamis__owner_current. */
    fresh->previous = __atomic_load_n(handle, __ATOMIC_ACQUIRE);
    do {
        if (is_ours(fresh->previous)) {
            struct tamis__owner *faster = fresh->previous;
            fresh->previous = NULL;
            tamis__owner_free(fresh);
            return faster;
        }
    } while (!__atomic_compare_exchange_n(handle, &fresh->previous, fresh, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
    return fresh;
}

void tamis__owner_free(struct tamis__owner *owner)
{
    while (owner != NULL) {
        struct tamis__owner *previous = owner->previous;
        tamis__private_close(&owner->file);
        free(owner);
        owner = previous;
    }
}

/* ORDER acquire: pairs with the release in tamis__owner_unlock, so that what the last holder
 * lowered is seen.  Nothing is missing after a death either: the dead holder made its stores before
 * the kernel let the byte go, and we looked at that byte later. */
static bool swap(uint64_t *word, uint64_t *from, uint64_t to)
{
    return __atomic_compare_exchange_n(word, from, to, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Is the holder dead?  A word that is no nonce is damage, and belongs to nobody. */
static int is_dead(const struct tamis__owner *owner, uint64_t holder)
{
    if (holder > NONCE_MAX) return 1;
    const int rc = tamis__byte_is_locked(owner->file.fd, OWNER_BYTES + holder, "a segment");
    return rc < 0 ? rc : !rc;
}

int tamis__owner_lock(struct tamis__owner *owner, uint64_t *word)
{
    for (unsigned round = 0;; round++) {
        uint64_t holder = 0;
        if (swap(word, &holder, owner->nonce)) return 0;
        if (round < SPINS) continue;
        if (holder != owner->nonce) {
            const int rc = is_dead(owner, holder);
            if (rc < 0) return rc;
            if (rc == 1) TAMIS__POINT(TAMIS__POINT_HOLDER_DEAD);
            /* Swap only if the word still has the dead one's nonce: another waiter may
             * have been faster. */
            if (rc == 1 && swap(word, &holder, owner->nonce)) return 0;
        }
        tamis__wait_a_little(round - SPINS);
    }
}

void tamis__owner_unlock(uint64_t *word)
{
    __atomic_store_n(word, 0, __ATOMIC_RELEASE); /* ORDER: see swap() */
}
