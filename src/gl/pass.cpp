#include "gl/pass.hpp"

#include <type_traits>

#include "gl/device.hpp"

namespace quadmill::detail::gl {

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

void Pipeline::end_condition(const Api& gl) noexcept {
    if (condition != 0) gl.EndConditionalRender();
    condition = 0;
}

namespace {

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
    if (bound.vertex_array != pass.quads->vertex_array())
        gl.BindVertexArray(bound.vertex_array = pass.quads->vertex_array());
    if (bound.framebuffer != pass.target->id())
        gl.BindFramebuffer(GL_DRAW_FRAMEBUFFER, bound.framebuffer = pass.target->id());
    if (bound.width != pass.target->width() || bound.height != pass.target->height()) {
        bound.width = pass.target->width();
        bound.height = pass.target->height();
        gl.ViewportIndexedf(0, 0, 0, static_cast<GLfloat>(bound.width), static_cast<GLfloat>(bound.height));
    }
    for (GLuint unit = 0; unit < pass.inputs.size(); ++unit) {
        const auto* texture = pass.inputs[unit];
        if (!texture || bound.textures[unit] == texture->id()) continue;
        gl.BindSampler(unit, 0);
        gl.BindTextureUnit(unit, bound.textures[unit] = texture->id());
    }
    if (bound.blend != pass.blend) {
        bound.blend = pass.blend;
        if (pass.blend == Blend::None) {
            gl.Disablei(GL_BLEND, 0);
        } else {
            gl.Enablei(GL_BLEND, 0);
            gl.BlendEquationi(0, pass.blend == Blend::Min ? GL_MIN : GL_MAX);
        }
    }
    if (bound.color != pass.color) {
        bound.color = pass.color;
        const GLboolean on = pass.color == ColorWrite::On ? GL_TRUE : GL_FALSE;
        gl.ColorMaski(0, on, on, on, on);
    }
}

void set_uniforms(const Api& gl, const Pass& pass) {
    for (const auto& uniform : pass.uniforms) {
        std::visit(
            [&](const auto& value) {
                using Value = std::decay_t<decltype(value)>;
                const auto program = pass.program->id();
                if constexpr (std::is_same_v<Value, GLint>) {
                    gl.ProgramUniform1i(program, uniform.location, value);
                } else if constexpr (std::is_same_v<Value, GLuint>) {
                    gl.ProgramUniform1ui(program, uniform.location, value);
                } else if constexpr (std::is_same_v<Value, GLfloat>) {
                    gl.ProgramUniform1f(program, uniform.location, value);
                } else {
                    gl.ProgramUniform2i(program, uniform.location, value[0], value[1]);
                }
            },
            uniform.value);
    }
}

// Calls `issue` between the observer's two calls.
template <class Issue>
void observed(Device& device, PassEvent event, std::span<const Quad> quads, Issue&& issue) {
    ++device.passes;
    if (!device.observer) return issue();
    for (const auto& quad : quads) event.texels += quad.texels();
    event.quads = static_cast<int>(quads.size());
    device.observer->before(event);
    issue();
    device.observer->after(event);
}

}  // namespace

void draw(Device& device, const Pass& pass) {
    const PassEvent event{.name = pass.name,
                          .stage = pass.stage,
                          .step = pass.step,
                          .target = pass.target->texture(),
                          .width = pass.target->width(),
                          .height = pass.target->height()};
    observed(device, event, pass.quads->quads().subspan(pass.first, pass.count), [&] {
        const auto& gl = device.gl;
        bind(device, pass);
        set_uniforms(gl, pass);
        gl.ProgramUniform2f(pass.program->id(), pass.program->target_size(), static_cast<GLfloat>(event.width),
                            static_cast<GLfloat>(event.height));
        if (pass.count_samples) gl.BeginQuery(GL_SAMPLES_PASSED, pass.count_samples->id());
        const GLsizei corners = gl.NV_fill_rectangle ? 3 : 4;  // see set_baseline
        gl.DrawArraysInstancedBaseInstance(GL_TRIANGLE_STRIP, 0, corners, static_cast<GLsizei>(pass.count),
                                           static_cast<GLuint>(pass.first));
        if (pass.count_samples) gl.EndQuery(GL_SAMPLES_PASSED);
    });
}

void end_condition(Device& device) {
    device.pipeline.end_condition(device.gl);
}

void copy(Device& device, std::string_view name, const Texture& from, const Texture& to, int stage, int step) {
    PassEvent event{
        .name = name, .stage = stage, .step = step, .target = to.id(), .width = to.width(), .height = to.height()};
    event.texels = static_cast<std::uint64_t>(to.width()) * static_cast<std::uint64_t>(to.height());
    observed(device, event, {}, [&] {
        device.gl.CopyImageSubData(from.id(), GL_TEXTURE_2D, 0, 0, 0, 0, to.id(), GL_TEXTURE_2D, 0, 0, 0, 0,
                                   from.width(), from.height(), 1);
    });
}

}  // namespace quadmill::detail::gl
