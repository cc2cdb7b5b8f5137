/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * last_word_model.c: an exhaustive model of the protocol by which an adder is told NEW or SEEN.
 *
 * THE RULE (docs/concurrency.md).  An adder visits the words of its key in a fixed order:
 *
 *     Z = the words that lack a bit of the key's mask       one load each, in order
 *     Z empty: SEEN, and nothing is written
 *     old = fetch_or(word, mask) for each word of Z         one step each, in order
 *     the last of these flipped a bit: NEW, else SEEN       the answer
 *
 * Here every interleaving of those steps is tried, for up to four adders of one key (racers) over
 * up to four words of one or two bits of the key each, from every content of the words; with one
 * racer killed at any step, the one between its last OR and its answer included; and with other
 * keys that set any of the bits at any time.  A racer may start when others have finished, so a
 * process that is started again and repeats its add is one of the racers.
 *
 * WHY IT HOLDS
 *
 * 1. Steps in program order, ORs on the newest value: at most one NEW.  When a racer does its last
 *    OR every other word has all the key's bits: it found them there (bits never go back) or it has
 *    ORed that word before.  So a last OR that flips a bit is the one step that completes the key;
 *    a key is completed once.  This needs neither the same order for all racers nor fresh loads: a
 *    stale load can only miss a bit that is there.  Other keys and deaths change nothing in it.
 *
 * 2. Same order for all: somebody is told.  Let w be the last word, in that order, which lacks a
 *    bit at the start.  Whoever finds w lacking has it last in its Z, and the first OR on it flips:
 *    that racer is due NEW, and says so unless it dies first.  With opposite orders two racers can
 *    each flip a word that is not their last, and nobody is told.
 *    Another key may do that OR instead: the add becomes one more false positive.
 *
 * 3. Acquire and release: 1 again, where memory does not keep program order.  Without them the two
 *    ORs of one racer may become visible the wrong way round:
 *        B   OR second word (flips: it is B's last)
 *        A   loads: first word missing, second present;  OR first word (flips: it is A's last)
 *        B   OR first word
 *    Two are told.  With acquire loads and release ORs: let A win on word a and B on b, a before b
 *    (on one word both cannot: the first OR leaves nothing to flip).  b is not in A's Z, so A's
 *    load of b read B's OR or one after it, whoever's; those are RMWs, so all of them are in the
 *    release sequence of B's OR, and B's OR of b happens before A's load.  B had ORed a before, or
 *    found it full.  So by coherence A's OR of a finds a full and flips nothing: A did not win.
 *    Here the same order is needed: if B visits b before a, both may win by ORs alone, where each
 *    racer's first OR reads the other's second (a cycle of program order and reads-from).  The
 *    letter of C11 forbids that only if ORs acquire too; RC11 forbids it, and so does every machine
 *    that keeps a release OR behind what stands before it.
 *
 * 4. Kind bloom.  The elements are bit positions, and a position may occur twice.  The second OR of
 *    a position flips nothing, so if it came last in Z a key would never be new, even to a lone
 *    adder.  The rule looks at the last element of Z that does not repeat an earlier one.  The
 *    elements after it are there already when it is done: 1 to 3 hold for it.
 *
 * HOW MUCH IS TRIED
 *
 * Every row of the table starts from each content of the words that lacks a bit of the key; `bits`
 * 1-2 means with each choice of one or two bits in each word.  With other keys about (`third`) one
 * start is enough, the empty words: that another key sets some of the bits before any racer moves
 * is among the things tried.
 *
 * Three memories, and what each of them is is derived in machine.c:
 *     sequential   what x86 has
 *     views        loads may be stale, as far as acquire and release let them
 *     reorders     and operations may change places, as far as these let them
 * The last part of the table checks the model itself: controls, variants of the protocol that must
 * be seen to fail, for a model that finds no fault proves nothing.
 *
 * Usage: last_word_model [--deep]        --deep: larger sizes too, some minutes
 * Exit status: 0 all is as expected, 1 something is not, 2 usage or no memory.
 */
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "states.h"

static const struct memory sequential = {.name = "sequential", .acquire = true, .release = true};
static const struct memory views = {
    .name = "views acq/rel", .stale = true, .acquire = true, .release = true};
static const struct memory views_relaxed = {.name = "views rlx/rlx", .stale = true};
static const struct memory reorders_none = {
    .name = "reorders rlx/rlx", .stale = true, .reorders = true};
static const struct memory reorders_acquire = {
    .name = "reorders acq/rlx", .stale = true, .reorders = true, .acquire = true};
static const struct memory reorders_release = {
    .name = "reorders rlx/rel", .stale = true, .reorders = true, .release = true};

/* A row of the table: a family of settings, and what they must come to. */
struct row {
    const struct memory *memory;
    const char *positions;    /* kind bloom: a letter a position; NULL: kind blocked           */
    int words_from, words_to; /* kind blocked: how many words                                  */
    int bits;                 /* and how many bits of the key in a word: 1, or 2 for up to two */
    int racers;
    enum rule rule;
    bool opposite, third, kill;
    bool present;                  /* start with the key there, else with a bit of it lacking  */
    bool show;                     /* print a run that has the most NEW                        */
    bool deep;                     /* with --deep only                                         */
    int new_min, new_max, due_min; /* expected                                                 */
};

static int failures;
static bool deep;

/* ---- The settings of a row ---------------------------------------------------------------- */

/* Bit i of the shape says that word i has two bits of the key. */
static struct key blocked_key(int words, unsigned shape)
{
    struct key key = {.words = words, .elements = words};

    for (int i = 0; i < words && i < WORDS_MAX; i++) {
        key.mask[i] = (shape >> i & 1) ? 3 : 1;
        key.element[i] = (struct element){(uint8_t)i, key.mask[i]};
    }
    return key;
}

/* "aba": three positions, the first and the last the same.  Apart: each letter in a word of its
 * own; in pairs: a and b are bits of one word, as two positions of a key may be. */
static struct key bloom_key(const char *positions, bool pairs)
{
    struct key key = {.elements = (int)strlen(positions)};

    for (int i = 0; i < key.elements; i++) {
        int letter = positions[i] - 'a';
        uint8_t word = (uint8_t)(pairs ? letter / 2 : letter);
        uint8_t mask = (uint8_t)(pairs ? 1 << letter % 2 : 1);
        key.element[i] = (struct element){word, mask};
        key.mask[word] |= mask;
        if (key.words <= word) key.words = word + 1;
    }
    return key;
}

/* Every start that the row speaks of. */
static void run_key(const struct row *row, const struct key *key, struct tally *tally)
{
    struct setting setting = {.key = key,
                              .memory = row->memory,
                              .rule = row->rule,
                              .racers = row->racers,
                              .opposite = row->opposite,
                              .third = row->third,
                              .kill = row->kill};

    for (unsigned start = 0; start < 1u << WORD_BITS * key->words; start++) {
        bool foreign = false, present = true;
        for (int i = 0; i < key->words; i++) {
            setting.start[i] = (uint8_t)(start >> WORD_BITS * i & 3u);
            foreign |= (setting.start[i] & ~key->mask[i]) != 0;
            present &= setting.start[i] == key->mask[i];
        }
        if (foreign || present != row->present) continue;
        if (row->third && start != 0) continue; /* another key may make that start from empty */
        explore(&setting, tally);
    }
}

static void run_row(const struct row *row, struct tally *tally)
{
    tally_init(tally);
    if (row->positions != NULL) {
        for (int pairs = 0; pairs < 2; pairs++) {
            struct key key = bloom_key(row->positions, pairs);
            run_key(row, &key, tally);
        }
        return;
    }
    for (int words = row->words_from; words <= row->words_to; words++) {
        unsigned last = row->bits == 2 ? (1u << words) - 1 : 0; /* all words with two bits */
        for (unsigned shape = row->third ? last : 0; shape <= last; shape++) {
            struct key key = blocked_key(words, shape);
            run_key(row, &key, tally);
        }
    }
}

/* ---- The table ---------------------------------------------------------------------------- */

static void heading(const char *part)
{
    printf("\n%s\n\n%-17s %6s  %-5s %-4s  %-15s  %-8s  %-5s  %-4s  %10s  %3s %3s %3s\n", part,
           "memory, load/OR", "racers", "words", "bits", "rule: NEW by", "orders", "third", "kill",
           "states", "min", "max", "due");
}

static const char *rule_name(enum rule rule)
{
    switch (rule) {
    case RULE_LAST:
        return "last missing";
    case RULE_FRESH:
        return "last unrepeated";
    case RULE_ANY:
        return "any flip";
    }
    return "?";
}

static void show_step(const struct step *step)
{
    char racer = (char)('A' + step->racer);
    int word = step->word + 1;

    switch (step->what) {
    case STEP_LOAD_MISSING:
    case STEP_LOAD_PRESENT:
        printf("%c loads %d: %s", racer, word,
               step->what == STEP_LOAD_MISSING ? "missing" : "present");
        break;
    case STEP_OR_FLIPS:
    case STEP_OR_KEEPS:
        printf("%c ORs %d: %s", racer, word, step->what == STEP_OR_FLIPS ? "flips" : "no change");
        break;
    case STEP_NEW:
    case STEP_SEEN:
        printf("%c %s", racer, step->what == STEP_NEW ? "NEW" : "SEEN");
        break;
    case STEP_THIRD:
        printf("another key sets %d", word);
        break;
    case STEP_KILL:
        printf("%c dies", racer);
        break;
    }
}

static void show_run(const struct tally *tally)
{
    enum { STEPS_A_LINE = 5 };

    for (int i = 0; i < tally->steps; i++) {
        printf("%s", i % STEPS_A_LINE == 0 ? "      " : "; ");
        show_step(&tally->example[i]);
        if (i % STEPS_A_LINE == STEPS_A_LINE - 1 || i + 1 == tally->steps) printf("\n");
    }
}

static void complain(const char *what)
{
    printf("      FAILED: %s\n", what);
    failures++;
}

static void words_of(const struct row *row, char *text, size_t text_bytes)
{
    if (row->positions != NULL)
        snprintf(text, text_bytes, "%s", row->positions);
    else if (row->words_from == row->words_to)
        snprintf(text, text_bytes, "%d", row->words_to);
    else
        snprintf(text, text_bytes, "%d-%d", row->words_from, row->words_to);
}

static const char *bits_of(const struct row *row)
{
    if (row->bits == 1) return "1";
    return row->third ? "2" : "1-2";
}

static void print_row(const struct row *row, const struct tally *tally)
{
    const char *third = row->third ? "yes" : "-";
    char words[16];

    words_of(row, words, sizeof(words));
    printf("%-17s %6d  %-5s %-4s  %-15s  %-8s  %-5s  %-4s  %10llu  %3d %3d %3d\n",
           row->memory->name, row->racers, words, bits_of(row), rule_name(row->rule),
           row->opposite ? "opposite" : "same", third, row->kill ? "yes" : "-",
           (unsigned long long)tally->states, tally->new_min, tally->new_max, tally->due_min);
    fflush(stdout);
}

/* Run a row, print it, and hold it to what is expected of it. */
static void check(const struct row *row)
{
    struct tally tally;

    if (row->deep && !deep) return;
    run_row(row, &tally);
    print_row(row, &tally);
    if (row->show) show_run(&tally);
    if (tally.broken != NULL) complain(tally.broken);
    if (tally.new_min != row->new_min || tally.new_max != row->new_max ||
        tally.due_min != row->due_min) {
        char what[80];
        snprintf(what, sizeof(what), "expected min %d, max %d, due %d", row->new_min, row->new_max,
                 row->due_min);
        complain(what);
    }
    if (tally.due_max > row->new_max) complain("told and owed together are more than may be told");
    if (row->present && tally.ors > 0) complain("something was written though the key was there");
}

/* ---- The parts ---------------------------------------------------------------------------- */

/* The promise: at most one NEW; and without other keys exactly one, told or owed by the dead. */
static void check_promise(struct row row)
{
    row.new_max = 1;
    for (int kill = 0; kill < 2; kill++) {
        row.kill = kill;
        row.new_min = row.third || row.kill ? 0 : 1;
        row.due_min = row.third ? 0 : 1;
        check(&row);
    }
}

#define SIZE(MEMORY, RACERS, FROM, TO, BITS)                                                       \
    .memory = &(MEMORY), .racers = (RACERS), .words_from = (FROM), .words_to = (TO), .bits = (BITS)

static void part_promise(void)
{
    static const struct row rows[] = {
        {SIZE(sequential, 1, 1, 4, 2)},
        {SIZE(sequential, 2, 1, 4, 2)},
        {SIZE(sequential, 3, 1, 3, 2)},
        {SIZE(sequential, 4, 1, 3, 2)},
        {SIZE(sequential, 4, 4, 4, 1)},
        {SIZE(sequential, 4, 4, 4, 2), .deep = true},
        {SIZE(sequential, 1, 1, 4, 2), .third = true},
        {SIZE(sequential, 2, 1, 4, 2), .third = true},
        {SIZE(sequential, 3, 1, 4, 2), .third = true},
        {SIZE(sequential, 4, 1, 3, 2), .third = true},
        {SIZE(sequential, 4, 4, 4, 1), .third = true, .deep = true},
        {SIZE(views, 1, 1, 4, 2)},
        {SIZE(views, 2, 1, 4, 2)},
        {SIZE(views, 3, 1, 3, 2)},
        {SIZE(views, 4, 1, 3, 1)},
        {SIZE(views, 4, 4, 4, 1)},
        {SIZE(views, 4, 1, 3, 2), .deep = true},
        {SIZE(views, 2, 1, 4, 2), .third = true},
        {SIZE(views, 3, 1, 3, 2), .third = true},
        {SIZE(views, 4, 1, 2, 2), .third = true},
        {SIZE(views, 4, 3, 3, 1), .third = true},
        {SIZE(views, 4, 3, 3, 2), .third = true, .deep = true},
        {SIZE(views, 4, 4, 4, 1), .third = true, .deep = true},
    };

    heading("The promise: at most one NEW; without other keys and deaths exactly one");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check_promise(rows[i]);
}

static void part_present(void)
{
    static const struct row rows[] = {
        {SIZE(sequential, 4, 1, 4, 2), .present = true},
        {SIZE(views, 4, 1, 4, 2), .present = true},
    };

    heading("A key that is there: everyone is told SEEN, and nothing is written");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check(&rows[i]);
}

static void part_bloom(void)
{
    static const char *const keys[] = {"aa", "aba", "aab", "abab", "abbc", "abcba"};
    static const struct memory *const memories[] = {&sequential, &views};

    heading("Kind bloom: positions that repeat (a letter a position)");
    for (size_t memory = 0; memory < sizeof(memories) / sizeof(memories[0]); memory++) {
        for (size_t i = 0; i < 2 * sizeof(keys) / sizeof(keys[0]); i++) {
            struct row row = {.memory = memories[memory],
                              .positions = keys[i / 2],
                              .bits = 1,
                              .racers = 3,
                              .rule = RULE_FRESH,
                              .third = i % 2 == 1};
            if (strlen(row.positions) > 3 && row.third) row.racers = 2; /* many states */
            check_promise(row);
        }
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        check_promise(
            (struct row){SIZE(sequential, 4, 0, 0, 1), .positions = keys[i], .rule = RULE_FRESH});
}

static void part_controls(void)
{
    static const struct row rows[] = {
        /* Any flip counts. */
        {SIZE(sequential, 2, 2, 2, 1), .rule = RULE_ANY, .new_min = 1, .new_max = 2, .due_min = 1,
         .show = true},
        {SIZE(sequential, 4, 4, 4, 1), .rule = RULE_ANY, .new_min = 1, .new_max = 4, .due_min = 1},
        /* Every second racer goes the other way: some keys are told to nobody (1. and 2. above). */
        {SIZE(sequential, 2, 2, 2, 1), .opposite = true, .new_max = 1},
        {SIZE(sequential, 4, 3, 3, 1), .opposite = true, .new_max = 1},
        {SIZE(views, 4, 3, 3, 1), .opposite = true, .new_max = 1},
        /* Weaker orders.  Stale loads alone do no harm, ORs that change places do. */
        {SIZE(views_relaxed, 4, 1, 3, 1), .new_min = 1, .new_max = 1, .due_min = 1},
        {SIZE(reorders_none, 2, 2, 2, 1), .new_min = 1, .new_max = 2, .due_min = 1, .show = true},
        {SIZE(reorders_none, 3, 3, 3, 1), .new_min = 1, .new_max = 3, .due_min = 1},
        {SIZE(reorders_acquire, 2, 2, 2, 1), .new_min = 1, .new_max = 2, .due_min = 1,
         .show = true},
        {SIZE(reorders_release, 3, 3, 3, 1), .new_min = 1, .new_max = 1, .due_min = 1},
        /* A repeated position taken as it is: a lone adder of a new key is told SEEN. */
        {SIZE(sequential, 1, 0, 0, 1), .positions = "aa", .show = true},
        {SIZE(sequential, 1, 0, 0, 1), .positions = "aba", .new_max = 1},
    };

    heading("Controls: what the protocol must not be, seen to fail");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check(&rows[i]);
}

int main(int argc, char **argv)
{
    deep = model_is_deep(argc, argv);
    printf("states    distinct states summed over the starts of the row\n"
           "min, max  fewest and most racers told NEW in any run\n"
           "due       fewest, where the NEW that a dead racer had earned and not given counts too\n"
           "third     other keys set bits of this key at any time\n"
           "A to D    racers, in the runs shown\n");
    part_promise();
    part_present();
    part_bloom();
    part_controls();
    return model_end(failures == 0);
}
