// The bitonic engine from memory to memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "cpu/stopwatch.hpp"
#include "pass/transfer.hpp"
#include "quadmill/sort.hpp"
#include "sort/bitonic/passes.hpp"
#include "sort/caller_argsort.hpp"

namespace quadmill::detail::sort {

// What one sort in flight has to itself: memory for transfers, and times.
class BitonicLane {
  public:
    explicit BitonicLane(gl::Device& device);

  private:
    friend class BitonicSort;
    struct Job {
        Keys keys;
        std::span<std::uint32_t> index;
        bool keys_move;  // else only the index comes back
        SortStats stats;
        cpu::Stopwatch total;
    };
    std::optional<Job> job_;
    pass::Uploader uploader_;
    pass::ReadBack keys_back_, index_back_;
    gl::Query begin_, end_, read_end_;
};

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

    // run() in two halves. The first one reads the keys and returns when all is in flight; the second one waits for the
    // GPU and writes. Others may come in between, each with a lane of its own. Pre: the lane is free; the memory stays
    // where it is.
    void begin(BitonicLane& lane, Keys keys, std::span<std::uint32_t> index, const BitonicJob& job);
    SortStats finish(BitonicLane& lane);
    // The GPU is done with what the lane began, so that finish() can only fail before it writes.
    void wait(BitonicLane& lane);

    // What MergeSort::argsort() does, for Kind::ArgsortTexture.
    SortStats argsort(const gl::Texture& keys, const gl::Texture& index, const BitonicJob& job, IndexWrite write);

  private:
    BitonicTextures& textures(const BitonicJob& job);

    gl::Device& device_;
    cpu::Workers& workers_;
    BitonicPasses passes_;
    std::optional<BitonicTextures> textures_;
    gl::Texture raw_;   // the keys of argsort()
    BitonicLane lane_;  // of run()
};

}  // namespace quadmill::detail::sort
