// SPDX-License-Identifier: BSD-2-Clause
/*
 * crawl.mjs STORE NAME URL...: one process of a crawl with Crawlee.  Start as many as you like on one store, each with a
 * NAME of its own and its share of the first URLs: each page is fetched once over all of them.  A process that was
 * killed is started again with the same words, and goes on where it was.
 */
import { CheerioCrawler, Configuration, Request } from '@crawlee/cheerio';
import { Store } from 'tamis';
import { Journal } from './journal.mjs';

const [directory, name, ...start] = process.argv.slice(2);
const store = await Store.open(directory);
const seen = await store.openOrCreate('seen', { capacity: 1_000_000, fpRate: 1e-6, whateverIsThere: true });
const journal = new Journal(`${store.path}-${name}.journal`);

/** A request is queued only if no process of the crawl was told to fetch it before. */
const fresh = (urls) =>
  journal.fresh(
    seen,
    urls.map((url) => new Request({ url })),
  );

const crawler = new CheerioCrawler(
  {
    minConcurrency: 4,
    maxConcurrency: 8,
    async requestHandler({ request, $, body }) {
      const links = $('a[href]').toArray();
      const urls = links.map((link) => new URL($(link).attr('href'), request.loadedUrl).href);
      await crawler.addRequests(fresh(urls));
      journal.done(request);
      console.log(`fetched ${request.url} ${body.length}`);
    },
    failedRequestHandler({ request }, error) {
      journal.done(request); // given up
      console.log(`failed ${request.url} ${error.message}`);
    },
  },
  new Configuration({ persistStorage: false }), // the journal is what outlives the process
);

const left = journal.left();
for (const url of left) console.log(`again ${url}`);
await crawler.run([...left, ...fresh(start)]);
await seen.close();
