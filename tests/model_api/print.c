/* SPDX-License-Identifier: BSD-2-Clause */
/* print.c: see print.h. */
#include "print.h"

#include <stdio.h>
#include <string.h>

static const char *const op_names[] = {
#define OP_NAME(name, takes) #name,
    OPS(OP_NAME)
#undef OP_NAME
};

static void print_number(const char *field, uint64_t number)
{
    if (number != 0) (void)printf(", .%s = %llu", field, (unsigned long long)number);
}

static void print_keys(const char *field, const struct op_keys *keys)
{
    if (keys->count > 0)
        (void)printf(", .%s = {%u, %u, %u, %u}", field, keys->from, keys->count, keys->step,
                     keys->period);
}

static void print_spec(const struct op_spec *spec)
{
    static const struct op_spec none;
    /* Padding that differs only makes the print longer. */
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c) */
    if (memcmp(spec, &none, sizeof none) == 0) return;
    (void)printf(", .spec = {.rate = %.17g", spec->rate);
#define NUMBER(field) print_number(#field, (uint64_t)spec->field)
    NUMBER(capacity), NUMBER(m_bits), NUMBER(window_items), NUMBER(seed), NUMBER(window_ns),
        NUMBER(kind), NUMBER(k);
    NUMBER(set), NUMBER(on_full), NUMBER(slices), NUMBER(counter_bits), NUMBER(flags),
        NUMBER(pages), NUMBER(secret);
#undef NUMBER
    (void)printf("}");
}

static void print_op(const struct op *op)
{
    (void)printf("    {.kind = OP_%s", op_names[op->kind]);
#define NUMBER(field) print_number(#field, (uint64_t)op->field)
    NUMBER(store), NUMBER(name), NUMBER(other), NUMBER(slot), NUMBER(source), NUMBER(stream),
        NUMBER(format);
    NUMBER(where), NUMBER(fault), NUMBER(inner), NUMBER(nth), NUMBER(error), NUMBER(flags),
        NUMBER(number);
#undef NUMBER
    print_keys("keys", &op->keys);
    print_keys("against", &op->against);
    print_keys("except", &op->except);
    print_spec(&op->spec);
    (void)printf("},\n");
}

void print_program(const struct op *ops, uint32_t count, uint64_t seed, const char *complaint)
{
    (void)printf("\n/* Sequence %llu of model_api: %s\n"
                 " * cc -D_GNU_SOURCE -Istore/include -Itests/model_api this.c "
                 "tests/model_api/{run_api,run_several,arguments,shadow}.c -ltamis -lm */\n"
                 "#include <stdio.h>\n#include \"run_api.h\"\n\nstatic const struct op ops[] = {\n",
                 (unsigned long long)seed, complaint);
    for (uint32_t i = 0; i < count; i++)
        print_op(&ops[i]);
    (void)printf(
        "};\n\nint main(void)\n{\n    static struct world world;\n    static struct outcome out;\n"
        "    struct executor executor;\n    world_init(&world, \"store\");\n    "
        "world_executor(&world, &executor);\n"
        "    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {\n        "
        "executor.run(executor.self, &ops[i], &out);\n"
        "        printf(\"%%zu: %%s%%lld %%s %%s\\n\", i, out.ran ? \"\" : \"left out \", (long "
        "long)out.rc,\n"
        "               out.rc < 0 ? out.sentence : \"\", out.trouble);\n    }\n}\n");
    (void)fflush(stdout);
}
