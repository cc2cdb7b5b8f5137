/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * error.c: error names and the last sentence of each thread.
 *
 * Two threads' failures must not mix, so each thread has a sentence of its own.  Its first failure
 * allocates it, because a KiB in thread-local storage would be a KiB of what all libraries share
 * (base/thread.h).  Failing must not need memory: without any, the message of the code is what is
 * said.
 */
#include "base/base.h"

#include <pthread.h>
#include <stdarg.h>

#include "base/thread.h"

#define SENTENCE_BYTES 1024
#define FORMAT_BYTES 1024
/* Stands before a mend while a sentence is made.  Text from outside has no such byte: it is quoted.
 */
#define MEND_MARK '\x1E'

/* The last failure of a thread. */
struct said {
    char sentence[SENTENCE_BYTES];
    char what[SENTENCE_BYTES / 2];
    char mend[SENTENCE_BYTES / 2];
    size_t reason; /* where what happened begins in the sentence, behind the thing */
    uint64_t offset;
    int code, system_error;
};

static TAMIS__THREAD struct said *own_said;     /* NULL before the thread's first failure */
static TAMIS__THREAD const char *last_sentence; /* NULL, that of own_said, or a message of a code */
static pthread_key_t said_key;
static bool said_key_made;
static pthread_once_t said_once = PTHREAD_ONCE_INIT;

#ifdef TAMIS_TEST_POINTS
void (*tamis__point_hook)(unsigned point);
int tamis__point_any_bit_rule;
int tamis__point_no_block_lock;
int tamis__point_no_recheck;
int tamis__point_no_room_check;
int tamis__point_no_mark_lock;
int tamis__point_no_mark_count;
uint64_t tamis__point_samples = 1 << 14;
uint64_t tamis__point_log_limit = TAMIS__LOG_LIMIT_USUAL;
_Thread_local uint64_t tamis__point_hashed;
#endif

/* At the end of a thread.  If it fails once more after that, it gets another sentence. */
static void free_said(void *said)
{
    own_said = NULL;
    last_sentence = NULL;
    free(said);
}

static void prepare_said(void)
{
    said_key_made = pthread_key_create(&said_key, free_said) == 0;
}

/* Of this thread; NULL if there is no memory for it, or nothing that would free it. */
static struct said *said_of_thread(void)
{
    if (own_said != NULL) return own_said;
    (void)pthread_once(&said_once, prepare_said);
    struct said *made = said_key_made ? calloc(1, sizeof *made) : NULL;
    if (made != NULL && pthread_setspecific(said_key, made) != 0) {
        free(made);
        made = NULL;
    }
    own_said = made;
    return made;
}

/* Puts a mark before the mend, which is what follows the last semicolon of a format. */
static void mark_mend(char marked[FORMAT_BYTES], const char *format)
{
    const size_t bytes = strlen(format);
    const char *mend = NULL;
    for (const char *at = strstr(format, "; "); at != NULL; at = strstr(at + 1, "; "))
        mend = at;
    if (mend == NULL || bytes + 2 > FORMAT_BYTES) {
        (void)snprintf(marked, FORMAT_BYTES, "%s", format);
        return;
    }
    const size_t before = (size_t)(mend - format);
    memcpy(marked, format, before);
    marked[before] = MEND_MARK;
    memcpy(marked + before + 1, mend, bytes - before + 1);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* it is the caller's, with a mark in it */
__attribute__((format(printf, 4, 0))) static void say(struct said *said, int code,
                                                      const struct tamis__fault *fault,
                                                      const char *format, va_list arguments)
{
    char marked[FORMAT_BYTES], text[SENTENCE_BYTES + 1]; /* an argument may be the last sentence */
    mark_mend(marked, format);
    (void)vsnprintf(text, sizeof text, marked, arguments);
    char *mark = strrchr(text, MEND_MARK);
    const char *mend = fault->mend;
    if (mark != NULL) {
        memmove(mark, mark + 1, strlen(mark));
        if (mend == NULL) mend = mark + 2;
    }
    text[SENTENCE_BYTES - 1] = '\0';
    (void)snprintf(said->mend, sizeof said->mend, "%s", mend != NULL ? mend : "");
    (void)snprintf(said->what, sizeof said->what, "%s", fault->what != NULL ? fault->what : "");
    memcpy(said->sentence, text, SENTENCE_BYTES);
    const char *thing = fault->what != NULL ? strstr(said->sentence, fault->what) : NULL;
    if (thing != NULL) thing += strlen(fault->what);
    said->reason = thing != NULL ? (size_t)(thing + strspn(thing, ": ") - said->sentence) : 0;
    said->offset = fault->offset;
    said->system_error = fault->system_error;
    said->code = code;
}
#pragma GCC diagnostic pop

/* Sets the thread's last failure, or without memory the message of the code. */
__attribute__((format(printf, 3, 0))) static int fail(int code, const struct tamis__fault *fault,
                                                      const char *format, va_list arguments)
{
    struct said *said = said_of_thread();
    if (said != NULL) say(said, code, fault, format, arguments);
    last_sentence = said != NULL ? said->sentence : tamis_error_message(code);
    return code;
}

int(tamis__fail)(int code, const char *format, ...)
{
    static const struct tamis__fault nothing;
    va_list arguments;
    va_start(arguments, format);
    (void)fail(code, &nothing, format, arguments);
    va_end(arguments);
    return code;
}

int(tamis__fail_of)(int code, const struct tamis__fault *fault, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fail(code, fault, format, arguments);
    va_end(arguments);
    return code;
}

size_t tamis__utf8_length(const unsigned char *s)
{
    static const struct {
        unsigned char first_min, first_max, second_min, second_max, length;
    } forms[] = {
        /* RFC 3629, section 4: the second byte's range keeps overlong forms and surrogates out */
        {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3},
        {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
        {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    if (s[0] > 0 && s[0] < 0x80) return 1;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (s[0] < forms[i].first_min || s[0] > forms[i].first_max) continue;
        if (s[1] < forms[i].second_min || s[1] > forms[i].second_max) return 0;
        for (size_t j = 2; j < forms[i].length; j++)
            if ((s[j] & 0xC0) != 0x80) return 0;
        return forms[i].length;
    }
    return 0;
}

const char *tamis__quote(char buffer[TAMIS__QUOTED_BYTES], const char *text)
{
    size_t used = 0;
    const unsigned char *s = (const unsigned char *)text;
    buffer[used++] = '\'';
    while (*s != '\0') {
        size_t length = tamis__utf8_length(s);
        if (used + 10 > TAMIS__QUOTED_BYTES) { /* room for one more piece, "..." and the quote */
            memcpy(buffer + used, "...", 3);
            used += 3;
            break;
        }
        if (length == 0 || (length == 1 && (*s < 0x20 || *s == 0x7F)) ||
            (length == 2 && s[0] == 0xC2 && s[1] < 0xA0)) {
            used += (size_t)snprintf(buffer + used, 5, "\\x%02X", *s);
            s += 1;
        } else {
            memcpy(buffer + used, s, length);
            used += length;
            s += length;
        }
    }
    buffer[used++] = '\'';
    buffer[used] = '\0';
    return buffer;
}

const char *tamis__size_text(char buffer[TAMIS__SIZE_BYTES], double bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1024;
        unit++;
    }
    if (unit == 0)
        (void)snprintf(buffer, TAMIS__SIZE_BYTES, "%.0f byte%s", bytes, bytes == 1 ? "" : "s");
    else
        (void)snprintf(buffer, TAMIS__SIZE_BYTES, "%.1f %s", bytes, units[unit]);
    return buffer;
}

TAMIS_API const char *tamis_last_error(void)
{
    return last_sentence != NULL ? last_sentence : "";
}

TAMIS_API int tamis_last_error_details(struct tamis_error_details *details)
{
    const struct said *said = own_said;
    if (details == NULL || details->size <= sizeof details->size) /* the last failure stays */
        return TAMIS_EINVAL;
    const bool any = said != NULL && last_sentence == said->sentence;
    const struct tamis_error_details own = {.size = sizeof own,
                                            .sentence = tamis_last_error(),
                                            .what = any ? said->what : "",
                                            .reason = any ? said->sentence + said->reason
                                                          : tamis_last_error(),
                                            .mend = any ? said->mend : "",
                                            .offset = any ? said->offset : 0,
                                            .code = any ? said->code : 0,
                                            .system_error = any ? said->system_error : 0};
    /* As tamis__give_struct() does, which is above this file. */
    size_t both = details->size < sizeof own ? details->size : sizeof own;
    memcpy(details, &own, both);
    details->size = both;
    return 0;
}

static const struct error {
    int code;
    const char *name, *message;
} errors[] = {{TAMIS_OK, "TAMIS_OK", "no error"},
#define ERROR_ROW(name, number, message) {name, #name, message},
              TAMIS_ERROR_MAP(ERROR_ROW)
#undef ERROR_ROW
};

static const struct error *find_error(int code)
{
    static const struct error unknown = {0, "TAMIS_?", "not an error code of Tamis"};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].code == code) return &errors[i];
    return &unknown;
}

TAMIS_API const char *tamis_error_name(int error)
{
    return find_error(error)->name;
}

TAMIS_API const char *tamis_error_message(int error)
{
    return find_error(error)->message;
}

#define STRING_(x) #x
#define STRING(x) STRING_(x)

TAMIS_API uint32_t tamis_version_number(void)
{
    return TAMIS_VERSION_NUMBER;
}

TAMIS_API const char *tamis_version(void)
{
    return STRING(TAMIS_VERSION_MAJOR) "." STRING(TAMIS_VERSION_MINOR) "." STRING(
        TAMIS_VERSION_PATCH);
}
