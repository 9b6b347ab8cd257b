// OpenGL 4.5 and later: direct state access, mapped memory.
#include "gl/dialect.hpp"

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

namespace {

class Desktop45 final : public Dialect {
  public:
    explicit Desktop45(Device& device) : device_(device), gl_(device.gl) {}

    [[nodiscard]] std::string shader_header() const override { return "#version 450 core\n"; }

    Id make_texture(Format format, int width, int height, int layers) override {
        Id id = 0;
        gl_.CreateTextures(layers > 0 ? GL_TEXTURE_2D_ARRAY : GL_TEXTURE_2D, 1, &id);
        gl_.TextureParameteri(id, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        gl_.TextureParameteri(id, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        // Shaders read the stencil of such a texture. Its depth is only used in depth tests.
        if (format == Format::Depth32fStencil8)
            gl_.TextureParameteri(id, GL_DEPTH_STENCIL_TEXTURE_MODE, GL_STENCIL_INDEX);
        if (layers > 0) {
            gl_.TextureStorage3D(id, 1, info(format).internal, width, height, layers);
        } else {
            gl_.TextureStorage2D(id, 1, info(format).internal, width, height);
        }
        return id;
    }

    MadeFramebuffer make_framebuffer(const Attachments& attachments) override {
        Id id = 0;
        gl_.CreateFramebuffers(1, &id);
        if (attachments.depth_or_stencil != 0) {
            gl_.NamedFramebufferTexture(id, attachment_of(attachments.format), attachments.depth_or_stencil, 0);
        }
        if (attachments.color == 0) {
            gl_.NamedFramebufferDrawBuffer(id, GL_NONE);
        } else if (attachments.layers == 0) {
            gl_.NamedFramebufferTexture(id, GL_COLOR_ATTACHMENT0, attachments.color, 0);
        } else {
            std::array<GLenum, draw_buffers> names{};
            for (int i = 0; i < attachments.layers; ++i) {
                const auto index = static_cast<std::size_t>(i);
                names.at(index) = GL_COLOR_ATTACHMENT0 + static_cast<GLenum>(i);
                gl_.NamedFramebufferTextureLayer(id, names[index], attachments.color, 0, i);
            }
            gl_.NamedFramebufferDrawBuffers(id, attachments.layers, names.data());
        }
        return {id, gl_.CheckNamedFramebufferStatus(id, GL_DRAW_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE};
    }

    Id make_buffer(std::span<const std::byte> content) override {
        const auto id = create_buffer();
        gl_.NamedBufferStorage(id, static_cast<GLsizeiptr>(content.size()), content.data(), 0);
        return id;
    }

    Id make_vertex_array(Id quads) override {
        Id id = 0;
        gl_.CreateVertexArrays(1, &id);
        if (quads == 0) return id;
        gl_.VertexArrayVertexBuffer(id, 0, quads, 0, sizeof(PassQuad));
        gl_.VertexArrayBindingDivisor(id, 0, 1);
        for (GLuint attribute = 0; attribute < 2; ++attribute) {
            gl_.EnableVertexArrayAttrib(id, attribute);
            gl_.VertexArrayAttribFormat(id, attribute, 4, GL_FLOAT, GL_FALSE,
                                        attribute * static_cast<GLuint>(sizeof(PassQuad::Corners)));
            gl_.VertexArrayAttribBinding(id, attribute, 0);
        }
        return id;
    }

    Id make_query(Query::Kind kind) override {
        Id id = 0;
        gl_.CreateQueries(kind == Query::Kind::Samples ? GL_SAMPLES_PASSED : GL_TIMESTAMP, 1, &id);
        return id;
    }

    Staging make_staging(PixelBuffer::Direction direction, std::size_t bytes) override {
        const GLbitfield access = (direction == PixelBuffer::Direction::Upload ? GL_MAP_WRITE_BIT : GL_MAP_READ_BIT) |
                                  GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
        const auto size = static_cast<GLsizeiptr>(bytes);
        const auto id = create_buffer();
        gl_.NamedBufferStorage(id, size, nullptr, access | GL_CLIENT_STORAGE_BIT);
        auto* memory = static_cast<std::byte*>(gl_.MapNamedBufferRange(id, 0, size, access));
        if (memory) return {id, {memory, bytes}};
        const auto what = std::to_string(bytes) + " bytes of mapped memory";
        gl_.DeleteBuffers(1, &id);
        device_.check("PixelBuffer", what);
        throw GlError("PixelBuffer: the driver did not map " + what);
    }
    std::span<std::byte> map(Id /*staging*/, std::size_t /*bytes*/) override { return {}; }  // not needed here
    void unmap(Id /*staging*/) override {}

    void send_rows(const Staging& from, std::size_t offset, const RowsOf& to) override {
        const auto& format = info(to.format);
        if (from.memory.empty())
            gl_.MemoryBarrier(GL_PIXEL_BUFFER_BARRIER_BIT);  // the application's shaders may have written the buffer
        gl_.BindBuffer(GL_PIXEL_UNPACK_BUFFER, from.id);
        gl_.TextureSubImage2D(to.texture, 0, 0, to.first, to.width, to.rows, format.format, format.type,
                              offset_pointer(offset));
        gl_.BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    }

    void read_rows(const RowsOf& from, const Staging& to, std::size_t offset) override {
        const auto& format = info(from.format);
        const auto bytes = static_cast<std::size_t>(from.width) * static_cast<std::size_t>(from.rows) *
                           static_cast<std::size_t>(from.planes()) * format.bytes;
        gl_.BindBuffer(GL_PIXEL_PACK_BUFFER, to.id);
        gl_.GetTextureSubImage(from.texture, 0, 0, from.first, 0, from.width, from.rows, from.planes(), format.format,
                               format.type, static_cast<GLsizei>(bytes), offset_pointer(offset));
        gl_.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    }

    void read_texels(const RowsOf& from, int layer, std::span<std::byte> bytes) override {
        const auto& format = info(from.format);
        gl_.GetTextureSubImage(from.texture, 0, 0, from.first, layer, from.width, from.rows, 1, format.format,
                               format.type, static_cast<GLsizei>(bytes.size()), bytes.data());
    }

    void clear_texels(const Texture& texture, int x, int y, int width, int height, std::uint32_t word) override {
        const std::array<GLuint, 4> texel{word, word, word, word};
        gl_.ClearTexSubImage(texture.id(), 0, x, y, 0, width, height, std::max(texture.layers(), 1),
                             info(texture.format()).format, GL_UNSIGNED_INT, texel.data());
    }
    void fill(const Texture& texture, float value) override {
        const std::array<GLfloat, 4> texel{value, value, value, value};
        gl_.ClearTexImage(texture.id(), 0, info(texture.format()).format, GL_FLOAT, texel.data());
    }
    void clear_stencil(Id framebuffer, std::uint8_t value) override {
        const GLint all = value;
        gl_.ClearNamedFramebufferiv(framebuffer, GL_STENCIL, 0, &all);
    }

    void copy(const PlaneOf& from, Format /*from_format*/, const PlaneOf& to, Format /*to_format*/, int width,
              int height) override {
        gl_.CopyImageSubData(from.texture, from.target, 0, from.x, from.y, from.layer, to.texture, to.target, 0, to.x,
                             to.y, to.layer, width, height, 1);
    }

    void bind_texture(std::uint32_t unit, const Texture& texture) override {
        gl_.BindSampler(unit, 0);
        gl_.BindTextureUnit(unit, texture.id());
    }
    void set_viewport(int width, int height) override {
        gl_.ViewportIndexedf(0, 0, 0, static_cast<GLfloat>(width), static_cast<GLfloat>(height));
    }
    void set_blend(std::uint32_t target, Blend blend) override {
        if (blend == Blend::None) return gl_.Disablei(GL_BLEND, target);
        gl_.Enablei(GL_BLEND, target);
        gl_.BlendEquationi(target, blend == Blend::Min ? GL_MIN : blend == Blend::Max ? GL_MAX : GL_FUNC_ADD);
        if (blend != Blend::Add) return;  // MIN and MAX ignore factors
        device_.save_blend_factors();
        gl_.BlendFunci(target, GL_ONE, GL_ONE);
    }
    void set_scissor(const std::optional<Box>& box) override {
        if (!box) {
            gl_.Disablei(GL_SCISSOR_TEST, 0);
            gl_.ScissorIndexedv(0, scissor_.data());
            return;
        }
        gl_.GetIntegeri_v(GL_SCISSOR_BOX, 0, scissor_.data());
        gl_.Enablei(GL_SCISSOR_TEST, 0);
        gl_.ScissorIndexedv(0, box->data());
    }
    void draw_quads(Id /*quads*/, int corners, std::size_t first, std::size_t count) override {
        gl_.DrawArraysInstancedBaseInstance(GL_TRIANGLE_STRIP, 0, corners, static_cast<GLsizei>(count),
                                            static_cast<GLuint>(first));
    }
    void begin_count(Id query) override { gl_.BeginQuery(GL_SAMPLES_PASSED, query); }
    void end_count() override { gl_.EndQuery(GL_SAMPLES_PASSED); }
    bool begin_condition(Id query) override {
        gl_.BeginConditionalRender(query, GL_QUERY_WAIT);
        return true;
    }
    void end_condition() noexcept override { gl_.EndConditionalRender(); }

    std::optional<std::uint64_t> take_time(Id query) override {
        gl_.QueryCounter(query, GL_TIMESTAMP);
        return std::nullopt;
    }
    std::uint64_t result(Id query, Query::Kind /*kind*/) override {
        GLuint64 value = 0;
        gl_.GetQueryObjectui64v(query, GL_QUERY_RESULT, &value);
        return value;
    }
    bool count_to_buffer(Id query, Id buffer, std::size_t offset) override {
        gl_.GetQueryBufferObjectuiv(query, buffer, GL_QUERY_RESULT, static_cast<GLintptr>(offset));
        if (device_.features.works_around(Workaround::CountsByBarrier))
            gl_.MemoryBarrier(GL_PIXEL_BUFFER_BARRIER_BIT | GL_QUERY_BUFFER_BARRIER_BIT);
        return true;
    }
    void read_counts(Id buffer, std::span<std::uint32_t> counts) override {
        gl_.GetNamedBufferSubData(buffer, 0, static_cast<GLsizeiptr>(counts.size_bytes()), counts.data());
    }
    std::uint64_t gpu_time() override {
        GLint64 now = 0;
        gl_.GetInteger64v(GL_TIMESTAMP, &now);
        return static_cast<std::uint64_t>(now);
    }
    bool is_lost() override { return gl_.GetGraphicsResetStatus() != GL_NO_ERROR; }

    int texture_parameter(Id texture, std::uint32_t /*target*/, std::uint32_t name) override {
        GLint value = 0;
        gl_.GetTextureParameteriv(texture, name, &value);
        return value;
    }
    void set_texture_parameter(Id texture, std::uint32_t /*target*/, std::uint32_t name, int value) override {
        gl_.TextureParameteri(texture, name, value);
    }
    Level level_of(Id texture, std::uint32_t /*target*/) override {
        return level_by([&](GLenum name, GLint* value) { gl_.GetTextureLevelParameteriv(texture, 0, name, value); });
    }
    std::int64_t buffer_parameter(Id buffer, std::uint32_t name) override {
        GLint64 value = 0;
        gl_.GetNamedBufferParameteri64v(buffer, name, &value);
        return value;
    }
    Id make_view(Id texture, Format format) override {
        Id view = 0;
        gl_.GenTextures(1, &view);
        gl_.TextureView(view, GL_TEXTURE_2D, texture, info(format).internal, 0, 1, 0, 1);
        gl_.TextureParameteri(view, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        gl_.TextureParameteri(view, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        return view;
    }

    Id make_marker(const std::array<int, 2>& mark) override {
        Id id = 0;
        gl_.CreateVertexArrays(1, &id);
        for (GLuint i = 0; i < mark.size(); ++i) gl_.VertexArrayBindingDivisor(id, i, static_cast<GLuint>(mark.at(i)));
        return id;
    }
    std::array<int, 2> read_marker(Id marker) override {
        std::array<GLint, 2> found{};
        for (GLuint i = 0; i < found.size(); ++i)
            gl_.GetVertexArrayIndexediv(marker, i, GL_VERTEX_ATTRIB_ARRAY_DIVISOR, &found.at(i));
        return found;
    }

  private:
    Id create_buffer() {
        Id id = 0;
        gl_.CreateBuffers(1, &id);
        return id;
    }
    static GLenum attachment_of(Format format) {
        return format == Format::Depth32f   ? GL_DEPTH_ATTACHMENT
               : format == Format::Stencil8 ? GL_STENCIL_ATTACHMENT
                                            : GL_DEPTH_STENCIL_ATTACHMENT;
    }

    Device& device_;
    const Api& gl_;
    std::array<GLint, 4> scissor_{};  // the application's box, while passes have one
};

}  // namespace

std::unique_ptr<Dialect> make_desktop45(Device& device) {
    return std::make_unique<Desktop45>(device);
}

}  // namespace quadmill::detail::gl
