/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hash_vectors_test.c: every hash set, called as the library calls it, gives what the real program
 * gave.  vectors/README.md says where the rows come from.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "hash/hash_set.h"
#include "tsv.h"

/* ---- A hash set by its name ------------------------------------------------------------------ */

struct use {
    struct tamis__hashing hashing;
    uint8_t parameters[TAMIS__HASH_PARAMETER_BYTES];
    uint64_t *positions;
    char *text;
};

static void use_open(struct use *use, const char *name, uint64_t m_bits, uint32_t k)
{
    const struct tamis__hash_set *set = NULL;
    if (tamis__hash_set_parse(name, &set, use->parameters) < 0)
        fail_msg("%s: %s", name, tamis_last_error());
    use->hashing = (struct tamis__hashing){
        .set = set, .parameters = use->parameters, .m_bits = m_bits, .k = k};
    if (tamis__hashing_check(&use->hashing) < 0) fail_msg("%s: %s", name, tamis_last_error());
    assert_null(tamis__hashing_fault(&use->hashing));
    use->positions = calloc(use->hashing.k, sizeof *use->positions);
    use->text = calloc(use->hashing.k, 64);
    assert_true(use->positions != NULL && use->text != NULL);
}

static void use_close(struct use *use)
{
    free(use->positions);
    free(use->text);
}
#define AUTO_USE __attribute__((cleanup(use_close))) struct use

/* The positions of the key of a row. */
static void locate(struct use *use, const struct tsv *table, size_t row)
{
    AUTO_STREAM key = tsv_bytes(table, row, "key_hex");
    use->hashing.set->positions(&use->hashing, key.data, key.bytes, use->positions);
}

/* The raw hash values of the key of a row. */
static const char *describe(struct use *use, const struct tsv *table, size_t row)
{
    struct stream key = tsv_bytes(table, row, "key_hex");
    const size_t room = (size_t)use->hashing.k * 64;
    const size_t wanted =
        use->hashing.set->describe(&use->hashing, key.data, key.bytes, use->text, room);
    stream_free(&key);
    assert_true(wanted < room);
    assert_int_equal(strlen(use->text), wanted);
    return use->text;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void sort_distinct(struct use *use)
{
    uint32_t kept = 0;
    qsort(use->positions, use->hashing.k, sizeof *use->positions, by_number);
    for (uint32_t i = 0; i < use->hashing.k; i++)
        if (i == 0 || use->positions[i] != use->positions[kept - 1])
            use->positions[kept++] = use->positions[i];
    use->hashing.k = kept;
}

/* The positions from `first` on are those of a cell. */
static void assert_positions(const struct use *use, uint32_t first, const char *cell)
{
    const char *at = cell;
    for (uint32_t i = first; i < use->hashing.k; i++) {
        char *end;
        const uint64_t expected = strtoull(at, &end, 10);
        if (end == at || use->positions[i] != expected)
            fail_msg("%s, m = %llu: position %u is %llu, recorded is %s", use->hashing.set->name,
                     (unsigned long long)use->hashing.m_bits, i,
                     (unsigned long long)use->positions[i], at);
        at = *end == ',' ? end + 1 : end;
    }
    assert_string_equal(at, "");
}

/* ---- The tables ------------------------------------------------------------------------------ */

static const char *const names[] = {"js", "pjw", "elf", "bkdr", "sdbm", "djb", "dek", "fnv"};
static const char *const columns[] = {"JSHash",   "PJWHash", "ELFHash", "BKDRHash",
                                      "SDBMHash", "DJBHash", "DEKHash", "FNVHash"};

CASE(php_values_and_positions_are_those_of_php)
{
    AUTO_TSV table = tsv_read("php_hash.tsv");
    for (size_t f = 0; f < 8; f++) {
        char name[16], raw_column[16];
        AUTO_USE whole, modulo;
        (void)snprintf(name, sizeof name, "php:%s", names[f]);
        (void)snprintf(raw_column, sizeof raw_column, "%s_raw", columns[f]);
        use_open(&whole, name, (uint64_t)1 << 32, 0);
        use_open(&modulo, name, 1000003, 1);
        for (size_t row = 0; row < table.rows; row++) {
            const char *final = tsv_cell(&table, row, columns[f]);
            assert_string_equal(describe(&whole, &table, row), tsv_cell(&table, row, raw_column));
            locate(&whole, &table, row);
            assert_positions(&whole, 0, final);
            locate(&modulo, &table, row);
            assert_int_equal(modulo.positions[0], strtoull(final, NULL, 10) % 1000003);
        }
    }
}

/* Each function of a list stands where the list has it, however often. */
CASE(php_list_keeps_its_order)
{
    static const unsigned order[] = {7, 0, 3, 3, 1, 6, 5, 4, 2, 0};
    AUTO_TSV table = tsv_read("php_hash.tsv");
    char name[TAMIS_HASH_SET_NAME_MAX + 1] = "php:";
    AUTO_USE use;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        if (i > 0) strcat(name, ",");
        strcat(name, names[order[i]]);
    }
    use_open(&use, name, UINT64_MAX, 0);
    for (size_t row = 0; row < table.rows; row++) {
        char positions[256] = "", values[512] = "";
        for (size_t i = 0; i < use.hashing.k; i++) {
            char raw_column[16];
            (void)snprintf(raw_column, sizeof raw_column, "%s_raw", columns[order[i]]);
            if (i > 0) {
                strcat(positions, ",");
                strcat(values, ",");
            }
            strcat(positions, tsv_cell(&table, row, columns[order[i]]));
            strcat(values, tsv_cell(&table, row, raw_column));
        }
        assert_string_equal(describe(&use, &table, row), values);
        locate(&use, &table, row);
        assert_positions(&use, 0, positions);
    }
}

/* A table with columns "m=..;k=..". */
static void check_geometries(const char *file, const char *set, const char *hash_column)
{
    AUTO_TSV table = tsv_read(file);
    size_t checked = 0;
    for (size_t column = 0; column < table.columns; column++) {
        const char *m = strstr(table.cells[column], "m="), *k = strstr(table.cells[column], ";k=");
        struct use use;
        if (m == NULL || k == NULL) continue;
        use_open(&use, set, strtoull(m + 2, NULL, 10), (uint32_t)strtoul(k + 3, NULL, 10));
        for (size_t row = 0; row < table.rows; row++, checked++) {
            locate(&use, &table, row);
            assert_positions(&use, 0, tsv_cell(&table, row, table.cells[column]));
            if (hash_column)
                assert_string_equal(describe(&use, &table, row),
                                    tsv_cell(&table, row, hash_column));
        }
        use_close(&use);
    }
    assert_true(checked > 300);
}

CASE(php_mt_positions_are_those_of_php)
{
    check_geometries("php_mt_rand.tsv", "php-mt", "crc32");
    check_geometries("php_mt_rand_legacy.tsv", "php-mt-legacy", "crc32");
}

CASE(md5_positions_are_those_of_python)
{
    if (tamis__hash_set_by_id(TAMIS__HASH_MD5)->missing != NULL)
        cases_skip("this build has no libmd");
    check_geometries("py_md5.tsv", "md5", NULL);
}

/* The last five of up to thousands of positions. */
CASE(long_runs_end_as_recorded)
{
    AUTO_TSV table = tsv_read("long_runs.tsv");
    for (size_t row = 0; row < table.rows; row++) {
        static const char *const sets[][2] = {
            {"php_mt_rand", "php-mt"}, {"php_mt_rand_legacy", "php-mt-legacy"}, {"py_md5", "md5"}};
        const char *name = "unknown";
        struct use use;
        for (size_t i = 0; i < 3; i++)
            if (strcmp(tsv_cell(&table, row, "generator"), sets[i][0]) == 0) name = sets[i][1];
        if (strcmp(name, "md5") == 0 && tamis__hash_set_by_id(TAMIS__HASH_MD5)->missing) continue;
        use_open(&use, name, tsv_number(&table, row, "m"), (uint32_t)tsv_number(&table, row, "k"));
        locate(&use, &table, row);
        assert_positions(&use, use.hashing.k - 5, tsv_cell(&table, row, "last5"));
        use_close(&use);
    }
}

/* A column of bits that one key set, in a filter of that seed shaped by the set's own rule. */
static void check_seeded_bits(const struct tsv *table, const char *column, const char *set,
                              uint64_t n, double p, uint64_t seed)
{
    struct tamis_sizing sizing = {
        .size = sizeof sizing, .kind = TAMIS_KIND_BLOOM, .capacity = n, .fp_rate = p};
    const struct tamis__hash_set *found = NULL;
    uint8_t parameters[TAMIS__HASH_PARAMETER_BYTES];
    assert_int_equal(tamis__hash_set_parse(set, &found, parameters), 0);
    found->shape(&sizing);
    for (size_t row = 0; row < table->rows; row++) {
        AUTO_USE use;
        use_open(&use, set, sizing.m_bits, sizing.k);
        use.hashing.seed = seed;
        locate(&use, table, row);
        sort_distinct(&use);
        assert_positions(&use, 0, tsv_cell(table, row, column));
    }
}

static void check_bits(const struct tsv *table, const char *column, const char *set, uint64_t n,
                       double p)
{
    check_seeded_bits(table, column, set, n, p, 0);
}

CASE(redisbloom_bits_are_those_of_the_module)
{
    AUTO_TSV table = tsv_read("rb_single_key_bits.tsv");
    /* The first layer of a filter that may grow has half the error. */
    check_bits(&table, "c1000_e0.01", "redisbloom", 1000, 0.01 / 2);
    check_bits(&table, "c100000_e0.001_ns", "redisbloom", 100000, 0.001);
    check_bits(&table, "c7_e0.3", "redisbloom", 7, 0.3 / 2);
}

CASE(guava_hashes_and_bits_are_those_of_guava)
{
    AUTO_TSV table = tsv_read("guava_single_key_bits.tsv");
    AUTO_USE use;
    check_bits(&table, "n1000_p0.01", "guava", 1000, 0.01);
    check_bits(&table, "n100000_p0.001", "guava", 100000, 0.001);
    check_bits(&table, "n7_p0.3", "guava", 7, 0.3);
    use_open(&use, "guava", 64, 1);
    for (size_t row = 0; row < table.rows; row++)
        assert_string_equal(describe(&use, &table, row), tsv_cell(&table, row, "murmur3_128"));
}

CASE(dcso_bits_are_those_of_dcso)
{
    AUTO_TSV table = tsv_read("dcso_single_key_bits.tsv");
    check_bits(&table, "n1000_p0.01", "dcso", 1000, 0.01);
    check_bits(&table, "n100000_p0.001", "dcso", 100000, 0.001);
    check_bits(&table, "n7_p0.3", "dcso", 7, 0.3);
    check_bits(&table, "n3000000000_p0.0001", "dcso", 3000000000, 0.0001);
}

/* The columns are "SET;m=M"; a key of a number is 8 bytes of Python's hash of it. */
CASE(pybloomfilter_bits_are_those_of_the_package)
{
    AUTO_TSV table = tsv_read("pybloomfilter_single_key_bits.tsv");
    for (size_t column = 1; column < table.columns; column++) {
        char set[TAMIS_HASH_SET_NAME_MAX + 1] = "";
        const char *m = strstr(table.cells[column], ";m=");
        memcpy(set, table.cells[column], (size_t)(m - table.cells[column]));
        for (size_t row = 0; row < table.rows; row++) {
            AUTO_USE use;
            use_open(&use, set, strtoull(m + 3, NULL, 10), 0);
            locate(&use, &table, row);
            sort_distinct(&use);
            assert_positions(&use, 0, tsv_cell(&table, row, table.cells[column]));
        }
    }
}

/* Keys are byte arrays, longs and strings of Java; Java's seed of -1 is 2^32 - 1. */
CASE(spark_bits_are_those_of_spark)
{
    AUTO_TSV table = tsv_read("spark_single_key_bits.tsv");
    check_bits(&table, "v1_n1000_p0.01", "spark-v1", 1000, 0.01);
    check_bits(&table, "v1_n7_p0.3", "spark-v1", 7, 0.3);
    check_bits(&table, "v2_n1000_p0.01", "spark-v2", 1000, 0.01);
    check_seeded_bits(&table, "v2_n100000_p0.001_s9", "spark-v2", 100000, 0.001, 9);
    check_seeded_bits(&table, "v2_n7_p0.3_s-1", "spark-v2", 7, 0.3, UINT32_MAX);
}

/* Bits past 2^32, which version 1 does not reach. */
CASE(spark_bits_of_a_large_filter_are_those_of_spark)
{
    AUTO_TSV table = tsv_read("spark_large_bits.tsv");
    for (size_t row = 0; row < table.rows; row++) {
        AUTO_USE use;
        use_open(&use,
                 strcmp(tsv_cell(&table, row, "version"), "V1") == 0 ? "spark-v1" : "spark-v2",
                 tsv_number(&table, row, "m"), (uint32_t)tsv_number(&table, row, "k"));
        locate(&use, &table, row);
        sort_distinct(&use);
        assert_positions(&use, 0, tsv_cell(&table, row, "bits"));
    }
}

/* Keys are values of the types binary, int32, int64 and double. */
CASE(parquet_hashes_and_bits_are_those_of_parquet)
{
    static const struct {
        const char *column;
        uint64_t m_bits;
    } filters[] = {{"bytes32", 256}, {"bytes1024", 8192}, {"bytes65536", 524288}};
    AUTO_TSV table = tsv_read("parquet_single_key_bits.tsv");
    for (size_t row = 0; row < table.rows; row++)
        for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
            AUTO_USE use;
            use_open(&use, "parquet", filters[i].m_bits, 0);
            assert_string_equal(describe(&use, &table, row), tsv_cell(&table, row, "xxhash64"));
            locate(&use, &table, row);
            assert_positions(&use, 0, tsv_cell(&table, row, filters[i].column));
        }
}

/* The shape that a set makes for n keys at rate p, in each row: k (NULL: is not recorded), and m in
 * units of so many bits. */
static void check_shapes(const char *file, const struct tamis__hash_set *set, const char *k,
                         const char *m, uint64_t unit_bits)
{
    AUTO_TSV table = tsv_read(file);
    for (size_t row = 0; row < table.rows; row++) {
        const uint64_t n = tsv_number(&table, row, "n");
        struct tamis_sizing sizing = {.size = sizeof sizing,
                                      .capacity = n ? n : 1, /* as Guava takes it */
                                      .fp_rate = tsv_double(&table, row, "p")};
        set->shape(&sizing);
        if (k != NULL) assert_int_equal(sizing.k, tsv_number(&table, row, k));
        assert_int_equal(sizing.m_bits, unit_bits * tsv_number(&table, row, m));
    }
}

CASE(shapes_are_those_of_guava_spark_and_arrow)
{
    check_shapes("guava_sizing.tsv", &tamis__hash_set_guava, "num_hash_functions", "num_longs", 64);
    check_shapes("spark_sizing.tsv", &tamis__hash_set_spark_v2, "num_hash_functions", "num_longs",
                 64);
    check_shapes("parquet_sizing.tsv", &tamis__hash_set_parquet, NULL, "bytes_arrow", 8);
    check_shapes("dcso_sizing.tsv", &tamis__hash_set_dcso, "k", "m", 1);
}

CASE(php_mt_shape_is_that_of_php)
{
    AUTO_TSV table = tsv_read("php_k.tsv");
    for (size_t row = 0; row < table.rows; row++) {
        struct tamis_sizing sizing = {.size = sizeof sizing,
                                      .m_bits = tsv_number(&table, row, "m"),
                                      .capacity = tsv_number(&table, row, "n")};
        tamis__hash_set_php_mt.shape(&sizing);
        assert_int_equal(sizing.k, tsv_number(&table, row, "k"));
    }
}

/* What tamis_hash_set_weakness() and docs/migrating.md say of 20,000 URLs. */
CASE(php_values_of_similar_urls_are_few)
{
    enum { URLS = 20000 };
    static const unsigned distinct[] = {2894, 20000, 20000, 5, 2900, 20000, 4540, 20000};
    static uint64_t values[8][URLS];
    AUTO_USE use;
    use_open(&use, "php:js,pjw,elf,bkdr,sdbm,djb,dek,fnv", (uint64_t)1 << 32, 0);
    for (int i = 0; i < URLS; i++) {
        char url[64];
        const int bytes =
            snprintf(url, sizeof url, "https://www.example.com/article/%d.html", i + 1);
        use.hashing.set->positions(&use.hashing, url, (size_t)bytes, use.positions);
        for (unsigned f = 0; f < 8; f++)
            values[f][i] = use.positions[f];
    }
    for (unsigned f = 0; f < 8; f++) {
        unsigned count = 1;
        qsort(values[f], URLS, sizeof values[f][0], by_number);
        for (int i = 1; i < URLS; i++)
            count += values[f][i] != values[f][i - 1];
        print_message("%s: %u of %d\n", names[f], count, URLS);
        assert_int_equal(count, distinct[f]);
    }
}
