// SPDX-License-Identifier: BSD-2-Clause
//
// library.js cflags | libs: what the compiler and the linker of the addon need; binding.gyp asks.
// library.js pack | unpack: copies the sources of the library into this folder for `npm pack`, and removes them.
//
// An installed libtamis is used if pkg-config knows one.  Otherwise the library is built by CMake from the sources that
// are two folders above the package, or in `library` of it, and becomes part of the addon.  TAMIS_BUNDLE=1 and
// TAMIS_BUNDLE=0 in the environment ask for the one or the other.  TAMIS_BUILD=DIRECTORY names a build of CMake that has
// the library already.
'use strict';

const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const package_ = path.dirname(__dirname);
const packed = path.join(package_, 'library');

function fail(sentence) {
  process.stderr.write(`tamis: ${sentence}\n`);
  process.exit(1);
}

/** The folder with the library's CMakeLists.txt, or undefined. */
function sources() {
  if (process.env.TAMIS_BUILD) {
    const cache = fs.readFileSync(path.join(process.env.TAMIS_BUILD, 'CMakeCache.txt'), 'utf8');
    return /^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$/m.exec(cache)[1];
  }
  return [packed, path.join(package_, '..', '..')].find((place) =>
    fs.existsSync(path.join(place, 'store', 'include', 'tamis.h')),
  );
}

/** The words that pkg-config prints, or undefined if it does not know the library. */
function pkgConfig(library, what) {
  try {
    const command = process.env.PKG_CONFIG || 'pkg-config';
    const output = execFileSync(command, [what, library], { stdio: ['ignore', 'pipe', 'ignore'] });
    return output.toString().split(/\s+/).filter(Boolean);
  } catch {
    return undefined;
  }
}

/** Whether the library is built from its sources. */
function isBundled() {
  const wanted = process.env.TAMIS_BUNDLE;
  if (wanted === '1' || process.env.TAMIS_BUILD) return true;
  if (pkgConfig('tamis', '--cflags')) return false;
  if (wanted === '0') fail('TAMIS_BUNDLE=0, and pkg-config does not know libtamis; install it, or unset TAMIS_BUNDLE');
  return true;
}

/** Builds the static library, in build/library; returns its path. */
function build(top) {
  const place = path.join(package_, 'build', 'library');
  const off = [
    'BUILD_TOOLS',
    'BUILD_REDIS',
    'BUILD_PYTHON',
    'BUILD_PHP',
    'BUILD_TESTS',
    'WITH_MD5',
    'WITH_SIP',
    'WITH_IDN',
  ];
  // What they print goes to the standard error output: gyp reads the other.
  const run = (...words) => execFileSync('cmake', words, { stdio: ['ignore', 2, 2] });
  try {
    run('-S', top, '-B', place, ...off.map((option) => `-DTAMIS_${option}=OFF`));
    run('--build', place, '--target', 'tamis_static', '-j', String(os.cpus().length));
  } catch (error) {
    const lacks = error.code === 'ENOENT' ? 'there is no cmake' : 'it could not be built (see above)';
    fail(
      'pkg-config does not know libtamis, so it is built from its sources, and ' +
        `${lacks}; install cmake, a C compiler, pkg-config, liblmdb-dev and libxxhash-dev`,
    );
  }
  return path.join(place, 'store', 'libtamis.a');
}

/** Where the headers of the library are. */
function headers() {
  if (!isBundled()) return pkgConfig('tamis', '--cflags');
  const top = sources();
  if (!top) fail('pkg-config does not know libtamis, and the sources of the library are not there; install libtamis');
  return ['-isystem', path.join(top, 'store', 'include')];
}

function flags(what) {
  if (what === 'cflags') return ['-isystem', path.dirname(require.resolve('node-addon-api')), ...headers()];
  if (!isBundled()) return pkgConfig('tamis', '--libs');
  const lmdb = pkgConfig('lmdb', '--libs');
  if (!lmdb) fail('pkg-config does not know lmdb; install liblmdb-dev and pkg-config');
  const at = process.env.TAMIS_BUILD;
  // A build that was made elsewhere may have what needs these.
  const others = ['libmd', 'libsodium', 'libidn2'].flatMap((library) => (at && pkgConfig(library, '--libs')) || []);
  return [at ? path.join(at, 'store', 'libtamis.a') : build(sources()), ...lmdb, ...others, '-pthread', '-lm'];
}

/** What the library's CMakeLists.txt read when it alone is built. */
const pages = [
  'tamis',
  'tamis_build',
  'tamis_check',
  'tamis_exchange',
  'tamis_filter',
  'tamis_keys',
  'tamis_labels',
  'tamis_library',
  'tamis_memory',
  'tamis_merge',
  'tamis_sizing',
  'tamis_stat',
  'tamis_store',
].map((page) => `docs/man/${page}.3`);
const files = ['CMakeLists.txt', 'docs/CMakeLists.txt', ...pages, 'LICENSE'];

function pack() {
  const top = path.join(package_, '..', '..');
  fs.cpSync(path.join(top, 'store'), path.join(packed, 'store'), { recursive: true });
  for (const file of files) {
    fs.mkdirSync(path.dirname(path.join(packed, file)), { recursive: true });
    fs.copyFileSync(path.join(top, file), path.join(packed, file));
  }
}

const what = process.argv[2];
if (what === 'cflags' || what === 'libs') console.log(flags(what).join(' '));
else if (what === 'pack') pack();
else if (what === 'unpack') fs.rmSync(packed, { recursive: true, force: true });
else fail(`library.js: unknown argument '${what}'`);
