/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * php_tamis.h: what the files of the PHP extension share: the globals, the objects, and errors.
 *
 * Handles of stores and filters are KEPT: they outlive the PHP objects, and the request, so that a
 * worker of PHP-FPM opens a filter once (kept.c).  With a PHP for threads (ZTS) each thread has
 * globals, and so handles, of its own.
 */
#pragma once
#ifdef HAVE_CONFIG_H
#include "config.h" /* of phpize */
#endif
#include <php.h>
#include <stdbool.h>

#include <tamis.h>

#define PHP_TAMIS_VERSION "0.1.0"
/* A key this long or longer is refused: its hashing would hold up a web server's worker. */
#define TAMIS_PHP_KEY_BYTES_MAX ((size_t)64 << 20)

/* An open store or an open filter. */
struct kept_handle {
    zend_string *key;       /* what it is found by */
    tamis_store *store;     /* one of the two */
    tamis_filter *filter;   /* is NULL */
    struct kept_list *list; /* NULL: not found any more, closed with its last user */
    uint32_t users;         /* PHP objects that use it */
    bool has_written;       /* of a filter: the close may have to wait for the disk */
    struct kept_handle *newer, *older;
    dev_t device; /* of a store: its directory */
    ino_t inode;
    zend_string *made_with; /* of a filter: what openOrCreate() was asked for, NULL if it was not */
    uint64_t generation;    /* and the generation that it was so for */
};

struct kept_list {
    HashTable by_key;
    struct kept_handle *newest, *oldest;
};

// cppcheck-suppress unknownMacro
ZEND_BEGIN_MODULE_GLOBALS(tamis)
char *store;            /* ini tamis.store */
zend_long open_filters; /* ini tamis.open_filters */
struct kept_list stores, filters;
ZEND_END_MODULE_GLOBALS(tamis)
ZEND_EXTERN_MODULE_GLOBALS(tamis)
#define TAMIS_G(name) ZEND_MODULE_GLOBALS_ACCESSOR(tamis, name)
#if defined(ZTS) && defined(COMPILE_DL_TAMIS)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

/* ---- Kept handles (kept.c) ------------------------------------------------------------------ */

void kept_list_init(struct kept_list *list);
void kept_list_clear(struct kept_list *list);
/* Returns the handle of that key and makes it the newest; NULL if there is none. */
struct kept_handle *kept_find(struct kept_list *list, zend_string *key);
/* Takes over the handles; closes the oldest that nobody uses, if there are too many. */
struct kept_handle *kept_add(struct kept_list *list, zend_string *key, tamis_store *store,
                             tamis_filter *filter);
/* Takes the handle out of its list.  Its last user closes it. */
void kept_forget(struct kept_handle *kept);
void kept_leave(struct kept_handle *kept);

/* ---- Opening (open.c): a kept handle or a new one; NULL with an exception -------------------- */

typedef int make_call(tamis_store *store, const char *name, const struct tamis_filter_spec *spec,
                      tamis_filter **filter);

struct kept_handle *open_store(zend_string *path, const struct tamis_store_options *options);
struct kept_handle *open_filter(struct kept_handle *store, zend_string *name, unsigned flags);
/* `call` is tamis_filter_create or tamis_filter_open_or_create. */
struct kept_handle *open_made(struct kept_handle *store, zend_string *name,
                              const struct tamis_filter_spec *spec, make_call *call);
/* The filter of that name, whatever it is; made as the spec says only if there is none. */
struct kept_handle *open_any(struct kept_handle *store, zend_string *name,
                             const struct tamis_filter_spec *spec);

/* ---- Objects -------------------------------------------------------------------------------- */

struct store_object {
    struct kept_handle *kept; /* NULL: closed */
    zend_string *path;
    zend_object std;
};
struct filter_object {
    struct kept_handle *kept;
    zend_object std;
};
struct build_object {
    tamis_build *build;
    zend_string *hash_set; /* the library needs it until the build is closed */
    zend_object std;
};
#define OBJECT_OF(type, object) ((struct type *)((char *)(object)-XtOffsetOf(struct type, std)))

extern zend_class_entry *store_class, *filter_class, *build_class;
void store_register(void);
void filter_register(void);
void build_register(void);

/* ---- What the classes have in common (object.c) ---------------------------------------------- */

/* A class whose objects are made by `create` and given back by `release`.  They can neither be
 * copied nor compared. */
void class_prepare(zend_class_entry *class, zend_object_handlers *handlers, int offset,
                   zend_object *(*create)(zend_class_entry *), void (*release)(zend_object *));
/* A new object of such a class, whose struct has so many bytes: zeros, and the object behind them.
 */
zend_object *object_new(zend_class_entry *class, const zend_object_handlers *of, size_t bytes);

/* ---- New objects (filter.c, build.c) --------------------------------------------------------- */

/* Makes `to` an object of class Filter that uses the handle. */
void filter_wrap(zval *to, struct kept_handle *kept);
void build_wrap(zval *to, tamis_build *build, zend_string *hash_set);

/* ---- Errors (errors.c) ----------------------------------------------------------------------- */

void errors_register(void);
/* Throws the exception of that code.  The sentence is that of the library. */
void throw_error(int rc);
/* The same; `answers`, an array or NULL, goes along and is taken over. */
void throw_with_answers(int rc, zval *answers);
/* Throws Tamis\Exception\ClosedException; `what` such as "store". */
void throw_closed(const char *what);
/* Throws Tamis\Exception\InvalidException, if a key is too long. */
bool is_key_refused(size_t bytes);

/* ---- Many keys (many.c) ---------------------------------------------------------------------- */

#define MANY 1024
struct many {
    struct tamis_key keys[MANY];
    uint8_t answers[MANY];
    uint64_t counts[MANY];
    char numbers[MANY][MAX_LENGTH_OF_LONG + 1]; /* which counts no 0 at the end */
    zend_ulong index[MANY];                     /* where the answer goes: a number, or a string */
    zend_string *name[MANY];
    size_t count;
};
/* Deals with the keys that were collected.  Returns below 0 on an error. */
typedef int64_t many_call(void *context, struct many *many);
/* Hands all strings and ints of an array to `call`, MANY at a time.  `what` names the argument's
 * type in the TypeError that comes before anything is done.  Returns what `call` returned last. */
int64_t many_each(HashTable *keys, many_call *call, void *context);
/* The array itself, or a new one of all that an object is iterated over, as a list; the caller
 * releases it.  false: the iteration has thrown. */
bool many_list(zval *keys, zval *list);
/* As many_each(), of an array or of an object that is iterated meanwhile, MANY at a time.  What was
 * handed over before it throws, or before a value is no key, stays done. */
int64_t many_stream(zval *keys, many_call *call, void *context);

/* ---- Structs (fields.c) ---------------------------------------------------------------------- */

void stat_to_array(zval *to, const struct tamis_filter_stat *stat);
void result_to_array(zval *to, int is_published, const struct tamis_build_result *result);
