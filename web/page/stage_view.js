// Shows the steps of a sort (stages.js): a small picture for each stage, and a large one for any step.

/** Keys from 0 to 1 as shades, row after row; four arrays in the quarters, with a gap. */
function paint(canvas, { keys, arrays }) {
  const across = arrays === 4 ? 2 : 1, each = keys.length / arrays, side = Math.sqrt(each), gap = 2;
  const width = canvas.width = canvas.height = across * (side + gap) - gap;
  const picture = new ImageData(width, width), texels = new Uint32Array(picture.data.buffer);
  for (let i = 0; i < keys.length; ++i) {
    const t = keys[i], array = Math.floor(i / each), x = array % across * (side + gap) + i % side;
    const y = Math.floor(array / across) * (side + gap) + Math.floor(i % each / side);
    const [r, g, b] = [Math.min(1, 2.2 * t), t ** 1.4, 0.35 + 0.4 * Math.sin(3.1 * t)].map((c) => Math.round(255 * c));
    texels[y * width + x] = 0xff000000 | b << 16 | g << 8 | r;
  }
  canvas.getContext('2d').putImageData(picture, 0, 0);
}

const shapes = {
  random: () => Math.random(),
  waves: (t) => 0.5 + 0.45 * Math.sin(40 * t) + 0.05 * (Math.random() - 0.5),
  descending: (t) => 1 - t,
  few: () => Math.floor(Math.random() * 8) / 8,
};

export class StageView {
  #stages; #parts; #side; #steps = []; #playing;

  /** `parts`: elements list, large, title, text, at, play. */
  constructor(stages, parts, side) {
    this.#stages = stages;
    this.#parts = parts;
    this.#side = side;
    parts.at.oninput = () => { this.#pause(); this.#go(Number(parts.at.value)); };
    parts.play.onclick = () => (this.#playing ? this.#pause() : this.#play());
  }

  /** Sorts new keys. Throws what the engine throws; then nothing is shown. */
  show(engine, shape) {
    const { list, at } = this.#parts, count = this.#side ** 2;
    this.#pause();
    list.replaceChildren();
    this.#steps = [];
    this.#steps = this.#stages.of(engine, Float32Array.from({ length: count }, (_, i) => shapes[shape](i / count)));
    this.#steps.forEach((step, i) => { if (step.ends) list.append(this.#picture(step, i)); });
    at.max = this.#steps.length - 1;
    this.#go(this.#steps.length - 1);
  }

  #picture(step, i) {
    const figure = document.createElement('figure'), button = document.createElement('button');
    const canvas = document.createElement('canvas'), caption = document.createElement('figcaption');
    paint(canvas, step);
    [caption.textContent] = step.title.split(', ');  // not the comma of a number
    button.title = `Show: ${step.title}`;
    button.onclick = () => { this.#pause(); this.#go(i); };
    button.append(canvas);
    figure.append(button, caption);
    return figure;
  }

  #go(i) {
    const { large, title, text, at } = this.#parts, step = this.#steps[i];
    at.value = i;
    paint(large, step);
    title.textContent = `${step.title} — ${step.passes} of ${this.#steps.at(-1).passes} passes`;
    text.textContent = step.text;
  }

  #play() {
    const { at, play } = this.#parts, last = this.#steps.length - 1;
    if (last < 0) return;
    if (Number(at.value) === last) this.#go(0);
    play.textContent = 'Pause';
    this.#playing = setInterval(() => {
      this.#go(Number(at.value) + 1);
      if (Number(at.value) === last) this.#pause();
    }, Math.max(80, 3000 / last));
  }

  #pause() {
    clearInterval(this.#playing);
    this.#playing = undefined;
    this.#parts.play.textContent = 'Play';
  }
}
