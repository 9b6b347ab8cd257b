// Sorts the caller's texture. No texel goes through the CPU.
#pragma once

#include "gl/pass.hpp"
#include "quadmill/sort.hpp"
#include "sort/pbsn/pbsn.hpp"

namespace quadmill::detail::sort {

class TextureSort {
  public:
    TextureSort(gl::Device& device, Pbsn& pbsn);

    // Pre: both are RGBA32F and of the same size; a session is open.
    SortStats run(const gl::Texture& input, const gl::Texture& output, const SortOptions& options);

  private:
    void gather(const gl::Texture& from, const pass::Target& to, std::uint32_t padding);
    void recode(std::uint32_t decode, std::uint32_t flip);
    [[nodiscard]] std::uint64_t count_specials();
    void resize(int width, int height, int k);

    gl::Device& device_;
    Pbsn& pbsn_;
    gl::Program gather_, specials_, recode_;
    gl::Query special_count_;
    // In the caller's size: bits as integers. In the padded size: integers, and the floats that are blended.
    pass::Target raw_;
    PbsnTextures keys_, floats_;
};

}  // namespace quadmill::detail::sort
