// The merge engine from memory to memory, and from texture to texture.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

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

    // The first best.size() keys in order, and where they were; merges no more than can be among them.
    // Pre: 1 <= best.size(), keys.size() fit into a texture.
    SortStats top(Keys keys, Keys best, std::span<std::uint32_t> index, Order order);

    // Writes into the first `count` texels of `index`, row after row, where the keys in the first `count` texels of
    // `keys` are in order, stably. Does not wait for the GPU. Pre: keys are R32F, R32UI or R32I, the index R32UI; 1 <=
    // count.
    SortStats argsort(const gl::Texture& keys, const gl::Texture& index, std::size_t count, Order order);

    // Whether textures of that size are there already.
    [[nodiscard]] bool has_room(const KeyForm& form, std::size_t pairs) const {
        return surface_ && surface_->fits(form, pairs);
    }

    [[nodiscard]] std::size_t texture_bytes() const {
        return surface_ ? MergeSurface::bytes(surface_->made_for, surface_->shape.pairs()) : 0;
    }

    [[nodiscard]] MergePlan& plan() { return plan_; }

  private:
    SortStats run(Keys keys, Keys to, std::span<std::uint32_t> index, Order order, const Segments& segments);
    MergeSurface& surface(const KeyForm& form, const Segments& segments);
    void upload_segments(MergeSurface& surface, const Segments& segments);
    void upload(MergeSurface& surface, const KeyForm& form, Keys keys, const Segments& segments);
    void take(const KeyForm& form, Keys keys, std::span<std::uint32_t> index, const Segments& segments);

    const gl::QuadList& argsort_quads(const MergeSurface& on, std::size_t pairs, int width, std::size_t count);
    struct TexturePrograms {
        explicit TexturePrograms(gl::Device& device);
        gl::Program load, store;
    };

    gl::Device& device_;
    array::Workers& workers_;
    MergePasses passes_;
    MergePlan plan_;
    std::unique_ptr<MergeSurface> surface_;
    std::optional<TexturePrograms> texture_programs_;
    gl::Texture raw_;  // the keys of argsort()
    std::optional<std::pair<std::array<std::size_t, 3>, gl::QuadList>> argsort_quads_;
    array::Uploader uploader_, table_uploader_;
    array::BankedReadBack readback_;
    gl::Query begin_, end_, read_end_;
};

}  // namespace quadmill::detail::sort
