/* SPDX-License-Identifier: BSD-2-Clause */
/* faults_test.c: how faults of the system are told (that each is survived: tests/faults/). */
#include <errno.h>

#include "faults.h"
#include "fixture.h"

/* What tells the user something only he can mend has its own code, and the mend. */
STORE_CASE(faults_are_told_by_code_and_mend)
{
    static const struct {
        int error_number, code;
        const char *words;
    } cases[] = {
        {EACCES, TAMIS_EACCESS, "for permission"},
        {EPERM, TAMIS_EACCESS, "forbids it"},
        {EROFS, TAMIS_EREADONLY, "mounted read-only"},
        {ENOSPC, TAMIS_ENOSPACE, "free some room"},
        {EDQUOT, TAMIS_ENOSPACE, "quota is used up"},
        {EFBIG, TAMIS_ENOSPACE, "ulimit -f"},
        {ENOMEM, TAMIS_ENOMEM, "free some memory"},
        {EMFILE, TAMIS_ELIMIT, "ulimit -n"},
        {ENFILE, TAMIS_ELIMIT, "table of open files is full"},
        {ENOLCK, TAMIS_ELIMIT, "no lock to give"},
        {EIO, TAMIS_EIO, "look at the disk"},
        {EUCLEAN, TAMIS_ESYSTEM, "cannot open"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tamis_store *opened;
        faults_arm_verb(1, cases[i].error_number, "open");
        const int64_t rc = tamis_store_open(path, 0, &opened);
        assert_true(faults_disarm());
        assert_refused(cases[i].code, cases[i].words, rc);
        assert_non_null(strstr(tamis_last_error(), path)); /* what it was tried on */
    }
}

/* A disk that fills up while the blocks are reserved: both numbers, nothing left behind. */
STORE_CASE(faults_disk_full_at_allocation_tells_both_numbers)
{
    faults_arm_verb(1, ENOSPC, "allocate");
    const int64_t rc = tamis_filter_create(store, "new", SPEC(.capacity = 100), NULL);
    assert_true(faults_disarm());
    assert_refused(TAMIS_ENOSPACE, "needs 4.0 KiB (4096 bytes), but its file system has", rc);
    assert_int_equal(fixture_files(path, "staging"), 0);
}

CASES_PREPARE
{
    scratch_in_memory();
}
