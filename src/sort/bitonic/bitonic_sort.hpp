// The bitonic engine from memory to memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "pass/transfer.hpp"
#include "sort/bitonic/passes.hpp"
#include "sort/host_argsort.hpp"

namespace quadmill::detail::sort {

// Keeps programs, textures and staging memory from call to call. Pre of every call but `job`: a session is open.
class BitonicSort {
  public:
    BitonicSort(gl::Device& device, cpu::Workers& workers);

    // What it takes to sort n keys in windows of `window`, or all of them for 0. Throws InvalidArgument when textures
    // of `info`'s size cannot hold it. Pre: there are keys.
    static BitonicJob job(const ContextInfo& info, KeyForm form, std::size_t n, std::size_t window,
                          const SortOptions& options, const char* function);

    // `index`, when not empty, receives for each key where it was, and equal keys keep their order. Of Argsort the keys
    // stay.
    SortStats run(Keys keys, std::span<std::uint32_t> index, const BitonicJob& job);

    // Of ArgsortTexture; as MergeSort::argsort().
    SortStats argsort(const gl::Texture& keys, const gl::Texture& index, const BitonicJob& job, IndexWrite write);

  private:
    BitonicSurface& surface(const BitonicJob& job);

    gl::Device& device_;
    cpu::Workers& workers_;
    BitonicPasses passes_;
    std::optional<BitonicSurface> surface_;
    gl::Texture raw_;  // the keys of argsort()
    pass::Uploader uploader_;
    pass::ReadBack keys_back_, index_back_;
    gl::Query begin_, end_, read_end_;
};

}  // namespace quadmill::detail::sort
