// Sorts on the GPU by render passes of WebGL2: textures by argsortTexture(), arrays by sort(), argsort() and top().
import { PageGl } from './gl.js';
import { Instance, QuadmillError, compile, typeOf, types } from './wasm.js';

export { QuadmillError };

const formats = {
  r32f: { internal: 0x822e, type: 'f32' },
  r32i: { internal: 0x8235, type: 'i32' },
  r32ui: { internal: 0x8236, type: 'u32' },
};
// Below this number of keys the CPU is faster (docs/browser.md).
const fewestForGpu = 1 << 15;
const software = /swiftshader|llvmpipe|softpipe|software|basic render/i;

let compiled;

/** A task of its own, after which fences may have changed. setTimeout() would wait for 4 ms. */
const nextTask = () => new Promise((resolve) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => { port1.close(); resolve(); };
  port2.postMessage(0);
});

const descendingOf = (order = 'asc') => {
  if (order !== 'asc' && order !== 'desc') throw new QuadmillError('argument', `order must be 'asc' or 'desc', not ${order}`);
  return order === 'desc' ? 1 : 0;
};
const check = (condition, message) => { if (!condition) throw new QuadmillError('argument', message()); };
const isSize = (value) => Number.isSafeInteger(value) && value > 0;

function close({ page, instance }) {
  if (!page.gl.isContextLost()) {
    page.begin();
    instance.calls.qm_close();
    page.end();
  }
  page.close();
}
// Frees what nobody freed. Holds no Quadmill, or none would be collected.
const unused = new FinalizationRegistry((held) => {
  try {
    close(held);
  } catch { /* a query of the page is active: the objects go with the context */ }
});

export class Quadmill {
  #gl; #page; #module; #last = Promise.resolve(); #freed = false;

  /** Works in the page's context: each call restores the state that it changes. */
  static async adopt(gl, options = {}) {
    if (typeof WebGL2RenderingContext === 'undefined' || !(gl instanceof WebGL2RenderingContext)) {
      throw new QuadmillError('unsupported', gl?.constructor?.name === 'WebGLRenderingContext'
        ? "this is a WebGL1 context; make one by canvas.getContext('webgl2')" : 'adopt() takes a WebGL2RenderingContext');
    }
    compiled ??= compile(options.wasm, () => new URL('./quadmill.wasm', import.meta.url));
    let module;
    try {
      module = await compiled;
    } catch (error) {
      compiled = undefined;
      throw error;
    }
    return new Quadmill(gl, module, options.state === 'mine');
  }

  /** Works in a context of its own, for arrays. */
  static async create(options = {}) {
    const canvas = typeof OffscreenCanvas === 'undefined' ? document.createElement('canvas') : new OffscreenCanvas(1, 1);
    const gl = canvas.getContext('webgl2', { alpha: false, antialias: false, depth: false, powerPreference: 'high-performance' });
    if (!gl) throw new QuadmillError('unsupported', 'this browser gives no WebGL2 context; sort with the array itself: keys.sort()');
    return Quadmill.adopt(gl, { ...options, state: 'mine' });
  }

  constructor(gl, module, mine) {
    const page = new PageGl(gl, mine);
    const instance = new Instance(module, { gl: page.imports(() => instance) });
    this.#gl = gl;
    this.#page = page;
    this.#module = instance;
    unused.register(this, { page, instance }, this);
    this.#call(() => this.#module.calls.qm_open());
    const renderer = this.#page.name(WebGL2RenderingContext.prototype.RENDERER);
    /** `maxKeys`: of 32 bits with their index, as argsortTexture() and argsort() take them. */
    this.info = Object.freeze({ renderer, software: software.test(renderer), maxKeys: this.#module.calls.qm_max_keys(4, 1) });
  }

  /** Runs a call of the module between saving and restoring the page's state. */
  #call(run) {
    if (this.#freed) throw new QuadmillError('argument', 'this Quadmill was freed');
    let outcome;
    this.#page.begin();
    try {
      outcome = run();
    } finally {
      this.#page.end();
    }
    this.#module.check(outcome);
  }

  #known({ texture, width, height, format }, what) {
    check(texture instanceof WebGLTexture, () => `${what}.texture must be a WebGLTexture`);
    check(isSize(width) && isSize(height), () => `${what} must have its width and height in texels, not ${width} x ${height}`);
    check(format in formats, () => `${what}.format must be 'r32f', 'r32ui' or 'r32i', not ${format}`);
    return this.#page.know(texture, { width, height, internal: formats[format].internal });
  }

  /** Writes the order of the keys to the index: texel i receives the number of the i-th smallest key. Equal keys keep
   * their order. Nothing is read back, and nothing waits. */
  argsortTexture(keys, index, options = {}) {
    const descending = descendingOf(options.order);
    const from = this.#known(keys, 'keys');
    try {
      const to = this.#known({ ...index, format: 'r32ui' }, 'index');
      try {
        const { count = keys.width * keys.height } = options;
        check(Number.isSafeInteger(count) && count >= 0 && count <= keys.width * keys.height,
          () => `count must be from 0 to ${keys.width * keys.height}, the texels of the keys, not ${count}`);
        check(count <= this.info.maxKeys, () => `${count} keys are more than info.maxKeys, ${this.info.maxKeys}`);
        check(keys.texture !== index.texture, () => 'keys and index must be different textures');
        this.#call(() => this.#module.calls.qm_argsort_texture(from, to, count, descending));
      } finally {
        this.#page.forget(to);
      }
    } finally {
      this.#page.forget(from);
    }
  }

  /** Sorts the keys in place, and gives them back. */
  async sort(keys, options = {}) {
    await this.#sorted(keys, false, options, (bytes) => new Uint8Array(keys.buffer, keys.byteOffset, keys.byteLength).set(bytes));
    return keys;
  }

  /** The number of the i-th smallest key, for each i. Equal keys keep their order. */
  async argsort(keys, options = {}) {
    let order = new Uint32Array();
    await this.#sorted(keys, true, options, (bytes, index) => { order = index; });
    return order;
  }

  /** The k smallest keys (with order 'desc' the largest), and their numbers. */
  async top(keys, k, options = {}) {
    check(Number.isSafeInteger(k) && k >= 0, () => `k must be a whole number, not ${k}`);
    const index = (await this.argsort(keys, options)).slice(0, k);
    return { keys: keys.constructor.from(index, (i) => keys[i]), index };
  }

  /** Sorts a copy of the keys, one call after the other, and hands it on with the index. */
  async #sorted(keys, indexed, { order, engine = 'auto' }, take) {
    const type = typeOf(keys), descending = descendingOf(order);
    check(['auto', 'gpu', 'cpu'].includes(engine), () => `engine must be 'auto', 'gpu' or 'cpu', not ${engine}`);
    const turn = this.#last.then(() => this.#sortedInTurn(keys, types[type].number, indexed, descending, engine, take));
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #sortedInTurn(keys, type, indexed, descending, engine, take) {
    if (this.#freed) throw new QuadmillError('argument', 'this Quadmill was freed');
    const count = keys.length, { calls } = this.#module;
    if (count === 0) return;
    const most = calls.qm_max_keys(type, indexed ? 1 : 0);
    const auto = this.info.software || count < fewestForGpu || count > most ? 'cpu' : 'gpu';
    const by = engine === 'auto' ? auto : engine;
    check(by === 'cpu' || count <= most, () => `the GPU sorts at most ${most} such keys, not ${count}; use engine 'auto' or 'cpu'`);
    const at = this.#module.allocate(keys.byteLength), index = indexed ? this.#module.allocate(4 * count) : 0;
    try {
      this.#module.bytes(at, keys.byteLength).set(new Uint8Array(keys.buffer, keys.byteOffset, keys.byteLength));
      if (by === 'cpu') {
        this.#module.check(calls.qm_sort_on_cpu(type, at, count, index, descending));
      } else {
        this.#call(() => calls.qm_sort_begin(type, at, count, index, descending));
        do await nextTask(); while (!this.#gl.isContextLost() && !calls.qm_sort_ready());
        this.#call(() => calls.qm_sort_finish());
      }
      take(this.#module.bytes(at, keys.byteLength), new Uint32Array(this.#module.buffer, index, indexed ? count : 0).slice());
    } finally {
      if (!this.#freed) {
        calls.free(at);
        if (index) calls.free(index);
      }
    }
  }

  /** Compiles the programs and makes the textures of a call for that many keys, a program a task. */
  async prepare(what, type, count) {
    check(['argsortTexture', 'sort', 'argsort'].includes(what), () => `the calls to prepare are argsortTexture, sort and argsort, not ${what}`);
    check(type in types, () => `type must be one of ${Object.keys(types).join(', ')}, not ${type}`);
    check(isSize(count), () => `count must be a whole number of keys, not ${count}`);
    do {
      await nextTask();
      this.#call(() => this.#module.calls.qm_prepare(what === 'argsortTexture' ? 1 : 0, types[type].number, count, what === 'argsort' ? 1 : 0, 1));
    } while (!this.#module.calls.qm_prepared());
  }

  /** Deletes its textures and programs. */
  free() {
    if (this.#freed) return;
    this.#freed = true;
    unused.unregister(this);
    close({ page: this.#page, instance: this.#module });
  }
}
