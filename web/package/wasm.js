// Loads a module, and passes values and errors between it and JavaScript.

/** An error of quadmill. `code`: 'argument' | 'gl' | 'lost' | 'unsupported'. */
export class QuadmillError extends Error {
  constructor(code, message) {
    super(message);
    this.name = 'QuadmillError';
    this.code = code;
  }
}

/** Types of values: their number in the module, and their arrays. */
export const types = {
  f32: { number: 1, array: Float32Array },
  f64: { number: 2, array: Float64Array },
  i32: { number: 3, array: Int32Array },
  u32: { number: 4, array: Uint32Array },
  i64: { number: 5, array: BigInt64Array },
  u64: { number: 6, array: BigUint64Array },
};

/** The name of the type whose arrays these are. */
export function typeOf(values) {
  for (const [name, type] of Object.entries(types)) if (values instanceof type.array) return name;
  throw new QuadmillError('argument',
    `keys must be a Float32Array, Float64Array, Int32Array, Uint32Array, BigInt64Array or BigUint64Array, not ${values?.constructor?.name ?? values}`);
}

/** Compiles what the caller gave: a URL, a string, a Response, bytes, or a compiled module. */
export async function compile(wasm, fallback) {
  const from = wasm ?? fallback();
  if (from instanceof WebAssembly.Module) return from;
  if (from instanceof ArrayBuffer || ArrayBuffer.isView(from)) return WebAssembly.compile(from);
  if (from instanceof Response) return compileResponse(from);
  const url = new URL(from, globalThis.location?.href ?? import.meta.url);
  if (url.protocol === 'file:' && globalThis.process) {
    const { readFile } = await import(/* @vite-ignore */ /* webpackIgnore: true */ 'node:fs/promises');
    return WebAssembly.compile(await readFile(url));
  }
  return compileResponse(await fetch(url));
}

async function compileResponse(response) {
  if (!response.ok) throw new QuadmillError('argument', `the module is not at ${response.url}: the server says ${response.status}`);
  const type = response.headers.get('content-type') ?? '';
  return type.startsWith('application/wasm') ? WebAssembly.compileStreaming(response)
                                             : WebAssembly.compile(await response.arrayBuffer());
}

/** An instance of a module, with its memory. */
export class Instance {
  constructor(module, imports = {}) {
    this.instance = new WebAssembly.Instance(module, {
      env: { emscripten_notify_memory_growth() {} },
      wasi_snapshot_preview1: {
        clock_time_get: (id, precision, at) => {
          this.view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
          return 0;
        },
        environ_sizes_get: (count, bytes) => {
          this.view().setUint32(count, 0, true);
          this.view().setUint32(bytes, 0, true);
          return 0;
        },
        environ_get: () => 0,
        proc_exit: (code) => { throw new QuadmillError('gl', `the module ended with ${code}`); },
      },
      ...imports,
    });
    this.calls = this.instance.exports;
    this.calls._initialize();
  }
  get buffer() { return this.calls.memory.buffer; }
  view() { return new DataView(this.buffer); }
  bytes(at, count) { return new Uint8Array(this.buffer, at, count); }
  text(at) {
    const all = new Uint8Array(this.buffer, at);
    return new TextDecoder().decode(all.slice(0, all.indexOf(0)));
  }
  /** Throws if the call failed. */
  check(outcome) {
    if (outcome === 0) return;
    throw new QuadmillError(outcome === 1 ? 'argument' : 'gl', this.text(this.calls.qm_message()));
  }
  allocate(bytes) {
    const at = this.calls.malloc(bytes) >>> 0;
    if (at === 0) throw new QuadmillError('argument', `a module has at most 4 GB, and ${bytes} bytes more do not fit`);
    return at;
  }
  /** Copies values into the module, for the length of `use(at)`. */
  with(values, use) {
    const at = this.allocate(Math.max(values.byteLength, 1));
    try {
      this.bytes(at, values.byteLength).set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
      return use(at);
    } finally {
      this.calls.free(at);
    }
  }
}
