/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * idn.c: see idn.h.
 *
 * libidn2 says no version of Unicode, but each of its releases has the tables of one.  A release
 * that is not in `releases` is a version of its own.
 */
#include "key/idn.h"

#if TAMIS_WITH_IDN
#include <idn2.h>

static const struct {
    const char *release, *unicode;
} releases[] = {{"2.3.3", "14.0"}, {"2.3.4", "15.0"}, {"2.3.5", "15.0"},
                {"2.3.6", "15.0"}, {"2.3.7", "15.0"}, {"2.3.8", "15.1"}};

/* A name has 253 characters at most, but characters that its form leaves out may stand in it. */
#define NAME_BYTES_MAX 2048u

/* The version of Unicode; NULL: nobody has told us. */
static const char *unicode_of(const char *release)
{
    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++)
        if (strcmp(release, releases[i].release) == 0) return releases[i].unicode;
    return NULL;
}

static void name_release(char name[TAMIS__IDN_VERSION_BYTES])
{
    (void)snprintf(name, TAMIS__IDN_VERSION_BYTES, "libidn2-%s", idn2_check_version(NULL));
}

int tamis__idn_version(char version[TAMIS__IDN_VERSION_BYTES])
{
    const char *unicode = unicode_of(idn2_check_version(NULL));
    if (unicode != NULL)
        (void)snprintf(version, TAMIS__IDN_VERSION_BYTES, "%s", unicode);
    else
        name_release(version);
    return 0;
}

/* A release has both names once it is in the table, so that a filter from before is opened still.
 */
int tamis__idn_check_version(const char *given, size_t bytes)
{
    char version[TAMIS__IDN_VERSION_BYTES], release[TAMIS__IDN_VERSION_BYTES];
    (void)tamis__idn_version(version);
    name_release(release);
    const char *const names[] = {version, release};
    for (size_t i = 0; i < 2; i++)
        if (strlen(names[i]) == bytes && memcmp(names[i], given, bytes) == 0) return 0;
    return tamis__fail(TAMIS_EUNSUPPORTED,
                       "idn=%.*s needs another libidn2 than the %s here, which has idn=%s: some "
                       "names would be other keys; use a libidn2 of that version, or make the "
                       "filter anew under another name",
                       (int)bytes, given, idn2_check_version(NULL), version);
}

/* Calls libidn2 for a text that ends in NUL.  Characters that its version of Unicode does not know
 * are refused, so what normalizes the others is of no matter: Unicode never changes that. */
static int ask_library(const unsigned char *text, unsigned char *form)
{
    uint8_t *found = NULL;
    const int rc = idn2_lookup_u8(text, &found, IDN2_NONTRANSITIONAL | IDN2_NFC_INPUT);
    if (rc == IDN2_MALLOC)
        return tamis__fail(TAMIS_ENOMEM, "out of memory making the form of a name");
    if (rc != IDN2_OK) return 0;
    const size_t bytes = strlen((const char *)found);
    const bool fits = bytes <= TAMIS__IDN_BYTES_MAX;
    if (fits) memcpy(form, found, bytes);
    idn2_free(found);
    return fits ? (int)bytes : 0;
}

int tamis__idn_write(const unsigned char *name, size_t bytes, unsigned char *form)
{
    unsigned char text[NAME_BYTES_MAX + 1];
    if (bytes > NAME_BYTES_MAX || memchr(name, '\0', bytes) != NULL) return 0;
    memcpy(text, name, bytes);
    text[bytes] = '\0';
    return ask_library(text, form);
}

#else

#define MISSING                                                                                    \
    "the option idn of a key rule needs libidn2, which this build is without; install the "        \
    "package libidn2-dev and build Tamis with TAMIS_WITH_IDN=ON"

int tamis__idn_version(char version[TAMIS__IDN_VERSION_BYTES])
{
    version[0] = '\0';
    return tamis__fail(TAMIS_EUNSUPPORTED, MISSING);
}

int tamis__idn_check_version(const char *version, size_t bytes)
{
    (void)version;
    (void)bytes;
    return tamis__fail(TAMIS_EUNSUPPORTED, MISSING);
}

int tamis__idn_write(const unsigned char *name, size_t bytes, unsigned char *form)
{
    (void)name;
    (void)bytes;
    (void)form;
    return 0;
}

#endif

bool tamis__idn_is_needed(const unsigned char *name, const unsigned char *end)
{
    unsigned all = 0;
    while (name < end)
        all |= *name++;
    return all > 0x7f;
}
