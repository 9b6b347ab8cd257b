// Summaries of streams, with sure bounds. The bytes of save() are those of quadmill's C++ and Python.
import { Instance, QuadmillError, compile, typeOf, types } from './wasm.js';

export { QuadmillError };

const kinds = { Quantiles: 1, Frequencies: 2, SlidingQuantiles: 3, SlidingFrequencies: 4, HeavyPrefixes: 5 };
const names = Object.keys(types);
let loading, module;

/** The module's messages, without names of C++ functions and with the names of options here. */
class Module extends Instance {
  text(at) {
    return super.text(at).replace(/^\w+::\w+: /, '').replace(' of max_bytes', '')
      .replace('the whole window,', 'the whole window (any width needs the option anyWidth),');
  }
}

/** Loads the module once. Call it before all else. */
export function load(wasm) {
  loading ??= compile(wasm, () => new URL('./streams.wasm', import.meta.url)).then(
    (compiled) => { module = new Module(compiled); },
    (error) => { loading = undefined; throw error; });
  return loading;
}

const unused = new FinalizationRegistry((handle) => module.calls.qm_stream_free(handle));
const saved = Symbol('saved');

class Summary {
  #handle = 0;
  #type;

  constructor(options, usual) {
    if (!module) throw new QuadmillError('argument', "call 'await load()' of quadmill/streams first");
    const { kind } = this.constructor;
    const { type = usual.type, eps = usual.eps, window = 0, anyWidth = false, support = usual.support ?? 0 } = options ?? {};
    if (!(type in types)) throw new QuadmillError('argument', `type must be one of ${names.join(', ')}, not ${type}`);
    if (!Number.isSafeInteger(window) || window < 0)
      throw new QuadmillError('argument', `window must be a whole number of values, not ${window}`);
    const bytes = options?.[saved] ?? new Uint8Array();
    module.with(bytes, (at) => module.check(module.calls.qm_stream_make(
      kind, types[type].number, Number(eps), BigInt(window), anyWidth ? 1 : 0, Number(support), bytes.length ? at : 0, bytes.length)));
    this.#handle = module.calls.qm_stream_made();
    this.#type = type;
    unused.register(this, this.#handle, this);
  }

  get #alive() {
    if (this.#handle === 0) throw new QuadmillError('argument', `this ${this.constructor.name} was freed`);
    return this.#handle;
  }

  /** 'f32' | 'f64' | 'i32' | 'u32' | 'i64' | 'u64'. */
  get type() { return this.#type; }
  /** Number of values so far, without NaNs. */
  get count() { return module.calls.qm_stream_n(this.#alive); }

  /** Adds a value, or all of a typed array of the summary's type. */
  add(values) {
    const handle = this.#alive;
    const { array } = types[this.#type];
    if (typeof values === 'number' || typeof values === 'bigint') values = this.#one(values);
    if (Array.isArray(values)) values = array.from(values, (value) => this.#one(value)[0]);
    if (!(values instanceof array))
      throw new QuadmillError('argument', `a summary of ${this.#type} takes a ${array.name}, not a ${values?.constructor?.name}`);
    const most = 1 << 20;
    for (let i = 0; i < values.length; i += most) {
      const part = values.subarray(i, i + most);
      module.with(part, (at) => module.check(module.calls.qm_stream_add(handle, at, part.length)));
    }
    return this;
  }

  #one(value) {
    const { array } = types[this.#type];
    let one;
    try { one = array.of(value); } catch { one = undefined; }
    const same = one && (Object.is(one[0], value) || one[0] === value || this.#type === 'f32');
    if (!same) throw new QuadmillError('argument', `${String(value)} is not a value of type ${this.#type}`);
    return one;
  }

  /** Adds what the other has seen. Both have the same class and type. */
  merge(other) {
    if (!(other instanceof this.constructor) || other.type !== this.type)
      throw new QuadmillError('argument', `a ${this.constructor.name} of ${this.type} merges with another one of ${this.type} only`);
    module.check(module.calls.qm_stream_merge(this.#alive, other.#alive));
    return this;
  }

  /** The bytes of docs/stream-format.md. */
  save() {
    module.check(module.calls.qm_stream_save(this.#alive));
    return module.bytes(module.calls.qm_stream_bytes(), module.calls.qm_stream_size()).slice();
  }

  /** Frees its memory now; otherwise the garbage collector does. */
  free() {
    if (this.#handle === 0) return;
    unused.unregister(this);
    module.calls.qm_stream_free(this.#handle);
    this.#handle = 0;
  }

  /** Rows of an answer, `each` numbers of 64 bits a row. Without a width, of all values of the window. */
  _ask(at, width, each) {
    if (!Number.isFinite(at)) throw new QuadmillError('argument', `a fraction from 0 to 1 is needed, not ${at}`);
    if (width !== undefined && !(Number.isSafeInteger(width) && width > 0))
      throw new QuadmillError('argument', `width must be a whole number of values, not ${width}`);
    module.check(module.calls.qm_stream_ask(this.#alive, at, BigInt(width ?? 0)));
    const view = module.view(), begin = module.calls.qm_stream_answer();
    const rows = [];
    for (let i = 0, n = module.calls.qm_stream_numbers(); i < n; i += each) {
      const number = (k) => Number(view.getBigUint64(begin + 8 * (i + k), true));
      rows.push({ value: this.#value(view, begin + 8 * i), number });
    }
    return rows;
  }

  #value(view, at) {
    switch (this.#type) {
      case 'f32': return view.getFloat32(at, true);
      case 'f64': return view.getFloat64(at, true);
      case 'i32': return view.getInt32(at, true);
      case 'u32': return view.getUint32(at, true);
      case 'i64': return view.getBigInt64(at, true);
      default: return view.getBigUint64(at, true);
    }
  }

  static _load(bytes, kind) {
    if (!(bytes instanceof ArrayBuffer || ArrayBuffer.isView(bytes)))
      throw new QuadmillError('argument', `load() takes the bytes of save() as a Uint8Array, not ${bytes?.constructor?.name ?? bytes}`);
    const view = new Uint8Array(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, bytes.byteLength);
    if (view[0] !== 0x51 || view[1] !== 0x4d || view[2] !== 0x53 || view[3] !== 0x4d)
      throw new QuadmillError('argument', 'these bytes are not a saved summary: they do not begin with QMSM');
    const found = Object.keys(kinds).find((name) => kinds[name] === view[5]);
    if (view[5] !== kind)
      throw new QuadmillError('argument', `these bytes are of ${found ?? `kind ${view[5]}`}, which quadmill/streams ${found ? 'loads with that class' : 'does not read'}`);
    const type = names.find((name) => types[name].number === view[6]);
    if (!type) throw new QuadmillError('unsupported', 'a summary of 16-bit floats: JavaScript has no such values; build it with --type f32');
    return new this({ type, [saved]: view });
  }
}

const rank = ({ value, number }) => ({ value, rankLower: number(1), rankUpper: number(2) });
const frequent = ({ value, number }) => ({ value, lower: number(1), upper: number(2) });

export class Quantiles extends Summary {
  static kind = kinds.Quantiles;
  constructor(options) { super(options, { type: 'f64', eps: 0.001 }); }
  quantile(phi) { return rank(this._ask(phi, undefined, 3)[0]); }
  static load(bytes) { return this._load(bytes, kinds.Quantiles); }
}

export class Frequencies extends Summary {
  static kind = kinds.Frequencies;
  constructor(options) { super(options, { type: 'u32', eps: 0.001 }); }
  frequent(support) { return this._ask(support, undefined, 3).map(frequent); }
  static load(bytes) { return this._load(bytes, kinds.Frequencies); }
}

export class SlidingQuantiles extends Summary {
  static kind = kinds.SlidingQuantiles;
  constructor(options) { super(options, { type: 'f64', eps: 0.01 }); }
  quantile(phi, width) { return rank(this._ask(phi, width, 3)[0]); }
  static load(bytes) { return this._load(bytes, kinds.SlidingQuantiles); }
}

export class SlidingFrequencies extends Summary {
  static kind = kinds.SlidingFrequencies;
  constructor(options) { super(options, { type: 'u32', eps: 0.01 }); }
  frequent(support, width) { return this._ask(support, width, 3).map(frequent); }
  static load(bytes) { return this._load(bytes, kinds.SlidingFrequencies); }
}

export class HeavyPrefixes extends Summary {
  static kind = kinds.HeavyPrefixes;
  constructor(options) { super(options, { type: 'u32', eps: 0.001, support: 0.01 }); }
  heavy(support) {
    return this._ask(support, undefined, 6).map(({ value, number }) => ({
      value, length: number(1), lower: number(2), upper: number(3), discountedLower: number(4), discountedUpper: number(5),
    }));
  }
  static load(bytes) { return this._load(bytes, kinds.HeavyPrefixes); }
}
