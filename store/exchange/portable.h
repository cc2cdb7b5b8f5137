/* SPDX-License-Identifier: BSD-2-Clause */
/* portable.h: the stream of format `tamis` without a preface, for preface.c. */
#pragma once

#include "exchange/exchange.h"

#define TAMIS__PORTABLE_HEAD_BYTES_MAX (96u + TAMIS__SEGMENTS_MAX * 224u + 512u + 8u)

/* In the place of the version: a preface, before a stream of another version. */
#define TAMIS__PREFACE_VERSION 5u

int tamis__portable_parse(const void *bytes, size_t count, struct tamis__outline *outline,
                          struct tamis__refusal *refusal);
/* Takes a stream whose preface, if it has one, was taken.  Sets the digest of the reader. */
int tamis__portable_load(struct tamis__reader *reader, const struct tamis__outline *outline,
                         const struct tamis__stream_target *target);
/* `trailer` receives the 16 bytes that end the stream; zeros for a part of it. */
int tamis__portable_save(const struct tamis__cargo *cargo, struct tamis__writer *writer,
                         unsigned char trailer[TAMIS__SUM_BYTES]);
