// SPDX-License-Identifier: BSD-2-Clause
// A crawler of ../README.md, by Crawlee: node crawler.js STORE QUEUE NAME SITE.
import { createRequire } from 'node:module';
import { setTimeout } from 'node:timers/promises';
import { CheerioCrawler, Configuration } from '@crawlee/cheerio';
import { Work } from './work.js';

const { Store } = createRequire(import.meta.url)(process.env.TAMIS_NODE ?? 'tamis');
const [storePath, queue, name, site] = process.argv.slice(2);
const FILES = 4; // in hand
const OVER_MS = 1000;

await (await fetch(`${site}/ready`)).arrayBuffer();
const store = await Store.open(storePath);
const work = await Work.begin(store, queue, name);
const files = new Map(); // by path: what was claimed, what of it is under way, and the links of its pages
let serial = 0;

// All pages of a file are fetched: its links come into the queue before it goes.
async function end(file) {
  if (file.todo > 0) return;
  await work.put(file.links);
  await work.finish(file);
  files.delete(file.file);
}

const crawler = new CheerioCrawler(
  {
    keepAlive: true,
    maxConcurrency: 16,
    maxRequestRetries: 0,
    useSessionPool: false,
    preNavigationHooks: [
      (_, got) => {
        Object.assign(got, { followRedirect: false, useHeaderGenerator: false, headers: { 'user-agent': name } });
      },
    ],
    ignoreHttpErrorStatusCodes: [404],
    async requestHandler({ request, response, $ }) {
      const file = files.get(request.userData.file);
      const links = $('a[href]')
        .map((_, link) => $(link).attr('href'))
        .get();
      if (response.headers.location) links.push(response.headers.location);
      file.links.push(...links.map((link) => new URL(link, request.url).href));
      file.todo--;
      await end(file);
    },
    failedRequestHandler({ request }, error) {
      console.error(request.url, error);
      process.exit(1);
    },
  },
  new Configuration({ persistStorage: false, purgeOnStart: false }),
);
crawler.log.setLevel(crawler.log.LEVELS.WARNING);

async function feed() {
  let empty = 0;
  while (empty === 0 || Date.now() - empty < OVER_MS) {
    const claimed = files.size < FILES ? await work.claim() : null;
    if (claimed) {
      const file = { ...claimed, todo: claimed.urls.length, links: [] };
      files.set(file.file, file);
      await crawler.addRequests(
        file.urls.map((url) => ({ url, uniqueKey: `${++serial}`, userData: { file: file.file } })),
      );
      await end(file);
      empty = 0;
      continue;
    }
    empty = files.size > 0 || !(await work.isEmpty()) ? 0 : empty || Date.now();
    await setTimeout(50);
  }
  crawler.stop();
}

await Promise.all([crawler.run(), feed()]);
await store.close();
