// What replaces identity and saved state in a page: web/package/gl.js has one context for each module, and saves and
// restores the page's state itself. ../bare.cpp replaces EGL and the system.
#include "gl/web/page.hpp"

#include <algorithm>

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/dialect.hpp"
#include "gl/egl.hpp"
#include "gl/identity.hpp"
#include "gl/lanes.hpp"
#include "gl/pass.hpp"
#include "gl/pixels.hpp"
#include "gl/state_guard.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

ContextIdentity::ContextIdentity(Dialect& /*dialect*/) {}
ContextIdentity::Current ContextIdentity::current(const Api& /*gl*/, Dialect& /*dialect*/) const noexcept {
    return Current::Same;
}
void ContextIdentity::remove_marker(const Api& /*gl*/) const noexcept {}
bool is_context_current() {
    return true;
}
Context::GetProcAddress current_loader() {
    return nullptr;
}

void HostState::save(const Api& /*gl*/, const Features& /*features*/) {}
void HostState::save_stencil(const Api& /*gl*/, const Features& /*features*/) {}
void HostState::save_blend_factors(const Api& /*gl*/, const Features& /*features*/) {}
void HostState::restore(const Api& /*gl*/, const Features& /*features*/) const noexcept {}
void HostState::release(const Api& /*gl*/) const noexcept {}
void ExtensionState::set_baseline(const Api& /*gl*/) const {}

// gl.js sets the rest: rows of pixels without gaps, and extensions.
void set_baseline(const Api& gl, const Features& /*features*/) {
    for (const GLenum capability :
         {GL_BLEND, GL_CULL_FACE, GL_DEPTH_TEST, GL_DITHER, GL_POLYGON_OFFSET_FILL, GL_RASTERIZER_DISCARD,
          GL_SAMPLE_ALPHA_TO_COVERAGE, GL_SAMPLE_COVERAGE, GL_SCISSOR_TEST, GL_STENCIL_TEST})
        gl.Disable(capability);
    gl.ColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
}

namespace {

extern "C" __attribute__((import_module("gl"), import_name("ArrayWords"))) void web_ArrayWords(std::size_t first,
                                                                                               void* to,
                                                                                               std::size_t words);

// gl.js takes an odd address for one in the array.
constexpr std::size_t array_at(std::size_t byte) {
    return byte + 1;
}

// Bytes of a command, so that the GPU's process uploads a piece while the next one is copied to it.
constexpr std::size_t piece_bytes = std::size_t{1} << 21U;

}  // namespace

void copy_from_array(std::size_t first, std::span<std::byte> to) {
    web_ArrayWords(first / 4, to.data(), to.size() / 4);
}

void upload_array(Device& device, const Texture& to, int rows) {
    const auto row_bytes = static_cast<std::size_t>(to.width()) * info(to.format()).bytes;
    const auto each = static_cast<int>(std::max<std::size_t>(piece_bytes / row_bytes, 1));
    for (int row = 0; row < rows; row += each) {
        device.dialect->send_rows({}, array_at(static_cast<std::size_t>(row) * row_bytes),
                                  RowsOf(to, row, std::min(each, rows - row)));
        device.gl.Flush();
    }
}

void read_into_array(Device& device, const Texture& from, std::size_t texels) {
    const auto row_bytes = static_cast<std::size_t>(from.width()) * info(from.format()).bytes;
    for_first_texels(from.width(), texels, [&](int row, int width, int rows) {
        auto* const to = static_cast<std::byte*>(offset_pointer(array_at(static_cast<std::size_t>(row) * row_bytes)));
        device.dialect->read_texels({from.id(), from.format(), width, row, rows}, 0,
                                    {to, static_cast<std::size_t>(rows) * row_bytes});
    });
}

// WebGL2 has no subgroups.
bool has_lanes_in_boxes(Device& /*device*/) {
    return false;
}

std::unique_ptr<Dialect> make_desktop45(Device& /*device*/) {
    return nullptr;
}
std::unique_ptr<Dialect> make_core33(Device& /*device*/, const Loader& /*loader*/, OpenGl /*api*/) {
    return nullptr;
}

}  // namespace quadmill::detail::gl
