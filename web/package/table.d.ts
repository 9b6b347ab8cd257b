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
/** A condition on rows. A row must satisfy the conditions of all columns that are named. A number means 'equals it', an
 * array means 'equals one of its numbers'. Comparisons are exact: nothing is rounded to the column's type. A NaN
 * satisfies only `ne`, and -0 equals 0.
 *
 *     { price: { gte: 10, lt: 20 }, kind: [1, 2], not: { size: 0 } } */
export type Where<Name extends string = string> = { [column in Name]?: number | readonly number[] | Comparisons<Name> } & {
  /** `all`: each of the conditions holds. `any`: at least one holds. `not`: the condition does not hold. */
  all?: readonly Where<Name>[]; any?: readonly Where<Name>[]; not?: Where<Name>;
};

/** A table whose columns stay in textures, queried by render passes. Questions may be asked at the same time; nothing
 * blocks the page. */
export class Table<Name extends string = string> {
  /** Copies columns of the same length to textures of the page's context. Each call restores the state that it changes;
   * `state: 'mine'` and `debug` as in Quadmill.adopt(). A column may not be called all, any or not.
   * Memory on the GPU, per row: 4 bytes per column (8 for a Float64Array), and 1/8 byte per condition in use. */
  static adopt<Name extends string>(gl: WebGL2RenderingContext, columns: Record<Name, Column>,
                                    options?: { wasm?: Wasm; state?: 'kept' | 'mine'; debug?: boolean }): Promise<Table<Name>>;
  /** The same in a context of its own. Throws 'unsupported' where there is none. */
  static create<Name extends string>(columns: Record<Name, Column>, options?: { wasm?: Wasm; debug?: boolean }): Promise<Table<Name>>;

  /** `software`: the renderer is not a GPU, and loops over arrays are faster. */
  readonly info: { readonly renderer: string; readonly software: boolean };
  readonly rows: number;

  /** Number of rows for which the condition holds; without one, of all rows. */
  count(where?: Where<Name>): Promise<number>;
  /** The numbers of the rows for which the condition holds, ascending. Cost: one bit per row is read back. */
  select(where?: Where<Name>): Promise<Uint32Array>;

  /** Integers are added exactly, and the sum is rounded beyond 2^53 and refused beyond 2^63. Floats are added in double
   * precision. 0 without any row. */
  sum(column: Name, where?: Where<Name>): Promise<number>;
  /** The mean, the smallest and the largest value; null if there are no rows. NaNs are the largest values. */
  mean(column: Name, where?: Where<Name>): Promise<number | null>;
  min(column: Name, where?: Where<Name>): Promise<number | null>;
  max(column: Name, where?: Where<Name>): Promise<number | null>;
  /** The exact median; of two middle values, the lower one. */
  median(column: Name, where?: Where<Name>): Promise<number | null>;
  /** The value of rank ceil(phi n), from 1, of n values in order. */
  quantile(column: Name, phi: number, where?: Where<Name>): Promise<number | null>;
  /** The k-th smallest value, from 1; of a negative k the -k-th largest. null if there are fewer. */
  kth(column: Name, k: number, where?: Where<Name>): Promise<number | null>;

  /** The number of values in each bin. Bins have the same width, or lie between ascending edges. A value at the lower
   * edge of a bin is in that bin. A value at the upper edge of the last bin is in the last bin. At most 8192 bins.
   * Cost: one draw for all bins, and 3 draws that add up. */
  histogram(column: Name, bins: { min: number; max: number; bins: number } | readonly number[],
            where?: Where<Name>): Promise<Uint32Array>;

  /** Deletes its textures and programs. Later calls throw. */
  free(): void;
}
