// SPDX-License-Identifier: BSD-2-Clause
// What type checkers make of the package, with require.  @ts-expect-error: the line must be refused.
import tamis = require('../..');

export async function uses(store: tamis.Store, file: string): Promise<void> {
  const seen: tamis.Filter = await store.openOrCreate('seen', { capacity: 10n, window: 1000, whateverIsThere: true });
  const isNew: boolean = seen.add('a') || seen.has(Buffer.from('a'));
  const found: string | null = seen.hasName('a.example');
  const foundBytes: Uint8Array | null = seen.hasName(Buffer.from('a.example'));
  const answers: Uint8Array = await seen.addMany(new Set(['a', Buffer.from('b')]));
  const counts: number[] = seen.countManySync(['a']);
  const bytes: Buffer = await seen.export();
  const nothing: void = await seen.export({ file });
  const { seed, items }: { seed: bigint; items: number } = await seen.stat();
  for await (const fresh of seen.newOf(['a'])) for (const key of fresh) key.toUpperCase();
  try {
    seen.add('a');
  } catch (error) {
    if (error instanceof tamis.TamisError && error.code === 'TAMIS_EFULL') console.log(error.answers?.length);
  }
  const build: tamis.Build = await store.build('list', { keep: 3, fpRate: 0.01 });
  console.log(found, foundBytes);
  console.log(isNew, answers, counts, bytes, nothing, seed, items, (await build.publish()).isPublished);
  // @ts-expect-error a key is a string or bytes
  seen.add(5);
  // @ts-expect-error an option with a typing error
  await store.create('x', { capcity: 5 });
  // @ts-expect-error there is no such kind
  await store.create('x', { capacity: 5, kind: 'blom' });
  // @ts-expect-error filters come from a store
  new tamis.Filter();
  // @ts-expect-error an add of many keys gives a promise
  const wrong: Uint8Array = seen.addMany(['a']);
  console.log(wrong);
}
