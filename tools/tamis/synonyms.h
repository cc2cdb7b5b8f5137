/* SPDX-License-Identifier: BSD-2-Clause */
/* synonyms.h: the words that other programs have for what a command does. */
#pragma once

/* What to say to somebody who took `word` for a command: a question, such as "did you mean 'add'?".
 * NULL: the word is not known. */
const char *synonym_answer(const char *word);

/* The word without the family of commands of a server before it: "add" for "bf.add". */
const char *synonym_stem(const char *word);
