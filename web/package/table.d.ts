import type { KeyTexture } from './index.js';
import type { Wasm } from './wasm.js';
export { QuadmillError } from './wasm.js';
export type { KeyTexture } from './index.js';
export type { Wasm } from './wasm.js';

/** Values in memory, or in a texture of the adopted context: the first `count` texels, all by default. They are copied
 * to a texture of the table. */
export type Column = Float32Array | Float64Array | Int32Array | Uint32Array | (KeyTexture & { count?: number });

/** What a value is compared with: a number, or another column of the row. */
export type Operand<Name extends string> = number | { column: Name };
export interface Comparisons<Name extends string> {
  lt?: Operand<Name>; lte?: Operand<Name>; gt?: Operand<Name>; gte?: Operand<Name>; eq?: Operand<Name>; ne?: Operand<Name>;
}
/** A condition on rows: on each column named, all of which hold. A number is equal, an array has one of its numbers.
 * Comparisons are exact: nothing is rounded to the column's type. With a NaN only `ne` holds, and -0 equals 0.
 *
 *     { price: { gte: 10, lt: 20 }, kind: [1, 2], not: { size: 0 } } */
export type Where<Name extends string = string> = { [column in Name]?: number | readonly number[] | Comparisons<Name> } & {
  /** Each of them, at least one of them, or the opposite of one. */
  all?: readonly Where<Name>[]; any?: readonly Where<Name>[]; not?: Where<Name>;
};

/** A table whose columns stay in textures, queried by render passes. Questions may be asked at the same time; nothing
 * blocks the page. */
export class Table<Name extends string = string> {
  /** Copies columns of the same length to textures of the page's context. Each call restores the state that it changes;
   * `state: 'mine'` as in Quadmill.adopt(). A column may not be called all, any or not.
   * Memory: 4 bytes a row of the GPU, 8 of a Float64Array; 1/8 byte for each condition in use. */
  static adopt<Name extends string>(gl: WebGL2RenderingContext, columns: Record<Name, Column>,
                                    options?: { wasm?: Wasm; state?: 'kept' | 'mine' }): Promise<Table<Name>>;
  /** The same in a context of its own. Throws 'unsupported' where there is none. */
  static create<Name extends string>(columns: Record<Name, Column>, options?: { wasm?: Wasm }): Promise<Table<Name>>;

  /** `software`: no GPU draws, and loops over arrays are faster. */
  readonly info: { readonly renderer: string; readonly software: boolean };
  readonly rows: number;

  /** Number of rows for which the condition holds; without one, of all rows. */
  count(where?: Where<Name>): Promise<number>;
  /** Numbers of those rows, ascending. Cost: reads back a bit a row. */
  select(where?: Where<Name>): Promise<Uint32Array>;

  /** Integers are added exactly, and the sum is rounded beyond 2^53 and refused beyond 2^63. Floats are added in double
   * precision. 0 without any row. */
  sum(column: Name, where?: Where<Name>): Promise<number>;
  /** These are null without any row. NaNs are the largest values. */
  mean(column: Name, where?: Where<Name>): Promise<number | null>;
  min(column: Name, where?: Where<Name>): Promise<number | null>;
  max(column: Name, where?: Where<Name>): Promise<number | null>;
  /** The lower one of two. Exact, as all ranks. */
  median(column: Name, where?: Where<Name>): Promise<number | null>;
  /** The value of rank ceil(phi n), from 1, of n values in order. */
  quantile(column: Name, phi: number, where?: Where<Name>): Promise<number | null>;
  /** The k-th smallest value, from 1; of a negative k the -k-th largest. null if there are fewer. */
  kth(column: Name, k: number, where?: Where<Name>): Promise<number | null>;

  /** Numbers of values in bins of the same width, or between ascending edges. A bin has its lower edge, the last one has
   * its upper edge, too. Cost: one draw for all bins, at most 8192, and 3 that add up. */
  histogram(column: Name, bins: { min: number; max: number; bins: number } | readonly number[],
            where?: Where<Name>): Promise<Uint32Array>;

  /** Deletes its textures and programs. Later calls throw. */
  free(): void;
}
