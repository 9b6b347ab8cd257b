
// Appended to the three.js example of web/package/README.md by bundlers_test.mjs.
const say = (line) => fetch('/say', { method: 'POST', body: line });
renderer.setAnimationLoop(null);
const gl = renderer.getContext();
const pixels = () => {
  const all = new Uint8Array(4 * gl.drawingBufferWidth * gl.drawingBufferHeight);
  gl.readPixels(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight, gl.RGBA, gl.UNSIGNED_BYTE, all);
  return all;
};
const differ = (a, b) => a.reduce((sum, value, i) => sum + (value === b[i] ? 0 : 1), 0);
let wrong = 0;
for (const ms of [0, 700, 2500]) {
  frame(ms);
  const drawn = pixels(), found = new Uint32Array(4 * count), depth = new Float32Array(4 * count);
  renderer.readRenderTargetPixels(depths, 0, 0, width, height, depth);
  const framebuffer = gl.createFramebuffer(), before = gl.getParameter(gl.READ_FRAMEBUFFER_BINDING);
  gl.bindFramebuffer(gl.READ_FRAMEBUFFER, framebuffer);
  gl.framebufferTexture2D(gl.READ_FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, of(order).texture, 0);
  gl.readPixels(0, 0, width, height, gl.RGBA_INTEGER, gl.UNSIGNED_INT, found);
  gl.bindFramebuffer(gl.READ_FRAMEBUFFER, before);
  gl.deleteFramebuffer(framebuffer);
  // three reads one channel of such targets.
  const cpu = Uint32Array.from({ length: count }, (_, i) => i).sort((a, b) => depth[b] - depth[a] || a - b);
  wrong += differ(cpu, found.filter((_, i) => i % 4 === 0));
  // Another order of the same splats is another picture; the CPU's order is the same one.
  const draw = (as) => {
    order.image.data.set(as);
    order.needsUpdate = true;
    renderer.render(splats, camera);
    return pixels();
  };
  wrong += differ(drawn, draw(cpu)) + (differ(drawn, draw(cpu.reverse())) > 1000 ? 0 : 1);
}
wrong += gl.getError();
await say(`${wrong === 0 ? 1 : 0} passed, ${wrong} failed`);
await say('DONE');
