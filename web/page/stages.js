// The stages of a sort: stages.wasm runs an engine on keys, and keeps what its passes wrote after each step.
import { Drawing } from './quadmill/drawing.js';

const number = (value) => value.toLocaleString('en');

// For each engine: how many arrays it sorts, what it does, and for each step a title, a sentence, and whether it ends a
// stage. `n` keys; `log2` of an array's.
const engines = {
  merge: {
    code: 0, arrays: 1,
    about: 'The merge sort of this library: the first pass sorts short runs in registers, and each further pass merges ' +
      'runs two by two. It needs the fewest passes.',
    words({ stage, layers }) {
      const run = 8 * layers * 2 ** stage;
      return {
        run, ends: true, title: `runs of ${number(run)}`,
        text: stage === 0 ? `Each fragment has sorted ${number(run)} keys in its registers.`
          : `Pairs of runs of ${number(run / 2)} keys were merged. A fragment finds by a binary search where its keys begin in both runs.`,
      };
    },
  },
  bitonic: {
    code: 1, arrays: 1,
    about: 'GPUTeraSort’s bitonic sort (SIGMOD 2006): stage s makes sorted runs of 2^s keys, in s steps. In each step a key ' +
      'meets the one at a fixed distance; the fragment program compares them and keeps one. Four consecutive keys are a texel; their indices move along in another layer.',
    words({ stage, step }, { log2 }) {
      const run = 2 ** stage, ends = step === 1, last = stage === log2;
      const after = last ? 'All keys are sorted.' : `Runs of ${number(run)} keys now ascend and descend in turn.`;
      if (ends)
        return {
          run, ends, title: stage === 2 ? `stages 1 and 2 of ${log2}` : `stage ${stage} of ${log2}, steps ${stage - 1} and ${stage}`,
          text: `The four keys of each texel were compared with one another. ${after}`,
        };
      return {
        run, ends, title: `stage ${stage} of ${log2}, step ${stage - step + 1} of ${stage}`,
        text: `Each key was compared with the one ${number(2 ** (step - 1))} keys away. ` + (last ? 'The smaller one goes first.'
          : `The smaller one goes first in every other run of ${number(run)} keys, and last in the others.`),
      };
    },
  },
  pbsn: {
    code: 2, arrays: 4,
    about: 'The periodic balanced sorting network (SIGMOD 2005): the colour channels of a texture have an array each, shown ' +
      'side by side. Blending compares the keys. All stages are the same, with blocks from the whole array down to two keys.',
    words({ stage, step }, { log2 }) {
      if (stage === 0)
        return { run: 4 * 2 ** log2, ends: true, arrays: 1, title: 'merged', text: 'The CPU has merged the four sorted arrays.' };
      const block = 2 ** (log2 - step + 1);
      return {
        run: 2 ** stage, ends: step === log2, title: `stage ${stage} of ${log2}, step ${step} of ${log2}`,
        text: `In each block of ${number(block)} keys the first key met the last one, the second key the last but one, and so on. ` +
          'MIN blending left the smaller keys in the first half, MAX blending the larger ones in the second.',
      };
    },
  },
};
export const aboutOf = (engine) => engines[engine].about;

export class Stages {
  #drawing;

  /** `module`: stages.wasm, compiled. Works in a context of its own. */
  constructor(module) {
    const gl = new OffscreenCanvas(1, 1).getContext('webgl2', { antialias: false, depth: false });
    const floats = ['EXT_color_buffer_float', 'EXT_float_blend'].filter((name) => gl.getExtension(name));
    this.#drawing = new Drawing(gl, module, { state: 'mine' }, 'Stages', floats.map((name) => `GL_${name}`));
  }

  /** Sorts a copy of the keys, floats: gives the keys as they were and after each step, in the arrays that the engine
   * sorts, one after the other. `passes`: so far. Throws where the browser cannot do what the engine needs. */
  of(engine, keys) {
    const { code, arrays, words } = engines[engine], drawing = this.#drawing, n = keys.length;
    drawing.instance.with(keys, (at) => drawing.call((calls) => calls.qm_watch(code, at, n)));
    const inArrays = Float32Array.from(keys, (_, i) => keys[i % (n / arrays) * arrays + Math.floor(i / (n / arrays))]);
    const steps = [{
      keys: inArrays, arrays, passes: 0, ends: true, run: 1, title: 'the input',
      text: arrays > 1 ? `${number(n)} keys in ${arrays} arrays, which are the channels of a texture.` : `${number(n)} keys, row after row.`,
    }];
    for (let i = 0; i < drawing.calls.qm_steps(); ++i) {
      const { buffer } = drawing.instance, [stage, step, passes, layers, from] = new Uint32Array(buffer, drawing.calls.qm_step(i), 5);
      const said = words({ stage, step, layers }, { log2: Math.log2(n / arrays) });
      steps.push({ keys: new Float32Array(buffer, from, n).slice(), arrays, passes, ...said });
    }
    return steps;
  }
}
