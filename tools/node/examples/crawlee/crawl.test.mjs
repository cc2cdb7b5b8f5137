// SPDX-License-Identifier: BSD-2-Clause
// Three processes crawl one local site; one of them is killed, and started again.  Seen to fail with an add() to a filter of each
// process's own (pages come twice), and without `left()` (pages never come).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const PAGES = 400;
const CRAWLERS = ['a', 'b', 'c'];
const scratch = mkdtempSync(path.join(tmpdir(), 'tamis-crawlee-'));
const running = new Set();
after(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(scratch, { recursive: true, force: true });
});

/** Page n links to pages all over the site, and each page has many links to it. */
function page(n) {
  const links = [n * 2 + 1, n * 2 + 2, (n * 7) % PAGES, (n * 31 + 5) % PAGES, (n + 1) % PAGES, n];
  return `<html><body>${links.map((to) => `<a href="/page/${to % PAGES}#part">to</a>`).join('')}</body></html>`;
}

const hits = new Map();
let onHit = () => {};
const server = createServer((request, response) => {
  const n = Number(/^\/page\/(\d+)$/.exec(request.url)?.[1] ?? NaN);
  if (!(n < PAGES)) return response.writeHead(404).end();
  hits.set(n, (hits.get(n) ?? 0) + 1);
  onHit();
  response.writeHead(200, { 'content-type': 'text/html' }).end(page(n));
});

function crawler(name, start) {
  const script = fileURLToPath(new URL('crawl.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, path.join(scratch, 'store'), name, ...start], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, CRAWLEE_LOG_LEVEL: 'WARNING' },
  });
  child.output = '';
  child.stdout.on('data', (data) => (child.output += data));
  running.add(child);
  child.ended = once(child, 'close').then(([code, signal]) => {
    running.delete(child);
    return code ?? signal;
  });
  return child;
}

test('several Crawlees fetch each page once, and one that is killed goes on', { timeout: 240_000 }, async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  const url = (n) => `http://127.0.0.1:${server.address().port}/page/${n}`;
  const start = (i) => Array.from({ length: 5 }, (_, k) => url((i * 100 + k * 17) % PAGES));
  const children = CRAWLERS.map((name, i) => crawler(name, start(i)));
  // It is killed when it has fetched some pages itself.
  await new Promise((resolve) => {
    onHit = () => children[0].output.split('fetched').length > 10 && resolve();
    children[0].ended.then(resolve);
  });
  onHit = () => {};
  children[0].kill('SIGKILL');
  assert.equal(await children[0].ended, 'SIGKILL');
  const second = crawler('a', start(0));
  assert.deepEqual(await Promise.all([second.ended, children[1].ended, children[2].ended]), [0, 0, 0]);

  const again = new Set([...second.output.matchAll(/^again ([^#\n]*)/gm)].map((match) => match[1]));
  const never = Array.from({ length: PAGES }, (_, n) => n).filter((n) => !hits.has(n));
  const twice = [...hits].filter(([n, count]) => count > 1 && !(count === 2 && again.has(url(n))));
  assert.deepEqual(never, [], 'pages that nobody fetched');
  assert.deepEqual(twice, [], 'pages that came twice, which the killed one did not have in its hands');
  const fetched = [...children, second].map((child) => child.output.split('fetched').length - 1);
  assert.ok(
    [children[1], children[2]].every((child) => child.output.includes('fetched')),
    `fetched: ${fetched}`,
  );
  console.log(`pages: ${hits.size}; fetched by each: ${fetched}; in the hands of the killed one: ${again.size}`);
});
