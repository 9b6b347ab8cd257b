// Sorts on the GPU by render passes of WebGL2: textures by argsortTexture(), arrays by sort(), argsort() and top().
import { Drawing, check, checkContext, checkOneOf, isSize, lazyModule, nextTask, ownContext, software } from './drawing.js';
import { QuadmillError, typeOf, types } from './wasm.js';

export { QuadmillError };

// Below this number of keys the CPU is faster (docs/browser.md).
const fewestForGpu = 1 << 15;

const compiled = lazyModule(() => new URL('./quadmill.wasm', import.meta.url));

const descendingOf = (order = 'asc') => {
  checkOneOf(order, 'order', ['asc', 'desc']);
  return order === 'desc' ? 1 : 0;
};

export class Quadmill {
  #drawing; #last = Promise.resolve();

  /** Works in the page's context: each call restores the state that it changes. */
  static async adopt(gl, options = {}) {
    checkContext(gl);
    return new Quadmill(gl, await compiled(options.wasm), options);
  }

  /** Works in a context of its own, for arrays. */
  static async create(options = {}) {
    return Quadmill.adopt(ownContext('sort with the array itself: keys.sort()'), { ...options, state: 'mine' });
  }

  constructor(gl, module, options) {
    this.#drawing = new Drawing(gl, module, options, 'Quadmill');
    const { renderer, calls } = this.#drawing;
    /** `maxKeys`: of 32 bits with their index, as argsortTexture() and argsort() take them. */
    this.info = Object.freeze({ renderer, software: software.test(renderer), maxKeys: calls.qm_max_keys(4, 1) });
  }

  /** Writes the order of the keys to the index: texel i receives the number of the i-th smallest key. Equal keys keep
   * their order. Nothing is read back, and nothing waits. */
  argsortTexture(keys, index, options = {}) {
    const descending = descendingOf(options.order);
    const { count = keys?.width * keys?.height } = options;
    this.#drawing.withTexture(keys, 'keys', (from) => this.#drawing.withTexture({ ...index, format: 'r32ui' }, 'index', (to) => {
      check(Number.isSafeInteger(count) && count >= 0 && count <= keys.width * keys.height,
        () => `count must be from 0 to ${keys.width * keys.height}, the texels of the keys, not ${count}`);
      check(count <= this.info.maxKeys,
        () => `${count} keys are more than info.maxKeys, ${this.info.maxKeys}; use argsort() with engine 'cpu'`, 'unsupported');
      check(keys.texture !== index.texture, () => 'keys and index must be different textures');
      this.#drawing.call((calls) => calls.qm_argsort_texture(from, to, count, descending));
    }));
  }

  /** Sorts the keys in place, and gives them back. */
  async sort(keys, options = {}) {
    await this.#sorted(keys, options);
    return keys;
  }

  /** The number of the i-th smallest key, for each i. Equal keys keep their order. */
  async argsort(keys, options = {}) {
    return this.#sorted(keys, options, keys?.length);
  }

  /** The k smallest keys (with order 'desc' the largest), and their numbers. */
  async top(keys, k, options = {}) {
    check(Number.isSafeInteger(k) && k >= 0, () => `k must be a whole number, not ${k}`);
    const index = await this.#sorted(keys, options, Math.min(k, keys?.length));
    return { keys: keys.constructor.from(index, (i) => keys[i]), index };
  }

  /** One call after the other. */
  #inTurn(run) {
    const turn = this.#last.then(run);
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Sorts the keys in place, or gives the numbers of the first `wanted` keys in order. */
  async #sorted(keys, { order, engine = 'auto' }, wanted) {
    const type = typeOf(keys), descending = descendingOf(order);
    checkOneOf(engine, 'engine', ['auto', 'gpu', 'cpu']);
    return this.#inTurn(() => this.#sortedInTurn(keys, types[type].number, wanted, descending, engine));
  }

  async #sortedInTurn(keys, type, wanted, descending, engine) {
    this.#drawing.checkAlive();
    const count = keys.length, { calls, instance } = this.#drawing;
    const words = new Uint32Array(keys.buffer, keys.byteOffset, keys.byteLength / 4);
    const result = wanted === undefined ? words : new Uint32Array(wanted);
    if (!result.length) return result;
    const most = calls.qm_max_keys(type, wanted ? 1 : 0);
    const auto = this.info.software || count < fewestForGpu || count > most ? 'cpu' : 'gpu';
    const by = engine === 'auto' ? auto : engine;
    check(by === 'cpu' || count <= most, () => `the GPU sorts at most ${most} such keys, not ${count}; use engine 'auto' or 'cpu'`, 'unsupported');
    if (by === 'cpu') {
      const sort = (at, index = 0) => {
        instance.check(calls.qm_sort_on_cpu(type, at, count, index, wanted ?? 0, descending));
        result.set(new Uint32Array(instance.buffer, index || at, result.length));
      };
      instance.with(words, wanted ? (at) => instance.with(result, (index) => sort(at, index)) : sort);
    } else {
      this.#drawing.call(() => calls.qm_sort_begin(type, count, wanted ?? 0, descending), words);
      if (wanted) result.fill(0);  // the system gives the pages of a new array now, while the GPU sorts
      await this.#drawing.until(() => calls.qm_sort_ready());
      this.#drawing.call(() => calls.qm_sort_finish(), result);
    }
    return result;
  }

  /** Compiles the programs and makes the textures of a call for that many keys, a program a task. */
  async prepare(what, type, count) {
    checkOneOf(what, 'call', ['argsortTexture', 'sort', 'argsort']);
    checkOneOf(type, 'type', Object.keys(types));
    check(isSize(count), () => `count must be a whole number of keys, not ${count}`);
    return this.#inTurn(async () => {
      do {
        await nextTask();
        this.#drawing.call((calls) => calls.qm_prepare(what === 'argsortTexture' ? 1 : 0, types[type].number, count, what === 'argsort' ? 1 : 0, 1));
      } while (!this.#drawing.calls.qm_prepared());
    });
  }

  /** Deletes its textures and programs. */
  free() { this.#drawing.free(); }
}
