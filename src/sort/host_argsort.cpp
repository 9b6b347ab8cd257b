#include "sort/host_argsort.hpp"

#include "gl/pixels.hpp"

namespace quadmill::detail::sort {

void copy_bits(gl::Device& device, const gl::Texture& keys, gl::Texture& raw) {
    if (raw.width() != keys.width() || raw.height() != keys.height()) {
        raw = {};
        raw = gl::Texture(device, gl::Format::R32ui, keys.width(), keys.height());
    }
    copy(device, "copy from caller", keys, raw);
}

IndexTarget::IndexTarget(gl::Device& device, const gl::Texture& index, IndexWrite write)
    : device_(device), index_(index) {
    if (write == IndexWrite::Copied) {
        beside_.emplace(device, gl::Format::R32ui, index.width(), index.height());
        copy(device, "copy from caller", index, *beside_);  // some of it stays
    }
    framebuffer_ = gl::Framebuffer(device, beside_ ? *beside_ : index);
}

void IndexTarget::finish() {
    if (beside_) copy(device_, "copy to caller", *beside_, index_);
}

}  // namespace quadmill::detail::sort
