// Keys as unsigned numbers in the library's order, for the engines that sort in integer textures.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gl/pass.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::sort {

// How keys become unsigned numbers of `words` words.
struct KeyForm {
    KeyType type = KeyType::F32;
    Order order = Order::Ascending;
    bool indexed = false;  // the place of a key is its lowest word

    [[nodiscard]] std::size_t key_bytes() const;  // in memory
    [[nodiscard]] int source_words() const { return key_bytes() == 8 ? 2 : 1; }
    [[nodiscard]] int words() const { return indexed ? 2 * source_words() : source_words(); }
    [[nodiscard]] std::size_t pair_keys() const;  // of a pair of blocks in a banked texture
    [[nodiscard]] gl::Format source_format() const;
    [[nodiscard]] gl::Format format() const;
    // The bits that sort last.
    [[nodiscard]] std::uint64_t padding() const;
};

// Uniforms by name; names that a program lacks do nothing.
class Uniforms {
  public:
    explicit Uniforms(const gl::Program& program) : program_(program) {}
    Uniforms& set(const char* name, std::integral auto value) {
        all_.push_back({program_.find(name), value});
        return *this;
    }
    // The numbers of TotalOrder, for shaders/sort/key_order.glsl.
    Uniforms& set_order(const KeyForm& form);
    [[nodiscard]] std::vector<gl::Uniform> take() { return std::move(all_); }

  private:
    const gl::Program& program_;
    std::vector<gl::Uniform> all_;
};

}  // namespace quadmill::detail::sort
