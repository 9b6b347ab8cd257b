// A table whose columns stay in textures: counts, selections, ranks, sums and histograms of the rows that satisfy a
// condition, by render passes of WebGL2.
import { Drawing, check, checkContext, isSize, lazyModule, ownContext, software, typeOfFormat } from './drawing.js';
import { QuadmillError, types } from './wasm.js';

export { QuadmillError };

const compiled = lazyModule(() => new URL('./table.wasm', import.meta.url));

const comparisons = { lt: 0, lte: 1, eq: 2, ne: 3, gte: 4, gt: 5 };
const aggregates = { sum: 2, mean: 3, min: 4, max: 5, quantile: 6, kthLargest: 7, kthSmallest: 8 };
const columnTypes = ['f32', 'f64', 'i32', 'u32'];
const joins = ['all', 'any', 'not'];
const mostBins = 8192;

const isPlain = (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);

export class Table {
  #drawing; #columns = new Map();

  /** Works in the page's context. `columns`: a typed array or a texture for each name. */
  static async adopt(gl, columns, options = {}) {
    checkContext(gl);
    return new Table(gl, await compiled(options.wasm), options, columns);
  }

  /** Works in a context of its own. */
  static async create(columns, options = {}) {
    return Table.adopt(ownContext('loop over the arrays themselves'), columns, { ...options, state: 'mine' });
  }

  constructor(gl, module, options, columns) {
    check(isPlain(columns) && Object.keys(columns).length > 0, () => 'a table needs columns: an object with a typed array for each name');
    const sources = Object.entries(columns), rows = sources.map(([name, of]) => this.#rowsOf(name, of));
    check(rows.every((count) => count === rows[0]), () => `columns must have the same length, not ${[...new Set(rows)].join(' and ')}`);
    this.#drawing = new Drawing(gl, module, options, 'Table');
    try {
      this.#drawing.call((calls) => calls.qm_table_rows(rows[0]));
      for (const [name, of] of sources) this.#add(name, of);
    } catch (error) {
      this.#drawing.free();
      throw error;
    }
    const { renderer } = this.#drawing;
    this.info = Object.freeze({ renderer, software: software.test(renderer) });
    /** Number of rows. */
    this.rows = rows[0];
  }

  #rowsOf(name, of) {
    check(!joins.includes(name), () => `a column may not be called ${name}, which joins conditions`);
    const type = of && columnTypes.find((one) => of instanceof types[one].array);
    if (type) return of.length;
    check(isPlain(of), () => `column ${name} must be a Float32Array, Float64Array, Int32Array, Uint32Array or a texture`);
    const { width, height, count = width * height } = of;
    check(Number.isSafeInteger(count) && count >= 0 && count <= width * height,
      () => `column ${name}: count must be from 0 to width times height, not ${count}`);
    return count;
  }

  #add(name, of) {
    const { instance } = this.#drawing, { calls } = instance, text = new TextEncoder().encode(`${name}\0`);
    const add = (type, texture, fill) => {
      instance.with(text, (at) => instance.check(calls.qm_table_column(at, types[type].number, texture)));
      fill();
      this.#drawing.call(() => calls.qm_table_add());
      this.#columns.set(name, this.#columns.size);
    };
    if (!ArrayBuffer.isView(of))
      return this.#drawing.withTexture(of, `column ${name}`, (texture) => add(typeOfFormat(of.format), texture, () => {}));
    add(columnTypes.find((one) => of instanceof types[one].array), 0,
      () => instance.bytes(calls.qm_table_values(), of.byteLength).set(new Uint8Array(of.buffer, of.byteOffset, of.byteLength)));
  }

  #column(name) {
    check(this.#columns.has(name), () => `there is no column ${name}; the table has ${[...this.#columns.keys()].join(', ')}`);
    return this.#columns.get(name);
  }

  /** Puts a condition on the module's stack. */
  #where(where) {
    const { instance } = this.#drawing, { calls } = instance;
    check(isPlain(where), () => `a condition is an object such as { price: { gte: 10, lt: 20 } }, not ${String(where)}`);
    let parts = 0;
    const part = (outcome) => {
      instance.check(outcome);
      if (++parts > 1) instance.check(calls.qm_where_join(1));
    };
    for (const [name, wanted] of Object.entries(where)) {
      if (joins.includes(name)) {
        part(this.#join(name, wanted));
        continue;
      }
      const column = this.#column(name);
      const numbers = Array.isArray(wanted) || ArrayBuffer.isView(wanted) ? Float64Array.from(wanted) : undefined;
      if (numbers) {
        part(instance.with(numbers, (at) => calls.qm_where_in(column, at, numbers.length)));
      } else if (typeof wanted === 'number') {
        part(calls.qm_where_compare(column, comparisons.eq, wanted));
      } else {
        check(isPlain(wanted), () => `the condition of ${name} must be a number, an array of numbers, or an object such as { gte: 10, lt: 20 }`);
        for (const [op, value] of Object.entries(wanted)) part(this.#compare(name, column, op, value));
      }
    }
    if (parts === 0) instance.check(calls.qm_where_always(1));
  }
  #compare(name, column, op, value) {
    const { calls } = this.#drawing;
    check(Object.hasOwn(comparisons, op), () => `${name} is compared by ${Object.keys(comparisons).join(', ')}, not ${op}`);
    if (isPlain(value)) return calls.qm_where_columns(column, comparisons[op], this.#column(value.column));
    check(typeof value === 'number', () => `${name} is compared with a number or { column: 'other' }, not ${String(value)}`);
    return calls.qm_where_compare(column, comparisons[op], value);
  }
  #join(name, wanted) {
    const { instance } = this.#drawing, { calls } = instance;
    if (name === 'not') {
      this.#where(wanted);
      return calls.qm_where_not();
    }
    check(Array.isArray(wanted), () => `${name} takes an array of conditions`);
    wanted.forEach((one, i) => {
      this.#where(one);
      if (i > 0) instance.check(calls.qm_where_join(name === 'all' ? 1 : 0));
    });
    return wanted.length > 0 ? 0 : calls.qm_where_always(name === 'all' ? 1 : 0);
  }

  /** Begins a question, and resolves to the words of its answer when the GPU is done. */
  async #ask(where, begin) {
    const drawing = this.#drawing, { calls, instance } = drawing;
    drawing.checkAlive();
    try {
      this.#where(where);
      drawing.call(() => begin(calls));
    } finally {
      calls.qm_where_clear();
    }
    const question = calls.qm_table_asked();
    await drawing.until(() => calls.qm_table_ready(question));
    drawing.call(() => calls.qm_table_read(question));
    return new Uint32Array(instance.buffer, calls.qm_table_answer(), calls.qm_table_words()).slice();
  }
  async #value(where, begin) {
    const words = await this.#ask(where, begin), view = new DataView(words.buffer);
    return words[0] === 0 ? null : words[0] === 1 ? Number(view.getBigInt64(4, true)) : view.getFloat64(4, true);
  }
  async #aggregate(kind, column, where, phi = 0, k = 0) {
    const number = this.#column(column);
    return this.#value(where, (calls) => calls.qm_table_aggregate(aggregates[kind], number, phi, k));
  }

  /** Number of rows for which the condition holds. */
  async count(where = {}) { return this.#value(where, (calls) => calls.qm_table_count()); }
  /** Numbers of those rows, ascending. */
  async select(where = {}) { return this.#ask(where, (calls) => calls.qm_table_select()); }

  async sum(column, where = {}) { return await this.#aggregate('sum', column, where) ?? 0; }
  async mean(column, where = {}) { return this.#aggregate('mean', column, where); }
  async min(column, where = {}) { return this.#aggregate('min', column, where); }
  async max(column, where = {}) { return this.#aggregate('max', column, where); }
  /** The lower median. */
  async median(column, where = {}) { return this.quantile(column, 0.5, where); }
  /** The value of rank ceil(phi n), from 1. */
  async quantile(column, phi, where = {}) {
    check(phi >= 0 && phi <= 1, () => `phi must be from 0 to 1, not ${phi}`);
    return this.#aggregate('quantile', column, where, phi);
  }
  /** The k-th smallest value, from 1; -1 is the largest one. */
  async kth(column, k, where = {}) {
    check(isSize(Math.abs(k)), () => `k must be a whole number other than 0, not ${k}`);
    return this.#aggregate(k > 0 ? 'kthSmallest' : 'kthLargest', column, where, 0, Math.abs(k));
  }

  /** Numbers of values in bins: { min, max, bins } of the same width, or the edges. The last bin has its upper edge. */
  async histogram(column, bins, where = {}) {
    const number = this.#column(column), edges = edgesOf(bins), { instance } = this.#drawing;
    return this.#ask(where, (calls) => instance.with(edges, (at) => calls.qm_table_histogram(number, at, edges.length - 1)));
  }

  /** Deletes its textures and programs. */
  free() { this.#drawing.free(); }
}

function edgesOf(wanted) {
  const { min, max, bins } = wanted ?? {};
  const edges = isPlain(wanted)
    ? Float64Array.from({ length: isSize(bins) && bins <= mostBins ? bins + 1 : 0 }, (_, i) => i === bins ? max : min + (max - min) * i / bins)
    : Float64Array.from(wanted ?? []);
  check(edges.length > 1 && edges.length <= mostBins + 1,
    () => `bins are { min, max, bins } or an array of edges, of 1 to ${mostBins} bins`);
  check(edges.every((edge, i) => i === 0 || edges[i - 1] < edge), () => 'the edges of bins must ascend');
  return edges;
}
