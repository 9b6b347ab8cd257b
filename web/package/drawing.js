// A module that draws in a WebGL2 context: what sorts and tables have in common.
import { PageGl } from './gl.js';
import { Instance, QuadmillError, compile } from './wasm.js';

/** A task of its own, after which fences may have changed. setTimeout() would wait for 4 ms. */
export const nextTask = () => new Promise((resolve) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => { port1.close(); resolve(); };
  port2.postMessage(0);
});

export const check = (condition, message, code = 'argument') => { if (!condition) throw new QuadmillError(code, message()); };
export const checkOneOf = (value, name, all) => check(all.includes(value), () => `${name} must be one of ${all.join(', ')}, not ${value}`);
export const software = /swiftshader|llvmpipe|softpipe|software|basic render/i;
export const isSize = (value) => Number.isSafeInteger(value) && value > 0;

const formats = {
  r32f: { internal: 0x822e, type: 'f32' },
  r32i: { internal: 0x8235, type: 'i32' },
  r32ui: { internal: 0x8236, type: 'u32' },
};
/** The type of values of a texture of that format. */
export const typeOfFormat = (format) => formats[format].type;

/** A module that is compiled once, from the file or what the caller gives. */
export function lazyModule(file) {
  let compiled;
  return async (wasm) => {
    compiled ??= compile(wasm, file);
    try {
      return await compiled;
    } catch (error) {
      compiled = undefined;
      throw error;
    }
  };
}

export function checkContext(gl) {
  if (globalThis.WebGL2RenderingContext && gl instanceof WebGL2RenderingContext) return;
  throw new QuadmillError('unsupported',
    `adopt() takes a WebGL2RenderingContext, from canvas.getContext('webgl2'), not ${gl?.constructor?.name ?? gl}`);
}

/** A context without a picture. `instead`: what to do where there is none. */
export function ownContext(instead) {
  const canvas = globalThis.OffscreenCanvas ? new OffscreenCanvas(1, 1) : globalThis.document?.createElement('canvas');
  const gl = canvas?.getContext('webgl2', { alpha: false, antialias: false, depth: false, powerPreference: 'high-performance' });
  if (!gl) throw new QuadmillError('unsupported', `there is no WebGL2 here; ${instead}`);
  return gl;
}

function close({ page, instance }) {
  if (!page.gl.isContextLost()) {
    page.begin();
    instance.calls.qm_close();
    page.end();
  }
  page.close();
}
// Frees what nobody freed. Holds no Drawing, or none would be collected.
const unused = new FinalizationRegistry((held) => {
  try {
    close(held);
  } catch { /* a query of the page is active: the objects go with the context */ }
});

export class Drawing {
  #held; #freed = false; #name;

  /** `name`: of the class, for messages. `options`, `extensions`: see PageGl. */
  constructor(gl, module, options, name, extensions) {
    const page = new PageGl(gl, options, name, extensions);
    const instance = new Instance(module, { gl: page.imports(() => instance) });
    this.#held = { page, instance };
    this.#name = name;
    unused.register(this, this.#held, this);
    this.call((calls) => calls.qm_open());
  }

  get instance() { return this.#held.instance; }
  get calls() { return this.#held.instance.calls; }
  get renderer() { return this.#held.page.name(this.#held.page.gl.RENDERER); }

  checkAlive() { check(!this.#freed, () => `this ${this.#name} was freed`); }

  /** Runs a call of the module between saving and restoring the page's state. `array`: words that it reads or writes. */
  call(run, array) {
    this.checkAlive();
    const { page, instance } = this.#held;
    let outcome;
    page.array = array;
    page.begin();
    try {
      outcome = run(instance.calls);
    } finally {
      page.end();
    }
    instance.check(outcome);
  }

  /** Other tasks run until the module is ready, or the context is lost. */
  async until(ready) {
    const { gl } = this.#held.page;
    do await nextTask(); while (!this.#freed && !gl.isContextLost() && !ready(this.calls));
  }

  /** Makes a texture of the caller known, for `use(number)`. */
  withTexture(of, what, use) {
    const { texture, width, height, format } = of ?? {};
    check(!(texture instanceof WebGLBuffer), () => 'WebGL2 has no buffer textures; put the keys into an R32F texture', 'unsupported');
    check(texture instanceof WebGLTexture, () => `${what}.texture must be a WebGLTexture`);
    check(isSize(width) && isSize(height), () => `${what} must have its width and height in texels, not ${width} x ${height}`);
    checkOneOf(format, `${what}.format`, Object.keys(formats));
    const { page } = this.#held, number = page.know(texture, { width, height, internal: formats[format].internal });
    try {
      return use(number);
    } finally {
      page.forget(number);
    }
  }

  free() {
    if (this.#freed) return;
    this.#freed = true;
    unused.unregister(this);
    close(this.#held);
  }
}
