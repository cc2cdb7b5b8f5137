/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * synonyms.c: the words that other programs have for what a command does; see synonyms.h.
 *
 * None of them runs anything: a word that means "take a key off" to one user means "destroy the
 * filter" to another.
 */
#include "synonyms.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define REMOVE_OR_DROP                                                                             \
    "did you mean 'remove', which takes keys off a counting filter, or 'drop', which destroys "    \
    "filters?"
#define MEAN(command) "did you mean '" command "'?"
#define LOAD MEAN("import") " ('build' makes a filter from its keys)"
#define FIND "did you mean 'check', which asks for keys, or 'list', which lists filters?"

/* Each line: words with a space between them, and the answer. */
static const struct {
    const char *words, *answer;
} SYNONYMS[] = {
    {"rm del delete erase discard unlink evict", REMOVE_OR_DROP},
    {"destroy truncate rmdir clear flush flushdb purge reset",
     "did you mean 'drop', which destroys filters?"},
    {"insert put set push append madd addnx insertnx record mark", MEAN("add")},
    {"exists mexists contains contain query has test ask member lookup get grep seen",
     MEAN("check")},
    {"find search", FIND},
    {"stats stat show describe inspect card size", MEAN("info")},
    {"new make init mk reserve open touch", MEAN("create")},
    {"filters dir keys", MEAN("list")},
    {"health status diagnose", MEAN("doctor")},
    {"fsck validate scrub", MEAN("verify")},
    {"fix recover", MEAN("repair")},
    {"snapshot copy cp clone",
     "did you mean 'backup', which copies the store, or 'create --like'?"},
    {"move", MEAN("rename")},
    {"union join", MEAN("merge")},
    {"intersect", MEAN("merge --intersect")},
    {"similarity jaccard diff overlap", MEAN("compare")},
    {"dump save scandump", MEAN("export")},
    {"load loadchunk read", LOAD},
    {"download fetch", MEAN("pull")},
    {"undo revert", MEAN("rollback")},
    {"history versions log", MEAN("generations")},
    {"rebuild publish compile", MEAN("build")},
    {"dedup dedupe unique distinct", MEAN("uniq")},
    {"frequency multiplicity", MEAN("count")},
    {"estimate plan sizing", MEAN("calc")},
    {"exclude allow whitelist exception exceptions", MEAN("except")},
    {"hash hashes positions", MEAN("explain")},
    {"watch monitor", MEAN("top")},
    {"html page", MEAN("report")},
    {"checkpoint fsync", MEAN("sync")},
    {"advance slide", MEAN("rotate")},
};

const char *synonym_stem(const char *word)
{
    static const char *const families[] = {"bf.", "cf.", "tamis."};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strncasecmp(word, families[i], strlen(families[i])) == 0)
            return word + strlen(families[i]);
    return word;
}

static int is_among(const char *words, const char *word)
{
    const size_t bytes = strlen(word);
    for (const char *at = words; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        if (length == bytes && strncasecmp(at, word, bytes) == 0) return 1;
        at += length;
    }
    return 0;
}

const char *synonym_answer(const char *word)
{
    word = synonym_stem(word);
    for (size_t i = 0; i < sizeof SYNONYMS / sizeof *SYNONYMS; i++)
        if (is_among(SYNONYMS[i].words, word)) return SYNONYMS[i].answer;
    return NULL;
}
