// Keys as unsigned numbers in the library's order, for the engines that sort in integer textures.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gl/pass.hpp"
#include "quadmill/keys.hpp"

namespace quadmill::detail::sort {

// How keys become unsigned numbers of `words` words.
struct KeyForm {
    KeyType type = KeyType::F32;
    Order order = Order::Ascending;
    bool indexed = false;  // the lowest word is the key's index

    [[nodiscard]] std::size_t key_bytes() const;  // bytes of a key in memory
    [[nodiscard]] int source_words() const { return key_bytes() == 8 ? 2 : 1; }
    [[nodiscard]] int words() const { return indexed ? 2 * source_words() : source_words(); }
    // Keys of 64 words: a pair of blocks in a banked texture of 8 layers.
    [[nodiscard]] std::size_t pair_keys() const;
    [[nodiscard]] gl::Format source_format() const;
    [[nodiscard]] gl::Format format() const;
    // Bits that sort last.
    [[nodiscard]] std::uint64_t padding() const;
};

// The constants of TotalOrder, as uniforms for shaders/sort/key_order.glsl.
[[nodiscard]] gl::Uniforms order_uniforms(const KeyForm& form);
// Those with which decode() changes nothing, for the passes before the last one. A branch around decode() would do, too,
// but NVIDIA compiled it wrongly (docs/notes/hardware.md).
[[nodiscard]] gl::Uniforms number_uniforms();

}  // namespace quadmill::detail::sort
