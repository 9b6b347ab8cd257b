// The packed package in applications of three bundlers, each opened in Chromium, and tsc --strict.
// bundlers_test.mjs PACKAGE FOLDER; npm installs the bundlers into FOLDER.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const [, , packageFolder, wanted] = process.argv;
const folder = resolve(wanted);
const run = (command, ...words) => execFileSync(command, words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
const tool = (name, ...words) => run(join(folder, 'node_modules/.bin', name), ...words);
const page = (name, head = '') => `<!doctype html><meta charset="utf-8"><title>app</title>${head}<script type="module" src="${name}"></script>`;
const open = (site) => execFileSync('python3', [join(here, 'browser_test.py'), '--site', site], { encoding: 'utf8' });

mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}');
for (const old of readdirSync(folder)) if (old.endsWith('.tgz')) rmSync(join(folder, old));
const [{ filename, files }] = JSON.parse(run('npm', 'pack', '--json', resolve(packageFolder)));
run('npm', 'install', '--no-audit', '--no-fund', `./${filename}`, 'vite@8', 'webpack@5', 'webpack-cli@6', 'esbuild@0.28', 'typescript@5', 'three@0.187');
copyFileSync(join(here, 'app/main.ts'), join(folder, 'main.ts'));

test('npm pack takes what users need', () => {
  const names = files.map(({ path }) => path);
  for (const name of ['index.js', 'index.d.ts', 'streams.js', 'streams.d.ts', 'table.js', 'table.d.ts', 'quadmill.wasm', 'streams.wasm', 'table.wasm', 'README.md', 'LICENSE', 'package.json'])
    assert.ok(names.includes(name), name);
});

test('tsc --strict', () => {
  tool('tsc', '--strict', '--noEmit', '--target', 'es2022', '--module', 'nodenext', '--moduleResolution', 'nodenext', 'main.ts');
});

test('esbuild, with the modules as files; each entry point has at most 8 KB of JavaScript, tables 9', () => {
  const site = join(folder, 'esbuild');
  writeFileSync(join(folder, 'with_files.ts'), `import quadmill from 'quadmill/quadmill.wasm';\nimport streams from 'quadmill/streams.wasm';\nimport table from 'quadmill/table.wasm';\n(globalThis as any).wasm = { quadmill, streams, table };\nawait import('./main.ts');\n`);
  tool('esbuild', 'with_files.ts', '--bundle', '--splitting', '--format=esm', '--loader:.wasm=file', '--external:node:*', `--outdir=${site}`);
  writeFileSync(join(site, 'index.html'), page('/with_files.js'));
  open(site);
  for (const [entry, most] of [['index.js', 8], ['streams.js', 8], ['table.js', 9]]) {
    const code = tool('esbuild', `node_modules/quadmill/${entry}`, '--bundle', '--minify', '--format=esm', '--external:node:*');
    const bytes = gzipSync(code, { level: 9 }).length;
    console.log(`${entry}: ${bytes} bytes minified and gzipped`);
    assert.ok(bytes <= most * 1024, entry);
  }
});

test("three.js as a host: the README's example draws in the CPU's order", () => {
  const site = join(folder, 'three'), example = /```js three\n(.*?)```/s.exec(readFileSync(join(packageFolder, 'README.md'), 'utf8'))[1];
  writeFileSync(join(folder, 'three_app.js'), example + readFileSync(join(here, 'app/three_checks.js'), 'utf8'));
  tool('esbuild', 'three_app.js', '--bundle', '--format=esm', '--external:node:*', `--outfile=${site}/three_app.js`);
  copyFileSync(join(packageFolder, 'quadmill.wasm'), join(site, 'quadmill.wasm'));
  writeFileSync(join(site, 'index.html'), page('/three_app.js'));
  open(site);
});

test('Vite', () => {
  const app = join(folder, 'vite-app'), site = join(app, 'dist');
  mkdirSync(app, { recursive: true });
  cpSync(join(folder, 'main.ts'), join(app, 'main.ts'));
  writeFileSync(join(app, 'index.html'), page('/main.ts'));
  tool('vite', 'build', app, '--logLevel', 'warn');
  assert.ok(readdirSync(join(site, 'assets')).some((name) => name.endsWith('.wasm')));
  open(site);
});

test('webpack', () => {
  const site = join(folder, 'webpack');
  tool('esbuild', 'main.ts', '--format=esm', '--outfile=main.js');
  writeFileSync(join(folder, 'webpack.config.js'), `export default { mode: 'production', entry: './main.js', output: { path: ${JSON.stringify(site)}, publicPath: '/' } };\n`);
  tool('webpack');
  writeFileSync(join(site, 'index.html'), page('/main.js'));
  assert.ok(readFileSync(join(site, 'main.js'), 'utf8').length > 0);
  open(site);
});
