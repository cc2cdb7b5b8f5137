/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * consumer.c: a program outside the project, built against the installed tree.  It makes a filter
 * in the directory that it is given, adds a key twice, asks for it and for another, and prints the
 * library's version and the four answers.
 */
#include <stdio.h>
#include <tamis.h>

int main(int argc, char **argv)
{
    const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 1000};
    tamis_store *store;
    tamis_filter *filter;

    if (argc != 2) return 2;
    if (tamis_store_open(argv[1], TAMIS_OPEN_CREATE, &store) < 0 ||
        tamis_filter_create(store, "consumer", &spec, &filter) < 0) {
        fprintf(stderr, "%s\n", tamis_last_error());
        return 1;
    }
    const int first = tamis_filter_add(filter, "key", 3);
    const int again = tamis_filter_add(filter, "key", 3);
    const int present = tamis_filter_contains(filter, "key", 3);
    const int other = tamis_filter_contains(filter, "other", 5);
    printf("%s %d %d %d %d\n", tamis_version(), first, again, present, other);
    if (tamis_filter_close(filter) < 0) return 1;
    tamis_store_close(store);
    return 0;
}
