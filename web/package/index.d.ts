import type { Type, Wasm } from './wasm.js';
export { QuadmillError } from './wasm.js';
export type { Type, Wasm } from './wasm.js';

export type Keys = Float32Array | Float64Array | Int32Array | Uint32Array | BigInt64Array | BigUint64Array;
export type Order = 'asc' | 'desc';

/** A texture of the caller's context: level 0 of a 2-D texture. */
export interface Texture {
  texture: WebGLTexture;
  /** In texels. WebGL2 cannot report the size of a texture. */
  width: number;
  height: number;
}
export interface KeyTexture extends Texture {
  format: 'r32f' | 'r32ui' | 'r32i';
}

export interface SortOptions {
  /** Default 'asc'. NaNs come last in both. */
  order?: Order;
  /** 'auto' takes the CPU for few keys, and if there is only a software renderer. */
  engine?: 'auto' | 'gpu' | 'cpu';
}

/** Sorts by render passes in one WebGL2 context. Calls of one object run one after the other. */
export class Quadmill {
  /** Works in the page's context, also in a worker with an OffscreenCanvas. Each call restores the state that it
   * changes; `state: 'mine'` says that the page sets all state that it needs, as engines do that reset theirs.
   * `debug: true` asks for errors of OpenGL before and after each call, which takes time, and throws 'gl'.
   * Throws 'unsupported' for WebGL1 contexts. */
  static adopt(gl: WebGL2RenderingContext, options?: { wasm?: Wasm; state?: 'kept' | 'mine'; debug?: boolean }): Promise<Quadmill>;
  /** Works in a context of its own. Throws 'unsupported' where there is none. */
  static create(options?: { wasm?: Wasm; debug?: boolean }): Promise<Quadmill>;

  /** `software`: the renderer is not a GPU, and the CPU sorts faster. `maxKeys`: the largest number of 32-bit keys with
   * an index. */
  readonly info: { readonly renderer: string; readonly software: boolean; readonly maxKeys: number };

  /** Writes the order of the keys: texel i of the index, row after row, receives the number of the i-th key in order.
   * Equal keys keep their order. Texels after the last key keep their value.
   *
   * Shape: `index` is R32UI with at least `count` texels. Cost: 15 draws for 2^16 keys; reads nothing back, and
   * does not wait. Throws 'argument', and 'unsupported' for buffers and more than info.maxKeys keys, before any work. Example: web/page/splats.js. */
  argsortTexture(keys: KeyTexture, index: Texture, options?: { count?: number; order?: Order }): void;

  /** Sorts in place, and resolves to the same array. Bits are only moved: NaNs and -0 stay what they are. */
  sort<A extends Keys>(keys: A, options?: SortOptions): Promise<A>;
  /** The number of the i-th key in order, for each i. Equal keys keep their order. */
  argsort(keys: Keys, options?: SortOptions): Promise<Uint32Array>;
  /** The first k keys in order, and their numbers. */
  top<A extends Keys>(keys: A, k: number, options?: SortOptions): Promise<{ keys: A; index: Uint32Array }>;

  /** Compiles the programs and makes the textures of later calls with up to `count` keys. It compiles one program per
   * task, so the page can draw frames in between. */
  prepare(call: 'argsortTexture' | 'sort' | 'argsort', type: Type, count: number): Promise<void>;

  /** Deletes its textures and programs. Later calls throw. */
  free(): void;
}
