// SPDX-License-Identifier: BSD-2-Clause
/*
 * The runner of the Node package for the suite of all bindings: tests/bindings/README.md says what a runner is.
 *
 * TAMIS_NODE_SYNC=1 in the environment has it use the calls that wait, nameSync(), in the place of those that return a
 * promise.
 */
'use strict';

const fs = require('node:fs');
const readline = require('node:readline');
const tamis = require('..');

const isSync = process.env.TAMIS_NODE_SYNC === '1';
const strides = [7368787n, 15485863n, 32452843n, 49979687n, 67867967n, 86028121n, 104395301n];

class Lacks extends Error {}

// What a step gives.

/** Flags, which keep in mind which of them somebody has asked for: one that nobody asks for is a lack. */
class Words extends Array {
  static ofStep = [];
  asked = new Set();
  includes(word) {
    this.asked.add(word);
    return super.includes(word);
  }
  *[Symbol.iterator]() {
    for (let i = 0; i < this.length; i++) {
      this.asked.add(this[i]);
      yield this[i];
    }
  }
  /** JSON.parse() calls it for each value. */
  static revive(name, value) {
    if (name !== 'flags' || !Array.isArray(value)) return value;
    const words = new Words();
    words.push(...value);
    Words.ofStep.push(words);
    return words;
  }
  static unasked() {
    return Words.ofStep.flatMap((words) => words.slice().filter((word) => !words.asked.has(word)))[0];
  }
}

/** Calls one of the two forms of a method. */
const call = (on, name, ...given) => (isSync ? on[`${name}Sync`](...given) : on[name](...given));
const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const key = (value) => (typeof value === 'string' ? value : Buffer.from(value.hex, 'hex'));
const keys = (values) => values.map(key);

function spec(given, flags = given?.flags ?? []) {
  const options = {};
  for (const [name, value] of Object.entries(given ?? {})) {
    if (name === 'window_ns') options.window = BigInt(value);
    else if (name === 'secret') options.secret = Buffer.from(value, 'hex');
    else if (name !== 'flags') options[camel(name)] = value;
  }
  for (const flag of flags) {
    if (flag === 'FROM_FIRST') options.windowFrom = 'first';
    else options[camel(flag.toLowerCase())] = true;
  }
  return options;
}

// What an answer is.

function plain(value) {
  if (typeof value === 'bigint') return value < 2n ** 53n ? Number(value) : String(value);
  if (Buffer.isBuffer(value)) return value.toString('hex');
  if (ArrayBuffer.isView(value)) return Array.from(value);
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [snake(name), plain(each)]));
}

function withFlags({ window, secret, durable, owned, windowFrom, ...rest }) {
  const flags = Object.entries({ DURABLE: durable, OWNED: owned, FROM_FIRST: windowFrom });
  const fields = { ...plain(rest), flags: flags.filter(([, is]) => is).map(([name]) => name) };
  if (window) fields.window_ns = plain(window);
  if (secret) fields.secret = plain(secret);
  return fields;
}

const published = ({ isPublished, ...rest }) => ({ published: isPublished ? 1 : 0, ...plain(rest) });
const handles = new Map();
const named = (name) => handles.get(name);
let message = '';

const storeOptions = (flags) => ({
  create: flags.includes('CREATE'),
  readOnly: flags.includes('READ_ONLY'),
  forceNetworkFs: flags.includes('FORCE_NETWORK_FS'),
});
const openStore = (path, options) => (isSync ? new tamis.Store(path, options) : tamis.Store.open(path, options));
const times = (names) => (names ? names.map((name) => named(name).createdAt) : undefined);

const functions = {
  // Stores.
  tamis_store_open: (_, { path, flags = [] }) => openStore(path, storeOptions(flags)),
  tamis_store_open_with: (_, { path, flags = [], mode = 0, busy_timeout_ms = 0 }) =>
    openStore(path, {
      ...storeOptions(flags),
      mode,
      ...(busy_timeout_ms === 0 ? {} : { busyTimeout: Math.max(busy_timeout_ms, 0) }),
    }),
  tamis_store_set_busy_timeout: (store, { milliseconds = 0 }) => store.setBusyTimeout(milliseconds),
  tamis_descriptors_set_least: (_, { number = 0 }) => tamis.setLeastDescriptor(number),
  tamis_store_close: (store) => call(store, 'close'),
  tamis_store_list: (store, { prefix = '' }) => call(store, 'list', prefix ?? '', { live: false }),
  tamis_store_list_live: (store, { prefix = '' }) => call(store, 'list', prefix ?? ''),
  tamis_watch_new: (store, { prefix = '' }) => store.watch(prefix ?? ''),
  tamis_watch_look: (watch) => call(watch, 'look'),
  tamis_watch_free: (watch) => call(watch, 'close'),
  tamis_store_verify: async (store, { name }) => (await call(store, 'verify', name)).filter(({ code }) => code).length,

  // Filters.
  tamis_hash_set_weakness: (_, { hash_set }) => tamis.hashSetWeakness(hash_set),
  tamis_on_full_name: (_, { on_full = 0 }) => tamis.onFullNames()[on_full - 1] ?? null,
  tamis_pages_name: (_, { pages = 0 }) => tamis.pagesNames()[pages] ?? null,
  tamis_filter_check: (_, { path, name, spec: given }) =>
    call(tamis, 'check', name, spec(given), path ? { store: path } : {}),
  tamis_filter_create: (store, { name, spec: given }) => call(store, 'create', name, spec(given)),
  tamis_filter_create_many: (store, { names, spec: given, flags = [] }) =>
    call(store, 'createMany', names, spec(given), { ifMissing: flags.includes('IF_MISSING') }),
  tamis_filter_open: (store, { name, flags = [] }) => call(store, 'open', name, spec(null, flags)),
  tamis_filter_exists: (store, { name }) => call(store, 'has', name),
  tamis_filter_store: (filter) => filter.store,
  tamis_filter_created_at: (filter) => filter.createdAt,
  tamis_filter_open_or_create: (store, { name, spec: given }) => call(store, 'openOrCreate', name, spec(given)),
  tamis_filter_close: (filter) => call(filter, 'close'),
  tamis_filter_release: (filter) => call(filter, 'release'),
  tamis_filter_may_wait: (filter, { keys: count = 0 }) => ['no', 'prepare', 'yes'].indexOf(filter.mayWait(count)),
  tamis_filter_prepare: (filter, { keys: count = 0 }) => call(filter, 'prepare', count),
  tamis_filter_drop: (store, { name }) => call(store, 'drop', name),
  tamis_filter_drop_many: (store, { names, created_at_of }) => call(store, 'dropMany', names, times(created_at_of)),
  tamis_filter_rename: (store, { old_name, new_name }) => call(store, 'rename', old_name, new_name),
  tamis_filter_set_owned: (store, { name, owned = 0 }) => call(store, 'setOwned', name, owned !== 0),
  tamis_filter_set_pages: (store, { name, pages }) => call(store, 'setPages', name, pages),
  tamis_filter_mapped: (filter) => call(filter, 'mapped'),
  tamis_filter_rotate: (filter) => call(filter, 'rotate'),
  tamis_filter_sync: (filter) => call(filter, 'sync'),
  tamis_filter_set_sync_interval: (filter, { interval_ns = 0 }) => call(filter, 'setSyncInterval', BigInt(interval_ns)),
  tamis_filter_accept: (filter) => call(filter, 'accept'),

  // Keys.
  tamis_filter_add: (filter, given) => filter.add(key(given.key)),
  tamis_filter_contains: (filter, given) => filter.has(key(given.key)),
  tamis_filter_contains_name: (filter, given) => {
    const found = filter.hasName(key(given.key));
    return typeof found === 'string' ? found : found && Buffer.from(found).toString();
  },
  tamis_filter_add_batch: (filter, given) => call(filter, 'addMany', keys(given.keys)),
  tamis_filter_contains_batch: (filter, given) => call(filter, 'hasMany', keys(given.keys)),
  tamis_filter_prefetch: (filter, given) => filter.prefetch(key(given.key)),
  tamis_filter_remove: (filter, given) => filter.remove(key(given.key)),
  tamis_filter_count: (filter, given) => filter.count(key(given.key)),
  tamis_filter_remove_batch: (filter, given) => call(filter, 'removeMany', keys(given.keys)),
  tamis_filter_count_batch: (filter, given) => call(filter, 'countMany', keys(given.keys)),
  tamis_shard: (_, { key: of, shards = 0 }) => tamis.shard(key(of), shards),

  // Looking inside.
  tamis_filter_stat: (filter) => call(filter, 'stat'),
  tamis_filter_items: (filter) => filter.items,
  tamis_filter_segment: (filter, { index = 0 }) => call(filter, 'segment', index),
  tamis_segment_file: (_, { number = 0 }) => tamis.segmentFile(number),
  tamis_filter_fill: (filter, { index = 0 }) => call(filter, 'fill', index),
  tamis_filter_explain: (filter, { index = 0, key: of }) => filter.explain(key(of), index),
  tamis_explain: (_, { key: of, ...options }) => tamis.explain(key(of), spec(options)),
  tamis_filter_fill_map: (filter, { index = 0, count = 0 }) => call(filter, 'fillMap', index, count),
  tamis_size: (_, { sizing }) => tamis.size(spec(sizing)),
  tamis_predict_rate: (_, { kind, m_bits = 0, k = 0, n = 0 }) => {
    const rate = tamis.predictRate({ kind, mBits: m_bits, k, items: n });
    return Number.isNaN(rate) ? null : rate;
  },

  // Merging.
  tamis_filter_merge: (filter, { sources, flags = [] }) =>
    call(filter, 'merge', sources.map(named), { intersect: flags.includes('INTERSECT') }),
  tamis_filter_create_merged: (store, { name, sources, flags = [] }) =>
    call(store, 'merge', name, sources.map(named), { intersect: flags.includes('INTERSECT') }),
  tamis_filter_like: (filter) => withFlags(filter.like()),
  tamis_filter_compare: (filter, { other }) => call(filter, 'compare', named(other)),

  // Streams.
  tamis_format_name: (_, { index = 0 }) => tamis.formats()[index] ?? null,
  tamis_filter_import: (store, { name, format, spec: given, file }) =>
    call(store, 'import', name, file, { format, ...spec(given) }),
  tamis_filter_publish: async (store, { name, format, spec: given, file }) => {
    const { import: of, except = [], flags = [], keep } = given ?? {};
    return published(
      await call(store, 'publish', name, file, {
        format,
        ...spec(of),
        except: keys(except),
        ifChanged: flags.includes('IF_CHANGED'),
        newer: flags.includes('NEWER'),
        ...(flags.includes('KEEP') ? { keep: keep ?? 0 } : {}),
      }),
    );
  },
  tamis_filter_export: (filter, { format, flags = [], file }) =>
    call(filter, 'export', { format, file, ...spec(null, flags) }),
  tamis_filter_read_data: (filter, { index = 0, offset = 0, bytes = 0 }) =>
    call(filter, 'readData', index, offset, bytes),
  tamis_filter_write_data: (filter, { index = 0, offset = 0, data }) =>
    call(filter, 'writeData', index, offset, Buffer.from(key(data))),
  tamis_filter_set_bit: (filter, { index = 0, position = 0 }) => filter.setBit(index, position),

  // Builds.
  tamis_build_begin: (store, { name, spec: given }) => {
    const { filter, memory_bytes = 0, threads = 0, flags = [], keep = 0 } = given ?? {};
    return call(store, 'build', name, {
      ...spec(filter),
      memoryBytes: memory_bytes,
      threads,
      ifChanged: flags.includes('IF_CHANGED'),
      ...(flags.includes('KEEP') ? { keep } : {}),
    });
  },
  tamis_build_add: (build, given) => call(build, 'addMany', keys(given.keys)),
  tamis_build_against: (build, given) => call(build, 'against', keys(given.keys)),
  tamis_build_except: (build, given) => call(build, 'exceptMany', keys(given.keys)),
  tamis_build_publish: async (build) => published(await call(build, 'publish')),
  tamis_build_close: (build) => call(build, 'close'),
  tamis_filter_generations: (store, { name }) => call(store, 'generations', name),
  tamis_filter_rollback: (store, { name, generation = 0 }) => call(store, 'rollback', name, generation),
  tamis_filter_except: (store, given) => call(store, 'except', given.name, keys(given.keys)),
  tamis_filter_unexcept: (store, given) => call(store, 'unexcept', given.name, keys(given.keys)),
  tamis_filter_exceptions: async (store, { name }) => (await call(store, 'exceptions', name)).map((each) => each.key),
  tamis_filter_each_exception: async (filter) => (await call(filter, 'exceptions')).map((each) => each.key),
  tamis_store_repair: async (_, { path, flags = [] }) =>
    (await call(tamis, 'repair', path, spec(null, flags))).filter(({ code }) => !code).length,
  tamis_store_backup: (store, { path }) => call(store, 'backup', path),

  // The library.
  tamis_version: () => tamis.version(),
  tamis_simd: () => tamis.simd(),
  tamis_error_name: (_, { error = 0 }) => tamis.errorName(error),
  tamis_error_message: (_, { error = 0 }) => tamis.errorMessage(error),
  tamis_last_error: () => message,
  tamis_kind_name: (_, { kind = 0 }) => tamis.kinds().find(({ number }) => number === kind)?.name ?? null,
  tamis_kind_has: (_, { kind = 0, property = 0 }) => {
    const of = tamis.kinds().find(({ number }) => number === kind);
    const names = ['isStatic', 'counts', 'mayGrow', 'mayBeDurable', 'isPlain'];
    return of !== undefined && names.every((name, bit) => !((property >> bit) & 1) || of[name]) && property < 32;
  },
  tamis_kind_next: (_, { kind = 0 }) => {
    const numbers = [0, ...tamis.kinds().map(({ number }) => number), 0];
    return numbers[numbers.indexOf(kind) + 1] ?? 0;
  },
  tamis_kind_from_name: (_, { name }) => tamis.kindNumber(name),
  tamis_hash_set_next: (_, { hash_set }) => {
    const names = tamis.hashSets();
    return (hash_set ? (names.includes(hash_set) ? names[names.indexOf(hash_set) + 1] : undefined) : names[0]) ?? null;
  },
  tamis_sigbus_leave: () => tamis.leaveSigbus(),
};

// The loop.

const isHandle = (value) => [tamis.Store, tamis.Filter, tamis.Build, tamis.Watch].some((each) => value instanceof each);

async function forget() {
  for (const handle of handles.values())
    try {
      await handle.close();
    } catch {
      // of a filter whose file the case has cut
    }
  handles.clear();
}

function read(line) {
  Words.ofStep = [];
  return JSON.parse(line, Words.revive);
}

async function answer(step) {
  if ('case' in step) {
    await forget();
    return { value: null };
  }
  const run = functions[step.call];
  if (!run) return { lacks: step.call };
  try {
    const value = await run(step.on === undefined ? undefined : named(step.on), step.with ?? {});
    const word = Words.unasked();
    if (word) return { lacks: `${step.call}(${word})` };
    if (!isHandle(value)) return { value: plain(value) };
    if (step.as !== undefined) {
      if (step.call !== 'tamis_filter_store') await named(step.as)?.close();
      handles.set(step.as, value);
    }
    return { value: null };
  } catch (error) {
    if (error instanceof Lacks) return { lacks: error.message };
    message = error.message;
    const code = error.code === 'TAMIS_ECLOSED' ? 'CLOSED' : error.code;
    if (!(error instanceof tamis.TamisError) && !String(code).startsWith('ERR_')) throw error;
    const said = { error: error instanceof tamis.TamisError ? code : 'INVALID', message };
    if (error.answers) said.answers = Array.from(error.answers);
    return said;
  }
}

// The race.

function* order(first, count, seed) {
  const stride = strides[Number(seed % 7n)];
  for (let i = 0n; i < count; i++) yield first + ((seed * 104729n + i * stride) % count);
}

async function race(path, name, first, count, seed, batch, out) {
  const seen = await (await tamis.Store.open(path, { create: false })).open(name);
  process.stdout.write('ready\n');
  fs.readSync(0, Buffer.alloc(64));
  const file = fs.openSync(out, 'a');
  let numbers = [];
  const add = async () => {
    const texts = numbers.map((number) => `key-${number}`);
    const answers = batch === 1 ? [seen.add(texts[0])] : await call(seen, 'addMany', texts);
    const fresh = numbers.filter((_, i) => answers[i]);
    if (fresh.length > 0) fs.writeSync(file, fresh.join('\n') + '\n');
    numbers = [];
  };
  for (const number of order(BigInt(first), BigInt(count), BigInt(seed))) {
    numbers.push(number);
    if (numbers.length === batch) await add();
  }
  if (numbers.length > 0) await add();
}

async function found(path, name, first, count) {
  const seen = await (await tamis.Store.open(path, { create: false })).open(name);
  let hits = 0;
  for (let begin = first; begin < first + count; begin += 4096) {
    const texts = Array.from({ length: Math.min(4096, first + count - begin) }, (_, i) => `key-${begin + i}`);
    for (const answer of await call(seen, 'hasMany', texts)) hits += answer;
  }
  console.log(hits);
}

async function main(what, path, name, ...rest) {
  if (what === 'functions') console.log(JSON.stringify(Object.keys(functions)));
  else if (what === 'race') await race(path, name, ...rest.slice(0, 4).map(Number), rest[4]);
  else if (what === 'found') await found(path, name, ...rest.map(Number));
  else
    for await (const line of readline.createInterface({ input: process.stdin }))
      process.stdout.write(JSON.stringify(await answer(read(line))) + '\n');
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
