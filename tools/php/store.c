/* SPDX-License-Identifier: BSD-2-Clause */
/* store.c: the class Tamis\Store: a directory of named filters.  open.c has its handles. */
#include "php_tamis.h"
#include <ext/spl/spl_array.h>
#include <math.h>
#include <zend_exceptions.h>
#include <zend_interfaces.h>
#include <zend_smart_str.h>

#include "store_arginfo.h"

zend_class_entry *store_class;
static zend_object_handlers handlers;

static zend_object *create_object(zend_class_entry *class)
{
    return object_new(class, &handlers, sizeof(struct store_object));
}

static void release_object(zend_object *object)
{
    struct store_object *self = OBJECT_OF(store_object, object);

    kept_leave(self->kept);
    if (self->path) zend_string_release(self->path);
    zend_object_std_dtor(object);
}

static struct kept_handle *kept_of(zval *object)
{
    struct store_object *self = OBJECT_OF(store_object, Z_OBJ_P(object));

    if (!self->kept) throw_closed("store");
    return self->kept;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* The absolute path; NULL with an exception.  A URL stays as it is: the library refuses it, and
 * made absolute it would be a path. */
static zend_string *path_of(const char *path)
{
    char full[MAXPATHLEN];

    if (!path || !*path) {
        zend_argument_value_error(
            1, "must be the directory of a store, or tamis.store be set in php.ini");
        return NULL;
    }
    if (strncmp(path + strcspn(path, "/:"), "://", 3) == 0)
        return zend_string_init(path, strlen(path), 0);
    if (!expand_filepath(path, full)) {
        zend_argument_value_error(1, "is no path");
        return NULL;
    }
    if (php_check_open_basedir(full)) {
        zend_argument_value_error(1, "is outside open_basedir");
        return NULL;
    }
    return zend_string_init(full, strlen(full), 0);
}

ZEND_METHOD(Tamis_Store, __construct)
{
    struct store_object *self = OBJECT_OF(store_object, Z_OBJ_P(ZEND_THIS));
    struct tamis_store_options options = TAMIS_INIT(struct tamis_store_options);
    char *path = NULL;
    size_t path_bytes;
    bool may_create = true, is_read_only = false, mode_is_null = true;
    zend_long mode = 0;
    double timeout = 10;

    ZEND_PARSE_PARAMETERS_START(0, 5)
    Z_PARAM_OPTIONAL
    Z_PARAM_PATH_OR_NULL(path, path_bytes)
    Z_PARAM_BOOL(may_create)
    Z_PARAM_BOOL(is_read_only)
    Z_PARAM_LONG_OR_NULL(mode, mode_is_null)
    Z_PARAM_DOUBLE(timeout)
    ZEND_PARSE_PARAMETERS_END();
    if (self->path) {
        zend_throw_error(NULL, "the store was opened already");
        return;
    }
    if (!(timeout >= 0 && timeout <= 86400)) {
        zend_argument_value_error(5, "must be between 0 and 86400 seconds");
        return;
    }
    if (!(self->path = path_of(path ? path : TAMIS_G(store)))) return;
    options.flags = is_read_only ? TAMIS_OPEN_READ_ONLY : may_create ? TAMIS_OPEN_CREATE : 0;
    options.mode = mode_is_null ? 0 : (uint32_t)mode;
    options.busy_timeout_ms = timeout > 0 ? (int64_t)ceil(timeout * 1000) : -1;
    self->kept = open_store(self->path, &options);
}

static void get_filter(zval *to, zval *object, zend_string *name, unsigned flags)
{
    struct kept_handle *store = kept_of(object);
    struct kept_handle *filter = store ? open_filter(store, name, flags) : NULL;

    if (filter) filter_wrap(to, filter);
}

ZEND_METHOD(Tamis_Store, filter)
{
    zend_string *name;
    bool populate = false;

    ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_PATH_STR(name)
    Z_PARAM_OPTIONAL
    Z_PARAM_BOOL(populate)
    ZEND_PARSE_PARAMETERS_END();
    get_filter(return_value, ZEND_THIS, name, populate ? TAMIS_OPEN_POPULATE : 0);
}

ZEND_METHOD(Tamis_Store, offsetGet)
{
    zend_string *name;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_PATH_STR(name)
    ZEND_PARSE_PARAMETERS_END();
    get_filter(return_value, ZEND_THIS, name, 0);
}

/* ---- Making ---------------------------------------------------------------------------------- */

static int on_full_of(zend_string *word, uint32_t *on_full)
{
    if (!word) return 0;
    for (uint32_t i = TAMIS_ON_FULL_GROW; tamis_on_full_name(i); i++)
        if (strcmp(ZSTR_VAL(word), tamis_on_full_name(i)) == 0) {
            *on_full = i;
            return 0;
        }
    zend_argument_value_error(9, "must be \"grow\", \"refuse\" or \"warn\"");
    return -1;
}

static int window_from_of(zend_string *word, uint32_t *flags)
{
    if (!word || zend_string_equals_literal(word, "last")) return 0;
    *flags |= TAMIS_FILTER_FROM_FIRST;
    if (zend_string_equals_literal(word, "first")) return 0;
    zend_argument_value_error(15, "must be \"first\" or \"last\"");
    return -1;
}

/* Tells whether the number lies between the two.  If it does not, throws a ValueError that names
 * the argument at `place`. */
static bool is_between(uint32_t place, zend_long number, zend_long least, zend_long most)
{
    if (number >= least && number <= most) return true;
    if (number < least)
        zend_argument_value_error(place, "must be " ZEND_LONG_FMT " or more", least);
    else
        zend_argument_value_error(place, "must be " ZEND_LONG_FMT " or less", most);
    return false;
}

static int numbers_to_spec(struct tamis_filter_spec *spec, const zend_long *numbers, double window)
{
    static const struct {
        uint32_t place;
        zend_long least, most;
    } arguments[] = {{2, 0, ZEND_LONG_MAX},  {6, ZEND_LONG_MIN, ZEND_LONG_MAX},
                     {7, 0, UINT32_MAX},     {8, 0, ZEND_LONG_MAX},
                     {11, 0, ZEND_LONG_MAX}, {12, 0, UINT32_MAX},
                     {13, 0, UINT32_MAX}};

    for (int i = 0; i < 7; i++)
        if (!is_between(arguments[i].place, numbers[i], arguments[i].least, arguments[i].most))
            return -1;
    if (!(window >= 0 && window < 3155760000.0)) {
        zend_argument_value_error(10, "must be seconds, 0 or more, at most a hundred years");
        return -1;
    }
    spec->capacity = (uint64_t)numbers[0];
    spec->seed = (uint64_t)numbers[1];
    spec->k = (uint32_t)numbers[2];
    spec->m_bits = (uint64_t)numbers[3];
    spec->window_items = (uint64_t)numbers[4];
    spec->slices = (uint32_t)numbers[5];
    spec->counter_bits = (uint32_t)numbers[6];
    spec->window_ns = (int64_t)(window * 1e9);
    return 0;
}

// NOLINTNEXTLINE(readability-function-size): the macros of PHP count
static void make_filter(INTERNAL_FUNCTION_PARAMETERS, make_call *call)
{
    struct tamis_filter_spec spec = TAMIS_INIT(struct tamis_filter_spec);
    zend_string *name, *kind = NULL, *hash_set = NULL, *on_full = NULL, *window_from = NULL,
                       *key_rule = NULL;
    zend_long numbers[7] = {0};
    double window = 0;
    bool durable = false, any = false;
    struct kept_handle *store, *filter;
    int rc;

    ZEND_PARSE_PARAMETERS_START(1, call == tamis_filter_create ? 16 : 17)
    Z_PARAM_PATH_STR(name)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG(numbers[0])
    Z_PARAM_DOUBLE(spec.fp_rate)
    Z_PARAM_PATH_STR_OR_NULL(kind)
    Z_PARAM_PATH_STR_OR_NULL(hash_set)
    Z_PARAM_LONG(numbers[1])
    Z_PARAM_LONG(numbers[2])
    Z_PARAM_LONG(numbers[3])
    Z_PARAM_PATH_STR_OR_NULL(on_full)
    Z_PARAM_DOUBLE(window)
    Z_PARAM_LONG(numbers[4])
    Z_PARAM_LONG(numbers[5])
    Z_PARAM_LONG(numbers[6])
    Z_PARAM_BOOL(durable)
    Z_PARAM_PATH_STR(window_from)
    Z_PARAM_PATH_STR_OR_NULL(key_rule)
    Z_PARAM_BOOL(any)
    ZEND_PARSE_PARAMETERS_END();
    if (!(store = kept_of(ZEND_THIS)) || numbers_to_spec(&spec, numbers, window) < 0 ||
        on_full_of(on_full, &spec.on_full) < 0 || window_from_of(window_from, &spec.flags) < 0)
        return;
    spec.hash_set = hash_set ? ZSTR_VAL(hash_set) : NULL;
    spec.key_rule = key_rule ? ZSTR_VAL(key_rule) : NULL;
    spec.flags |= durable ? TAMIS_FILTER_DURABLE : 0;
    rc = kind ? tamis_kind_from_name(ZSTR_VAL(kind), &spec.kind) : 0;
    if (rc < 0)
        throw_error(rc);
    else if ((filter = any ? open_any(store, name, &spec) : open_made(store, name, &spec, call)))
        filter_wrap(return_value, filter);
}

ZEND_METHOD(Tamis_Store, create)
{
    make_filter(INTERNAL_FUNCTION_PARAM_PASSTHRU, tamis_filter_create);
}

ZEND_METHOD(Tamis_Store, openOrCreate)
{
    make_filter(INTERNAL_FUNCTION_PARAM_PASSTHRU, tamis_filter_open_or_create);
}

ZEND_METHOD(Tamis_Store, build)
{
    struct tamis_filter_spec filter = TAMIS_INIT(struct tamis_filter_spec);
    struct tamis_build_spec spec = TAMIS_INIT(struct tamis_build_spec);
    zend_string *name, *kind = NULL, *hash_set = NULL, *key_rule = NULL;
    zend_long capacity = 0, keep = 0;
    bool if_changed = false, keep_is_null = true;
    struct kept_handle *store;
    tamis_build *build;
    int rc;

    ZEND_PARSE_PARAMETERS_START(1, 8)
    Z_PARAM_PATH_STR(name)
    Z_PARAM_OPTIONAL
    Z_PARAM_DOUBLE(filter.fp_rate)
    Z_PARAM_PATH_STR_OR_NULL(kind)
    Z_PARAM_LONG(capacity)
    Z_PARAM_PATH_STR_OR_NULL(hash_set)
    Z_PARAM_BOOL(if_changed)
    Z_PARAM_LONG_OR_NULL(keep, keep_is_null)
    Z_PARAM_PATH_STR_OR_NULL(key_rule)
    ZEND_PARSE_PARAMETERS_END();
    if (!(store = kept_of(ZEND_THIS)) || !is_between(4, capacity, 0, ZEND_LONG_MAX) ||
        !is_between(7, keep, 0, TAMIS_KEEP_MAX))
        return;
    filter.capacity = (uint64_t)capacity;
    filter.hash_set = hash_set ? ZSTR_VAL(hash_set) : NULL;
    filter.key_rule = key_rule ? ZSTR_VAL(key_rule) : NULL;
    spec.filter = &filter;
    spec.flags = (if_changed ? TAMIS_BUILD_IF_CHANGED : 0) | (keep_is_null ? 0 : TAMIS_BUILD_KEEP);
    spec.keep = (uint32_t)keep;
    rc = kind ? tamis_kind_from_name(ZSTR_VAL(kind), &filter.kind) : 0;
    if (rc == 0) rc = tamis_build_begin(store->store, ZSTR_VAL(name), &spec, &build);
    if (rc < 0)
        throw_error(rc);
    else
        build_wrap(return_value, build, hash_set);
}

/* ---- Publishing ------------------------------------------------------------------------------ */

static int64_t read_stream(void *context, void *buffer, size_t bytes)
{
    const ssize_t got = php_stream_read(context, buffer, bytes);

    return got < 0 ? TAMIS_EIO : (int64_t)got;
}

ZEND_METHOD(Tamis_Store, publishFile)
{
    struct tamis_import_spec import = TAMIS_INIT(struct tamis_import_spec);
    struct tamis_publish_spec spec = TAMIS_INIT(struct tamis_publish_spec);
    struct tamis_source source = {.size = sizeof source, .read = read_stream};
    zend_string *name, *file, *format = NULL;
    zend_long keep = 0;
    bool if_changed = false, keep_is_null = true, newer = false;
    struct kept_handle *store;
    int rc;

    ZEND_PARSE_PARAMETERS_START(2, 6)
    Z_PARAM_PATH_STR(name)
    Z_PARAM_PATH_STR(file)
    Z_PARAM_OPTIONAL
    Z_PARAM_PATH_STR(format)
    Z_PARAM_BOOL(if_changed)
    Z_PARAM_LONG_OR_NULL(keep, keep_is_null)
    Z_PARAM_BOOL(newer)
    ZEND_PARSE_PARAMETERS_END();
    if (!(store = kept_of(ZEND_THIS)) || !is_between(5, keep, 0, TAMIS_KEEP_MAX)) return;
    /* By PHP's own functions, so that open_basedir and wrappers are heeded. */
    source.context = php_stream_open_wrapper(ZSTR_VAL(file), "rb", REPORT_ERRORS, NULL);
    if (!source.context) {
        if (!EG(exception)) zend_argument_value_error(2, "cannot be opened for reading");
        return;
    }
    import.origin = ZSTR_VAL(file);
    spec.import = &import;
    spec.flags = (if_changed ? TAMIS_PUBLISH_IF_CHANGED : 0) |
                 (keep_is_null ? 0 : TAMIS_PUBLISH_KEEP) | (newer ? TAMIS_PUBLISH_NEWER : 0);
    spec.keep = (uint32_t)keep;
    rc = tamis_filter_publish(store->store, ZSTR_VAL(name), format ? ZSTR_VAL(format) : "tamis",
                              &spec, &source, NULL);
    php_stream_close(source.context);
    if (rc < 0)
        throw_error(rc);
    else
        RETVAL_BOOL(rc);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static int add_name(void *context, const struct tamis_filter_stat *stat)
{
    add_next_index_string(context, stat->name);
    return 0;
}

static bool list_names(zval *to, zval *object, const char *prefix)
{
    struct kept_handle *store = kept_of(object);
    int rc;

    if (!store) return false;
    array_init(to);
    rc = tamis_store_list(store->store, prefix, add_name, to);
    if (rc == 0) return true;
    zval_ptr_dtor(to);
    ZVAL_NULL(to);
    throw_error(rc);
    return false;
}

ZEND_METHOD(Tamis_Store, names)
{
    zend_string *prefix = NULL;

    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_PATH_STR(prefix)
    ZEND_PARSE_PARAMETERS_END();
    list_names(return_value, ZEND_THIS, prefix ? ZSTR_VAL(prefix) : NULL);
}

ZEND_METHOD(Tamis_Store, count)
{
    zval names;

    ZEND_PARSE_PARAMETERS_NONE();
    if (!list_names(&names, ZEND_THIS, NULL)) return;
    RETVAL_LONG(zend_hash_num_elements(Z_ARRVAL(names)));
    zval_ptr_dtor(&names);
}

ZEND_METHOD(Tamis_Store, getIterator)
{
    zval names;

    ZEND_PARSE_PARAMETERS_NONE();
    if (!list_names(&names, ZEND_THIS, NULL)) return;
    object_init_ex(return_value, spl_ce_ArrayIterator);
    zend_call_method_with_1_params(Z_OBJ_P(return_value), spl_ce_ArrayIterator,
                                   &spl_ce_ArrayIterator->constructor, "__construct", NULL, &names);
    zval_ptr_dtor(&names);
}

static int is_name(void *context, const struct tamis_filter_stat *stat)
{
    return strcmp(stat->name, context) == 0;
}

ZEND_METHOD(Tamis_Store, has)
{
    zend_string *name;
    struct kept_handle *store;
    int rc;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_PATH_STR(name)
    ZEND_PARSE_PARAMETERS_END();
    if (!(store = kept_of(ZEND_THIS))) return;
    rc = ZSTR_LEN(name) == 0
             ? 0
             : tamis_store_list(store->store, ZSTR_VAL(name), is_name, ZSTR_VAL(name));
    if (rc < 0) throw_error(rc);
    RETVAL_BOOL(rc > 0);
}

static void refuse(INTERNAL_FUNCTION_PARAMETERS, uint32_t parameters)
{
    (void)return_value;
    if (ZEND_NUM_ARGS() != parameters)
        zend_wrong_parameters_count_error(parameters, parameters);
    else
        zend_throw_error(NULL, "a store's filters are made by create() and removed by drop()");
}

ZEND_METHOD(Tamis_Store, offsetSet)
{
    refuse(INTERNAL_FUNCTION_PARAM_PASSTHRU, 2);
}

ZEND_METHOD(Tamis_Store, offsetUnset)
{
    refuse(INTERNAL_FUNCTION_PARAM_PASSTHRU, 1);
}

static void throw_if(int rc)
{
    if (rc < 0) throw_error(rc);
}

ZEND_METHOD(Tamis_Store, drop)
{
    zend_string *name;
    struct kept_handle *store;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_PATH_STR(name)
    ZEND_PARSE_PARAMETERS_END();
    if ((store = kept_of(ZEND_THIS))) throw_if(tamis_filter_drop(store->store, ZSTR_VAL(name)));
}

ZEND_METHOD(Tamis_Store, rename)
{
    zend_string *from, *to;
    struct kept_handle *store;

    ZEND_PARSE_PARAMETERS_START(2, 2)
    Z_PARAM_PATH_STR(from)
    Z_PARAM_PATH_STR(to)
    ZEND_PARSE_PARAMETERS_END();
    if ((store = kept_of(ZEND_THIS)))
        throw_if(tamis_filter_rename(store->store, ZSTR_VAL(from), ZSTR_VAL(to)));
}

ZEND_METHOD(Tamis_Store, setPages)
{
    zend_string *name, *word;
    uint32_t pages = TAMIS_PAGES_AUTO;
    struct kept_handle *store;

    ZEND_PARSE_PARAMETERS_START(2, 2)
    Z_PARAM_PATH_STR(name)
    Z_PARAM_PATH_STR(word)
    ZEND_PARSE_PARAMETERS_END();
    while (tamis_pages_name(pages) && strcmp(ZSTR_VAL(word), tamis_pages_name(pages)) != 0)
        pages++;
    if (!tamis_pages_name(pages))
        zend_argument_value_error(2, "must be \"auto\", \"small\" or \"huge\"");
    else if ((store = kept_of(ZEND_THIS)))
        throw_if(tamis_filter_set_pages(store->store, ZSTR_VAL(name), pages));
}

ZEND_METHOD(Tamis_Store, rollback)
{
    zend_string *name;
    zend_long generation = 0;
    struct kept_handle *store;

    ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_PATH_STR(name)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG(generation)
    ZEND_PARSE_PARAMETERS_END();
    if ((store = kept_of(ZEND_THIS)) && is_between(2, generation, 0, ZEND_LONG_MAX))
        throw_if(tamis_filter_rollback(store->store, ZSTR_VAL(name), (uint64_t)generation));
}

ZEND_METHOD(Tamis_Store, path)
{
    struct store_object *self = OBJECT_OF(store_object, Z_OBJ_P(ZEND_THIS));

    ZEND_PARSE_PARAMETERS_NONE();
    if (kept_of(ZEND_THIS)) RETVAL_STR_COPY(self->path);
}

ZEND_METHOD(Tamis_Store, close)
{
    struct store_object *self = OBJECT_OF(store_object, Z_OBJ_P(ZEND_THIS));

    ZEND_PARSE_PARAMETERS_NONE();
    kept_leave(self->kept);
    self->kept = NULL;
}

void store_register(void)
{
    store_class =
        register_class_Tamis_Store(zend_ce_arrayaccess, zend_ce_countable, zend_ce_aggregate);
    class_prepare(store_class, &handlers, XtOffsetOf(struct store_object, std), create_object,
                  release_object);
}
