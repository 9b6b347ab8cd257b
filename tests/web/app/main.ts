// An application of the package, as bundlers build it; also checked by tsc --strict.
import { Quadmill, QuadmillError, type Keys } from 'quadmill';
import { Frequencies, Quantiles, SlidingQuantiles, load } from 'quadmill/streams';
import { Table } from 'quadmill/table';

declare const wasm: { quadmill: string; streams: string; table: string } | undefined;

const say = (line: string) => fetch('/say', { method: 'POST', body: line });

async function sorted<A extends Keys>(quadmill: Quadmill, keys: A): Promise<A> {
  return quadmill.sort(keys, { engine: 'gpu', order: 'desc' });
}

// The examples of docs/browser.md.
async function documented(quadmill: string | undefined, wasm: string | undefined): Promise<boolean> {
  const gl = document.createElement('canvas').getContext('webgl2')!, width = 4, height = 1, count = 4;
  const texture = (format: GLenum, data: GLenum, type: GLenum, values: ArrayBufferView) => {
    const made = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, made);
    gl.texImage2D(gl.TEXTURE_2D, 0, format, width, height, 0, data, type, values);
    return made;
  };
  const depths = texture(gl.R32F, gl.RED, gl.FLOAT, Float32Array.of(3, 1, 2, 4));
  const order = texture(gl.R32UI, gl.RED_INTEGER, gl.UNSIGNED_INT, new Uint32Array(4));
  const sorter = await Quadmill.adopt(gl, { wasm: quadmill, debug: true });
  await sorter.prepare('argsortTexture', 'f32', count);
  sorter.argsortTexture({ texture: depths, width, height, format: 'r32f' },
                        { texture: order, width, height }, { count, order: 'desc' });

  const price = Float32Array.of(5, 12, 18), size = Float64Array.of(1, 2, 3), kind = Int32Array.of(1, 1, 2);
  const table = await Table.create({ price, size, kind }, { wasm });
  const where = { price: { gte: 10, lt: 20 }, kind: [1, 2] };
  const answers = [await table.count(where), await table.median('size', where), (await table.select(where)).length,
    (await table.histogram('price', { min: 0, max: 100, bins: 50 }, { kind: where.kind })).length];

  const times = new Quantiles({ eps: 0.001 }).add(size), bytes = new Quantiles().add(4).save();
  times.quantile(0.99);
  times.merge(Quantiles.load(bytes));
  // @ts-expect-error: values of another type
  const refused = () => times.merge(new Quantiles({ type: 'f32' }));
  const { code } = await Promise.resolve().then(refused).then(() => new QuadmillError('gl', 'nothing thrown'), (error: QuadmillError) => error);
  const last: number = new SlidingQuantiles({ window: 100, anyWidth: true }).add([1, 2, 3]).quantile(0, 2).value;
  return answers.join() === '2,2,2,50' && times.count === 4 && code === 'argument' && last === 2;
}

async function run(): Promise<number> {
  const given = typeof wasm === 'undefined' ? undefined : wasm;
  const quadmill = await Quadmill.create({ wasm: given?.quadmill });
  const keys: Float32Array = await sorted(quadmill, Float32Array.of(1, 3, 2));
  const index: Uint32Array = await quadmill.argsort(BigInt64Array.of(5n, -5n), { engine: 'gpu' });
  await load(given?.streams);
  const median: number = new Quantiles().add(Float64Array.of(1, 2, 3)).quantile(0.5).value;
  const wide: bigint = new Quantiles({ type: 'i64' }).add(7n).quantile(0.5).value;
  const most: number = new Frequencies().add([4, 4, 5]).frequent(0.5)[0].value;
  const code: 'argument' | 'gl' | 'lost' | 'unsupported' = await quadmill.sort(new Float32Array(2), { engine: 'npu' as 'gpu' })
    .then(() => 'gl', (error: QuadmillError) => error.code);
  const table = await Table.create({ price: Float32Array.of(1, 5, 9), kind: Int32Array.of(1, 2, 2) }, { wasm: given?.table });
  const count: number = await table.count({ price: { gte: 2 }, any: [{ kind: 2 }, { kind: [7, 8] }] });
  const middle: number | null = await table.median('price', { not: { kind: 1 } });
  const right = [keys.join() === '3,2,1', index.join() === '1,0', median === 2, wide === 7n, most === 4, code === 'argument', count === 2, middle === 5,
    await documented(given?.quadmill, given?.table)];
  return right.filter((one) => !one).length;
}

run().then((failed) => say(`${9 - failed} passed, ${failed} failed`), (error) => say(`FAILED ${error}`)).then(() => say('DONE'));
