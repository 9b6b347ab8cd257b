// quadmill/streams in Node. streams_test.mjs PACKAGE [QUADMILL]: with the command, its saved bytes must be the same.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';

const [folder, command] = process.argv.slice(2);
const from = (file) => import(pathToFileURL(resolve(folder, file)));
const streams = await from('streams.js');
const { Frequencies, HeavyPrefixes, Quantiles, QuadmillError, SlidingFrequencies, SlidingQuantiles, load } = streams;
const temporary = mkdtempSync(join(tmpdir(), 'quadmill-web-'));
after(() => rmSync(temporary, { recursive: true }));

test('Nothing works before load()', () => {
  assert.throws(() => new Quantiles(), { code: 'argument', message: /load\(\)/ });
});

test('load() takes a file, bytes and a compiled module, and works once', async () => {
  await assert.rejects(load(new Uint8Array(8)), WebAssembly.CompileError);
  await load(readFileSync(resolve(folder, 'streams.wasm')));
  await load();
});

let state = 1;
const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0);
const big = (signed) => (BigInt(random()) << 32n | BigInt(random())) - (signed ? 1n << 63n : 0n);
const makers = {
  f32: (n) => Float32Array.from({ length: n }, () => random() / 2 ** 31 - 1),
  f64: (n) => Float64Array.from({ length: n }, () => random() / 2 ** 31 - 1),
  i32: (n) => Int32Array.from({ length: n }, () => random() | 0),
  u32: (n) => Uint32Array.from({ length: n }, random),
  i64: (n) => BigInt64Array.from({ length: n }, () => big(true)),
  u64: (n) => BigUint64Array.from({ length: n }, () => big(false)),
};

for (const [type, make] of Object.entries(makers)) {
  test(`Quantiles of ${type} keep to eps, also merged and loaded`, () => {
    for (const n of [1, 2, 1000, 300001]) {
      const values = make(n), sorted = values.slice().sort(), eps = 0.01, half = n >> 1;
      const first = new Quantiles({ type, eps }).add(values.subarray(0, half));
      const second = new Quantiles({ type, eps }).add(values.subarray(half));
      const all = Quantiles.load(first.merge(second).save());
      assert.equal(all.type, type);
      assert.equal(all.count, n);
      for (const phi of [0, 0.001, 0.5, 0.99, 1]) {
        const { value, rankLower, rankUpper } = all.quantile(phi);
        const wanted = Math.min(Math.max(Math.ceil(phi * n), 1), n);
        const low = sorted.findIndex((one) => one === value) + 1, high = sorted.findLastIndex((one) => one === value) + 1;
        assert.ok(low > 0, `${value} is a value of the stream`);
        assert.ok(rankLower <= high && low <= rankUpper);
        assert.ok(low - eps * n <= wanted && wanted <= high + eps * n, `${phi} of ${n}: ${low} to ${high}`);
      }
    }
  });
}

test('Frequencies count within eps', () => {
  const values = Uint32Array.from({ length: 200000 }, () => Math.floor((random() / 2 ** 32) ** 4 * 100));
  const exact = new Map();
  for (const value of values) exact.set(value, (exact.get(value) ?? 0) + 1);
  const eps = 0.001, support = 0.02, found = new Frequencies({ eps }).add(values).frequent(support);
  const names = new Set(found.map((one) => one.value));
  for (const [value, count] of exact) if (count >= support * values.length) assert.ok(names.has(value));
  for (const { value, lower, upper } of found) {
    assert.ok(lower <= exact.get(value) && exact.get(value) <= upper);
    assert.ok(upper - lower <= eps * values.length);
    assert.ok(exact.get(value) >= (support - eps) * values.length);
  }
});

test('Sliding summaries know the last values', () => {
  const window = 10000, eps = 0.01;
  const old = makers.f64(50000), last = Float64Array.from({ length: window }, (_, i) => i);
  const quantiles = SlidingQuantiles.load(new SlidingQuantiles({ window, eps }).add(old).add(last).save());
  assert.ok(Math.abs(quantiles.quantile(0.5).value - window / 2) <= eps * window + 1);
  const frequencies = new SlidingFrequencies({ window, eps }).add(new Uint32Array(50000).fill(7)).add(new Uint32Array(window).fill(8));
  assert.deepEqual(SlidingFrequencies.load(frequencies.save()).frequent(0.5).map((one) => one.value), [8]);
  assert.throws(() => new SlidingQuantiles({}), { code: 'argument' });
});

test('With anyWidth, sliding summaries answer for each width; without, the message names the option', () => {
  const window = 200000, eps = 0.05, values = makers.u32(300000), options = { type: 'u32', window, eps, anyWidth: true };
  const quantiles = SlidingQuantiles.load(new SlidingQuantiles(options).add(values).save());
  for (const width of [1, 2, 1000, 65537, window]) {
    const sorted = values.slice(-width).sort(), { value } = quantiles.quantile(0.5, width), wanted = Math.ceil(width / 2);
    const low = sorted.indexOf(value) + 1, high = sorted.lastIndexOf(value) + 1;
    assert.ok(low > 0 && low <= wanted + eps * width && high >= wanted - eps * width, `${width}: ${low} to ${high}`);
  }
  const frequencies = new SlidingFrequencies(options).add(new Uint32Array(1000).fill(7)).add(new Uint32Array(10).fill(8));
  assert.deepEqual(frequencies.frequent(0.9, 10).map((one) => one.value), [8]);
  assert.deepEqual(frequencies.frequent(0.9).map((one) => one.value), [7]);
  const fixed = new SlidingQuantiles({ window }).add(1);
  assert.equal(fixed.quantile(0.5, window).value, 1);
  assert.throws(() => fixed.quantile(0.5, 5), { code: 'argument', message: /whole window \(any width needs the option anyWidth\), 200000, not 5/ });
  for (const width of [0, -1, 1.5, NaN, '5']) assert.throws(() => quantiles.quantile(0.5, width), { code: 'argument', message: /width must be a whole number/ });
  assert.throws(() => quantiles.quantile(0.5, window + 1), { code: 'argument', message: /from 1 to the window, 200000, not 200001/ });
});

test('Heavy prefixes', () => {
  const values = Uint32Array.from({ length: 100000 }, (_, i) => i % 2 ? random() : 0x0a010000 + (random() & 0xffff));
  const found = HeavyPrefixes.load(new HeavyPrefixes().add(values).save()).heavy(0.3);
  assert.ok(found.some(({ value, length }) => value === 0x0a010000 && length === 16));
});

test('Wrong calls say what to do', () => {
  const wrong = [
    [() => new Quantiles({ eps: 0 }), /eps must be from/],
    [() => new Quantiles({ type: 'f16' }), /type must be one of f32/],
    [() => new Quantiles().add('1'), /takes a Float64Array/],
    [() => new Quantiles().add(new Float32Array(1)), /takes a Float64Array/],
    [() => new Quantiles({ type: 'u32' }).add(1.5), /1\.5 is not a value of type u32/],
    [() => new Quantiles({ type: 'i64' }).add(1), /1 is not a value of type i64/],
    [() => new Quantiles().quantile(0.5), /no values yet/],
    [() => new Quantiles().add(1).quantile(2), /from 0 to 1/],
    [() => new Quantiles().merge(new Quantiles({ type: 'f32' })), /of f64 only/],
    [() => new Quantiles().merge(new Frequencies({ type: 'f64' })), /of f64 only/],
    [() => Quantiles.load(new Uint8Array(20)), /QMSM/],
    [() => Quantiles.load(new Frequencies().add(1).save()), /Frequencies/],
    [() => Quantiles.load(new Quantiles().add(1).save().subarray(0, 12)), /damaged|not all/],
    [() => new HeavyPrefixes({ type: 'f32' }), /u32 or u64/],
    [() => Quantiles.load(), /load\(\) takes the bytes of save\(\) as a Uint8Array, not undefined/],
    [() => Quantiles.load('QMSM'), /as a Uint8Array, not String/],
    [() => new SlidingQuantiles(null), /window must be from 1/],
    [() => new SlidingQuantiles({ window: 5 }).merge(new SlidingQuantiles({ window: 5 })), /add both streams to one/],
    [() => new SlidingQuantiles({ window: 2 ** 40, eps: 1e-6, anyWidth: true }), /GiB; take a larger eps or a shorter window/],
    [() => new HeavyPrefixes().heavy(2), /^support must be from 0\.01 to 1, not 2$/],
    [() => { const one = new Quantiles(); one.free(); one.free(); one.add(1); }, /was freed/],
  ];
  for (const [call, message] of wrong)
    assert.throws(call, (error) => error instanceof QuadmillError && error.code === 'argument' && message.test(error.message) && !/::|max_bytes/.test(error.message), String(call));
});

test('NaNs are left out, infinities and -0 are values', () => {
  const one = new Quantiles().add(Float64Array.of(NaN, Infinity, -0, -Infinity));
  assert.equal(one.count, 3);
  assert.equal(one.quantile(1).value, Infinity);
});

test('The other entry point can be imported without WebGL2', async () => {
  const { Quadmill } = await from('index.js'), { Table } = await from('table.js');
  for (const call of [() => Quadmill.adopt({}), () => Quadmill.adopt(), () => Quadmill.create(), () => Table.create({ a: new Float32Array(2) })])
    await assert.rejects(call, (error) => error instanceof QuadmillError && error.code === 'unsupported', String(call));
});

if (command) {
  test('The command saves the same bytes, and reads ours', () => {
    for (const [type, make] of Object.entries(makers)) {
      const values = make(200000), raw = join(temporary, `${type}.raw`), saved = join(temporary, `${type}.qm`);
      writeFileSync(raw, values);
      for (const [verb, Summary, eps] of [['quantiles', Quantiles, 0.001], ['frequent', Frequencies, 0.01]]) {
        const ask = verb === 'quantiles' ? ['--phi', '0.5'] : ['--support', '0.5'];
        const run = (...words) => execFileSync(command, [verb, ...words, '--eps', String(eps), '--type', type, '--engine', 'cpu', ...ask], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
        run(raw, '--save', saved);
        const ours = new Summary({ type, eps }).add(values).save();
        assert.equal(Buffer.compare(readFileSync(saved), ours), 0, `${verb} of ${type}`);
      }
    }
  });
}
