import type { ArrayOf, Type, Value, Wasm } from './wasm.js';
export { QuadmillError } from './wasm.js';
export type { ArrayOf, Type, Value, Wasm } from './wasm.js';

/** Loads the WebAssembly module once. Await it before any other call. It works in Node 20 and in workers, too. */
export function load(wasm?: Wasm): Promise<void>;

declare class Summary<T extends Type> {
  readonly type: T;
  /** Values so far, without NaNs. */
  readonly count: number;
  /** Adds a value, or all values of an array. NaNs are left out. */
  add(values: ArrayOf<T> | readonly Value<T>[] | Value<T>): this;
  /** The bytes of docs/stream-format.md, which quadmill's command, C++ and Python read. */
  save(): Uint8Array;
  /** Frees its memory now; otherwise the garbage collector does. */
  free(): void;
}

/** A value of the stream, whose rank (1 is the smallest) is from rankLower to rankUpper. */
export interface Quantile<T extends Type> { value: Value<T>; rankLower: number; rankUpper: number }
/** A value whose count is from lower to upper. */
export interface Frequent<T extends Type> { value: Value<T>; lower: number; upper: number }

/** Quantiles of a stream.
 * Guarantee: the rank of an answer is off by at most eps times the number of values, for every input and order. */
export class Quantiles<in out T extends Type = 'f64'> extends Summary<T> {
  constructor(options?: { type?: T; /** default 0.001 */ eps?: number });
  quantile(phi: number): Quantile<T>;
  /** Adds all values of the other summary, which is not changed. eps becomes the larger of both. The type of a loaded
   * summary is known at run time: one of another type is refused. */
  merge(other: Quantiles<T> | Quantiles<Type>): this;
  static load(bytes: Uint8Array): Quantiles<Type>;
}

/** Frequent values. Guarantee: no count is off by more than eps times the number of values. */
export class Frequencies<in out T extends Type = 'u32'> extends Summary<T> {
  constructor(options?: { type?: T; /** default 0.001 */ eps?: number });
  /** All values whose share of the stream is at least `support`, and none with a share below support - eps; the most
   * frequent first. */
  frequent(support: number): Frequent<T>[];
  merge(other: Frequencies<T> | Frequencies<Type>): this;
  static load(bytes: Uint8Array): Frequencies<Type>;
}

/** Quantiles of the last `window` values. With `anyWidth`, which takes more memory, an answer may be about the last
 * `width` of them.
 * Guarantee: the rank of an answer is off by at most eps times the number of values that it is about. */
export class SlidingQuantiles<T extends Type = 'f64'> extends Summary<T> {
  constructor(options: { window: number; type?: T; /** default 0.01 */ eps?: number; /** default false */ anyWidth?: boolean });
  quantile(phi: number, width?: number): Quantile<T>;
  static load(bytes: Uint8Array): SlidingQuantiles<Type>;
}

/** Frequent values among the last `window` values; `anyWidth` as for SlidingQuantiles. */
export class SlidingFrequencies<T extends Type = 'u32'> extends Summary<T> {
  constructor(options: { window: number; type?: T; /** default 0.01 */ eps?: number; /** default false */ anyWidth?: boolean });
  frequent(support: number, width?: number): Frequent<T>[];
  static load(bytes: Uint8Array): SlidingFrequencies<Type>;
}

/** Prefixes of numbers (networks of addresses, say) that many values share. */
export class HeavyPrefixes<in out T extends 'u32' | 'u64' = 'u32'> extends Summary<T> {
  constructor(options?: { type?: T; /** default 0.001 */ eps?: number; /** smallest support of heavy(), default 0.01 */ support?: number });
  /** `length` is in bits, a multiple of 8. Discounted counts leave out values of longer heavy prefixes. */
  heavy(support: number): (Frequent<T> & { length: number; discountedLower: number; discountedUpper: number })[];
  merge(other: HeavyPrefixes<T> | HeavyPrefixes<'u32' | 'u64'>): this;
  static load(bytes: Uint8Array): HeavyPrefixes<'u32' | 'u64'>;
}
