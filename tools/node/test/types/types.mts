// SPDX-License-Identifier: BSD-2-Clause
// What type checkers make of the package, with import.
import tamis, { Filter, Store, TamisError, shardMany, type FilterSpec, type Key } from '../../index.mjs';

const spec: FilterSpec = { capacity: 1000 };
const keys: Key[] = ['a', new Uint8Array(2)];

export function uses(): Uint32Array {
  const store: Store = new tamis.Store('store', { mode: 0o660 });
  const seen: Filter = store.createSync('seen', spec);
  const error: TamisError | undefined = undefined;
  console.log(seen.addManySync(keys), error);
  return shardMany(keys, 64);
}
