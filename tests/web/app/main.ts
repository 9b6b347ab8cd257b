// An application of the package, as bundlers build it; also checked by tsc --strict.
import { Quadmill, QuadmillError, type Keys } from 'quadmill';
import { Frequencies, Quantiles, load } from 'quadmill/streams';
import { Table } from 'quadmill/table';

declare const wasm: { quadmill: string; streams: string; table: string } | undefined;

const say = (line: string) => fetch('/say', { method: 'POST', body: line });

async function sorted<A extends Keys>(quadmill: Quadmill, keys: A): Promise<A> {
  return quadmill.sort(keys, { engine: 'gpu', order: 'desc' });
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
  const right = [keys.join() === '3,2,1', index.join() === '1,0', median === 2, wide === 7n, most === 4, code === 'argument', count === 2, middle === 5];
  return right.filter((one) => !one).length;
}

run().then((failed) => say(`${8 - failed} passed, ${failed} failed`), (error) => say(`FAILED ${error}`)).then(() => say('DONE'));
