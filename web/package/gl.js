// OpenGL ES 3.0 for the module, on a WebGL2 context: the imports that src/gl/web/functions.hpp names. Objects are
// numbers there. Each piece of the page's state is saved before the first call that changes it, and restored by end().
import { QuadmillError } from './wasm.js';

const GL = globalThis.WebGL2RenderingContext ?? {};  // none in Node, where only the import must work

const viewOf = {
  [GL.FLOAT]: Float32Array, [GL.UNSIGNED_INT]: Uint32Array, [GL.INT]: Int32Array,
  [GL.UNSIGNED_SHORT]: Uint16Array, [GL.HALF_FLOAT]: Uint16Array, [GL.UNSIGNED_BYTE]: Uint8Array,
};
const bindingOf = { [GL.TEXTURE_2D]: GL.TEXTURE_BINDING_2D, [GL.TEXTURE_2D_ARRAY]: GL.TEXTURE_BINDING_2D_ARRAY };
const bufferBindingOf = {
  [GL.ARRAY_BUFFER]: GL.ARRAY_BUFFER_BINDING, [GL.PIXEL_PACK_BUFFER]: GL.PIXEL_PACK_BUFFER_BINDING,
  [GL.PIXEL_UNPACK_BUFFER]: GL.PIXEL_UNPACK_BUFFER_BINDING,
};
// Filters, and swizzles, which WebGL2 does not have.
const plainParameters = {
  [GL.TEXTURE_MIN_FILTER]: GL.NEAREST, [GL.TEXTURE_MAG_FILTER]: GL.NEAREST,
  0x8e42: GL.RED, 0x8e43: 0x1904, 0x8e44: 0x1905, 0x8e45: GL.ALPHA,
};
const tightPack = { [GL.PACK_ALIGNMENT]: 1, [GL.PACK_ROW_LENGTH]: 0, [GL.PACK_SKIP_ROWS]: 0, [GL.PACK_SKIP_PIXELS]: 0 };
const tightUnpack = {
  [GL.UNPACK_ALIGNMENT]: 1, [GL.UNPACK_ROW_LENGTH]: 0, [GL.UNPACK_SKIP_ROWS]: 0, [GL.UNPACK_SKIP_PIXELS]: 0,
  [GL.UNPACK_IMAGE_HEIGHT]: 0, [GL.UNPACK_SKIP_IMAGES]: 0, [GL.UNPACK_FLIP_Y_WEBGL]: false,
  [GL.UNPACK_PREMULTIPLY_ALPHA_WEBGL]: false,
};

/** `name`: of the class that works in the context. `state` 'mine': the page sets all state that it needs itself, so that
 * nothing is saved or restored. `debug`: asks for errors of OpenGL. `extensions`: that the caller switched on, as OpenGL
 * ES names them. */
export class PageGl {
  constructor(gl, { state, debug }, name, extensions = []) {
    this.gl = gl;
    // The module asks for the size of a texture; the caller of argsortTexture() has said it.
    this.extensions = ['GL_ANGLE_get_tex_level_parameter', ...extensions];
    this.lost = `the WebGL context was lost; make a new ${name} when it is restored`;
    this.mine = state === 'mine';
    this.debug = debug;
    this.saved = new Map();
    this.objects = [null];  // by number; also uniform locations and fences
    this.free = [];
    this.levels = new Map();  // size and format of 2-D textures: of the page's, what the caller said
    this.pages = new Set();   // numbers of textures of the page
    this.clips = gl.getExtension('EXT_clip_control');
    this.polygons = gl.getExtension('WEBGL_polygon_mode');
    this.known = new WeakSet();    // textures of the page that were asked about
    this.checked = new WeakSet();  // those of them that can be drawn to
    this.watched = [];
    if (!this.mine) this.watchAll();
    // With a sampler, a texture's own filter and comparison do not matter.
    this.plain = gl.createSampler();
    for (const name of [GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER]) gl.samplerParameteri(this.plain, name, GL.NEAREST);
    this.reset();
  }

  /** What the module has bound; 0 or null: nothing known. */
  reset() {
    this.unit = -1;
    this.now = new Map();  // buffers by target, textures by target and unit
    this.draw = this.read = null;
    this.packed = this.unpacked = -1;
    this.bound = 0;  // the texture bound last
    this.sampled = 0;  // units with the sampler, as bits
    this.mapped = 0;
    this.upload = 0;  // in the module's memory: what goes to the next texture
  }

  // Objects ---------------------------------------------------------------------------------------------------------
  put(object) {
    if (!object) return 0;
    const id = this.free.pop() ?? this.objects.length;
    this.objects[id] = object;
    return id;
  }
  take(id) {
    const object = this.objects[id];
    this.objects[id] = null;
    if (id) this.free.push(id);
    return object;
  }
  /** Makes the page's texture known to the module until forget(). What waits for the GPU's process is asked when a
   * texture is first used. */
  know(texture, level) {
    const { gl } = this;
    if (!this.known.has(texture)) {
      if (!gl.isTexture(texture))
        throw new QuadmillError('argument', 'a texture is not one of this context, was deleted, or never bound');
      const unit = gl.getParameter(GL.TEXTURE_BINDING_2D);
      gl.bindTexture(GL.TEXTURE_2D, texture);
      const base = gl.getTexParameter(GL.TEXTURE_2D, GL.TEXTURE_BASE_LEVEL);
      gl.bindTexture(GL.TEXTURE_2D, unit);
      if (base !== 0)
        throw new QuadmillError('argument', `a texture has TEXTURE_BASE_LEVEL ${base}, and level 0 is needed`);
      this.known.add(texture);
    }
    const id = this.put(texture);
    this.levels.set(id, level);
    this.pages.add(id);
    return id;
  }
  forget(id) {
    this.levels.delete(id);
    this.pages.delete(id);
    this.take(id);
  }

  // The page's state ------------------------------------------------------------------------------------------------
  /** Begins a call. Throws for states in which a draw would go wrong. */
  begin() {
    const { gl } = this;
    if (gl.isContextLost())
      throw new QuadmillError('lost', this.lost);
    const error = this.debug && gl.getError();
    if (error) throw new QuadmillError('gl', `before this call, OpenGL had error ${error}`);
    this.reset();
    if (this.mine) return;
    for (const target of [GL.ANY_SAMPLES_PASSED, GL.ANY_SAMPLES_PASSED_CONSERVATIVE]) {
      if (gl.getQuery(target, GL.CURRENT_QUERY))
        throw new QuadmillError('argument', 'an active query of samples would count passes; end it first');
    }
    const program = gl.getParameter(GL.CURRENT_PROGRAM);
    if (program && gl.getProgramParameter(program, GL.DELETE_STATUS))
      throw new QuadmillError('argument', 'the current program was deleted and would be lost; use another one first');
    const feedback = this.feedback.get(this.feedbackObject);
    if (feedback?.active && !feedback.paused) {
      gl.pauseTransformFeedback();
      this.saved.set('feedback', () => gl.resumeTransformFeedback());
    }
    const { clips, polygons, clip, polygonMode } = this;
    if (clips && (clip[0] !== clips.LOWER_LEFT_EXT || clip[1] !== clips.NEGATIVE_ONE_TO_ONE_EXT)) {
      clips.clipControlEXT(clips.LOWER_LEFT_EXT, clips.NEGATIVE_ONE_TO_ONE_EXT);
      this.saved.set('clip', () => clips.clipControlEXT(...clip));
    }
    if (polygons && polygonMode !== polygons.FILL_WEBGL) {
      polygons.polygonModeWEBGL(GL.FRONT_AND_BACK, polygons.FILL_WEBGL);
      this.saved.set('polygon', () => polygons.polygonModeWEBGL(GL.FRONT_AND_BACK, polygonMode));
    }
  }

  // Browsers answer most questions about state by themselves. These they pass on to the GPU's process and wait, 0.1 ms
  // each, so the calls that change them are noted.
  watchAll() {
    const { gl } = this;
    this.mask = gl.getParameter(GL.COLOR_WRITEMASK);
    this.watch(gl, 'colorMask', (...mask) => { this.mask = mask.map(Boolean); });
    this.feedback = new Map();  // by transform feedback object
    this.feedbackObject = gl.getParameter(GL.TRANSFORM_FEEDBACK_BINDING);
    this.feedback.set(this.feedbackObject,
      { active: gl.getParameter(GL.TRANSFORM_FEEDBACK_ACTIVE), paused: gl.getParameter(GL.TRANSFORM_FEEDBACK_PAUSED) });
    const note = (active, paused) => () => this.feedback.set(this.feedbackObject, { active, paused });
    this.watch(gl, 'bindTransformFeedback', (target, object) => { this.feedbackObject = object; });
    this.watch(gl, 'beginTransformFeedback', note(true, false));
    this.watch(gl, 'pauseTransformFeedback', note(true, true));
    this.watch(gl, 'resumeTransformFeedback', note(true, false));
    this.watch(gl, 'endTransformFeedback', () => this.feedback.delete(this.feedbackObject));
    if (this.clips) {
      this.clip = [gl.getParameter(this.clips.CLIP_ORIGIN_EXT), gl.getParameter(this.clips.CLIP_DEPTH_MODE_EXT)];
      this.watch(this.clips, 'clipControlEXT', (...clip) => { this.clip = clip; });
    }
    if (this.polygons) {
      [this.polygonMode] = [gl.getParameter(this.polygons.POLYGON_MODE_WEBGL)].flat();
      this.watch(this.polygons, 'polygonModeWEBGL', (face, mode) => { this.polygonMode = mode; });
    }
  }
  watch(object, name, note) {
    const call = object[name], own = Object.hasOwn(object, name);
    const watching = function watching(...all) {
      note(...all);
      return call.apply(object, all);
    };
    object[name] = watching;
    this.watched.push(() => {
      if (object[name] !== watching) return;  // somebody watches after us
      if (own) object[name] = call;
      else delete object[name];
    });
  }
  close() {
    for (const undo of this.watched.reverse()) undo();
  }

  /** Ends a call: restores what it changed. */
  end() {
    const { saved, gl } = this;
    if (saved.size) {
      const unit = saved.get(GL.ACTIVE_TEXTURE);
      saved.delete(GL.ACTIVE_TEXTURE);
      const feedback = saved.get('feedback');
      saved.delete('feedback');
      for (const restore of saved.values()) restore();
      unit?.();
      feedback?.();
      saved.clear();
    }
    if (gl.isContextLost())
      throw new QuadmillError('lost', this.lost);
  }

  /** Saves a piece of state before it changes: `save()` gives what restores it. */
  once(key, save) {
    if (!this.mine && !this.saved.has(key)) this.saved.set(key, save());
  }
  onceParameter(name, restore, ...others) {
    this.once(name, () => {
      const values = [name, ...others].map((one) => this.gl.getParameter(one));
      return () => restore(...values);
    });
  }
  able(capability, on) {
    const { gl } = this;
    this.once(`cap${capability}`, () => {
      const was = gl.isEnabled(capability);
      return () => (was ? gl.enable(capability) : gl.disable(capability));
    });
    on ? gl.enable(capability) : gl.disable(capability);
  }
  store(tight) {
    const { gl } = this;
    for (const [key, value] of Object.entries(tight)) {
      const name = Number(key);
      this.onceParameter(name, (was) => gl.pixelStorei(name, was));
      gl.pixelStorei(name, value);
    }
  }
  /** Rows without gaps, and a pointer instead of an offset if the module has bound no buffer. */
  packs() {
    this.store(tightPack);
    if (this.packed < 0) this.bindBuffer(GL.PIXEL_PACK_BUFFER, null);
  }
  unpacks() {
    this.store(tightUnpack);
    if (this.unpacked < 0) this.bindBuffer(GL.PIXEL_UNPACK_BUFFER, null);
  }
  /** Whether another object than before is bound. */
  binds(key, object) {
    if (this.now.get(key) === object) return false;
    this.now.set(key, object);
    return true;
  }
  bindBuffer(target, buffer) {
    if (!this.binds(target, buffer)) return;
    this.onceParameter(bufferBindingOf[target], (was) => this.gl.bindBuffer(target, was));
    this.gl.bindBuffer(target, buffer);
  }
  bindFramebuffer(target, framebuffer) {
    const { gl } = this;
    const draws = target !== GL.READ_FRAMEBUFFER, reads = target !== GL.DRAW_FRAMEBUFFER;
    if (draws) {
      this.onceParameter(GL.DRAW_FRAMEBUFFER_BINDING, (was) => gl.bindFramebuffer(GL.DRAW_FRAMEBUFFER, was));
      this.draw = framebuffer;
    }
    if (reads) {
      this.onceParameter(GL.READ_FRAMEBUFFER_BINDING, (was) => gl.bindFramebuffer(GL.READ_FRAMEBUFFER, was));
      this.read = framebuffer;
    }
    gl.bindFramebuffer(target, framebuffer);
  }
  /** Chromium applies the draw buffers of a framebuffer that is bound for reading alone, when a texture is attached, to
   * the one bound for drawing. So it is bound to both. */
  attaching(target, attach) {
    const { gl } = this;
    if (target !== GL.READ_FRAMEBUFFER || this.read === this.draw) return attach(target);
    const draw = this.draw;
    this.bindFramebuffer(GL.FRAMEBUFFER, this.read);
    attach(GL.FRAMEBUFFER);
    this.bindFramebuffer(GL.DRAW_FRAMEBUFFER, draw);
  }

  // The imports of the module ---------------------------------------------------------------------------------------
  /** `module()`: its Instance. */
  imports(module) {
    const { gl, objects } = this;
    const of = (id) => objects[id];
    const words = (at, count) => new Uint32Array(module().buffer, at, count);
    const setWord = (at, value) => { words(at, 1)[0] = value; };
    const gen = (count, at, make) => { for (let i = 0; i < count; ++i) setWord(at + 4 * i, this.put(make())); };
    const drop = (count, at, remove) => { for (const id of Array.from(words(at, count))) if (id) remove(this.take(id)); };
    const strings = new Map();
    const text = (string) => {
      if (!strings.has(string)) {
        const bytes = new TextEncoder().encode(`${string}\0`);
        const at = module().allocate(bytes.length);
        module().bytes(at, bytes.length).set(bytes);
        strings.set(string, at);
      }
      return strings.get(string);
    };
    const log = (string, size, length, at) => {
      const bytes = new TextEncoder().encode(string ?? '').subarray(0, Math.max(size - 1, 0));
      module().bytes(at, bytes.length).set(bytes);
      if (size > 0) module().bytes(at + bytes.length, 1)[0] = 0;
      if (length) setWord(length, bytes.length);
    };
    const asked = [GL.MAX_TEXTURE_SIZE, GL.MAX_ARRAY_TEXTURE_LAYERS, GL.MAX_DRAW_BUFFERS, GL.MAX_VIEWPORT_DIMS];
    // With a pixel buffer bound, the pointer is an offset. An odd one is a place in the caller's array.
    const texels = (type, at) => {
      if (at === 0) return null;
      if (at & 1) return this.array.subarray(at >>> 2);
      return new viewOf[type](module().buffer, at);
    };
    // Whether the uniform has another value; programs keep theirs from call to call.
    const set = (where, x, y = 0, z = 0, w = 0) => {
      const uniform = objects[where];
      if (!uniform || (uniform.x === x && uniform.y === y && uniform.z === z && uniform.w === w)) return false;
      uniform.x = x; uniform.y = y; uniform.z = z; uniform.w = w;
      return true;
    };

    return {
      ActiveTexture: (unit) => {
        if (this.unit === unit - GL.TEXTURE0) return;
        this.onceUnit();
        this.unit = unit - GL.TEXTURE0;
        gl.activeTexture(unit);
      },
      ArrayWords: (first, at, count) => words(at, count).set(this.array.subarray(first, first + count)),
      AttachShader: (program, shader) => gl.attachShader(of(program), of(shader)),
      BeginQuery: (target, query) => gl.beginQuery(target, of(query)),
      BindAttribLocation: (program, index, name) => gl.bindAttribLocation(of(program), index, module().text(name)),
      BindBuffer: (target, buffer) => {
        if (target === GL.PIXEL_PACK_BUFFER) this.packed = buffer;
        if (target === GL.PIXEL_UNPACK_BUFFER) this.unpacked = buffer;
        this.bindBuffer(target, of(buffer));
      },
      BindFramebuffer: (target, framebuffer) => this.bindFramebuffer(target, of(framebuffer)),
      // The module binds none, see `plain`.
      BindSampler: (unit) => {
        if (this.sampled & (1 << unit)) return;
        this.sampled |= 1 << unit;
        this.once(`sampler${unit}`, () => {
          const before = this.unit;
          this.onceUnit();
          if (before !== unit) gl.activeTexture(GL.TEXTURE0 + unit);
          const was = gl.getParameter(GL.SAMPLER_BINDING);
          if (before !== unit) before < 0 ? (this.unit = unit) : gl.activeTexture(GL.TEXTURE0 + before);
          return () => gl.bindSampler(unit, was);
        });
        gl.bindSampler(unit, this.plain);
      },
      BindTexture: (target, texture) => {
        this.bound = texture;
        const { unit } = this, key = `${target} ${unit}`;
        if (!this.binds(key, of(texture))) return;
        this.once(key, () => {
          const was = gl.getParameter(bindingOf[target]);
          return () => { gl.activeTexture(GL.TEXTURE0 + unit); gl.bindTexture(target, was); };
        });
        gl.bindTexture(target, of(texture));
      },
      BindVertexArray: (array) => {
        this.onceParameter(GL.VERTEX_ARRAY_BINDING, (was) => gl.bindVertexArray(was));
        gl.bindVertexArray(of(array));
      },
      BlendEquation: (mode) => {
        this.onceParameter(GL.BLEND_EQUATION_RGB, (...was) => gl.blendEquationSeparate(...was), GL.BLEND_EQUATION_ALPHA);
        gl.blendEquation(mode);
      },
      BlendFunc: (from, to) => {
        this.onceParameter(GL.BLEND_SRC_RGB, (...was) => gl.blendFuncSeparate(...was), GL.BLEND_DST_RGB, GL.BLEND_SRC_ALPHA, GL.BLEND_DST_ALPHA);
        gl.blendFunc(from, to);
      },
      BlitFramebuffer: (...all) => gl.blitFramebuffer(...all),
      BufferData: (target, size, at, usage) => {
        // Not *_READ but *_COPY: of a buffer to read, Chromium makes a copy at each fence.
        if (at === 0) return gl.bufferData(target, size, usage + (usage & 1));
        // The module fills a pixel buffer in order to upload it. A browser uploads from memory immediately:
        // 16 MB take Chromium with SwiftShader 5 ms, not 10.
        if (target === GL.PIXEL_UNPACK_BUFFER) this.upload = at;
        else gl.bufferData(target, new Uint8Array(module().buffer), usage, at, size);
      },
      // Waits for the GPU's process; all textures of the module can be drawn to, but perhaps not eight at a time.
      CheckFramebufferStatus: (target) => {
        const texture = this.attached;
        if (!texture || this.checked.has(texture)) return GL.FRAMEBUFFER_COMPLETE;
        const status = gl.checkFramebufferStatus(target);
        if (status === GL.FRAMEBUFFER_COMPLETE) this.checked.add(texture);
        return status;
      },
      ClearBufferfv: (buffer, target, at) => gl.clearBufferfv(buffer, target, new Float32Array(module().buffer, at, 4)),
      ClearBufferiv: (buffer, target, at) => gl.clearBufferiv(buffer, target, new Int32Array(module().buffer, at, buffer === GL.COLOR ? 4 : 1)),
      ClearBufferuiv: (buffer, target, at) => gl.clearBufferuiv(buffer, target, words(at, 4)),
      // A page may not wait. The module asks with a time of 0 whether a fence has passed; when it would wait, what it
      // reads next waits by itself.
      ClientWaitSync: (sync, flags, timeout) =>
        timeout !== 0n || gl.getSyncParameter(of(sync), GL.SYNC_STATUS) === GL.SIGNALED ? GL.CONDITION_SATISFIED : GL.TIMEOUT_EXPIRED,
      ColorMask: (r, g, b, a) => {
        this.once('mask', () => {
          const was = this.mask;
          return () => gl.colorMask(...was);
        });
        gl.colorMask(r !== 0, g !== 0, b !== 0, a !== 0);
      },
      CompileShader: (shader) => gl.compileShader(of(shader)),
      CreateProgram: () => this.put(gl.createProgram()),
      CreateShader: (stage) => this.put(gl.createShader(stage)),
      DeleteBuffers: (count, at) => drop(count, at, (buffer) => { this.now.clear(); gl.deleteBuffer(buffer); }),
      DeleteFramebuffers: (count, at) => drop(count, at, (framebuffer) => {
        if (this.draw === framebuffer) this.draw = null;
        if (this.read === framebuffer) this.read = null;
        gl.deleteFramebuffer(framebuffer);
      }),
      DeleteProgram: (program) => gl.deleteProgram(this.take(program)),
      DeleteQueries: (count, at) => drop(count, at, (query) => gl.deleteQuery(query)),
      DeleteShader: (shader) => gl.deleteShader(this.take(shader)),
      DeleteSync: (sync) => gl.deleteSync(this.take(sync)),
      DeleteTextures: (count, at) => drop(count, at, (texture) => { this.now.clear(); gl.deleteTexture(texture); }),
      DeleteVertexArrays: (count, at) => drop(count, at, (array) => gl.deleteVertexArray(array)),
      DepthFunc: (compare) => {
        this.onceParameter(GL.DEPTH_FUNC, (was) => gl.depthFunc(was));
        gl.depthFunc(compare);
      },
      DepthMask: (on) => {
        this.onceParameter(GL.DEPTH_WRITEMASK, (was) => gl.depthMask(was));
        gl.depthMask(on !== 0);
      },
      DetachShader: (program, shader) => gl.detachShader(of(program), of(shader)),
      Disable: (capability) => this.able(capability, false),
      DrawArrays: (mode, first, count) => gl.drawArrays(mode, first, count),
      DrawArraysInstanced: (mode, first, count, instances) => gl.drawArraysInstanced(mode, first, count, instances),
      DrawBuffers: (count, at) => gl.drawBuffers(Array.from(words(at, count))),
      Enable: (capability) => this.able(capability, true),
      EnableVertexAttribArray: (index) => gl.enableVertexAttribArray(index),
      EndQuery: (target) => gl.endQuery(target),
      FenceSync: (condition, flags) => this.put(gl.fenceSync(condition, flags)),
      Finish: () => gl.finish(),
      Flush: () => gl.flush(),
      FramebufferTexture2D: (target, attachment, textarget, texture, level) => {
        this.attached = this.pages.has(texture) ? of(texture) : null;
        this.attaching(target, (to) => gl.framebufferTexture2D(to, attachment, textarget, of(texture), level));
      },
      FramebufferTextureLayer: (target, attachment, texture, level, layer) => {
        this.attached = attachment > GL.COLOR_ATTACHMENT3 ? gl : null;
        this.attaching(target, (to) => gl.framebufferTextureLayer(to, attachment, of(texture), level, layer));
      },
      GenBuffers: (count, at) => gen(count, at, () => gl.createBuffer()),
      GenFramebuffers: (count, at) => gen(count, at, () => gl.createFramebuffer()),
      GenQueries: (count, at) => gen(count, at, () => gl.createQuery()),
      GenTextures: (count, at) => gen(count, at, () => gl.createTexture()),
      GenVertexArrays: (count, at) => gen(count, at, () => gl.createVertexArray()),
      // getError waits for the GPU's process; a lost context is noticed by end().
      GetError: () => (this.debug ? gl.getError() : GL.NO_ERROR),
      GetIntegerv: (name, at) => {
        // MAJOR_VERSION, NUM_EXTENSIONS
        const value = asked.includes(name) ? gl.getParameter(name) : { 0x821b: 3, 0x821d: this.extensions.length }[name] ?? 0;
        (value.length ? value : [value]).forEach((one, i) => setWord(at + 4 * i, one));
      },
      GetProgramInfoLog: (program, size, length, at) => log(gl.getProgramInfoLog(of(program)), size, length, at),
      GetProgramiv: (program, name, at) => setWord(at, gl.getProgramParameter(of(program), name)),
      GetQueryObjectuiv: (query, name, at) => setWord(at, gl.getQueryParameter(of(query), name)),
      GetShaderInfoLog: (shader, size, length, at) => log(gl.getShaderInfoLog(of(shader)), size, length, at),
      GetShaderiv: (shader, name, at) =>
        setWord(at, name === 0x8b84 ? 4096 : gl.getShaderParameter(of(shader), name)),  // INFO_LOG_LENGTH
      GetString: (name) => text({ [GL.VERSION]: 'OpenGL ES 3.0', [GL.SHADING_LANGUAGE_VERSION]: 'OpenGL ES GLSL ES 3.00' }[name] ?? this.name(name)),
      GetStringi: (name, i) => text(this.extensions[i]),
      GetTexLevelParameteriv: (target, level, name, at) => {
        const { width = 0, height = 0, internal = 0 } = this.levels.get(this.bound) ?? {};
        setWord(at, { 0x1000: width, 0x1001: height, 0x1003: internal, 0x8071: 1 }[name] ?? 0);
      },
      // As the module wants them: see the sampler, and know().
      GetTexParameteriv: (target, name, at) => setWord(at, plainParameters[name] ?? 0),
      GetUniformLocation: (program, name) => {
        const location = gl.getUniformLocation(of(program), module().text(name));
        return location ? this.put({ location, x: NaN, y: 0, z: 0, w: 0 }) : -1;
      },
      IsEnabled: (capability) => (gl.isEnabled(capability) ? 1 : 0),
      IsTexture: (texture) => (of(texture) ? 1 : 0),  // see known()
      LinkProgram: (program) => gl.linkProgram(of(program)),
      // What was read back, copied into the module's memory.
      MapBufferRange: (target, offset, length) => {
        this.mapped = module().allocate(length);
        gl.getBufferSubData(target, offset, new Uint8Array(module().buffer), this.mapped, length);
        return this.mapped;
      },
      ReadBuffer: (buffer) => gl.readBuffer(buffer),
      ReadPixels: (x, y, width, height, format, type, at) => {
        this.packs();
        gl.readPixels(x, y, width, height, format, type, this.packed > 0 ? at : texels(type, at));
      },
      Scissor: (x, y, width, height) => {
        this.onceParameter(GL.SCISSOR_BOX, (was) => gl.scissor(...was));
        gl.scissor(x, y, width, height);
      },
      ShaderSource: (shader, count, at) =>
        gl.shaderSource(of(shader), Array.from(words(at, count), (string) => module().text(string)).join('')),
      TexParameteri: (target, name, value) => gl.texParameteri(target, name, value),
      TexStorage2D: (target, levels, internal, width, height) => {
        this.levels.set(this.bound, { width, height, internal });
        gl.texStorage2D(target, levels, internal, width, height);
      },
      TexStorage3D: (target, levels, internal, width, height, depth) =>
        gl.texStorage3D(target, levels, internal, width, height, depth),
      TexSubImage2D: (target, level, x, y, width, height, format, type, at) => {
        this.unpacks();
        const upload = this.unpacked > 0 && this.upload;
        if (upload) gl.bindBuffer(GL.PIXEL_UNPACK_BUFFER, null);
        gl.texSubImage2D(target, level, x, y, width, height, format, type, this.unpacked > 0 && !upload ? at : texels(type, upload + at));
        if (upload) gl.bindBuffer(GL.PIXEL_UNPACK_BUFFER, of(this.unpacked));
        if (upload) this.upload = 0;
      },
      TexSubImage3D: (target, level, x, y, z, width, height, depth, format, type, at) => {
        this.unpacks();
        gl.texSubImage3D(target, level, x, y, z, width, height, depth, format, type, this.unpacked > 0 ? at : texels(type, at));
      },
      Uniform1f: (where, x) => set(where, x) && gl.uniform1f(of(where).location, x),
      Uniform1i: (where, x) => set(where, x) && gl.uniform1i(of(where).location, x),
      Uniform1ui: (where, x) => set(where, x) && gl.uniform1ui(of(where).location, x),
      Uniform2f: (where, x, y) => set(where, x, y) && gl.uniform2f(of(where).location, x, y),
      Uniform2i: (where, x, y) => set(where, x, y) && gl.uniform2i(of(where).location, x, y),
      Uniform2ui: (where, x, y) => set(where, x, y) && gl.uniform2ui(of(where).location, x, y),
      Uniform4f: (where, x, y, z, w) => set(where, x, y, z, w) && gl.uniform4f(of(where).location, x, y, z, w),
      Uniform4i: (where, x, y, z, w) => set(where, x, y, z, w) && gl.uniform4i(of(where).location, x, y, z, w),
      Uniform4ui: (where, x, y, z, w) => set(where, x, y, z, w) && gl.uniform4ui(of(where).location, x, y, z, w),
      UnmapBuffer: () => {
        module().calls.free(this.mapped);
        this.mapped = 0;
        return 1;
      },
      UseProgram: (program) => {
        this.onceParameter(GL.CURRENT_PROGRAM, (was) => gl.useProgram(was));
        gl.useProgram(of(program));
      },
      VertexAttribDivisor: (index, divisor) => gl.vertexAttribDivisor(index, divisor),
      VertexAttribPointer: (index, size, type, normalized, stride, offset) =>
        gl.vertexAttribPointer(index, size, type, normalized !== 0, stride, offset),
      Viewport: (x, y, width, height) => {
        this.onceParameter(GL.VIEWPORT, (was) => gl.viewport(...was));
        gl.viewport(x, y, width, height);
      },
    };
  }

  onceUnit() {
    this.onceParameter(GL.ACTIVE_TEXTURE, (was) => this.gl.activeTexture(was));
  }
  /** Name of the renderer or vendor. */
  name(which) {
    const { gl } = this;
    const info = gl.getExtension('WEBGL_debug_renderer_info');
    const wanted = which === GL.RENDERER ? info?.UNMASKED_RENDERER_WEBGL : info?.UNMASKED_VENDOR_WEBGL;
    return gl.getParameter(wanted ?? which) || gl.getParameter(which) || '';
  }
}
