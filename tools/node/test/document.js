// SPDX-License-Identifier: BSD-2-Clause
/*
 * document.js PAGE: runs the examples (```js) of a page, one after the other in one module.  What stands behind a comment
 * at the end of an expression, up to a colon, must be its value: `seen.items; // 1`.
 */
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { pathToFileURL } = require('node:url');

const page = fs.readFileSync(process.argv[2], 'utf8');
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'tamis-document-'));
let checks = 0;

/** A line whose comment has the value, as a check; other lines as they are. */
function checked(line) {
  const match = /^(\s*)(?:const (\{.*\}) = )?(.*); \/\/ (.*)$/.exec(line);
  if (!match) return line;
  const [, indent, names, expression, comment] = match;
  const wanted = comment.replace(/^(true|false|\d+|'.*?'): .*$/, '$1').replace(/^Uint8Array /, '');
  checks++;
  if (names) return `${indent}const ${names} = ${expression}; check([${names.slice(1, -1)}], [${wanted}]);`;
  return `${indent}check(${expression}, ${wanted});`;
}

const code = [...page.matchAll(/^```js\n(.*?)^```$/gms)].map((match) => match[1]).join('\n');
const lines = code.split('\n').map(checked);
const main = pathToFileURL(path.join(__dirname, '..', 'index.mjs'));
const module_ = [
  "import assert from 'node:assert/strict';",
  'const check = (got, wanted) => assert.deepEqual(ArrayBuffer.isView(got) ? Array.from(got) : got, wanted);',
  ...lines.map((line) => line.replace("from 'tamis'", `from '${main}'`)),
].join('\n');
fs.writeFileSync(path.join(scratch, 'page.mjs'), module_);
process.chdir(scratch);
import(pathToFileURL(path.join(scratch, 'page.mjs')))
  .then(() => assert.ok(checks > 10, `only ${checks} values were checked`))
  .then(() => console.log(`${checks} values are as the page says`))
  .finally(() => fs.rmSync(scratch, { recursive: true, force: true }));
