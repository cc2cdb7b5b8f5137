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

static TAMIS__THREAD char *own_sentence;        /* NULL before the thread's first failure */
static TAMIS__THREAD const char *last_sentence; /* NULL, own_sentence, or a message of a code */
static pthread_key_t sentence_key;
static bool sentence_key_made;
static pthread_once_t sentence_once = PTHREAD_ONCE_INIT;

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
static void free_sentence(void *sentence)
{
    own_sentence = NULL;
    last_sentence = NULL;
    free(sentence);
}

static void prepare_sentences(void)
{
    sentence_key_made = pthread_key_create(&sentence_key, free_sentence) == 0;
}

/* Of this thread; NULL if there is no memory for it, or nothing that would free it. */
static char *sentence(void)
{
    if (own_sentence != NULL) return own_sentence;
    (void)pthread_once(&sentence_once, prepare_sentences);
    char *made = sentence_key_made ? malloc(SENTENCE_BYTES) : NULL;
    if (made != NULL && pthread_setspecific(sentence_key, made) != 0) {
        free(made);
        made = NULL;
    }
    own_sentence = made;
    return made;
}

int(tamis__fail)(int code, const char *format, ...)
{
    char *said = sentence();
    if (said != NULL) {
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(said, SENTENCE_BYTES, format, arguments);
        va_end(arguments);
    }
    last_sentence = said != NULL ? said : tamis_error_message(code);
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
