// The merge engine from memory to memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "array/banked.hpp"
#include "array/transfer.hpp"
#include "sort/merge_passes.hpp"
#include "sort/segments.hpp"

namespace quadmill::detail::sort {

// Keeps programs, textures and staging memory from call to call. Pre of every call: a session is open.
class MergeSort {
  public:
    MergeSort(gl::Device& device, array::Workers& workers);

    // Sorts each segment of the keys. `index`, when not empty, receives for each key where it was, and equal keys keep
    // their order. Pre: pairs fit into a texture.
    SortStats run(Keys keys, std::span<std::uint32_t> index, Order order, const Segments& segments);

    [[nodiscard]] MergePlan& plan() { return plan_; }

  private:
    MergeSurface& surface(const KeyForm& form, const Segments& segments);
    void upload_segments(MergeSurface& surface, const Segments& segments);
    void upload(MergeSurface& surface, const KeyForm& form, Keys keys, const Segments& segments);
    void take(const KeyForm& form, Keys keys, std::span<std::uint32_t> index, const Segments& segments);

    gl::Device& device_;
    array::Workers& workers_;
    MergePasses passes_;
    MergePlan plan_;
    std::unique_ptr<MergeSurface> surface_;
    array::Uploader uploader_, table_uploader_;
    array::BankedReadBack readback_;
    gl::Query begin_, end_, read_end_;
};

}  // namespace quadmill::detail::sort
