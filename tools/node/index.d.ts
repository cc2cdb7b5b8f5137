// SPDX-License-Identifier: BSD-2-Clause
/// <reference types="node" />
/*
 * The types of the package, and what each thing does.
 *
 * Calls that may wait come in two forms: name() works in the thread pool and returns a promise, nameSync() waits.
 * Calls without a second form take less than a microsecond.
 *
 * Counts are numbers.  What uses all 64 bits is a bigint: seeds, and times in nanoseconds since 1970 or as lengths.
 * Where a count is given, a bigint is taken too.
 */

/** A string is the same key as its UTF-8. */
export type Key = string | Uint8Array;
export type Keys = Iterable<Key>;
export type Count = number | bigint;
/** A time: milliseconds as a number, or nanoseconds as a bigint. */
export type Duration = number | bigint;

export type Kind = 'blocked' | 'bloom' | 'counting' | 'fuse';
export type OnFull = 'grow' | 'refuse' | 'warn';
export type Pages = 'auto' | 'small' | 'huge';
export type Format = 'tamis' | 'redis-bitmap' | 'redisbloom' | 'guava' | 'spark' | 'parquet' | 'dcso' | 'pybloomfilter';

/** The names of the library's error codes, and TAMIS_ECLOSED for a handle that was closed. */
export type Code =
  | 'TAMIS_EINVAL'
  | 'TAMIS_ENOTFOUND'
  | 'TAMIS_EEXIST'
  | 'TAMIS_EMISMATCH'
  | 'TAMIS_ENOSTORE'
  | 'TAMIS_EREADONLY'
  | 'TAMIS_EACCESS'
  | 'TAMIS_ENOSPACE'
  | 'TAMIS_ENOMEM'
  | 'TAMIS_EIO'
  | 'TAMIS_ECORRUPT'
  | 'TAMIS_EFOREIGN'
  | 'TAMIS_EVERSION'
  | 'TAMIS_EDROPPED'
  | 'TAMIS_EUNSUPPORTED'
  | 'TAMIS_ELIMIT'
  | 'TAMIS_ESYSTEM'
  | 'TAMIS_EFULL'
  | 'TAMIS_EBUSY'
  | 'TAMIS_ECLOSED';

/** An error of the library; the message says what was tried, on what, and what mends it. */
export class TamisError extends Error {
  constructor(message: string, code: Code, errno: number);
  readonly code: Code;
  /** The number of the code, below zero; 0 for TAMIS_ECLOSED. */
  readonly errno: number;
  /** Of a call for many keys: 1, 0, or 2 for a key that was not handled. */
  readonly answers?: Uint8Array;
  /** Of newOf(): the keys of the batch that were new.  Nobody is told so again. */
  readonly newKeys?: Key[];
}

/** What a filter is to be; all but capacity has a good default. */
export interface FilterSpec {
  /** Distinct keys for which the rate holds. */
  capacity?: Count;
  /** Rate of false positives; 0.01 if it is left out. */
  fpRate?: number;
  kind?: Kind;
  k?: number;
  mBits?: Count;
  hashSet?: string;
  seed?: Count;
  /** 'grow': further files; 'refuse': TAMIS_EFULL; 'warn': a worse rate. */
  onFull?: OnFull;
  /** Keys are forgotten after that, and at most a slice later. */
  window?: Duration;
  windowItems?: Count;
  /** 'last' (the default): a window after the last add of a key; 'first': after the first. */
  windowFrom?: 'first' | 'last';
  slices?: number;
  counterBits?: number;
  /** add() answers true only once a power cut cannot take the key. */
  durable?: boolean;
  owned?: boolean;
  /** 16 bytes: the key of the hash set sip. */
  secret?: Uint8Array;
  pages?: Pages;
  /** What the key of a record is: 'bytes' (the default), 'name' for hosts, 'url' for URLs; docs/keys.md has the rules. */
  keyRule?: string;
}

/** What is known of a filter (tamis-info(1)).  Of watch.look(), newKeys counts since the look before. */
export interface FilterStat {
  name: string;
  kind: Kind;
  hashSet: string;
  onFull: OnFull;
  fpRate: number;
  predictedRate: number;
  bitsPerKey: number;
  capacity: number;
  items: number;
  mBits: number;
  k: number;
  seed: bigint;
  sizeBytes: number;
  generation: number;
  segmentCount: number;
  /** 0 is ok; 1 full, 2 degraded, 4 unclean, 8 damaged, 16 over. */
  state: number;
  createdAt: bigint;
  publishedAt: bigint;
  checkpointedAt: bigint;
  windowNs: bigint;
  windowItems: number;
  windowFrom: 'first' | 'last' | null;
  slices: number;
  liveSlices: number;
  counterBits: number;
  fingerprintBits: number;
  exceptions: number;
  keep: number;
  uncleanSince: bigint;
  degradedSince: bigint;
  durable: boolean;
  pages: Pages;
  keyRule: string;
  importedAt: bigint;
  importedFrom: string;
  importedDigest: string;
  importedSignedAt: bigint;
  importedSignedBy: string;
  importedSignedComment: string;
  /** How many keys of an unclean filter are known to be missing; 0n: not known. */
  missingKeys: bigint;
  /** Keys that it takes before it grows or refuses; null: any number, or not known. */
  room: number | null;
  lacksBytes: number;
  newKeys: number;
}

export interface SegmentStat {
  number: number;
  kind: Kind;
  hashSet: string;
  mBits: number;
  k: number;
  words: number;
  seed: bigint;
  bitOrder: number;
  capacity: number;
  fpRate: number;
  items: number;
  step: number;
  counterBits: number;
  fingerprintBits: number;
  pieces: number;
  slice: number;
  sliceStart: bigint;
  fileBytes: number;
  dataOffset: number;
  dataBytes: number;
  createdAt: bigint;
  flags: number;
  /** Nobody adds to it any more, and it has checksums. */
  sealed: boolean;
  /** These four are of fill() only, else 0. */
  ones: number;
  fill: number;
  fpRateNow: number;
  itemsEstimated: number;
}

export interface Generation {
  generation: number;
  inForce: boolean;
  kind: Kind;
  segmentCount: number;
  items: number;
  sizeBytes: number;
  fpRate: number;
  exceptions: number;
  publishedAt: bigint;
  keyDigest: Buffer;
}

export interface BuildResult {
  /** False: ifChanged was given, and nothing had changed. */
  isPublished: boolean;
  keys: number;
  distinct: number;
  generation: number;
  exceptions: number;
  found: number;
  conflicts: number;
  sampled: number;
  sampledYes: number;
  sizeBytes: number;
  keyDigest: Buffer;
}

export interface PublishResult {
  isPublished: boolean;
  generation: number;
  exceptions: number;
  sizeBytes: number;
  digest: Buffer;
}

/** A key that answers absent whatever the bits say. */
export interface Exception {
  key: Buffer;
  /** 0, or the generation whose build found it. */
  generation: number;
}

export interface Problem {
  filter: string;
  file: string;
  offset: number;
  /** null: it only looks odd. */
  code: Code | null;
  reason: string;
}

export interface RepairStep {
  filter: string;
  file: string;
  /** null: it was done. */
  code: Code | null;
  what: string;
}

export interface Mapped {
  bytes: number;
  present: number;
  hugeBytes: number;
  wanted: Pages;
  obstacle: string | null;
}

/** Two filters compared: numbers of keys, and how much they share. */
export interface Comparison {
  itemsA: number;
  itemsB: number;
  itemsUnion: number;
  itemsBoth: number;
  jaccard: number;
  error: number;
}

export interface Sizing {
  kind: Kind;
  k: number;
  capacity: number;
  mBits: number;
  fpRate: number;
  predictedRate: number;
  bitsPerKey: number;
  dataBytes: number;
  fileBytes: number;
  words: number;
  counterBits: number;
  fingerprintBits: number;
  pieces: number;
}

export interface KindInfo {
  name: Kind;
  number: number;
  isStatic: boolean;
  counts: boolean;
  mayGrow: boolean;
  mayBeDurable: boolean;
  isPlain: boolean;
}

export interface StoreOptions {
  /** Make the store if there is none: true, but for a read-only one. */
  create?: boolean;
  readOnly?: boolean;
  /** Of the files of a new store, such as 0o660. */
  mode?: number;
  /** How long a call waits for another process that has a lock of the store; 10,000 ms. */
  busyTimeout?: Duration;
  forceNetworkFs?: boolean;
}

export interface OpenOptions {
  readOnly?: boolean;
  /** Closing it brings nothing to the disk; a later sync() does. */
  noSync?: boolean;
  /** Bring all of it into memory first. */
  populate?: boolean;
}

export interface BuildOptions extends FilterSpec {
  memoryBytes?: Count;
  threads?: number;
  /** Publish nothing if the keys are those of the generation in force. */
  ifChanged?: boolean;
  /** How many older generations are kept for rollback(). */
  keep?: number;
}

/** What a stream does not tell (docs/exchange.md). */
export interface ImportOptions {
  format?: Format;
  hashSet?: string;
  mBits?: Count;
  k?: number;
  capacity?: Count;
  fpRate?: number;
  sealCapacity?: Count;
  sealRate?: number;
  createdAt?: bigint;
  /** When the stream was signed, as the caller has checked. */
  signedAt?: bigint;
  origin?: string;
  head?: boolean;
  asThere?: boolean;
  owned?: boolean;
  durable?: boolean;
}

export interface PublishOptions extends ImportOptions {
  except?: Keys;
  ifChanged?: boolean;
  /** Publish only what was made after the list in force. */
  newer?: boolean;
  keep?: number;
}

export interface ExportOptions {
  format?: Format;
  withKey?: boolean;
  withoutExceptions?: boolean;
  withDigest?: boolean;
  /** A part of the stream. */
  from?: Count;
  bytes?: Count;
}

export interface NewOfOptions {
  /** Keys of a batch; 1,000. */
  batch?: number;
  /** A batch that is not full is asked for after so many milliseconds; 100. */
  wait?: number;
}

/** A directory of filters, which many processes share without a server. */
export class Store {
  /** Opens a store, or makes it.  The thread waits; Store.open() does not. */
  constructor(path: string, options?: StoreOptions);
  static open(path: string, options?: StoreOptions): Promise<Store>;
  /** The directory, as an absolute path. */
  readonly path: string;
  readonly closed: boolean;

  /** Opens a filter that is there. */
  open(name: string, options?: OpenOptions): Promise<Filter>;
  openSync(name: string, options?: OpenOptions): Filter;
  create(name: string, spec?: FilterSpec): Promise<Filter>;
  createSync(name: string, spec?: FilterSpec): Filter;
  /**
   * Opens a filter, or makes it; of many processes one makes it.  TAMIS_EMISMATCH names what differs of one that is
   * there.  With whateverIsThere such a filter is taken as it is.
   */
  openOrCreate(name: string, spec?: FilterSpec & { whateverIsThere?: boolean }): Promise<Filter>;
  openOrCreateSync(name: string, spec?: FilterSpec & { whateverIsThere?: boolean }): Filter;
  /** Makes many filters of one spec, much faster than one by one; how many were made. */
  createMany(names: Iterable<string>, spec: FilterSpec, options?: { ifMissing?: boolean }): Promise<number>;
  createManySync(names: Iterable<string>, spec: FilterSpec, options?: { ifMissing?: boolean }): number;
  /** Begins the next generation of a filter, which is made anew as a whole. */
  build(name: string, options?: BuildOptions): Promise<Build>;
  buildSync(name: string, options?: BuildOptions): Build;
  /** Makes a filter of the keys that are in any of the filters, or in all of them. */
  merge(name: string, filters: Filter[], options?: { intersect?: boolean }): Promise<Filter>;
  mergeSync(name: string, filters: Filter[], options?: { intersect?: boolean }): Filter;
  /** Makes a filter of a stream: the path of a file, or its bytes. */
  import(name: string, source: string | Uint8Array, options?: ImportOptions): Promise<Filter>;
  importSync(name: string, source: string | Uint8Array, options?: ImportOptions): Filter;
  /** Makes a stream the next generation of a filter. */
  publish(name: string, source: string | Uint8Array, options?: PublishOptions): Promise<PublishResult>;
  publishSync(name: string, source: string | Uint8Array, options?: PublishOptions): PublishResult;

  /** What is known of the filters; live: with the items of now, not those of the last close or sync. */
  list(prefix?: string, options?: { live?: boolean }): Promise<FilterStat[]>;
  listSync(prefix?: string, options?: { live?: boolean }): FilterStat[];
  names(prefix?: string): Promise<string[]>;
  namesSync(prefix?: string): string[];
  has(name: string): Promise<boolean>;
  hasSync(name: string): boolean;
  /** A list that is looked at again and again, at no cost to those who use the store. */
  watch(prefix?: string): Watch;
  /** Checks the files of a filter, or of all. */
  verify(name?: string): Promise<Problem[]>;
  verifySync(name?: string): Problem[];

  drop(name: string): Promise<void>;
  dropSync(name: string): void;
  /** Drops up to 1,000 filters at once; how many were dropped.  A name that none has is passed over. */
  dropMany(names: string[], createdAt?: bigint[]): Promise<number>;
  dropManySync(names: string[], createdAt?: bigint[]): number;
  rename(name: string, newName: string): Promise<void>;
  renameSync(name: string, newName: string): void;
  setOwned(name: string, isOwned: boolean): Promise<void>;
  setOwnedSync(name: string, isOwned: boolean): void;
  setPages(name: string, pages: Pages): Promise<void>;
  setPagesSync(name: string, pages: Pages): void;
  generations(name: string): Promise<Generation[]>;
  generationsSync(name: string): Generation[];
  /** Puts a kept generation in force again; 0: the newest before the one in force. */
  rollback(name: string, generation?: Count): Promise<void>;
  rollbackSync(name: string, generation?: Count): void;
  /** Makes keys answer absent whatever the bits say; how many did not yet. */
  except(name: string, keys: Keys): Promise<number>;
  exceptSync(name: string, keys: Keys): number;
  /** Ends that; 1 for each key that was an exception. */
  unexcept(name: string, keys: Keys): Promise<Uint8Array>;
  unexceptSync(name: string, keys: Keys): Uint8Array;
  exceptions(name: string): Promise<Exception[]>;
  exceptionsSync(name: string): Exception[];
  /** Copies the store, in use or not, into a directory that is empty or not there; how many filters. */
  backup(path: string): Promise<number>;
  backupSync(path: string): number;
  setBusyTimeout(timeout: Duration): void;

  /** Filters that are open stay open. */
  close(): Promise<void>;
  closeSync(): void;
}

/** An open filter.  It comes from store.open(), create() or openOrCreate(). */
export class Filter {
  private constructor();
  /** The name by which it was opened. */
  readonly name: string;
  readonly store: Store;
  readonly closed: boolean;
  /** How many keys it has. */
  readonly items: number;
  readonly createdAt: bigint;

  /** Adds a key.  True: it was new, and of all processes and threads this one was told so. */
  add(key: Key): boolean;
  has(key: Key): boolean;
  /** Asks for a name and its parents: the nearest that is in the filter, as `name` spells it; null: none of them is. */
  hasName<K extends Key>(name: K): (K extends string ? string : Uint8Array) | null;
  /** Takes a key off once; kind counting only. */
  remove(key: Key): boolean;
  /** How often a key is there; kind counting only. */
  count(key: Key): number;
  prefetch(key: Key): void;

  /** Adds keys; answer i is 1 if key i was new, else 0. */
  addMany(keys: Keys): Promise<Uint8Array>;
  addManySync(keys: Keys): Uint8Array;
  hasMany(keys: Keys): Promise<Uint8Array>;
  hasManySync(keys: Keys): Uint8Array;
  removeMany(keys: Keys): Promise<Uint8Array>;
  removeManySync(keys: Keys): Uint8Array;
  countMany(keys: Keys): Promise<number[]>;
  countManySync(keys: Keys): number[];
  /** Adds the keys of a stream by batches, and yields of each batch an array of those that are new. */
  newOf<K extends Key>(source: AsyncIterable<K> | Iterable<K>, options?: NewOfOptions): AsyncGenerator<K[], void, void>;

  /** Brings all that was added to the disk. */
  sync(): Promise<void>;
  syncSync(): void;
  /** Has the library do that by a thread of its own; 0 ends it. */
  setSyncInterval(interval: Duration): Promise<void>;
  setSyncIntervalSync(interval: Duration): void;
  /** Begins a new slice of the window. */
  rotate(): Promise<void>;
  rotateSync(): void;
  /** Says that keys which a power cut took were dealt with. */
  accept(): Promise<void>;
  acceptSync(): void;
  /** Whether an add of so many keys may wait for the disk; 'prepare': call prepare() soon. */
  mayWait(keys?: Count): 'no' | 'prepare' | 'yes';
  /** Does what the next adds would wait for, of so many new keys; 0: their number is not known. */
  prepare(keys?: Count): Promise<void>;
  prepareSync(keys?: Count): void;

  stat(): Promise<FilterStat>;
  statSync(): FilterStat;
  segment(index?: number): Promise<SegmentStat>;
  segmentSync(index?: number): SegmentStat;
  /** The same, and counts the set bits. */
  fill(index?: number): Promise<SegmentStat>;
  fillSync(index?: number): SegmentStat;
  /** How full each of `count` equal parts of a segment is, 0 to 1. */
  fillMap(index: number, count: number): Promise<number[]>;
  fillMapSync(index: number, count: number): number[];
  mapped(): Promise<Mapped>;
  mappedSync(): Mapped;
  explain(key: Key, index?: number): { hashes: string; positions: number[] };
  exceptions(): Promise<Exception[]>;
  exceptionsSync(): Exception[];

  /** Brings all keys of other filters into this one. */
  merge(filters: Filter[], options?: { intersect?: boolean }): Promise<void>;
  mergeSync(filters: Filter[], options?: { intersect?: boolean }): void;
  /** The spec of a filter that can be merged with this one. */
  like(): FilterSpec;
  compare(other: Filter): Promise<Comparison>;
  compareSync(other: Filter): Comparison;
  /** Writes the filter as a stream: into a file, or as bytes. */
  export(options: ExportOptions & { file: string }): Promise<void>;
  export(options?: ExportOptions & { file?: undefined }): Promise<Buffer>;
  exportSync(options: ExportOptions & { file: string }): void;
  exportSync(options?: ExportOptions & { file?: undefined }): Buffer;
  readData(index: number, offset: Count, bytes: number): Promise<Buffer>;
  readDataSync(index: number, offset: Count, bytes: number): Buffer;
  /** Sets each bit that is set in the data. */
  writeData(index: number, offset: Count, data: Uint8Array): Promise<void>;
  writeDataSync(index: number, offset: Count, data: Uint8Array): void;
  /** Sets a bit; the bit from before. */
  setBit(index: number, position: Count): boolean;

  /** Closing twice is allowed.  Calls that run end normally; the promise is that of the last of them, and of the disk. */
  close(): Promise<void>;
  closeSync(): void;
  /** Closes it without bringing anything to the disk. */
  release(): Promise<void>;
  releaseSync(): void;
}

/** A filter that is made anew as a whole.  It comes from store.build().  Await each call before the next. */
export class Build {
  private constructor();
  readonly closed: boolean;
  addMany(keys: Keys): Promise<void>;
  addManySync(keys: Keys): void;
  /** Keys that are known to be good: those that would answer yes become exceptions. */
  against(keys: Keys): Promise<void>;
  againstSync(keys: Keys): void;
  exceptMany(keys: Keys): Promise<void>;
  exceptManySync(keys: Keys): void;
  publish(): Promise<BuildResult>;
  publishSync(): BuildResult;
  close(): Promise<void>;
  closeSync(): void;
}

/** It comes from store.watch(). */
export class Watch {
  private constructor();
  look(): Promise<FilterStat[]>;
  lookSync(): FilterStat[];
  close(): Promise<void>;
  closeSync(): void;
}

/** With `await using` and `using` of TypeScript 5.2: where Node has these symbols, the classes have the methods. */
export interface Closable {
  close(): Promise<void>;
  closeSync(): void;
}

export function version(): string;
export function simd(): 'avx512' | 'avx2' | 'portable';
export function errorName(errno: number): string;
export function errorMessage(errno: number): string;
/** The sentence of the last call that failed in this thread; errors have it as their message. */
export function lastError(): string;
export function kinds(): KindInfo[];
export function kindNumber(name: string): number;
export function hashSets(): string[];
export function hashSetWeakness(hashSet: string): string | null;
export function formats(): Format[];
export function onFullNames(): OnFull[];
export function pagesNames(): Pages[];
export function fields(): {
  name: string;
  property: string;
  of: 'filter' | 'segment';
  unit: string;
  sentence: string;
}[];
export function segmentFile(number: Count): string;
/** Completes a size from two or three of capacity, fpRate, mBits and k. */
export function size(known: {
  kind?: Kind;
  capacity?: Count;
  fpRate?: number;
  mBits?: Count;
  k?: number;
  counterBits?: number;
}): Sizing;
/** NaN: there is no such filter. */
export function predictRate(of: { kind?: Kind; mBits: Count; k: number; items: Count }): number;
export function explain(
  key: Key,
  options: { hashSet?: string; mBits: Count; k?: number; seed?: Count },
): { hashes: string; positions: bigint[] };
/** The shard that a key belongs to, of a filter in so many shards (docs/cluster.md). */
export function shard(key: Key, shards: number): number;
export function shardMany(keys: Keys, shards: number): Uint32Array;
/** Would a filter be accepted?  With `store`: is there room for it?  Makes nothing. */
export function check(name: string, spec: FilterSpec, options?: { store?: string }): Promise<void>;
export function checkSync(name: string, spec: FilterSpec, options?: { store?: string }): void;
export function repair(
  path: string,
  options?: { dryRun?: boolean; rebuild?: boolean; forceNetworkFs?: boolean },
): Promise<RepairStep[]>;
export function repairSync(
  path: string,
  options?: { dryRun?: boolean; rebuild?: boolean; forceNetworkFs?: boolean },
): RepairStep[];
export function setLeastDescriptor(number: number): void;
/** Before the first store is opened: the library installs no handler of SIGBUS. */
export function leaveSigbus(): void;
