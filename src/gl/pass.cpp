#include "gl/pass.hpp"

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

Quad::Corners corners(int x0, int y0, int x1, int y1) {
    return {static_cast<float>(x0), static_cast<float>(y0), static_cast<float>(x1), static_cast<float>(y1)};
}

Quad rectangle(int x0, int y0, int x1, int y1) {
    return {corners(x0, y0, x1, y1), corners(x0, y0, x1, y1)};
}

QuadList::QuadList(Device& device, std::vector<Quad> quads)
    : quads_(std::move(quads)), buffer_(device, std::as_bytes(std::span(quads_))) {
    const auto& gl = device.gl;
    GLuint id = 0;
    gl.CreateVertexArrays(1, &id);
    vertex_array_ = Handle<VertexArrayTraits>(device.shared_from_this(), id);
    gl.VertexArrayVertexBuffer(id, 0, buffer_.id(), 0, sizeof(Quad));
    gl.VertexArrayBindingDivisor(id, 0, 1);
    for (GLuint attribute = 0; attribute < 2; ++attribute) {
        gl.EnableVertexArrayAttrib(id, attribute);
        gl.VertexArrayAttribFormat(id, attribute, 4, GL_FLOAT, GL_FALSE,
                                   attribute * static_cast<GLuint>(sizeof(Quad::Corners)));
        gl.VertexArrayAttribBinding(id, attribute, 0);
    }
}

Points::Points(Device& device) {
    GLuint id = 0;
    device.gl.CreateVertexArrays(1, &id);
    vertex_array_ = Handle<VertexArrayTraits>(device.shared_from_this(), id);
}

void Pipeline::end_condition(const Api& gl) noexcept {
    if (condition != 0) gl.EndConditionalRender();
    condition = 0;
}

namespace {

void set_blend(Device& device, GLuint target, Blend blend) {
    const auto& gl = device.gl;
    if (blend == Blend::None) return gl.Disablei(GL_BLEND, target);
    gl.Enablei(GL_BLEND, target);
    gl.BlendEquationi(target, blend == Blend::Min ? GL_MIN : blend == Blend::Max ? GL_MAX : GL_FUNC_ADD);
    if (blend != Blend::Add) return;  // MIN and MAX have no factors
    device.save_blend_factors();
    gl.BlendFunci(target, GL_ONE, GL_ONE);
}

GLenum name_of(Compare compare) {
    return GL_NEVER + static_cast<GLenum>(compare);
}

GLenum name_of(StencilOp op) {
    static constexpr std::array<GLenum, 6> names{GL_KEEP, GL_ZERO, GL_REPLACE, GL_INCR, GL_DECR, GL_INVERT};
    return names.at(static_cast<std::size_t>(op));
}

void set_depth(const Api& gl, const std::optional<DepthTest>& test) {
    if (!test) return gl.Disable(GL_DEPTH_TEST);
    gl.Enable(GL_DEPTH_TEST);
    gl.DepthFunc(name_of(test->pass_if));
    gl.DepthMask(test->write == DepthWrite::On ? GL_TRUE : GL_FALSE);
}

void set_stencil(const Api& gl, const std::optional<StencilTest>& test) {
    if (!test) return gl.Disable(GL_STENCIL_TEST);
    gl.Enable(GL_STENCIL_TEST);
    gl.StencilFuncSeparate(GL_FRONT_AND_BACK, name_of(test->pass_if), test->reference, test->compared);
    gl.StencilOpSeparate(GL_FRONT_AND_BACK, name_of(test->on_fail), name_of(test->on_depth_fail),
                         name_of(test->on_pass));
    gl.StencilMaskSeparate(GL_FRONT_AND_BACK, test->written);
}

void set_depth_bounds(const Api& gl, const std::optional<std::array<float, 2>>& bounds) {
    if (!bounds) return gl.Disable(GL_DEPTH_BOUNDS_TEST_EXT);
    gl.Enable(GL_DEPTH_BOUNDS_TEST_EXT);
    gl.DepthBoundsEXT((*bounds)[0], (*bounds)[1]);
}

GLuint vertex_array_of(const Pass& pass) {
    return pass.quads ? pass.quads->vertex_array() : pass.points->vertex_array();
}

void bind(Device& device, const Pass& pass) {
    const auto& gl = device.gl;
    auto& bound = device.pipeline;
    const auto condition = pass.only_if ? pass.only_if->id() : 0;
    if (condition != bound.condition) {
        bound.end_condition(gl);
        if (condition != 0) gl.BeginConditionalRender(condition, GL_QUERY_WAIT);
        bound.condition = condition;
    }
    if (bound.program != pass.program->id()) gl.UseProgram(bound.program = pass.program->id());
    if (bound.vertex_array != vertex_array_of(pass)) gl.BindVertexArray(bound.vertex_array = vertex_array_of(pass));
    if (bound.framebuffer != pass.target->id())
        gl.BindFramebuffer(GL_DRAW_FRAMEBUFFER, bound.framebuffer = pass.target->id());
    if (bound.width != pass.target->width() || bound.height != pass.target->height()) {
        bound.width = pass.target->width();
        bound.height = pass.target->height();
        gl.ViewportIndexedf(0, 0, 0, static_cast<GLfloat>(bound.width), static_cast<GLfloat>(bound.height));
    }
    const auto bind_texture = [&](GLuint unit, GLuint texture) {
        if (bound.textures.at(unit) == texture) return;
        gl.BindSampler(unit, 0);
        gl.BindTextureUnit(unit, bound.textures.at(unit) = texture);
    };
    for (GLuint unit = 0; unit < pass.inputs.size(); ++unit) {
        if (pass.inputs[unit]) bind_texture(unit, pass.inputs[unit]->id());
    }
    if (pass.counts) bind_texture(texture_units - 1, pass.counts->id());
    if (pass.texels) bind_texture(texture_units - 1, pass.texels->id());
    for (GLuint i = 0; i < draw_buffers; ++i) {
        const auto blend = pass.blend.of[i];
        if (bound.blend.of[i] != blend) set_blend(device, i, bound.blend.of[i] = blend);
    }
    if (bound.depth != pass.depth) set_depth(gl, bound.depth = pass.depth);
    if (bound.stencil != pass.stencil) {
        device.save_stencil();
        set_stencil(gl, bound.stencil = pass.stencil);
    }
    if (bound.depth_bounds != pass.depth_bounds) set_depth_bounds(gl, bound.depth_bounds = pass.depth_bounds);
    if (bound.color != pass.color) {
        bound.color = pass.color;
        const GLboolean on = pass.color == ColorWrite::On ? GL_TRUE : GL_FALSE;
        gl.ColorMask(on, on, on, on);
    }
}

struct SetUniform {
    const Api& gl;
    GLuint program;
    GLint where;
    void operator()(int v) const { gl.ProgramUniform1i(program, where, v); }
    void operator()(unsigned v) const { gl.ProgramUniform1ui(program, where, v); }
    void operator()(float v) const { gl.ProgramUniform1f(program, where, v); }
    void operator()(const glm::ivec2& v) const { gl.ProgramUniform2i(program, where, v.x, v.y); }
    void operator()(const glm::ivec4& v) const { gl.ProgramUniform4i(program, where, v.x, v.y, v.z, v.w); }
    void operator()(const glm::uvec2& v) const { gl.ProgramUniform2ui(program, where, v.x, v.y); }
    void operator()(const glm::uvec4& v) const { gl.ProgramUniform4ui(program, where, v.x, v.y, v.z, v.w); }
    void operator()(const glm::vec2& v) const { gl.ProgramUniform2f(program, where, v.x, v.y); }
    void operator()(const glm::vec4& v) const { gl.ProgramUniform4f(program, where, v.x, v.y, v.z, v.w); }
};

void set_uniforms(const Api& gl, const Pass& pass) {
    const auto program = pass.program->id();
    for (const auto& uniform : pass.uniforms)
        std::visit(SetUniform{gl, program, pass.program->location(uniform.name)}, uniform.value);
}

std::size_t count_of(const Pass& pass) {
    if (pass.count != Pass::all) return pass.count;
    if (!pass.quads) throw InvalidArgument("the pass '" + std::string(pass.name) + "' does not count its points");
    return pass.quads->quads().size() - pass.first;
}

// Calls `issue` between the observer's two calls.
template <class Issue>
void observed(Device& device, PassEvent event, std::span<const Quad> quads, Issue&& issue) {
    ++device.passes;
    const DebugGroup group(device.gl, device.features, event.name);
    if (!device.observer) return issue();
    for (const auto& quad : quads) event.texels += quad.texels();
    event.quads = static_cast<int>(quads.size());
    event.rectangles = quads;
    device.observer->before(event);
    issue();
    device.observer->after(event);
}

}  // namespace

void draw(Device& device, const Pass& pass) {
    const auto count = count_of(pass);
    const PassEvent event{.name = pass.name,
                          .stage = pass.stage,
                          .step = pass.step,
                          .target = pass.target->texture(),
                          .width = pass.target->width(),
                          .height = pass.target->height(),
                          .targets = pass.target->targets(),
                          .format = info(pass.target->format()).name,
                          .write = !pass.blend.any() ? PassEvent::Write::Replace : PassEvent::Write::Blend,
                          .texels = pass.quads ? 0 : count,
                          .pass = &pass};
    const auto quads = pass.quads ? pass.quads->quads().subspan(pass.first, count) : std::span<const Quad>{};
    observed(device, event, quads, [&] {
        const auto& gl = device.gl;
        bind(device, pass);
        set_uniforms(gl, pass);
        gl.ProgramUniform2f(pass.program->id(), pass.program->target_size(), static_cast<GLfloat>(event.width),
                            static_cast<GLfloat>(event.height));
        if (pass.count_samples) gl.BeginQuery(GL_SAMPLES_PASSED, pass.count_samples->id());
        if (pass.quads) {
            const GLsizei corners = device.features.fill_rectangle ? 3 : 4;  // see set_baseline
            gl.DrawArraysInstancedBaseInstance(GL_TRIANGLE_STRIP, 0, corners, static_cast<GLsizei>(count),
                                               static_cast<GLuint>(pass.first));
        } else {
            gl.DrawArrays(GL_POINTS, static_cast<GLint>(pass.first), static_cast<GLsizei>(count));
        }
        if (pass.count_samples) gl.EndQuery(GL_SAMPLES_PASSED);
    });
}

void end_condition(Device& device) {
    if (device.features.works_around(Workaround::ConditionEndsFirst)) device.pipeline.end_condition(device.gl);
}

void clear_stencil(Device& device, const Framebuffer& target, std::uint8_t value) {
    const auto& gl = device.gl;
    auto& bound = device.pipeline;
    bound.end_condition(gl);  // which would skip it
    gl.BindFramebuffer(GL_DRAW_FRAMEBUFFER, bound.framebuffer = target.id());
    device.save_stencil();
    gl.StencilMaskSeparate(GL_FRONT_AND_BACK, 0xff);
    set_stencil(gl, bound.stencil = std::nullopt);  // a later pass sets its own mask
    const GLint all = value;
    gl.ClearNamedFramebufferiv(target.id(), GL_STENCIL, 0, &all);
}

void observe_copy(Device& device, std::string_view name, const Texture& texture, std::size_t texels,
                  const std::function<void(const Api&)>& copy) {
    observed(device,
             {.name = name,
              .target = texture.id(),
              .width = texture.width(),
              .height = texture.height(),
              .format = info(texture.format()).name,
              .texels = texels},
             {}, [&] { copy(device.gl); });
}

void copy(Device& device, std::string_view name, const Texture& from, const Texture& to, int stage, int step) {
    PassEvent event{.name = name,
                    .stage = stage,
                    .step = step,
                    .target = to.id(),
                    .width = to.width(),
                    .height = to.height(),
                    .format = info(to.format()).name};
    event.texels = static_cast<std::uint64_t>(to.width()) * static_cast<std::uint64_t>(to.height());
    observed(device, event, {}, [&] {
        device.gl.CopyImageSubData(from.id(), GL_TEXTURE_2D, 0, 0, 0, 0, to.id(), GL_TEXTURE_2D, 0, 0, 0, 0,
                                   from.width(), from.height(), 1);
    });
}

void copy_first(Device& device, std::string_view name, const Texture& from, const Texture& to, std::size_t texels) {
    observe_copy(device, name, to, texels, [&](const Api& gl) {
        for_first_texels(to.width(), texels, [&](int row, int width, int rows) {
            gl.CopyImageSubData(from.id(), GL_TEXTURE_2D, 0, 0, row, 0, to.id(), GL_TEXTURE_2D, 0, 0, row, 0, width,
                                rows, 1);
        });
    });
}

}  // namespace quadmill::detail::gl
