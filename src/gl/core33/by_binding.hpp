// The common part of OpenGL 3.3 and OpenGL ES 3.0: an object must be bound before it is changed. `Gl` is the version's
// table of functions, so that calling a function that the version lacks does not compile. Only the two dialects include
// this, after the header of their version.
#pragma once

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "gl/device.hpp"
#include "gl/dialect.hpp"
#include "gl/pixels.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

template <class Gl>
class ByBinding : public Dialect {
  public:
    // `count_samples` is the target of queries that count samples.
    ByBinding(Device& device, const Gl& gl, GLenum count_samples)
        : device_(device), gl_(gl), count_samples_(count_samples) {}

    Id make_texture(Format format, int width, int height, int layers) override {
        const auto& its = info(format);
        const GLenum target = layers > 0 ? GL_TEXTURE_2D_ARRAY : GL_TEXTURE_2D;
        Id id = 0;
        gl_.GenTextures(1, &id);
        bind_to_first_unit(target, id);
        for (const auto& [name, value] : {std::pair<GLenum, GLint>{GL_TEXTURE_MIN_FILTER, GL_NEAREST},
                                          {GL_TEXTURE_MAG_FILTER, GL_NEAREST},
                                          {GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE},
                                          {GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE},
                                          {GL_TEXTURE_MAX_LEVEL, 0}})
            gl_.TexParameteri(target, name, value);
        allocate(target, its, width, height, layers);
        return id;
    }

    MadeFramebuffer make_framebuffer(const Attachments& attachments) override {
        Id id = 0;
        gl_.GenFramebuffers(1, &id);
        bind_target(id);
        if (attachments.depth_or_stencil != 0) {
            gl_.FramebufferTexture2D(GL_DRAW_FRAMEBUFFER, attachment_of(attachments.format), GL_TEXTURE_2D,
                                     attachments.depth_or_stencil, 0);
        }
        std::array<GLenum, draw_buffers> names{};
        for (int i = 0; i < std::max(attachments.layers, 1); ++i) {
            const auto name = GL_COLOR_ATTACHMENT0 + static_cast<GLenum>(i);
            names.at(static_cast<std::size_t>(i)) = attachments.color == 0 ? GLenum{GL_NONE} : name;
            if (attachments.color == 0) continue;
            if (attachments.layers == 0) {
                gl_.FramebufferTexture2D(GL_DRAW_FRAMEBUFFER, name, GL_TEXTURE_2D, attachments.color, 0);
            } else {
                gl_.FramebufferTextureLayer(GL_DRAW_FRAMEBUFFER, name, attachments.color, 0, i);
            }
        }
        gl_.DrawBuffers(std::max(attachments.layers, 1), names.data());
        return {id, gl_.CheckFramebufferStatus(GL_DRAW_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE};
    }

    Id make_buffer(std::span<const std::byte> content) override {
        Id id = 0;
        gl_.GenBuffers(1, &id);
        gl_.BindBuffer(GL_ARRAY_BUFFER, id);
        gl_.BufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(content.size()), content.data(), GL_STATIC_DRAW);
        return id;
    }

    Id make_vertex_array(Id quads) override {
        Id id = 0;
        gl_.GenVertexArrays(1, &id);
        gl_.BindVertexArray(id);
        device_.pipeline.vertex_array = id;
        if (quads == 0) return id;
        for (GLuint attribute = 0; attribute < 2; ++attribute) {
            gl_.EnableVertexAttribArray(attribute);
            gl_.VertexAttribDivisor(attribute, 1);
        }
        begin_quads_at(quads, 0);
        return id;
    }

    Id make_query(Query::Kind /*kind*/) override {
        Id id = 0;
        gl_.GenQueries(1, &id);
        return id;
    }

    Staging make_staging(PixelBuffer::Direction direction, std::size_t bytes) override {
        Staging staging;
        gl_.GenBuffers(1, &staging.id);
        if (direction == PixelBuffer::Direction::Upload) return staging;  // send_rows() makes its store
        gl_.BindBuffer(GL_PIXEL_PACK_BUFFER, staging.id);
        gl_.BufferData(GL_PIXEL_PACK_BUFFER, static_cast<GLsizeiptr>(bytes), nullptr, GL_STREAM_READ);
        gl_.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
        return staging;
    }

    void send_rows(const Staging& from, std::size_t offset, const RowsOf& to) override {
        const auto& its = info(to.format);
        bind_to_first_unit(GL_TEXTURE_2D, to.texture);
        gl_.BindBuffer(GL_PIXEL_UNPACK_BUFFER, from.id);
        // Rows in CPU memory are first copied to a new store of the buffer: NVIDIA reads CPU memory directly at only 3
        // GB/s.
        if (!from.memory.empty()) {
            const auto bytes = static_cast<std::size_t>(to.width) * static_cast<std::size_t>(to.rows) * its.bytes;
            gl_.BufferData(GL_PIXEL_UNPACK_BUFFER, static_cast<GLsizeiptr>(bytes), from.memory.data() + offset,
                           GL_STREAM_DRAW);
            offset = 0;
        }
        gl_.TexSubImage2D(GL_TEXTURE_2D, 0, 0, to.first, to.width, to.rows, its.format, its.type,
                          offset_pointer(offset));
        gl_.BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    }

    void read_rows(const RowsOf& from, const Staging& to, std::size_t offset) override {
        const auto layer_bytes =
            static_cast<std::size_t>(from.width) * static_cast<std::size_t>(from.rows) * info(from.format).bytes;
        gl_.BindBuffer(GL_PIXEL_PACK_BUFFER, to.id);
        for (int layer = 0; layer < from.planes(); ++layer) {
            read(layer_of(from, layer), from.format, from.width, from.rows, offset_pointer(offset));
            offset += layer_bytes;
        }
        gl_.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    }

    std::span<std::byte> map(Id staging, std::size_t bytes) override {
        gl_.BindBuffer(GL_PIXEL_PACK_BUFFER, staging);
        void* const memory =
            gl_.MapBufferRange(GL_PIXEL_PACK_BUFFER, 0, static_cast<GLsizeiptr>(bytes), GL_MAP_READ_BIT);
        gl_.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
        const auto what = std::to_string(bytes) + " bytes that were read back";
        if (!memory) device_.check("PixelBuffer", what);
        if (!memory) throw GlError("PixelBuffer: the driver did not map " + what);
        return {static_cast<std::byte*>(memory), bytes};
    }

    void unmap(Id staging) override {
        gl_.BindBuffer(GL_PIXEL_PACK_BUFFER, staging);
        gl_.UnmapBuffer(GL_PIXEL_PACK_BUFFER);
        gl_.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    }

    void read_texels(const RowsOf& from, int layer, std::span<std::byte> bytes) override {
        read(layer_of(from, layer), from.format, from.width, from.rows, bytes.data());
    }

    void clear_texels(const Texture& texture, int x, int y, int width, int height, std::uint32_t word) override {
        const std::array<GLuint, 4> texel{word, word, word, word};
        begin_clear();
        const auto before = scissor_;
        set_scissor(Box{x, y, width, height});
        for (int layer = 0; layer < std::max(texture.layers(), 1); ++layer) {
            attach(GL_DRAW_FRAMEBUFFER, plane_of(texture, layer), texture.format());
            gl_.ClearBufferuiv(GL_COLOR, 0, texel.data());
        }
        set_scissor(before);
    }

    void fill(const Texture& texture, float value) override {
        const std::array<GLfloat, 4> texel{value, value, value, value};
        begin_clear();
        const bool is_depth = attachment_of(texture.format()) != GL_COLOR_ATTACHMENT0;
        for (int layer = 0; layer < std::max(texture.layers(), 1); ++layer) {
            attach(GL_DRAW_FRAMEBUFFER, plane_of(texture, layer), texture.format());
            gl_.ClearBufferfv(is_depth ? GL_DEPTH : GL_COLOR, 0, texel.data());
        }
    }

    void clear_stencil(Id framebuffer, std::uint8_t value) override {
        bind_target(framebuffer);
        device_.pipeline.framebuffer = framebuffer;
        const GLint all = value;
        gl_.ClearBufferiv(GL_STENCIL, 0, &all);
    }

    void copy(const PlaneOf& from, Format from_format, const PlaneOf& to, Format to_format, int width,
              int height) override {
        if (from_format != to_format) return copy_bits(from, from_format, to, to_format, width, height);
        attach(GL_READ_FRAMEBUFFER, from, from_format);
        attach(GL_DRAW_FRAMEBUFFER, to, to_format);
        const auto where = attachment_of(from_format);
        gl_.BlitFramebuffer(from.x, from.y, from.x + width, from.y + height, to.x, to.y, to.x + width, to.y + height,
                            where == GL_DEPTH_ATTACHMENT           ? GL_DEPTH_BUFFER_BIT
                            : where == GL_STENCIL_ATTACHMENT       ? GL_STENCIL_BUFFER_BIT
                            : where == GL_DEPTH_STENCIL_ATTACHMENT ? GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT
                                                                   : GL_COLOR_BUFFER_BIT,
                            GL_NEAREST);
    }

    void bind_texture(std::uint32_t unit, const Texture& texture) override {
        gl_.BindSampler(unit, 0);
        gl_.ActiveTexture(GL_TEXTURE0 + unit);
        gl_.BindTexture(texture.layers() > 0 ? GL_TEXTURE_2D_ARRAY : GL_TEXTURE_2D, texture.id());
    }

    void set_viewport(int width, int height) override { gl_.Viewport(0, 0, width, height); }

    // All targets of a pass have the same blending, so the first one decides.
    void set_blend(std::uint32_t target, Blend blend) override {
        if (target != 0) return;
        if (blend == Blend::None) return gl_.Disable(GL_BLEND);
        gl_.Enable(GL_BLEND);
        gl_.BlendEquation(blend == Blend::Min ? GL_MIN : blend == Blend::Max ? GL_MAX : GL_FUNC_ADD);
        if (blend != Blend::Add) return;
        device_.save_blend_factors();
        gl_.BlendFunc(GL_ONE, GL_ONE);
    }

    // The application's box is restored at the end of the session, like its viewports.
    void set_scissor(const std::optional<Box>& box) override {
        scissor_ = box;
        if (!box) return gl_.Disable(GL_SCISSOR_TEST);
        gl_.Enable(GL_SCISSOR_TEST);
        gl_.Scissor((*box)[0], (*box)[1], (*box)[2], (*box)[3]);
    }

    void draw_quads(Id quads, int corners, std::size_t first, std::size_t count) override {
        if (const auto at = first_of_.find(quads); at == first_of_.end() || at->second != first)
            begin_quads_at(quads, first);
        gl_.DrawArraysInstanced(GL_TRIANGLE_STRIP, 0, corners, static_cast<GLsizei>(count));
    }

    void begin_count(Id query) override { gl_.BeginQuery(count_samples_, query); }
    void end_count() override { gl_.EndQuery(count_samples_); }
    bool begin_condition(Id /*query*/) override { return false; }
    void end_condition() noexcept override {}

    std::uint64_t result(Id query, Query::Kind /*kind*/) override {
        GLuint value = 0;
        gl_.GetQueryObjectuiv(query, GL_QUERY_RESULT, &value);
        return value;
    }
    bool count_to_buffer(Id /*query*/, Id /*buffer*/, std::size_t /*offset*/) override { return false; }
    void read_counts(Id /*buffer*/, std::span<std::uint32_t> /*counts*/) override {}

    int texture_parameter(Id texture, std::uint32_t target, std::uint32_t name) override {
        GLint value = 0;
        bind_to_first_unit(target, texture);
        gl_.GetTexParameteriv(target, name, &value);
        return value;
    }
    void set_texture_parameter(Id texture, std::uint32_t target, std::uint32_t name, int value) override {
        bind_to_first_unit(target, texture);
        gl_.TexParameteri(target, name, value);
    }
    std::int64_t buffer_parameter(Id buffer, std::uint32_t name) override {
        GLint64 value = 0;
        gl_.BindBuffer(GL_ARRAY_BUFFER, buffer);
        gl_.GetBufferParameteri64v(GL_ARRAY_BUFFER, name, &value);
        return value;
    }
    Id make_view(Id /*texture*/, Format /*format*/) override { return 0; }

    Id make_marker(const std::array<int, 2>& mark) override {
        Id id = 0;
        gl_.GenVertexArrays(1, &id);
        with_vertex_array(id, [&] {
            for (GLuint i = 0; i < mark.size(); ++i) gl_.VertexAttribDivisor(i, static_cast<GLuint>(mark.at(i)));
        });
        return id;
    }
    std::array<int, 2> read_marker(Id marker) override {
        std::array<GLint, 2> found{};
        with_vertex_array(marker, [&] {
            for (GLuint i = 0; i < found.size(); ++i)
                gl_.GetVertexAttribiv(i, GL_VERTEX_ATTRIB_ARRAY_DIVISOR, &found.at(i));
        });
        return found;
    }

    void end_session() noexcept override {
        if (!host_bindings_.empty()) gl_.ActiveTexture(GL_TEXTURE0);
        for (const auto& [target, texture] : host_bindings_) gl_.BindTexture(target, texture);
        host_bindings_.clear();
        for (std::size_t i = 0; i < scratch_.size(); ++i) {
            if (!std::exchange(is_attached_.at(i), false)) continue;
            const GLenum which = i == 0 ? GL_READ_FRAMEBUFFER : GL_DRAW_FRAMEBUFFER;
            gl_.BindFramebuffer(which, scratch_[i]);
            for (const GLenum where : {GLenum{GL_COLOR_ATTACHMENT0}, GLenum{GL_DEPTH_STENCIL_ATTACHMENT}})
                gl_.FramebufferTexture2D(which, where, GL_TEXTURE_2D, 0, 0);
        }
    }

    void release() noexcept override {
        gl_.DeleteFramebuffers(static_cast<GLsizei>(scratch_.size()), scratch_.data());
        gl_.DeleteBuffers(1, &pixels_);
        scratch_ = {};
        pixels_ = 0;
    }

  protected:
    static GLenum attachment_of(Format format) {
        switch (format) {
            case Format::Depth32f:
            case Format::Depth16:
            case Format::Depth24:
                return GL_DEPTH_ATTACHMENT;
            case Format::Stencil8:
                return GL_STENCIL_ATTACHMENT;
            case Format::Depth32fStencil8:
            case Format::Depth24Stencil8:
                return GL_DEPTH_STENCIL_ATTACHMENT;
            default:
                return GL_COLOR_ATTACHMENT0;
        }
    }

    void bind_to_first_unit(GLenum target, Id texture) {
        gl_.ActiveTexture(GL_TEXTURE0);
        if (target != GL_TEXTURE_2D && target != GL_TEXTURE_2D_ARRAY) keep_host_binding(target);
        gl_.BindTexture(target, texture);
        device_.pipeline.textures[0] = 0;
    }

    // Attaches only this plane to the scratch framebuffer for reading or drawing, and binds that framebuffer.
    void attach(GLenum which, const PlaneOf& plane, Format format) {
        const std::size_t index = which == GL_READ_FRAMEBUFFER ? 0 : 1;
        auto& framebuffer = scratch_.at(index);
        is_attached_.at(index) = true;
        if (framebuffer == 0) gl_.GenFramebuffers(1, &framebuffer);
        if (which == GL_DRAW_FRAMEBUFFER) device_.pipeline.framebuffer = 0;
        gl_.BindFramebuffer(which, framebuffer);
        const auto where = attachment_of(format);
        const bool is_color = where == GL_COLOR_ATTACHMENT0;
        gl_.FramebufferTexture2D(which, is_color ? GL_DEPTH_STENCIL_ATTACHMENT : GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, 0,
                                 0);
        if (is_layered(plane.target)) {
            gl_.FramebufferTextureLayer(which, where, plane.texture, 0, plane.layer);
        } else {
            const bool is_cube = plane.target == GL_TEXTURE_CUBE_MAP;
            gl_.FramebufferTexture2D(
                which, where,
                is_cube ? GL_TEXTURE_CUBE_MAP_POSITIVE_X + static_cast<GLenum>(plane.layer) : plane.target,
                plane.texture, 0);
        }
        const GLenum buffer = is_color ? GL_COLOR_ATTACHMENT0 : GL_NONE;
        if (which == GL_READ_FRAMEBUFFER) {
            gl_.ReadBuffer(buffer);
        } else {
            gl_.DrawBuffers(1, &buffer);
        }
    }

    // Makes the storage of the texture that is bound. It is immutable, so that drivers check less in each pass.
    virtual void allocate(GLenum target, const FormatInfo& its, int width, int height, int layers) {
        if (layers > 0) return gl_.TexStorage3D(target, 1, its.internal, width, height, layers);
        gl_.TexStorage2D(target, 1, its.internal, width, height);
    }
    // Desktop OpenGL can be told to clamp what is read.
    virtual void do_not_clamp() {}

    Device& device_;
    const Gl gl_;

  private:
    static PlaneOf layer_of(const RowsOf& rows, int layer) {
        return {.texture = rows.texture,
                .target = rows.layers > 0 ? GLenum{GL_TEXTURE_2D_ARRAY} : GLenum{GL_TEXTURE_2D},
                .x = 0,
                .y = rows.first,
                .layer = layer};
    }
    static PlaneOf plane_of(const Texture& texture, int layer) {
        return {.texture = texture.id(),
                .target = texture.layers() > 0 ? GLenum{GL_TEXTURE_2D_ARRAY} : GLenum{GL_TEXTURE_2D},
                .x = 0,
                .y = 0,
                .layer = layer};
    }

    // Whether attachments of this target take a layer. For arrays of cube maps (OpenGL 4.0) the layer counts faces.
    static bool is_layered(GLenum target) {
        constexpr GLenum cube_map_array = 0x9009;
        return target == GL_TEXTURE_2D_ARRAY || target == cube_map_array;
    }

    void bind_target(Id framebuffer) {
        gl_.BindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
        device_.pipeline.framebuffer = 0;
    }

    // If a pixel buffer is bound, `to` is an offset.
    void read(const PlaneOf& from, Format format, int width, int height, void* to) {
        attach(GL_READ_FRAMEBUFFER, from, format);
        do_not_clamp();
        gl_.ReadPixels(from.x, from.y, width, height, info(format).format, info(format).type, to);
    }

    // Other targets than those of passes are rare, so their bindings are saved when they change.
    void keep_host_binding(GLenum target) {
        constexpr GLenum rectangle = 0x84F5, rectangle_binding = 0x84F6, cube_map_array_binding = 0x900A;
        if (host_bindings_.contains(target)) return;
        GLint before = 0;
        gl_.GetIntegerv(target == GL_TEXTURE_CUBE_MAP ? GLenum{GL_TEXTURE_BINDING_CUBE_MAP}
                        : target == rectangle         ? rectangle_binding
                                                      : cube_map_array_binding,
                        &before);
        host_bindings_[target] = static_cast<GLuint>(before);
    }

    // Copies by way of a buffer, where texels have no format.
    void copy_bits(const PlaneOf& from, Format from_format, const PlaneOf& to, Format to_format, int width,
                   int height) {
        if (pixels_ == 0) gl_.GenBuffers(1, &pixels_);
        const auto bytes = static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * info(from_format).bytes;
        gl_.BindBuffer(GL_PIXEL_PACK_BUFFER, pixels_);
        gl_.BufferData(GL_PIXEL_PACK_BUFFER, static_cast<GLsizeiptr>(bytes), nullptr, GL_STREAM_COPY);
        read(from, from_format, width, height, nullptr);
        gl_.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
        gl_.BindBuffer(GL_PIXEL_UNPACK_BUFFER, pixels_);
        bind_to_first_unit(to.target, to.texture);
        const auto& its = info(to_format);
        if (is_layered(to.target)) {
            gl_.TexSubImage3D(to.target, 0, to.x, to.y, to.layer, width, height, 1, its.format, its.type, nullptr);
        } else {
            const bool is_cube = to.target == GL_TEXTURE_CUBE_MAP;
            gl_.TexSubImage2D(is_cube ? GL_TEXTURE_CUBE_MAP_POSITIVE_X + static_cast<GLenum>(to.layer) : to.target, 0,
                              to.x, to.y, width, height, its.format, its.type, nullptr);
        }
        gl_.BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    }

    // Clears obey the masks that passes set.
    void begin_clear() {
        auto& bound = device_.pipeline;
        bound.end_condition(*this);
        bound.color = ColorWrite::On;
        gl_.ColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
        bound.depth = std::nullopt;
        gl_.Disable(GL_DEPTH_TEST);
        gl_.DepthMask(GL_TRUE);
    }

    // Pre: the vertex array of these quads is bound. There is no base instance here, so the attributes begin at the
    // first quad.
    void begin_quads_at(Id quads, std::size_t first) {
        gl_.BindBuffer(GL_ARRAY_BUFFER, quads);
        for (GLuint attribute = 0; attribute < 2; ++attribute) {
            gl_.VertexAttribPointer(attribute, 4, GL_FLOAT, GL_FALSE, sizeof(PassQuad),
                                    offset_pointer(first * sizeof(PassQuad) + attribute * sizeof(PassQuad::Corners)));
        }
        first_of_[quads] = first;
    }

    template <class Work>
    void with_vertex_array(Id id, const Work& work) {
        GLint before = 0;
        gl_.GetIntegerv(GL_VERTEX_ARRAY_BINDING, &before);
        gl_.BindVertexArray(id);
        work();
        gl_.BindVertexArray(static_cast<GLuint>(before));
    }

    const GLenum count_samples_;
    std::array<Id, 2> scratch_{};         // framebuffers for reading and drawing
    std::array<bool, 2> is_attached_{};   // whether a texture is attached to each
    Id pixels_ = 0;                       // a buffer for copies between formats
    std::map<Id, std::size_t> first_of_;  // for each buffer, the quad at which its attributes begin
    std::optional<Box> scissor_;          // the current box of passes
    std::map<GLenum, Id> host_bindings_;  // of the first unit, of targets that passes do not use
};

}  // namespace quadmill::detail::gl
