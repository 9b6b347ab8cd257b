#include "sort/caller_argsort.hpp"

#include <cstdint>
#include <string>

#include "gl/pass.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::sort {

gl::Texture index_texture(gl::Device& device, std::uint32_t id, std::size_t count, const char* function,
                          const char* what) {
    auto index = gl::host_texture(device, id, {gl::Format::R32ui}, function, what);
    const auto texels = static_cast<std::size_t>(index.width()) * static_cast<std::size_t>(index.height());
    if (count > texels) {
        throw InvalidArgument(std::string(function) + ": " + std::to_string(count) + " keys do not fit: " + what +
                              " has " + std::to_string(texels) + " texels");
    }
    return index;
}

IndexWrite index_write(const gl::PlainAccess& index, const char* function, const char* what) {
    if (!index.hides_level_zero()) return IndexWrite::Drawn;
    if (index.is_view()) return IndexWrite::Copied;
    throw InvalidArgument(std::string(function) + ": BASE_LEVEL of " + what +
                          " leaves level 0 out, and drivers may lose what is written there; set it to 0, or make the "
                          "texture by glTexStorage2D");
}

IndexTarget::IndexTarget(gl::Device& device, const gl::Texture& index, IndexWrite write)
    : device_(device), index_(index) {
    if (write == IndexWrite::Copied) beside_.emplace(device, gl::Format::R32ui, index.width(), index.height());
    framebuffer_ = gl::Framebuffer(device, beside_ ? *beside_ : index);
}

void IndexTarget::finish(std::size_t texels) {
    if (beside_) copy_first(device_, "copy to caller", *beside_, index_, texels);
}

}  // namespace quadmill::detail::sort
