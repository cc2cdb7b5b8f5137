// SPDX-License-Identifier: BSD-2-Clause
// The queue of ../README.md, for crawlers in JavaScript.
import fs from 'node:fs/promises';
import path from 'node:path';

const FILE_URLS = 10;

export class Work {
  #count = 0;

  static async begin(store, directory, name) {
    const work = new Work();
    work.queued = await store.open('queued');
    work.finished = await store.open('finished');
    Object.assign(work, { directory, name });
    for (const part of ['claimed', 'found']) {
      await work.#putBack(path.join(directory, part, name));
    }
    return work;
  }

  // What a crawler of this name had when it was killed.
  async #putBack(directory) {
    await fs.mkdir(directory, { recursive: true });
    for (const file of await fs.readdir(directory)) {
      const its = path.join(directory, file);
      await (file.endsWith('.new') ? fs.unlink(its) : fs.rename(its, path.join(this.directory, 'queue', file)));
    }
  }

  // Returns { file, urls }, the URLs that are to be fetched; null where there is no file now.
  async claim() {
    for (const file of (await fs.readdir(path.join(this.directory, 'queue'))).sort()) {
      const mine = path.join(this.directory, 'claimed', this.name, file);
      try {
        await fs.rename(path.join(this.directory, 'queue', file), mine);
      } catch (error) {
        if (error.code === 'ENOENT') continue; // another crawler has it
        throw error;
      }
      const all = (await fs.readFile(mine, 'utf8')).split('\n').filter((url) => url !== '');
      const done = await this.finished.hasMany(all);
      return { file: mine, urls: all.filter((_, i) => !done[i]) };
    }
    return null;
  }

  // Brings the links that nobody has found before into the queue.
  async put(links) {
    const file = `${this.name}-${process.pid}-${++this.#count}`;
    const found = path.join(this.directory, 'found', this.name, file);
    await fs.writeFile(found, links.join('\n'));
    const answers = await this.queued.addMany(links);
    const isNew = links.filter((_, i) => answers[i] === 1);
    for (let i = 0; i < isNew.length; i += FILE_URLS) {
      await fs.writeFile(`${found}-${i}.new`, isNew.slice(i, i + FILE_URLS).join('\n'));
      await fs.rename(`${found}-${i}.new`, path.join(this.directory, 'queue', `${file}-${i}`));
    }
    await fs.unlink(found);
  }

  async finish({ file, urls }) {
    await this.finished.addMany(urls);
    await fs.unlink(file);
  }

  // Has no crawler anything, nor the queue?
  async isEmpty() {
    const parts = [path.join(this.directory, 'queue')];
    for (const part of ['claimed', 'found']) {
      const directory = path.join(this.directory, part);
      parts.push(...(await fs.readdir(directory)).map((name) => path.join(directory, name)));
    }
    for (const part of parts) {
      if ((await fs.readdir(part)).length > 0) return false;
    }
    return true;
  }
}
