/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kept.c: handles that stay open between requests, the newest used first.
 *
 * At most tamis.open_filters handles stay open.  One with users is never closed here, so there may
 * be more for a while.  Closing a handle that has added is a checkpoint, which waits for the disk:
 * one that has only read goes first.  An error of a checkpoint harms only at a power cut, and is a
 * warning in PHP's log.
 *
 * The globals, which are these handles and two settings, are defined here: all that use them stand
 * above this file.  module.c fills them.
 */
#include "php_tamis.h"

ZEND_DECLARE_MODULE_GLOBALS(tamis)
#if defined(ZTS) && defined(COMPILE_DL_TAMIS)
ZEND_TSRMLS_CACHE_DEFINE()
#endif

void kept_list_init(struct kept_list *list)
{
    *list = (struct kept_list){.newest = NULL};
    zend_hash_init(&list->by_key, 8, NULL, NULL, 1);
}

static void take_out(struct kept_handle *kept)
{
    *(kept->newer ? &kept->newer->older : &kept->list->newest) = kept->older;
    *(kept->older ? &kept->older->newer : &kept->list->oldest) = kept->newer;
    kept->newer = kept->older = NULL;
}

static void put_first(struct kept_handle *kept)
{
    kept->older = kept->list->newest;
    *(kept->older ? &kept->older->newer : &kept->list->oldest) = kept;
    kept->list->newest = kept;
}

static void kept_free(struct kept_handle *kept)
{
    int rc = tamis_filter_close(kept->filter);

    tamis_store_close(kept->store);
    /* Of a filter that was dropped, or whose store was removed, nothing is left to be lost. */
    if (rc < 0 && rc != TAMIS_EDROPPED && rc != TAMIS_ENOSTORE)
        php_log_err((char *)(uintptr_t)tamis_last_error());
    zend_string_release(kept->key);
    if (kept->made_with) zend_string_release(kept->made_with);
    pefree(kept, 1);
}

void kept_forget(struct kept_handle *kept)
{
    if (!kept->list) return;
    zend_hash_del(&kept->list->by_key, kept->key);
    take_out(kept);
    kept->list = NULL;
    if (kept->users == 0) kept_free(kept);
}

void kept_list_clear(struct kept_list *list)
{
    struct kept_handle *newer;

    for (struct kept_handle *kept = list->oldest; kept; kept = newer) {
        newer = kept->newer;
        kept_forget(kept);
    }
    zend_hash_destroy(&list->by_key);
}

struct kept_handle *kept_find(struct kept_list *list, zend_string *key)
{
    struct kept_handle *kept = zend_hash_find_ptr(&list->by_key, key);

    if (!kept) return NULL;
    take_out(kept);
    put_first(kept);
    kept->users++;
    return kept;
}

/* While the list has too many handles, closes the oldest ones that nobody uses: of those that have
 * written, or of those that have not. */
static void close_oldest_of(struct kept_list *list, bool has_written)
{
    struct kept_handle *next;

    for (struct kept_handle *kept = list->oldest; kept; kept = next) {
        /* kept_forget() takes what it frees out of the list, behind the hash table's destructor. */
        next = kept->newer; /* NOLINT(clang-analyzer-unix.Malloc) */
        if ((zend_long)zend_hash_num_elements(&list->by_key) <= TAMIS_G(open_filters)) return;
        if (kept->users == 0 && kept->has_written == has_written) kept_forget(kept);
    }
}

static void close_oldest(struct kept_list *list)
{
    close_oldest_of(list, false);
    close_oldest_of(list, true);
}

void kept_leave(struct kept_handle *kept)
{
    if (!kept || --kept->users > 0) return;
    if (kept->list)
        close_oldest(kept->list);
    else
        kept_free(kept);
}

struct kept_handle *kept_add(struct kept_list *list, zend_string *key, tamis_store *store,
                             tamis_filter *filter)
{
    struct kept_handle *kept = pecalloc(1, sizeof *kept, 1);

    kept->key = zend_string_init(ZSTR_VAL(key), ZSTR_LEN(key), 1);
    kept->store = store;
    kept->filter = filter;
    kept->list = list;
    kept->users = 1;
    put_first(kept);
    zend_hash_add_new_ptr(&list->by_key, kept->key, kept);
    close_oldest(list);
    return kept;
}
