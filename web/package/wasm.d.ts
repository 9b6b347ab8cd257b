/** Where a module comes from. Default: the file beside the package's JavaScript. */
export type Wasm = URL | string | Response | BufferSource | WebAssembly.Module;

export type Type = 'f32' | 'f64' | 'i32' | 'u32' | 'i64' | 'u64';

export interface Arrays {
  f32: Float32Array; f64: Float64Array; i32: Int32Array; u32: Uint32Array; i64: BigInt64Array; u64: BigUint64Array;
}
export type ArrayOf<T extends Type> = Arrays[T];
export type Value<T extends Type> = T extends 'i64' | 'u64' ? bigint : number;

/** What calls of quadmill throw. Calls that load a module also pass on what fetch() and WebAssembly.compile() throw. */
export class QuadmillError extends Error {
  constructor(code: QuadmillError['code'], message: string);
  /** 'argument': the call was wrong. 'gl': the driver failed. 'lost': the context was lost. 'unsupported': this
   * browser or WebGL2 cannot do it. */
  readonly code: 'argument' | 'gl' | 'lost' | 'unsupported';
}
