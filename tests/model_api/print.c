/* SPDX-License-Identifier: BSD-2-Clause */
/* print.c: see print.h. */
#include "print.h"

#include <stdio.h>

static void print_number(const char *field, uint64_t number)
{
    if (number != 0) (void)printf(", .%s = %lluu", field, (unsigned long long)number);
}

static void print_keys(const char *field, const struct op_keys *keys)
{
    if (keys->count > 0)
        (void)printf(", .%s = {%u, %u, %u, %u}", field, keys->from, keys->count, keys->step,
                     keys->period);
}

static void print_op(const struct op *op)
{
    (void)printf("    {.kind = OP_%s", op_names[op->kind]);
#define NUMBER(field) print_number(#field, (uint64_t)op->field)
    NUMBER(store), NUMBER(name), NUMBER(other), NUMBER(slot), NUMBER(source), NUMBER(stream),
        NUMBER(format), NUMBER(where), NUMBER(fault), NUMBER(inner), NUMBER(nth), NUMBER(error),
        NUMBER(flags), NUMBER(number), NUMBER(spec.capacity), NUMBER(spec.m_bits),
        NUMBER(spec.window_items), NUMBER(spec.seed), NUMBER(spec.window_ns), NUMBER(spec.kind),
        NUMBER(spec.k), NUMBER(spec.set), NUMBER(spec.on_full), NUMBER(spec.slices),
        NUMBER(spec.counter_bits), NUMBER(spec.flags), NUMBER(spec.pages), NUMBER(spec.secret);
#undef NUMBER
    if (op->spec.rate > 0) (void)printf(", .spec.rate = %.17g", op->spec.rate);
    print_keys("keys", &op->keys);
    print_keys("against", &op->against);
    print_keys("except", &op->except);
    (void)printf("},\n");
}

static const char head[] =
    " * B=.build/test; cc -D_GNU_SOURCE -Istore/include -Itests/model_api this.c \\\n"
    " *     $B/tests/model_api/libmodel_world.a $B/tests/support/libtamis_support.a \\\n"
    " *     $B/store/libtamis_testable.a -llmdb -lmd -lsodium -lm && ./a.out */\n"
    "#include <stdio.h>\n#include \"run_api.h\"\n\nstatic const struct op ops[] = {\n";
static const char tail[] =
    "};\n\nint main(void)\n{\n    static struct world world;\n    static struct outcome out;\n"
    "    struct executor executor;\n    world_init(&world, \"store\");\n"
    "    world_executor(&world, &executor);\n"
    "    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {\n"
    "        executor.run(executor.self, &ops[i], &out);\n"
    "        printf(\"%zu %s: %s%lld %s %s\\n\", i, op_names[ops[i].kind], out.ran ? \"\" : \"left "
    "out \",\n               (long long)out.rc, out.rc < 0 ? out.sentence : \"\", out.trouble);\n"
    "    }\n}\n";

void print_program(const struct op *ops, uint32_t count, uint64_t seed, const char *complaint)
{
    (void)printf("\n/* Sequence %llu of model_api: %s\n%s", (unsigned long long)seed, complaint,
                 head);
    for (uint32_t i = 0; i < count; i++)
        print_op(&ops[i]);
    (void)printf("%s", tail);
    (void)fflush(stdout);
}
