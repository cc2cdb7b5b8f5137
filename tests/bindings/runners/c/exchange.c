/* SPDX-License-Identifier: BSD-2-Clause */
/* exchange.c: filters as streams, from and to files, and pieces of their data. */
#include <err.h>
#include <stdio.h>

#include "runner.h"

#define STREAM_HEAD_BYTES 368u /* enough of a stream to tell what it is */

static json_t *do_tamis_format_name(struct step *step)
{
    return word(tamis_format_name((unsigned)number(step, "index")));
}

/* ---- Streams --------------------------------------------------------------------------------- */

static int64_t read_file(void *context, void *buffer, size_t bytes)
{
    return (int64_t)fread(buffer, 1, bytes, context);
}

static int write_file(void *context, const void *buffer, size_t bytes)
{
    return fwrite(buffer, 1, bytes, context) == bytes ? 0 : TAMIS_EIO;
}

static FILE *opened(const struct step *step, const char *mode)
{
    FILE *file = fopen(text(step, "file"), mode);
    if (file == NULL) err(3, "%s", text(step, "file"));
    return file;
}

static struct tamis_import_spec *import_of(struct step *step, json_t *object)
{
    static const struct flag import_flags[] = {{"AS_THERE", TAMIS_IMPORT_AS_THERE},
                                               {"OWNED", TAMIS_IMPORT_OWNED},
                                               {"DURABLE", TAMIS_IMPORT_DURABLE},
                                               {NULL, 0}};
    if (!json_is_object(object)) return NULL;
    struct tamis_import_spec *spec = step_memory(step, sizeof *spec);
    spec->size = sizeof *spec;
    spec->hash_set = json_string_value(json_object_get(object, "hash_set"));
    spec->m_bits = (uint64_t)json_integer_value(json_object_get(object, "m_bits"));
    spec->k = (uint32_t)json_integer_value(json_object_get(object, "k"));
    spec->capacity = (uint64_t)json_integer_value(json_object_get(object, "capacity"));
    spec->fp_rate = json_number_value(json_object_get(object, "fp_rate"));
    spec->seal_capacity = (uint64_t)json_integer_value(json_object_get(object, "seal_capacity"));
    spec->seal_rate = json_number_value(json_object_get(object, "seal_rate"));
    spec->flags = flags_of(json_object_get(object, "flags"), import_flags);
    spec->signed_at = (int64_t)json_integer_value(json_object_get(object, "signed_at"));
    spec->origin = json_string_value(json_object_get(object, "origin"));
    return spec;
}

static json_t *do_tamis_filter_import(struct step *step)
{
    FILE *file = opened(step, "rbe");
    struct tamis_source source = TAMIS_INIT(struct tamis_source);
    tamis_filter *filter = NULL;
    source.read = read_file;
    source.context = file;
    const int rc =
        tamis_filter_import(on_store(step), text(step, "name"), text(step, "format"),
                            import_of(step, json_object_get(step->with, "spec")), &source, &filter);
    fclose(file);
    return made(step, IS_FILTER, filter, rc);
}

static json_t *do_tamis_filter_publish(struct step *step)
{
    static const struct flag publish_flags[] = {{"IF_CHANGED", TAMIS_PUBLISH_IF_CHANGED},
                                                {"KEEP", TAMIS_PUBLISH_KEEP},
                                                {"NEWER", TAMIS_PUBLISH_NEWER},
                                                {NULL, 0}};
    json_t *object = json_object_get(step->with, "spec");
    FILE *file = opened(step, "rbe");
    struct tamis_source source = TAMIS_INIT(struct tamis_source);
    struct tamis_publish_spec spec = TAMIS_INIT(struct tamis_publish_spec);
    struct tamis_publish_result result = TAMIS_INIT(struct tamis_publish_result);
    size_t count;
    source.read = read_file;
    source.context = file;
    spec.import = import_of(step, json_object_get(object, "import"));
    spec.except = keys_of(step, json_object_get(object, "except"), &count);
    spec.except_count = count;
    spec.flags = flags_of(json_object_get(object, "flags"), publish_flags);
    spec.keep = (uint32_t)json_integer_value(json_object_get(object, "keep"));
    const int rc = tamis_filter_publish(on_store(step), text(step, "name"), text(step, "format"),
                                        &spec, &source, &result);
    fclose(file);
    if (rc < 0) return failed(rc);
    return gives(json_pack(
        "{s:i, s:I, s:I, s:I}", "published", rc, "generation", (json_int_t)result.generation,
        "exceptions", (json_int_t)result.exceptions, "size_bytes", (json_int_t)result.size_bytes));
}

static const struct flag export_flags[] = {{"WITH_KEY", TAMIS_EXPORT_WITH_KEY},
                                           {"WITHOUT_EXCEPTIONS", TAMIS_EXPORT_WITHOUT_EXCEPTIONS},
                                           {"WITH_DIGEST", TAMIS_EXPORT_WITH_DIGEST},
                                           {NULL, 0}};

static unsigned flags_of_export(struct step *step)
{
    return flags_of(json_object_get(step->with, "flags"), export_flags);
}

static struct tamis_sink sink_to(FILE *file)
{
    struct tamis_sink sink = TAMIS_INIT(struct tamis_sink);
    sink.write = write_file;
    sink.context = file;
    return sink;
}

static json_t *do_tamis_filter_export(struct step *step)
{
    FILE *file = opened(step, "wbe");
    const struct tamis_sink sink = sink_to(file);
    const int rc =
        tamis_filter_export(on_filter(step), text(step, "format"), flags_of_export(step), &sink);
    if (fclose(file) != 0) err(3, "%s", text(step, "file"));
    return status(rc);
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

static json_t *do_tamis_filter_read_data(struct step *step)
{
    const size_t bytes = (size_t)number(step, "bytes");
    uint8_t *buffer = step_memory(step, bytes);
    const int rc = tamis_filter_read_data(on_filter(step), (uint32_t)number(step, "index"),
                                          (uint64_t)number(step, "offset"), buffer, bytes);
    return rc < 0 ? failed(rc) : gives(hex(buffer, bytes));
}

static json_t *do_tamis_filter_write_data(struct step *step)
{
    const struct tamis_key data = key(step, "data");
    return status(tamis_filter_write_data(on_filter(step), (uint32_t)number(step, "index"),
                                          (uint64_t)number(step, "offset"), data.data, data.bytes));
}

static json_t *do_tamis_filter_set_bit(struct step *step)
{
    return counted(tamis_filter_set_bit(on_filter(step), (uint32_t)number(step, "index"),
                                        (uint64_t)number(step, "position")));
}

const struct call exchange_calls[] = {CALL(tamis_format_name),      CALL(tamis_filter_import),
                                      CALL(tamis_filter_publish),   CALL(tamis_filter_export),
                                      CALL(tamis_filter_read_data), CALL(tamis_filter_write_data),
                                      CALL(tamis_filter_set_bit),   {NULL, NULL}};
