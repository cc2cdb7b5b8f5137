// SPDX-License-Identifier: BSD-2-Clause
// The package for `import`: the same classes as those of `require`.
import tamis from './lib/index.js';

export const {
  Store,
  Filter,
  Build,
  Watch,
  TamisError,
  version,
  simd,
  errorName,
  errorMessage,
  lastError,
  kinds,
  kindNumber,
  hashSets,
  hashSetWeakness,
  formats,
  onFullNames,
  pagesNames,
  fields,
  segmentFile,
  size,
  predictRate,
  explain,
  shard,
  shardMany,
  check,
  checkSync,
  repair,
  repairSync,
  setLeastDescriptor,
  leaveSigbus,
} = tamis;
export default tamis;
