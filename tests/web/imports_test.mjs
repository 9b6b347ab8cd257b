// What the package promises of its files: each import of a module is there, and downloads are small.
// imports_test.mjs PACKAGE
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

const [folder] = process.argv.slice(2);
const zipped = (name) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length;
const imports = (name) => WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(join(folder, name))));

test('gl.js has all that quadmill.wasm, table.wasm and the page import, and no more than the package does', () => {
  const of = (name) => imports(name).filter(({ module }) => module === 'gl').map((one) => one.name);
  const wanted = [...new Set([...of('quadmill.wasm'), ...of('table.wasm')])].sort();
  const text = readFileSync(join(folder, 'gl.js'), 'utf8');
  const given = [...text.slice(text.indexOf('    return {\n')).matchAll(/^ {6}([A-Z]\w+):/gm)].map(([, name]) => name).sort();
  assert.deepEqual(given, wanted);
  for (const name of of('../site/stages.wasm')) assert.ok(given.includes(name), name);
});

test('The modules import little else', () => {
  const allowed = ['env.emscripten_notify_memory_growth', 'wasi_snapshot_preview1.clock_time_get', 'wasi_snapshot_preview1.proc_exit',
    'wasi_snapshot_preview1.environ_get', 'wasi_snapshot_preview1.environ_sizes_get'];
  for (const name of ['streams.wasm', 'quadmill.wasm', 'table.wasm', '../site/stages.wasm'])
    for (const one of imports(name)) if (one.module !== 'gl') assert.ok(allowed.includes(`${one.module}.${one.name}`), `${name}: ${one.module}.${one.name}`);
});

test('The modules are no larger than docs/browser.md says', () => {
  for (const [name, most] of [['quadmill.wasm', 70], ['streams.wasm', 80], ['table.wasm', 104]]) {
    const bytes = zipped(name);
    console.log(`${name}: ${bytes} bytes gzipped`);
    assert.ok(bytes <= most * 1024, name);
  }
});
