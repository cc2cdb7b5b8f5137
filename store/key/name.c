/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * name.c: the rule `name`.  The form of a name has lower case, and no dot at its end.
 *
 * A name is labels with a dot between two: letters of ASCII, digits, hyphens and underscores, 1 to
 * 63 bytes each, 253 together.  All else is no name and stays as it is: an empty label, a blank, a
 * byte above 0x7f.  The hyphens may stand anywhere, as DNS has names like that.
 */
#include "key/name.h"

enum { OTHER, CAPITAL, SMALL, DOT };

/* clang-format off */
static const uint8_t sorts[256] = {
    ['-'] = SMALL, ['_'] = SMALL, ['.'] = DOT,
    ['0'] = SMALL, ['1'] = SMALL, ['2'] = SMALL, ['3'] = SMALL, ['4'] = SMALL,
    ['5'] = SMALL, ['6'] = SMALL, ['7'] = SMALL, ['8'] = SMALL, ['9'] = SMALL,
    ['a'] = SMALL, ['b'] = SMALL, ['c'] = SMALL, ['d'] = SMALL, ['e'] = SMALL, ['f'] = SMALL,
    ['g'] = SMALL, ['h'] = SMALL, ['i'] = SMALL, ['j'] = SMALL, ['k'] = SMALL, ['l'] = SMALL,
    ['m'] = SMALL, ['n'] = SMALL, ['o'] = SMALL, ['p'] = SMALL, ['q'] = SMALL, ['r'] = SMALL,
    ['s'] = SMALL, ['t'] = SMALL, ['u'] = SMALL, ['v'] = SMALL, ['w'] = SMALL, ['x'] = SMALL,
    ['y'] = SMALL, ['z'] = SMALL,
    ['A'] = CAPITAL, ['B'] = CAPITAL, ['C'] = CAPITAL, ['D'] = CAPITAL, ['E'] = CAPITAL,
    ['F'] = CAPITAL, ['G'] = CAPITAL, ['H'] = CAPITAL, ['I'] = CAPITAL, ['J'] = CAPITAL,
    ['K'] = CAPITAL, ['L'] = CAPITAL, ['M'] = CAPITAL, ['N'] = CAPITAL, ['O'] = CAPITAL,
    ['P'] = CAPITAL, ['Q'] = CAPITAL, ['R'] = CAPITAL, ['S'] = CAPITAL, ['T'] = CAPITAL,
    ['U'] = CAPITAL, ['V'] = CAPITAL, ['W'] = CAPITAL, ['X'] = CAPITAL, ['Y'] = CAPITAL,
    ['Z'] = CAPITAL,
};
/* clang-format on */

enum tamis__name_sort tamis__name_look(const unsigned char *name, size_t bytes, size_t *form_bytes)
{
    size_t label = 0;
    bool capitals = false;
    *form_bytes = bytes;
    const bool dot = bytes > 0 && name[bytes - 1] == '.';
    const size_t end = bytes - dot;
    if (end == 0 || end > TAMIS__NAME_BYTES_MAX) return TAMIS__NAME_NONE;
    for (size_t i = 0; i < end; i++) {
        const uint8_t sort = sorts[name[i]];
        if (sort == OTHER || (sort == DOT && label == 0)) return TAMIS__NAME_NONE;
        label = sort == DOT ? 0 : label + 1;
        capitals |= sort == CAPITAL;
        if (label > TAMIS__LABEL_BYTES_MAX) return TAMIS__NAME_NONE;
    }
    if (label == 0) return TAMIS__NAME_NONE;
    *form_bytes = end;
    return capitals || dot ? TAMIS__NAME_OTHER : TAMIS__NAME_FORM;
}

void tamis__name_write(const unsigned char *name, size_t form_bytes, unsigned char *form)
{
    for (size_t i = 0; i < form_bytes; i++)
        form[i] = (unsigned char)(name[i] | (sorts[name[i]] == CAPITAL ? 0x20 : 0));
}

/* Is that label a number?  Then the whole is an address, such as 192.0.2.1. */
static bool is_number(const unsigned char *label, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (label[i] < '0' || label[i] > '9') return false;
    return true;
}

size_t tamis__name_suffixes(const unsigned char *form, size_t bytes,
                            uint8_t starts[TAMIS__LABELS_MAX])
{
    size_t same, count = 1;
    starts[0] = 0;
    if (tamis__name_look(form, bytes, &same) == TAMIS__NAME_NONE) return 1;
    for (size_t i = 0; i < same; i++)
        if (form[i] == '.') starts[count++] = (uint8_t)(i + 1);
    const size_t last = starts[count - 1];
    return is_number(form + last, same - last) ? 1 : count;
}
