// SPDX-License-Identifier: BSD-2-Clause
import js from '@eslint/js';

const globals = Object.fromEntries(
  [
    'Buffer',
    'console',
    'process',
    'require',
    'module',
    '__dirname',
    'setTimeout',
    'clearTimeout',
    'structuredClone',
    'global',
    'URL',
    'fetch',
    'performance',
  ].map((name) => [name, 'readonly']),
);

export default [
  {
    ignores: [
      'build/',
      'library/',
      'prebuilds/',
      'node_modules/',
      '**/node_modules/',
      '**/*.ts',
      '**/*.cts',
      '**/*.mts',
    ],
  },
  js.configs.recommended,
  { languageOptions: { globals } },
  { files: ['**/*.js'], languageOptions: { sourceType: 'commonjs' } },
];
