// The bitonic engine for keys in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "cpu/stopwatch.hpp"
#include "pass/transfer.hpp"
#include "quadmill/sort.hpp"
#include "sort/bitonic/passes.hpp"

namespace quadmill::detail::sort {

// The private memory of a sort in flight: staging memory and clock queries.
class BitonicSlot {
  public:
    explicit BitonicSlot(gl::Device& device);

  private:
    friend class BitonicSort;
    struct Job {
        Keys keys;
        std::span<std::uint32_t> index;
        bool keys_move;  // otherwise only the index is read back
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

    // The job that sorts n keys in windows of `window` keys, or as one array if `window` is 0. Throws InvalidArgument
    // if textures of `info`'s size cannot hold them. Pre: n >= 1.
    static BitonicJob job(const ContextInfo& info, KeyForm form, std::size_t n, std::size_t window,
                          const SortOptions& options, const char* function);

    // If `index` is not empty, it receives the original index of each key, and equal keys keep their order. Argsort
    // does not change the keys.
    SortStats run(Keys keys, std::span<std::uint32_t> index, const BitonicJob& job);

    // run() in two halves. The first half reads the keys and returns when all is in flight. The second half waits for
    // the GPU and writes. Other sorts may come in between, each with its own slot. Pre: the slot is free; the memory
    // stays valid and in place.
    void begin(BitonicSlot& slot, Keys keys, std::span<std::uint32_t> index, const BitonicJob& job);
    SortStats finish(BitonicSlot& slot);
    // Waits until the GPU is done with what the slot began, so that finish() can only fail before it writes.
    void wait(BitonicSlot& slot);

    // Draws the stable order of the keys, which are the first job.count texels, to the first texels of `index`. Pre:
    // Kind::ArgsortTexture; keys are R32UI.
    void argsort(const gl::Texture& keys, const gl::Framebuffer& index, const BitonicJob& job) {
        passes_.argsort(textures(job), job, keys, index);
    }

  private:
    BitonicTextures& textures(const BitonicJob& job);

    gl::Device& device_;
    cpu::Workers& workers_;
    BitonicPasses passes_;
    std::optional<BitonicTextures> textures_;
    BitonicSlot slot_;  // for run()
};

}  // namespace quadmill::detail::sort
