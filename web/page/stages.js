// The stages of a merge sort: a context of its own notes what each pass of a sort wrote. A pass with several render
// targets writes runs of sorted keys (src/pass/banked.hpp says where), and each stage merges two runs into one.

/** Keys in the order of memory from what the last draw wrote, and the length of a block; nothing after other draws. */
function keysDrawn(gl, count) {
  let layers = 0;
  while (layers < 8 && gl.getParameter(gl.DRAW_BUFFER0 + layers) !== gl.NONE) ++layers;
  if (layers < 4) return undefined;
  const [, , width, height] = gl.getParameter(gl.VIEWPORT), half = (height - 1) / 2, block = 4 * layers;
  const before = gl.getParameter(gl.READ_FRAMEBUFFER_BINDING);
  gl.bindFramebuffer(gl.READ_FRAMEBUFFER, gl.getParameter(gl.DRAW_FRAMEBUFFER_BINDING));
  const texels = Array.from({ length: layers }, (_, layer) => {
    const words = new Uint32Array(4 * width * height);
    gl.readBuffer(gl.COLOR_ATTACHMENT0 + layer);
    gl.readPixels(0, 0, width, height, gl.RGBA_INTEGER, gl.UNSIGNED_INT, words);
    return words;
  });
  gl.readBuffer(gl.COLOR_ATTACHMENT0);
  gl.bindFramebuffer(gl.READ_FRAMEBUFFER, before);
  const tilesLog2 = Math.log2(width) - 3, keys = new Uint32Array(count);
  for (let i = 0; i < count; ++i) {
    const of = Math.floor(i / block), pair = of >> 1, tile = pair >> 5, within = i % block;
    const x = (tile & ((1 << tilesLog2) - 1)) << 3 | (pair & 7), y = (tile >> tilesLog2 << 2 | (pair >> 3 & 3)) + (of & 1) * half;
    keys[i] = texels[within >> 2][4 * (y * width + x) + (within & 3)];
  }
  return { keys, block };
}

/** Keys from 0 to 1 as shades, row after row. */
function paint(canvas, keys) {
  const picture = new ImageData(canvas.width, canvas.height), { data } = picture;
  for (let i = 0; i < keys.length; ++i) {
    const t = keys[i] / 2 ** 32;
    data.set([255 * Math.min(1, 2.2 * t), 255 * t ** 1.4, 255 * (0.35 + 0.4 * Math.sin(3.1 * t)), 255], 4 * i);
  }
  canvas.getContext('2d').putImageData(picture, 0, 0);
}

const shapes = {
  random: () => Math.random(),
  waves: (t) => 0.5 + 0.45 * Math.sin(40 * t) + 0.05 * (Math.random() - 0.5),
  descending: (t) => 1 - t,
  few: () => Math.floor(Math.random() * 8) / 8,
};

export class Stages {
  static async make(Quadmill, side) {
    const gl = new OffscreenCanvas(1, 1).getContext('webgl2', { antialias: false, depth: false });
    const quadmill = await Quadmill.adopt(gl, { state: 'mine' });
    await quadmill.prepare('sort', 'u32', side * side);
    return new Stages(gl, quadmill, side);
  }

  constructor(gl, quadmill, side) {
    this.quadmill = quadmill;
    this.side = side;
    const draw = gl.drawArraysInstanced.bind(gl);
    gl.drawArraysInstanced = (...all) => {
      draw(...all);
      const stage = this.noted && keysDrawn(gl, side * side);
      if (stage) this.noted.push(stage);
    };
  }

  /** Sorts the keys: gives them as they were, and after each stage with the length of its runs. */
  async of(keys) {
    const noted = this.noted = [];
    const input = { keys: keys.slice(), run: 1 };
    await this.quadmill.sort(keys, { engine: 'gpu' }).finally(() => { this.noted = undefined; });
    return [input, ...noted.map(({ keys: now, block }, stage) => ({ keys: now, run: block * 2 ** (stage + 1) }))];
  }

  /** Sorts new keys and shows each stage in `list`. */
  async show(list, shape) {
    const { side } = this, count = side * side, make = shapes[shape];
    const keys = Uint32Array.from({ length: count }, (_, i) => Math.min(Math.max(make(i / count), 0), 1) * (2 ** 32 - 1));
    list.replaceChildren(...(await this.of(keys)).map(({ keys: now, run }) => {
      const figure = document.createElement('figure'), canvas = document.createElement('canvas'), caption = document.createElement('figcaption');
      canvas.width = canvas.height = side;
      paint(canvas, now);
      caption.textContent = run === 1 ? 'the input' : `runs of ${run.toLocaleString('en')}`;
      figure.append(canvas, caption);
      return figure;
    }));
  }
}
