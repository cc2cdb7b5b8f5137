/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * point.h: named instants inside the protocols, where a test may yield, kill the process or fail.
 *
 * Compiled to nothing but in the library `tamis_testable`, which only tests link.  A test sets
 * tamis__point_hook; it is called at every TAMIS__POINT in the thread that reaches it.
 */
#ifndef TAMIS_BASE_POINT_H
#define TAMIS_BASE_POINT_H

/* X(name, where) */
#define TAMIS__POINT_MAP(X)                                                                        \
    X(TAMIS__POINT_ADD_LOADED, "add: one word was read")                                           \
    X(TAMIS__POINT_ADD_ORED, "add: one word was ORed, the answer is not known to the caller")      \
    X(TAMIS__POINT_COUNT, "add: the bits are set, the item count is not")                          \
    X(TAMIS__POINT_STAGED, "create: the staged file is whole, the catalog not locked")             \
    X(TAMIS__POINT_RENAMED, "create: the segment has its name, the catalog is not committed")      \
    X(TAMIS__POINT_COMMITTED, "catalog: committed, the lock still held")                           \
    X(TAMIS__POINT_DROP_EPOCH, "drop: the epoch is raised, the catalog is not committed")          \
    X(TAMIS__POINT_DROP_UNLINK, "drop: committed, the files not yet unlinked")                     \
    X(TAMIS__POINT_RENAME_LABEL, "rename: committed, the segments still carry the old name")       \
    X(TAMIS__POINT_STORE_MADE, "store: directories there, no catalog yet")

enum tamis__point {
#define TAMIS__POINT_ENUM_(name, where) name,
    TAMIS__POINT_MAP(TAMIS__POINT_ENUM_)
#undef TAMIS__POINT_ENUM_
        TAMIS__POINT_COUNT_OF
};

#ifdef TAMIS_TEST_POINTS
extern void (*tamis__point_hook)(enum tamis__point point);
/* Set by the control test alone: "NEW if I flipped any bit", the rule that design.md refutes. */
extern int tamis__point_any_bit_rule;
#define TAMIS__POINT(point)                                                                        \
    do {                                                                                           \
        if (tamis__point_hook) tamis__point_hook(point);                                           \
    } while (0)
#define TAMIS__ANY_BIT_RULE tamis__point_any_bit_rule
#else
#define TAMIS__POINT(point)                                                                        \
    do {                                                                                           \
    } while (0)
#define TAMIS__ANY_BIT_RULE 0
#endif

#endif
