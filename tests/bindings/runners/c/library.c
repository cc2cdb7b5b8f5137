/* SPDX-License-Identifier: BSD-2-Clause */
/* library.c: the words of the library, its version, and SIGBUS. */
#include "runner.h"

static json_t *do_tamis_version(struct step *step)
{
    (void)step;
    return word(tamis_version());
}

static json_t *do_tamis_version_number(struct step *step)
{
    (void)step;
    return gives(json_integer(tamis_version_number()));
}

static json_t *do_tamis_simd(struct step *step)
{
    (void)step;
    return word(tamis_simd());
}

static json_t *do_tamis_error_name(struct step *step)
{
    return word(tamis_error_name((int)number(step, "error")));
}

static json_t *do_tamis_error_message(struct step *step)
{
    return word(tamis_error_message((int)number(step, "error")));
}

static json_t *do_tamis_last_error(struct step *step)
{
    (void)step;
    return word(tamis_last_error());
}

static json_t *do_tamis_kind_name(struct step *step)
{
    return word(tamis_kind_name((uint32_t)number(step, "kind")));
}

static json_t *do_tamis_kind_has(struct step *step)
{
    return counted(
        tamis_kind_has((uint32_t)number(step, "kind"), (uint32_t)number(step, "property")));
}

static json_t *do_tamis_kind_next(struct step *step)
{
    return gives(json_integer(tamis_kind_next((uint32_t)number(step, "kind"))));
}

static json_t *do_tamis_kind_from_name(struct step *step)
{
    uint32_t kind = 0;
    const int rc = tamis_kind_from_name(text(step, "name"), &kind);
    return rc < 0 ? failed(rc) : gives(json_integer(kind));
}

static json_t *do_tamis_hash_set_next(struct step *step)
{
    return word(tamis_hash_set_next(text(step, "hash_set")));
}

static json_t *do_tamis_hash_set_weakness(struct step *step)
{
    return word(tamis_hash_set_weakness(text(step, "hash_set")));
}

static json_t *do_tamis_on_full_name(struct step *step)
{
    return word(tamis_on_full_name((uint32_t)number(step, "on_full")));
}

static json_t *do_tamis_pages_name(struct step *step)
{
    return word(tamis_pages_name((uint32_t)number(step, "pages")));
}

static json_t *do_tamis_sigbus_leave(struct step *step)
{
    (void)step;
    tamis_sigbus_leave();
    return status(0);
}

static json_t *do_tamis_sigbus_mend(struct step *step)
{
    return counted(tamis_sigbus_mend(step));
}

const struct call library_calls[] = {CALL(tamis_version),
                                     CALL(tamis_version_number),
                                     CALL(tamis_simd),
                                     CALL(tamis_error_name),
                                     CALL(tamis_error_message),
                                     CALL(tamis_last_error),
                                     CALL(tamis_kind_name),
                                     CALL(tamis_kind_has),
                                     CALL(tamis_kind_next),
                                     CALL(tamis_kind_from_name),
                                     CALL(tamis_hash_set_next),
                                     CALL(tamis_hash_set_weakness),
                                     CALL(tamis_on_full_name),
                                     CALL(tamis_pages_name),
                                     CALL(tamis_sigbus_leave),
                                     CALL(tamis_sigbus_mend),
                                     {NULL, NULL}};
