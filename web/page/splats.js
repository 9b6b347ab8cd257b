// Splats in a WebGL2 context: a pass writes each one's depth to a texture, argsortTexture() writes their order to
// another, and the draw takes its instances in that order. No depth comes back to the CPU.

const width = 512;  // of the textures; a row has that many splats

const depthShader = `#version 300 es
precision highp float; precision highp int;
uniform highp sampler2D positions;
uniform vec4 plane;  // the view's depth of p is dot(plane, vec4(p, 1))
out highp uint depth;
void main() {
  vec3 p = texelFetch(positions, ivec2(gl_FragCoord.xy), 0).xyz;
  depth = floatBitsToUint(max(dot(plane, vec4(p, 1.0)), 0.0));  // bits of floats above 0 are in their order
}`;
const fillShader = `#version 300 es
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }`;
const splatShader = `#version 300 es
precision highp float; precision highp int;
uniform highp sampler2D positions;
uniform highp usampler2D order;
uniform mat4 view;
uniform float size;
flat out vec3 color;
out vec2 at;
void main() {
  int i = gl_InstanceID;
  int splat = int(texelFetch(order, ivec2(i % ${width}, i / ${width}), 0).x);
  vec4 p = texelFetch(positions, ivec2(splat % ${width}, splat / ${width}), 0);
  at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  gl_Position = view * vec4(p.xyz, 1.0) + vec4(at * size, 0.0, 0.0);
  color = 0.5 + 0.5 * cos(6.2832 * (p.w + vec3(0.0, 0.33, 0.67)));
}`;
const colorShader = `#version 300 es
precision highp float;
flat in vec3 color;
in vec2 at;
out vec4 pixel;
void main() {
  float alpha = 0.5 * exp(-3.0 * dot(at, at)) - 0.025;
  if (alpha <= 0.0) discard;
  pixel = vec4(color * alpha, alpha);
}`;

/** Positions on three rings, whose last channel chooses the colour. */
export function makePositions(count) {
  const positions = new Float32Array(4 * width * Math.ceil(count / width));
  let state = 7;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  for (let i = 0; i < count; ++i) {
    const ring = i % 3, a = random() * 2 * Math.PI, b = random() * 2 * Math.PI, r = 0.22 * Math.sqrt(random());
    const at = [(0.8 + r * Math.cos(b)) * Math.cos(a), r * Math.sin(b), (0.8 + r * Math.cos(b)) * Math.sin(a)];
    positions.set(ring === 0 ? at : ring === 1 ? [at[1], at[0], at[2]] : [at[0], at[2], at[1]], 4 * i);
    positions[4 * i + 3] = ring / 3 + a / 40;
  }
  return positions;
}

/** The plane of the view's depths for an angle of the camera. */
export const planeOf = (angle) => [Math.sin(angle), 0.3, Math.cos(angle), 2];

function viewOf(angle) {
  const s = Math.sin(angle), c = Math.cos(angle), near = 0.5, zoom = 1.6;
  // Columns: x turned, y tilted, depth as w.
  return new Float32Array([zoom * c, -0.3 * zoom * s, 0, s, 0, zoom, 0, 0.3, -zoom * s, -0.3 * zoom * c, 0, c, 0, 0, near, 2]);
}

export class Splats {
  constructor(gl, count, positions) {
    this.gl = gl;
    this.count = count;
    this.height = Math.ceil(count / width);
    this.depthProgram = program(gl, fillShader, depthShader);
    this.program = program(gl, splatShader, colorShader);
    this.array = gl.createVertexArray();
    this.positions = this.texture(gl.RGBA32F, gl.RGBA, gl.FLOAT, positions);
    this.depths = this.texture(gl.R32UI, gl.RED_INTEGER, gl.UNSIGNED_INT, null);
    this.orders = [0, 1].map(() => this.texture(gl.R32UI, gl.RED_INTEGER, gl.UNSIGNED_INT, Uint32Array.from({ length: width * this.height }, (_, i) => i)));
    this.framebuffer = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.framebuffer);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.depths, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  texture(internal, format, type, texels) {
    const { gl } = this, texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, internal, width, this.height, 0, format, type, texels);
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
    return texture;
  }

  /** Sorts all splats from back to front on the GPU. */
  sort(quadmill, angle) {
    const { gl } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.framebuffer);
    gl.viewport(0, 0, width, this.height);
    gl.disable(gl.BLEND);
    gl.useProgram(this.depthProgram);
    gl.bindVertexArray(this.array);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.positions);
    gl.uniform4fv(gl.getUniformLocation(this.depthProgram, 'plane'), planeOf(angle));
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    quadmill.argsortTexture({ texture: this.depths, width, height: this.height, format: 'r32ui' },
      { texture: this.orders[0], width, height: this.height }, { count: this.count, order: 'desc' });
  }

  /** Takes an order that a worker has sorted. */
  take(order) {
    const { gl } = this;
    const texels = new Uint32Array(width * this.height);
    texels.set(order);
    gl.bindTexture(gl.TEXTURE_2D, this.orders[1]);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, this.height, gl.RED_INTEGER, gl.UNSIGNED_INT, texels);
  }

  /** Draws all splats into one half of the canvas: 0 in the GPU's order, 1 in the worker's. */
  draw(half, angle) {
    const { gl } = this, { width: across, height } = gl.canvas;
    gl.viewport(half * across / 2, 0, across / 2, height);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.useProgram(this.program);
    gl.bindVertexArray(this.array);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.orders[half]);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.positions);
    gl.uniform1i(gl.getUniformLocation(this.program, 'order'), 1);
    gl.uniformMatrix4fv(gl.getUniformLocation(this.program, 'view'), false, viewOf(angle));
    gl.uniform1f(gl.getUniformLocation(this.program, 'size'), 0.9 / Math.cbrt(this.count));
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.count);
  }

  /** The GPU's order, read back to count its mistakes. Waits. */
  readOrder() {
    const { gl } = this, framebuffer = gl.createFramebuffer(), texels = new Uint32Array(4 * width * this.height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.orders[0], 0);
    gl.readPixels(0, 0, width, this.height, gl.RGBA_INTEGER, gl.UNSIGNED_INT, texels);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.deleteFramebuffer(framebuffer);
    return Uint32Array.from({ length: this.count }, (_, i) => texels[4 * i]);
  }

  free() {
    const { gl } = this;
    for (const texture of [this.positions, this.depths, ...this.orders]) gl.deleteTexture(texture);
    gl.deleteProgram(this.program);
    gl.deleteProgram(this.depthProgram);
    gl.deleteFramebuffer(this.framebuffer);
    gl.deleteVertexArray(this.array);
  }
}

function program(gl, vertex, fragment) {
  const made = gl.createProgram();
  for (const [stage, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(stage);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
    gl.deleteShader(shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
  return made;
}

/** Neighbours in that order of which the first is nearer, though it is drawn first. */
export function mistakes(order, positions, angle) {
  const [a, b, c, d] = planeOf(angle);
  let wrong = 0, before = Infinity;
  for (const splat of order) {
    const depth = a * positions[4 * splat] + b * positions[4 * splat + 1] + c * positions[4 * splat + 2] + d;
    if (depth > before + 1e-6) ++wrong;
    before = depth;
  }
  return wrong;
}
