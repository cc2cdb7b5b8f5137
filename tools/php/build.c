/* SPDX-License-Identifier: BSD-2-Clause */
/* build.c: the class Tamis\Build: the next generation of a filter, while it is made. */
#include "php_tamis.h"

#include "build_arginfo.h"

zend_class_entry *build_class;
static zend_object_handlers handlers;

static zend_object *create_object(zend_class_entry *class)
{
    return object_new(class, &handlers, sizeof(struct build_object));
}

static void clear(struct build_object *self)
{
    tamis_build_close(self->build);
    self->build = NULL;
    if (self->hash_set) zend_string_release(self->hash_set);
    self->hash_set = NULL;
}

static void release_object(zend_object *object)
{
    clear(OBJECT_OF(build_object, object));
    zend_object_std_dtor(object);
}

void build_wrap(zval *to, tamis_build *build, zend_string *hash_set)
{
    struct build_object *self;

    object_init_ex(to, build_class);
    self = OBJECT_OF(build_object, Z_OBJ_P(to));
    self->build = build;
    self->hash_set = hash_set ? zend_string_copy(hash_set) : NULL;
}

struct adding {
    const struct build_object *self; /* an iteration may close it */
    int (*call)(tamis_build *build, const struct tamis_key *keys, size_t count);
};

static int64_t add_some(void *context, struct many *many)
{
    struct adding *adding = context;

    if (adding->self->build) return adding->call(adding->self->build, many->keys, many->count);
    throw_closed("build");
    return 0;
}

static void add(INTERNAL_FUNCTION_PARAMETERS,
                int (*call)(tamis_build *build, const struct tamis_key *keys, size_t count))
{
    struct adding adding = {OBJECT_OF(build_object, Z_OBJ_P(ZEND_THIS)), call};
    zval *keys;
    int64_t rc;

    (void)return_value;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ITERABLE(keys)
    ZEND_PARSE_PARAMETERS_END();
    if (!adding.self->build) {
        throw_closed("build");
        return;
    }
    rc = many_stream(keys, add_some, &adding);
    if (rc < 0) throw_error((int)rc);
}

ZEND_METHOD(Tamis_Build, addMany)
{
    add(INTERNAL_FUNCTION_PARAM_PASSTHRU, tamis_build_add);
}

ZEND_METHOD(Tamis_Build, against)
{
    add(INTERNAL_FUNCTION_PARAM_PASSTHRU, tamis_build_against);
}

ZEND_METHOD(Tamis_Build, except)
{
    add(INTERNAL_FUNCTION_PARAM_PASSTHRU, tamis_build_except);
}

ZEND_METHOD(Tamis_Build, publish)
{
    struct build_object *self = OBJECT_OF(build_object, Z_OBJ_P(ZEND_THIS));
    struct tamis_build_result result = TAMIS_INIT(struct tamis_build_result);
    int rc;

    ZEND_PARSE_PARAMETERS_NONE();
    if (!self->build) {
        throw_closed("build");
        return;
    }
    rc = tamis_build_publish(self->build, &result);
    if (rc < 0)
        throw_error(rc);
    else
        result_to_array(return_value, rc, &result);
    clear(self);
}

ZEND_METHOD(Tamis_Build, close)
{
    ZEND_PARSE_PARAMETERS_NONE();
    clear(OBJECT_OF(build_object, Z_OBJ_P(ZEND_THIS)));
}

ZEND_METHOD(Tamis_Build, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}

void build_register(void)
{
    build_class = register_class_Tamis_Build();
    class_prepare(build_class, &handlers, XtOffsetOf(struct build_object, std), create_object,
                  release_object);
}
