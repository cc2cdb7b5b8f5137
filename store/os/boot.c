/* SPDX-License-Identifier: BSD-2-Clause */
/* boot.c: which boot of the machine this is.  The kernel gives each boot a random number. */
#include "os/io.h"

#define BOOT_ID_PATH "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_WORDS (TAMIS__BOOT_ID_BYTES / sizeof(uint64_t))

#ifdef TAMIS_TEST_POINTS
const uint8_t *tamis__boot_hook;
#endif

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads two digits for each byte, in the order in which they stand, and skips dashes. */
static bool parse_boot_id(const char *text, uint8_t id[TAMIS__BOOT_ID_BYTES])
{
    size_t digits = 0;
    memset(id, 0, TAMIS__BOOT_ID_BYTES);
    for (; *text != '\0' && *text != '\n'; text++) {
        const int digit = hex_digit(*text);
        if (*text == '-') continue;
        if (digit < 0 || digits == 2 * (size_t)TAMIS__BOOT_ID_BYTES) return false;
        id[digits / 2] = (uint8_t)(id[digits / 2] << 4 | digit);
        digits++;
    }
    return digits == 2 * (size_t)TAMIS__BOOT_ID_BYTES;
}

bool tamis__boot_id(uint8_t id[TAMIS__BOOT_ID_BYTES])
{
    static uint64_t known[BOOT_ID_WORDS];
    static bool is_known;
    uint64_t words[BOOT_ID_WORDS] = {0};
    char text[64];
#ifdef TAMIS_TEST_POINTS
    if (tamis__boot_hook != NULL) {
        memcpy(id, tamis__boot_hook, TAMIS__BOOT_ID_BYTES);
        return true;
    }
#endif
    /* ORDER acquire: pairs with the release below.  Threads that are here first together store
     * the same number. */
    if (__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) {
        for (size_t i = 0; i < BOOT_ID_WORDS; i++)
            words[i] = __atomic_load_n(&known[i], __ATOMIC_RELAXED);
        memcpy(id, words, TAMIS__BOOT_ID_BYTES);
        return true;
    }
    const bool found =
        tamis__read_text(BOOT_ID_PATH, text, sizeof text) == 0 && parse_boot_id(text, id);
    if (!found) memset(id, 0, TAMIS__BOOT_ID_BYTES);
    memcpy(words, id, TAMIS__BOOT_ID_BYTES);
    for (size_t i = 0; found && i < BOOT_ID_WORDS; i++)
        __atomic_store_n(&known[i], words[i], __ATOMIC_RELAXED);
    if (found) __atomic_store_n(&is_known, true, __ATOMIC_RELEASE);
    return found;
}
