// SPDX-License-Identifier: BSD-2-Clause
/*
 * What one process of the crawl has in its hands, in a file, so that it goes on with that when it was killed.
 *
 * The filter knows that somebody was told to fetch a URL; it does not know who, or whether that one still lives.  So a
 * process writes down what it is going to ask the filter for before it asks, and what it is not told to fetch, or has
 * fetched, after that.  What is left is what it may have to fetch.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

export class Journal {
  #file;
  #asked = new Set();
  #hands = new Map();

  constructor(file) {
    this.#file = file;
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
    for (const line of lines) {
      const [sign, key, url] = line.split(' ');
      this.#asked.add(key);
      if (sign === '?') this.#hands.set(key, url);
      else this.#hands.delete(key);
    }
  }

  #write(sign, requests) {
    if (requests.length > 0)
      appendFileSync(this.#file, requests.map(({ uniqueKey, url }) => `${sign} ${uniqueKey} ${url}\n`).join(''));
  }

  /** The URLs that it had in its hands when it was killed. */
  left() {
    return [...this.#hands.values()];
  }

  /** Those of the requests that are new, of all processes of the crawl, to this one. */
  fresh(seen, requests) {
    const asked = requests.filter(({ uniqueKey }) => !this.#asked.has(uniqueKey) && this.#asked.add(uniqueKey));
    this.#write('?', asked);
    const answers = seen.addManySync(asked.map(({ uniqueKey }) => uniqueKey));
    this.#write(
      '-',
      asked.filter((_, i) => !answers[i]),
    );
    return asked.filter((_, i) => answers[i]);
  }

  /** A page was dealt with, and what it links to was asked for. */
  done(request) {
    this.#write('.', [request]);
  }
}
