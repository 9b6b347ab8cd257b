// The stages of a sort for the page (web/page/stages.js): an engine sorts keys, and after each step what its passes
// wrote is read back. A module of its own, so that quadmill.wasm has one engine only.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cpu/keys.hpp"
#include "gl/device.hpp"
#include "gl/observing.hpp"
#include "gl/pixels.hpp"
#include "gl/web/page.hpp"
#include "pass/banked.hpp"
#include "pass/layout.hpp"
#include "pass/transfer.hpp"
#include "quadmill/context.hpp"
#include "quadmill/error.hpp"
#include "sort/bitonic/passes.hpp"
#include "sort/merge/merge_sort.hpp"
#include "sort/note.hpp"
#include "sort/pbsn/pbsn.hpp"
#include "web/call.hpp"

namespace quadmill::detail::web {

namespace {

using sort::SortNote;

enum class Watched { Merge, Bitonic, Pbsn };  // by number

struct Step {
    int stage, step;  // of the network, from 1; stage 0 if the merge engine sorts in registers
    int passes;       // so far
    int layers;       // render targets
    std::vector<float> keys;
};

// Index of key i among the words of a target that was read back.
std::size_t word_of_key(Watched engine, const PassEvent& pass, std::size_t i) {
    const auto texels = static_cast<std::size_t>(pass.width) * static_cast<std::size_t>(pass.height);
    if (engine == Watched::Bitonic) return i;                                               // in the first layer
    if (engine == Watched::Pbsn) return pass::FourArray::position(i % texels, i / texels);  // an array a channel
    const pass::Banked shape{std::countr_zero(static_cast<unsigned>(pass.width)), (pass.height - 1) / 2, pass.targets};
    const auto block_words = static_cast<std::size_t>(shape.block_words());
    const auto block = i / block_words, within = i % block_words;
    const auto row = block % 2 * static_cast<std::size_t>(shape.half_height);
    const auto texel = shape.texel_of_pair(block / 2) + row * static_cast<std::size_t>(pass.width);
    return 4 * (within / 4 * texels + texel) + within % 4;
}

class Watcher final : public PassObserver {
  public:
    Watcher(gl::Device& device, Watched engine, std::size_t count, std::vector<Step>& steps)
        : device_(device), engine_(engine), count_(count), steps_(steps) {}

    void after(const PassEvent& pass) override {
        ++passes_;
        const auto* note = gl::note_of<SortNote>(pass);
        const bool is_input = note && note->act == SortNote::Act::Place && pass.stage < 1;
        if (note && note->step == SortNote::Step::Ends && !is_input) take(pass, note->texels);
    }

  private:
    void take(const PassEvent& pass, SortNote::Texels form) {
        const auto texels = gl::read_target(device_, pass);
        const cpu::TotalOrder<float> rule(Order::Ascending);
        std::vector<float> keys(count_);
        for (std::size_t i = 0; i < count_; ++i) {
            std::uint32_t bits = 0;
            std::memcpy(&bits, texels.data() + 4 * word_of_key(engine_, pass, i), sizeof bits);
            keys[i] = std::bit_cast<float>(form == SortNote::Texels::Numbers ? rule.decode(bits) : bits);
        }
        steps_.push_back({std::max(pass.stage, 0), std::max(pass.step, 0), passes_, pass.targets, std::move(keys)});
    }

    gl::Device& device_;
    Watched engine_;
    std::size_t count_;
    std::vector<Step>& steps_;
    int passes_ = 0;
};

// Made in this order, and destroyed in the reverse one. Programs are kept from sort to sort.
struct Page {
    Context context = Context::adopt(gl::page_function);
    gl::Device& device = *Access::of(context);
    cpu::Workers workers{1};
    pass::Uploader uploader;
    std::optional<sort::MergeSort> merge;
    std::optional<sort::BitonicPasses> bitonic;
    std::optional<sort::Pbsn> pbsn;
    std::vector<Step> steps;
};
std::unique_ptr<Page> page;

// Uploads keys, and padding after them, to the first rows.
void upload(std::span<const float> keys, const gl::Texture& to, std::size_t rows) {
    const auto from = std::as_bytes(keys);
    const auto row_bytes = static_cast<std::size_t>(to.width()) * gl::info(to.format()).bytes;
    page->uploader.send(page->device, to, rows, page->workers,
                        [&](std::size_t first, std::size_t /*rows*/, std::span<std::byte> memory) {
                            const auto begin = std::min(first * row_bytes, from.size());
                            const auto size = std::min(from.size() - begin, memory.size());
                            std::memcpy(memory.data(), from.data() + begin, size);
                            const auto padding = sort::KeyForm{}.padding();
                            for (auto at = size; at < memory.size(); at += sizeof(float))
                                std::memcpy(memory.data() + at, &padding, sizeof(float));
                        });
}

void upload(std::span<const float> keys, const gl::Texture& to) {
    upload(keys, to, static_cast<std::size_t>(to.height()));
}

void sort_by_merging(std::span<const float> keys) {
    if (!page->merge) {
        page->merge.emplace(page->device, page->workers);
        page->merge->plan() = sort::MergePlan(false);  // as on a GPU
    }
    page->merge->sort_drawn({}, keys.size(),
                            [&](const pass::Target& to, std::size_t rows) { upload(keys, to.texture, rows); });
}

void sort_by_bitonic_network(std::span<const float> keys) {
    if (!page->bitonic) page->bitonic.emplace(page->device);
    const auto count = keys.size();
    const sort::KeyForm with_pointers{.indexed = true};  // in a second layer, as in the paper
    sort::BitonicJob job{with_pointers, sort::BitonicShape::of(Representation::SingleArray, 1, count), count, count};
    job.steps_per_pass = 1;  // as in the paper
    sort::BitonicTextures textures(page->device, job);
    upload(keys, textures.memory.texture);
    page->bitonic->sort(textures, job);
}

// SIGMOD'05: the GPU sorts an array in each channel, and the CPU merges them.
void sort_by_blending(std::span<const float> keys) {
    if (!page->pbsn) page->pbsn.emplace(page->device);
    const int k = pass::log2_ceil(keys.size() / 4);
    sort::PbsnTextures textures(page->device, gl::Format::Rgba32f, pass::FourArray::of_power(k));
    upload(keys, textures.now.texture);
    page->pbsn->sort(textures, {.k = k, .early_stop = EarlyStop::No});
    auto merged = page->steps.back();
    const auto at = [&](std::ptrdiff_t quarters) {
        return merged.keys.begin() + quarters * static_cast<std::ptrdiff_t>(keys.size() / 4);
    };
    std::inplace_merge(at(0), at(1), at(2));
    std::inplace_merge(at(2), at(3), at(4));
    std::inplace_merge(at(0), at(2), at(4));
    merged.stage = merged.step = 0;
    page->steps.push_back(std::move(merged));
}

void check(std::span<const float> keys) {
    if (keys.size() < 64 || !std::has_single_bit(keys.size()))
        throw InvalidArgument("stages: the number of keys must be a power of two from 64 on, not " +
                              std::to_string(keys.size()));
    const auto odd = std::ranges::find_if(keys, [](float key) {
        return std::isnan(key) || std::fpclassify(key) == FP_SUBNORMAL || (key == 0 && std::signbit(key));
    });
    if (odd == keys.end()) return;
    throw InvalidArgument("stages: key " + std::to_string(odd - keys.begin()) +
                          " is NaN, -0 or a denormal number, which blending does not sort");
}

void watch(Watched engine, std::span<const float> keys) {
    check(keys);
    page->steps.clear();
    const gl::Scope scope(page->device, "stages");
    Watcher watcher(page->device, engine, keys.size(), page->steps);
    const gl::Observing observing(page->context, watcher);
    switch (engine) {
        case Watched::Merge:
            sort_by_merging(keys);
            break;
        case Watched::Bitonic:
            sort_by_bitonic_network(keys);
            break;
        case Watched::Pbsn:
            sort_by_blending(keys);
            break;
    }
    scope.check();
}

}  // namespace

QUADMILL_EXPORT(qm_open) int qm_open() {
    return call([] { page = std::make_unique<Page>(); });
}
QUADMILL_EXPORT(qm_close) void qm_close() {
    page.reset();
}

// Sorts a copy of the keys with engine 0 merge, 1 bitonic or 2 PBSN, and keeps the keys after each step. The last step
// has the result.
QUADMILL_EXPORT(qm_watch) int qm_watch(int engine, const float* keys, std::size_t count) {
    return call([&] { watch(static_cast<Watched>(engine), {keys, count}); });
}
QUADMILL_EXPORT(qm_steps) std::size_t qm_steps() {
    return page->steps.size();
}
// Five words: stage, step, passes so far, layers, and the address of the keys. Valid until the next call.
QUADMILL_EXPORT(qm_step) const std::uint32_t* qm_step(std::size_t i) {
    static std::array<std::uint32_t, 5> words{};
    const auto& step = page->steps[i];
    words = {static_cast<std::uint32_t>(step.stage), static_cast<std::uint32_t>(step.step),
             static_cast<std::uint32_t>(step.passes), static_cast<std::uint32_t>(step.layers),
             static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(step.keys.data()))};
    return words.data();
}

}  // namespace quadmill::detail::web
