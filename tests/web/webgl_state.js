// All state of a WebGL2 context that can be asked for, and values unlike the initial ones.

const units = 8;

export function snapshot(gl) {
  const all = {};
  const texture = gl.getParameter(gl.ACTIVE_TEXTURE);
  const perUnit = ['TEXTURE_BINDING_2D', 'TEXTURE_BINDING_2D_ARRAY', 'TEXTURE_BINDING_3D', 'TEXTURE_BINDING_CUBE_MAP', 'SAMPLER_BINDING'];
  const skipped = /^(COMPRESSED_TEXTURE_FORMATS|READ_BUFFER|DRAW_BUFFER\d+|IMPLEMENTATION_COLOR_READ_.*|MAX_.*)$/;  // of the framebuffer, or fixed
  while (gl.getError()) { /* only those of this function count */ }
  for (const [name, value] of Object.entries(Object.getOwnPropertyDescriptors(WebGL2RenderingContext))) {
    if (typeof value.value !== 'number' || skipped.test(name) || perUnit.includes(name)) continue;
    const found = gl.getParameter(value.value);
    if (gl.getError() === 0) all[name] = ArrayBuffer.isView(found) || Array.isArray(found) ? Array.from(found).join() : found;
  }
  for (let unit = 0; unit < units; ++unit) {
    gl.activeTexture(gl.TEXTURE0 + unit);
    for (const name of perUnit) all[`${name} ${unit}`] = gl.getParameter(gl[name]);
  }
  gl.activeTexture(texture);
  for (const name of ['BLEND', 'CULL_FACE', 'DEPTH_TEST', 'DITHER', 'POLYGON_OFFSET_FILL', 'SAMPLE_ALPHA_TO_COVERAGE', 'SAMPLE_COVERAGE', 'SCISSOR_TEST', 'STENCIL_TEST', 'RASTERIZER_DISCARD'])
    all[`enabled ${name}`] = gl.isEnabled(gl[name]);
  const bound = gl.getParameter(gl.TEXTURE_BINDING_2D);
  if (bound) for (const name of ['TEXTURE_MIN_FILTER', 'TEXTURE_MAG_FILTER', 'TEXTURE_WRAP_S', 'TEXTURE_BASE_LEVEL', 'TEXTURE_MAX_LEVEL', 'TEXTURE_COMPARE_MODE']) all[name] = gl.getTexParameter(gl.TEXTURE_2D, gl[name]);
  for (let i = 0; i < 4; ++i)
    for (const name of ['VERTEX_ATTRIB_ARRAY_ENABLED', 'VERTEX_ATTRIB_ARRAY_BUFFER_BINDING', 'VERTEX_ATTRIB_ARRAY_SIZE', 'VERTEX_ATTRIB_ARRAY_STRIDE', 'VERTEX_ATTRIB_ARRAY_DIVISOR', 'CURRENT_VERTEX_ATTRIB'])
      all[`${name} ${i}`] = String(gl.getVertexAttrib(i, gl[name]));
  const framebuffer = gl.getParameter(gl.DRAW_FRAMEBUFFER_BINDING);
  if (framebuffer) all.attachment = gl.getFramebufferAttachmentParameter(gl.DRAW_FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.FRAMEBUFFER_ATTACHMENT_OBJECT_NAME);
  all.feedback = [gl.getParameter(gl.TRANSFORM_FEEDBACK_ACTIVE), gl.getParameter(gl.TRANSFORM_FEEDBACK_PAUSED)].join();
  return all;
}

export function differences(before, after) {
  return Object.keys(before).filter((name) => before[name] !== after[name]).map((name) => `${name}: ${before[name]} became ${after[name]}`);
}

/** Sets state at random, with bound objects of the page's own. */
export function poison(gl, seed, texture) {
  let state = seed * 2654435761 >>> 0;
  const random = (n) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % n;
  for (const name of ['BLEND', 'CULL_FACE', 'DEPTH_TEST', 'DITHER', 'POLYGON_OFFSET_FILL', 'SAMPLE_ALPHA_TO_COVERAGE', 'SAMPLE_COVERAGE', 'SCISSOR_TEST', 'STENCIL_TEST', 'RASTERIZER_DISCARD'])
    random(2) ? gl.enable(gl[name]) : gl.disable(gl[name]);
  gl.colorMask(random(2) > 0, random(2) > 0, random(2) > 0, false);
  gl.depthMask(random(2) > 0);
  gl.depthFunc(gl.NEVER + random(8));
  gl.depthRange(0.2, 0.7);
  gl.viewport(random(5), random(5), 3 + random(5), 3);
  gl.scissor(random(5), random(5), 1 + random(5), 2);
  gl.blendEquationSeparate(gl.FUNC_SUBTRACT, gl.MAX);
  gl.blendFuncSeparate(gl.SRC_ALPHA, gl.DST_COLOR, gl.ZERO, gl.ONE);
  gl.stencilFuncSeparate(gl.FRONT, gl.GREATER, 3, 5);
  gl.stencilMask(random(256));
  gl.clearColor(0.1, 0.2, 0.3, 0.4);
  for (const name of ['PACK_ALIGNMENT', 'UNPACK_ALIGNMENT']) gl.pixelStorei(gl[name], 8);
  for (const name of ['PACK_ROW_LENGTH', 'UNPACK_ROW_LENGTH', 'UNPACK_IMAGE_HEIGHT']) gl.pixelStorei(gl[name], 300 + random(9));
  for (const name of ['PACK_SKIP_PIXELS', 'PACK_SKIP_ROWS', 'UNPACK_SKIP_PIXELS', 'UNPACK_SKIP_ROWS', 'UNPACK_SKIP_IMAGES']) gl.pixelStorei(gl[name], 1 + random(3));
  gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, random(2) > 0);
  gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, random(2) > 0);
  const buffer = (target) => {
    const made = gl.createBuffer();
    gl.bindBuffer(target, made);
    gl.bufferData(target, 64, gl.STATIC_DRAW);
    return made;
  };
  buffer(gl.PIXEL_PACK_BUFFER);
  buffer(gl.PIXEL_UNPACK_BUFFER);
  const array = gl.createVertexArray();
  gl.bindVertexArray(array);
  buffer(gl.ARRAY_BUFFER);
  gl.enableVertexAttribArray(1);
  gl.vertexAttribPointer(1, 2, gl.FLOAT, false, 8, 0);
  gl.vertexAttribDivisor(1, 3);
  buffer(gl.ELEMENT_ARRAY_BUFFER);
  const sampler = gl.createSampler();
  for (let unit = 0; unit < units; ++unit) {
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, unit % 2 ? texture : null);
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, unit % 3 ? gl.createTexture() : null);
    gl.bindSampler(unit, unit % 3 ? sampler : null);
  }
  gl.activeTexture(gl.TEXTURE0 + random(units));
  const target = gl.createTexture(), both = [gl.createFramebuffer(), gl.createFramebuffer()];
  const before = gl.getParameter(gl.TEXTURE_BINDING_2D);
  gl.bindTexture(gl.TEXTURE_2D, target);
  gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, 8, 8);
  gl.bindTexture(gl.TEXTURE_2D, before);
  gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, both[0]);
  gl.framebufferTexture2D(gl.DRAW_FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, target, 0);
  gl.bindFramebuffer(gl.READ_FRAMEBUFFER, seed % 2 ? both[1] : null);
  // A program of its own, in transform feedback for every other seed.
  const compile = (stage, text) => {
    const shader = gl.createShader(stage);
    gl.shaderSource(shader, `#version 300 es\n${text}`);
    gl.compileShader(shader);
    return shader;
  };
  const program = gl.createProgram();
  gl.attachShader(program, compile(gl.VERTEX_SHADER, 'out float a; void main() { a = 1.0; gl_Position = vec4(0); }'));
  gl.attachShader(program, compile(gl.FRAGMENT_SHADER, 'precision highp float; in float a; out vec4 c; void main() { c = vec4(a); }'));
  gl.transformFeedbackVaryings(program, ['a'], gl.INTERLEAVED_ATTRIBS);
  gl.linkProgram(program);
  if (gl.getParameter(gl.TRANSFORM_FEEDBACK_ACTIVE)) gl.endTransformFeedback();
  gl.useProgram(program);
  if (seed % 2 === 0) {
    gl.bindTransformFeedback(gl.TRANSFORM_FEEDBACK, gl.createTransformFeedback());
    const captured = gl.createBuffer();
    gl.bindBufferBase(gl.TRANSFORM_FEEDBACK_BUFFER, 0, captured);
    gl.bufferData(gl.TRANSFORM_FEEDBACK_BUFFER, 64, gl.STATIC_DRAW);
    gl.beginTransformFeedback(gl.POINTS);
  }
}
