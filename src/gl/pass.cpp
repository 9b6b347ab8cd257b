#include "gl/pass.hpp"

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/dialect.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

Quad::Corners corners(int x0, int y0, int x1, int y1) {
    return {static_cast<float>(x0), static_cast<float>(y0), static_cast<float>(x1), static_cast<float>(y1)};
}

Quad rectangle(int x0, int y0, int x1, int y1) {
    return {corners(x0, y0, x1, y1), corners(x0, y0, x1, y1)};
}

QuadList::QuadList(Device& device, std::vector<Quad> quads)
    : quads_(std::move(quads)),
      buffer_(device, std::as_bytes(std::span(quads_))),
      vertex_array_(device.shared_from_this(), device.dialect->make_vertex_array(buffer_.id())) {}

Points::Points(Device& device) : vertex_array_(device.shared_from_this(), device.dialect->make_vertex_array(0)) {}

void Pipeline::end_condition(Dialect& dialect) noexcept {
    if (condition != 0) dialect.end_condition();
    condition = 0;
}

namespace {

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
    auto& dialect = *device.dialect;
    auto& bound = device.pipeline;
    const auto condition = pass.only_if ? pass.only_if->id() : 0;
    if (condition != bound.condition) {
        bound.end_condition(dialect);
        if (condition != 0 && dialect.begin_condition(condition)) bound.condition = condition;
    }
    if (bound.program != pass.program->id()) gl.UseProgram(bound.program = pass.program->id());
    if (bound.vertex_array != vertex_array_of(pass)) gl.BindVertexArray(bound.vertex_array = vertex_array_of(pass));
    if (bound.framebuffer != pass.target->id())
        gl.BindFramebuffer(GL_DRAW_FRAMEBUFFER, bound.framebuffer = pass.target->id());
    if (bound.width != pass.target->width() || bound.height != pass.target->height()) {
        bound.width = pass.target->width();
        bound.height = pass.target->height();
        dialect.set_viewport(bound.width, bound.height);
    }
    for (GLuint unit = 0; unit < pass.inputs.size(); ++unit) {
        const auto* const texture = pass.inputs[unit];
        if (!texture || bound.textures.at(unit) == texture->id()) continue;
        bound.textures.at(unit) = texture->id();
        dialect.bind_texture(unit, *texture);
    }
    if (!device.features.direct_state_access && pass.blend != Blending(pass.blend.of[0])) {
        throw GlError("the pass '" + std::string(pass.name) +
                      "' blends render targets in different ways, which needs OpenGL 4.5");
    }
    for (GLuint i = 0; i < draw_buffers; ++i) {
        const auto blend = pass.blend.of[i];
        if (bound.blend.of[i] != blend) dialect.set_blend(i, bound.blend.of[i] = blend);
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
    GLint where;
    void operator()(int v) const { gl.Uniform1i(where, v); }
    void operator()(unsigned v) const { gl.Uniform1ui(where, v); }
    void operator()(float v) const { gl.Uniform1f(where, v); }
    void operator()(const glm::ivec2& v) const { gl.Uniform2i(where, v.x, v.y); }
    void operator()(const glm::ivec4& v) const { gl.Uniform4i(where, v.x, v.y, v.z, v.w); }
    void operator()(const glm::uvec2& v) const { gl.Uniform2ui(where, v.x, v.y); }
    void operator()(const glm::uvec4& v) const { gl.Uniform4ui(where, v.x, v.y, v.z, v.w); }
    void operator()(const glm::vec2& v) const { gl.Uniform2f(where, v.x, v.y); }
    void operator()(const glm::vec4& v) const { gl.Uniform4f(where, v.x, v.y, v.z, v.w); }
};

void set_uniforms(const Api& gl, const Pass& pass) {
    for (const auto& uniform : pass.uniforms)
        std::visit(SetUniform{gl, pass.program->location(uniform.name)}, uniform.value);
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

namespace {
// Without conditional rendering, a pass is skipped only if the query's result is already available.
bool is_known_to_be_skipped(const Device& device, const Pass& pass) {
    return !device.features.conditional_draws && pass.only_if && pass.only_if->ready() && pass.only_if->result() == 0;
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
        gl.Uniform2f(pass.program->target_size(), static_cast<GLfloat>(event.width),
                     static_cast<GLfloat>(event.height));
        if (pass.count_samples) device.dialect->begin_count(pass.count_samples->id());
        if (is_known_to_be_skipped(device, pass)) {
            // Nothing is drawn, so a count is 0.
        } else if (pass.quads) {
            const GLsizei corners = device.features.fill_rectangle ? 3 : 4;  // see set_baseline
            device.dialect->draw_quads(pass.quads->buffer(), corners, pass.first, count);
        } else {
            gl.DrawArrays(GL_POINTS, static_cast<GLint>(pass.first), static_cast<GLsizei>(count));
        }
        if (pass.count_samples) device.dialect->end_count();
    });
}

void end_condition(Device& device) {
    if (device.features.works_around(Workaround::ConditionEndsFirst)) device.pipeline.end_condition(*device.dialect);
}

void clear_stencil(Device& device, const Framebuffer& target, std::uint8_t value) {
    const auto& gl = device.gl;
    auto& bound = device.pipeline;
    bound.end_condition(*device.dialect);  // the condition would skip it
    gl.BindFramebuffer(GL_DRAW_FRAMEBUFFER, bound.framebuffer = target.id());
    device.save_stencil();
    gl.StencilMaskSeparate(GL_FRONT_AND_BACK, 0xff);
    set_stencil(gl, bound.stencil = std::nullopt);  // a later pass sets its own mask
    device.dialect->clear_stencil(target.id(), value);
}

void observe_copy(Device& device, std::string_view name, const Texture& texture, std::size_t texels,
                  const std::function<void()>& copy) {
    observed(device,
             {.name = name,
              .target = texture.id(),
              .width = texture.width(),
              .height = texture.height(),
              .format = info(texture.format()).name,
              .texels = texels},
             {}, copy);
}

namespace {
PlaneOf rows_from(const Texture& texture, int row) {
    return {.texture = texture.id(), .target = GL_TEXTURE_2D, .x = 0, .y = row, .layer = 0};
}
}  // namespace

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
        device.dialect->copy(rows_from(from, 0), from.format(), rows_from(to, 0), to.format(), from.width(),
                             from.height());
    });
}

void copy_first(Device& device, std::string_view name, const Texture& from, const Texture& to, std::size_t texels) {
    observe_copy(device, name, to, texels, [&] {
        for_first_texels(to.width(), texels, [&](int row, int width, int rows) {
            device.dialect->copy(rows_from(from, row), from.format(), rows_from(to, row), to.format(), width, rows);
        });
    });
}

}  // namespace quadmill::detail::gl
