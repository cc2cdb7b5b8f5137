/* SPDX-License-Identifier: BSD-2-Clause */
/* tls.c: TLS by OpenSSL; see tls.h.  Debian 12's hiredis has none, so node.c reads and writes. */
#include "tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>

#include "command.h"

struct tls {
    SSL_CTX *context;
    SSL *ssl;
};

/* Tells which file cannot be used.  Always false. */
static bool fail_file(const char *option, const char *variable, const char *file, char *trouble,
                      size_t trouble_bytes)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    (void)snprintf(trouble, trouble_bytes, "--%s, or $%s: '%s' cannot be used: %s", option,
                   variable, file, reason != NULL ? reason : "it has nothing in PEM format");
    return false;
}

static bool load_files(SSL_CTX *context, const struct tls_settings *settings, char *trouble,
                       size_t trouble_bytes)
{
    const char *cacert = settings->cacert, *cert = settings->cert, *key = settings->key;
    ERR_clear_error();
    if (cacert != NULL && SSL_CTX_load_verify_locations(context, cacert, NULL) != 1)
        return fail_file("cacert", "TAMIS_TLS_CACERT", cacert, trouble, trouble_bytes);
    if (cacert == NULL && SSL_CTX_set_default_verify_paths(context) != 1) cli_no_memory();
    if (cert != NULL && SSL_CTX_use_certificate_chain_file(context, cert) != 1)
        return fail_file("cert", "TAMIS_TLS_CERT", cert, trouble, trouble_bytes);
    if (key != NULL && SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
        return fail_file("key", "TAMIS_TLS_KEY", key, trouble, trouble_bytes);
    if ((cert == NULL) == (key == NULL)) return true;
    (void)snprintf(trouble, trouble_bytes,
                   "--cert and --key, or $TAMIS_TLS_CERT and $TAMIS_TLS_KEY, go together");
    return false;
}

/* The certificate must be for this host: an address, or a name, which the server is told, too. */
static bool expect_host(SSL *ssl, const char *host)
{
    unsigned char address[sizeof(struct in6_addr)];
    if (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    char *name = cli_strdup(host); /* the call's macro casts const away */
    const bool told = SSL_set_tlsext_host_name(ssl, name) == 1;
    free(name);
    return told && SSL_set1_host(ssl, host) == 1;
}

static bool shake_hands(SSL *ssl, int fd, int64_t limit_ms)
{
    const double end = progress_clock() + (double)limit_ms / 1000;
    for (;;) {
        ERR_clear_error();
        const int rc = SSL_connect(ssl);
        if (rc == 1) return true;
        const int why = SSL_get_error(ssl, rc);
        const double left = end - progress_clock();
        if ((why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) || left <= 0) return false;
        struct pollfd one = {.fd = fd, .events = why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT};
        (void)poll(&one, 1, (int)(left * 1000) + 1);
    }
}

/* Why the handshake failed.  true: it always will. */
static bool tell_failure(const SSL *ssl, bool insecure, char *trouble, size_t trouble_bytes)
{
    const long verdict = SSL_get_verify_result(ssl);
    const unsigned long error = ERR_peek_error();
    if (verdict != X509_V_OK && !insecure) {
        (void)snprintf(trouble, trouble_bytes,
                       "the server's certificate is refused: %s; --cacert FILE, or "
                       "$TAMIS_TLS_CACERT, names the authority that signed it",
                       X509_verify_cert_error_string(verdict));
        return true;
    }
    const char *reason = error != 0 ? ERR_reason_error_string(error) : NULL;
    (void)snprintf(trouble, trouble_bytes, "TLS: %s",
                   reason != NULL
                       ? reason
                       : "the server does not answer, or closed the connection; is this its "
                         "port for TLS?");
    return reason != NULL;
}

struct tls *tls_open(int fd, const char *host, const struct tls_settings *settings,
                     int64_t limit_ms, char *trouble, size_t trouble_bytes, bool *fatal)
{
    struct tls *tls = cli_alloc(sizeof *tls);
    *tls = (struct tls){.context = SSL_CTX_new(TLS_client_method())};
    if (tls->context == NULL) cli_no_memory();
    (void)SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION);
    SSL_CTX_set_mode(tls->context,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_verify(tls->context, settings->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    if (!load_files(tls->context, settings, trouble, trouble_bytes)) {
        *fatal = true;
        tls_close(tls);
        return NULL;
    }
    tls->ssl = SSL_new(tls->context);
    if (tls->ssl == NULL || SSL_set_fd(tls->ssl, fd) != 1) cli_no_memory();
    if (expect_host(tls->ssl, host) && shake_hands(tls->ssl, fd, limit_ms)) return tls;
    *fatal = tell_failure(tls->ssl, settings->insecure, trouble, trouble_bytes);
    tls_close(tls);
    return NULL;
}

void tls_close(struct tls *tls)
{
    SSL_free(tls->ssl);
    SSL_CTX_free(tls->context);
    free(tls);
}

/* What a call has moved, or why it has not. */
static long moved(const struct tls *tls, int rc)
{
    if (rc > 0) return rc;
    const int why = SSL_get_error(tls->ssl, rc);
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

bool tls_has_read(const struct tls *tls)
{
    return SSL_pending(tls->ssl) > 0;
}

static int bounded(size_t bytes)
{
    return bytes < (1u << 30) ? (int)bytes : 1 << 30;
}

long tls_read(struct tls *tls, void *buffer, size_t bytes)
{
    ERR_clear_error();
    return moved(tls, SSL_read(tls->ssl, buffer, bounded(bytes)));
}

long tls_write(struct tls *tls, const void *data, size_t bytes)
{
    ERR_clear_error();
    return moved(tls, SSL_write(tls->ssl, data, bounded(bytes)));
}
