// What tests of the package in a browser share. browser_test.py serves them, and reports what say() says.
import { QuadmillError } from '/package/wasm.js';

export const say = (line) => fetch('/say', { method: 'POST', body: line });
let failed = 0, passed = 0;
export const check = (condition, message) => { if (!condition) throw new Error(message); };
export async function test(name, run) {
  try {
    await run();
    ++passed;
  } catch (error) {
    ++failed;
    await say(`FAILED ${name}: ${error.message}`);
  }
}
export async function throws(code, message, run) {
  try {
    await run();
  } catch (error) {
    check(error instanceof QuadmillError && error.code === code && message.test(error.message), `threw '${error.code} ${error.message}'`);
    return;
  }
  throw new Error(`nothing thrown for ${run}`);
}

let state = 1;
export const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0);
export const words = (n) => Uint32Array.from({ length: n }, random);

const bytesOf = (keys) => new Uint8Array(keys.buffer, keys.byteOffset, keys.byteLength);
export const same = (a, b) => {
  const x = bytesOf(a), y = bytesOf(b);
  for (let i = 0; i < x.length; ++i) if (x[i] !== y[i]) return false;
  return x.length === y.length;
};

// Textures ------------------------------------------------------------------------------------------------------------
export const formats = {
  r32f: { internal: 'R32F', format: 'RED', type: 'FLOAT', Keys: Float32Array },
  r32i: { internal: 'R32I', format: 'RED_INTEGER', type: 'INT', Keys: Int32Array },
  r32ui: { internal: 'R32UI', format: 'RED_INTEGER', type: 'UNSIGNED_INT', Keys: Uint32Array },
};
export function textureOf(gl, name, width, height, keys = null) {
  const { internal, format, type } = formats[name];
  const texture = gl.createTexture(), before = gl.getParameter(gl.TEXTURE_BINDING_2D);
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl[internal], width, height, 0, gl[format], gl[type], keys);
  gl.bindTexture(gl.TEXTURE_2D, before);
  return texture;
}
export function read(gl, texture, width, height) {
  const framebuffer = gl.createFramebuffer();
  gl.bindFramebuffer(gl.READ_FRAMEBUFFER, framebuffer);
  gl.framebufferTexture2D(gl.READ_FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
  const texels = new Uint32Array(4 * width * height);
  gl.readPixels(0, 0, width, height, gl.RGBA_INTEGER, gl.UNSIGNED_INT, texels);
  gl.deleteFramebuffer(framebuffer);
  return texels.filter((_, i) => i % 4 === 0);
}
export const context = () => new OffscreenCanvas(8, 8).getContext('webgl2', { stencil: true });

export async function finish() {
  await say(`${passed} passed, ${failed} failed`);
  await say('DONE');
}
