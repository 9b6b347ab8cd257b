#include "sort/bitonic/bitonic_sort.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "cpu/keys.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::sort {

BitonicSlot::BitonicSlot(gl::Device& device)
    : begin_(device, gl::Query::Kind::Timestamp),
      end_(device, gl::Query::Kind::Timestamp),
      read_end_(device, gl::Query::Kind::Timestamp) {}

BitonicSort::BitonicSort(gl::Device& device, cpu::Workers& workers)
    : device_(device), workers_(workers), passes_(device), slot_(device) {}

BitonicJob BitonicSort::job(const ContextInfo& info, KeyForm form, std::size_t n, std::size_t window,
                            const SortOptions& options, const char* function) {
    if (window == 0) window = n;
    const auto windows = (n - 1) / window + 1;
    const auto representation = options.paper.bitonic.representation;
    // With four arrays, windows are distributed over the four channels: their number is rounded up to a multiple of 4.
    const auto places = representation == Representation::FourArray && windows > 1 ? (windows + 3) / 4 * 4 : windows;
    const auto side = std::bit_floor(static_cast<std::size_t>(info.max_texture_size));
    const auto max_texels = std::min(side * side, std::size_t{1} << 28U);  // elements are counted in 31 bits
    const auto source_words = static_cast<std::size_t>(form.source_words());
    if (places > 4 * max_texels / std::max<std::size_t>(std::bit_ceil(window), 4) ||
        n > 4 * max_texels / source_words) {
        throw InvalidArgument(std::string(function) + ": Engine::Bitonic has no room for " + std::to_string(n) +
                              " keys in windows of " + std::to_string(window) + ", each padded to a power of two, in " +
                              std::to_string(max_texels) + " texels, the most that a texture has here, of 4 keys" +
                              (source_words == 2 ? " (in memory, 2)" : "") +
                              "; sort parts of them, or use Engine::Merge or Engine::Cpu");
    }
    BitonicJob job{form, BitonicShape::of(representation, windows, window), n, window};
    job.steps_per_pass = options.paper.bitonic.steps_per_pass;
    constexpr std::size_t max_ratio = std::size_t{1} << 19U;  // about 20 million quads, or 640 MB
    const auto min = std::bit_ceil(job.shape.texels() / max_ratio);
    job.block = options.paper.bitonic.block.value_or(info.software ? 0 : std::max<std::size_t>(128, min));
    if (job.block > 1 && job.shape.texels() / job.block > max_ratio) {
        throw InvalidArgument(
            std::string(function) + ": " + std::to_string(n) + " keys in blocks of " + std::to_string(job.block) +
            " texels would take too many quads; bitonic.block must be 0 " + "or at least " + std::to_string(min));
    }
    return job;
}

BitonicTextures& BitonicSort::textures(const BitonicJob& job) {
    if (!textures_ || !textures_->fits(job)) {
        textures_.reset();
        textures_.emplace(device_, job);
    }
    return *textures_;
}

SortStats BitonicSort::run(Keys keys, std::span<std::uint32_t> index, const BitonicJob& job) {
    begin(slot_, keys, index, job);
    return finish(slot_);
}

void BitonicSort::begin(BitonicSlot& slot, Keys keys, std::span<std::uint32_t> index, const BitonicJob& job) {
    slot.job_.reset();
    const cpu::Stopwatch total;
    const auto passes_before = device_.passes;
    auto& on = textures(job);
    const std::span all(static_cast<std::byte*>(keys.data()), keys.size() * job.form.key_bytes());
    const auto row_bytes =
        static_cast<std::size_t>(on.memory.texture.width()) * gl::info(on.memory.texture.format()).bytes;
    slot.uploader_.send(device_, on.memory.texture, workers_, [&](std::size_t row, std::size_t /*rows*/, auto staging) {
        const auto part = all.subspan(row * row_bytes);
        std::memcpy(staging.data(), part.data(), std::min(part.size(), staging.size()));
    });
    SortStats stats{.n = keys.size(), .engine = Engine::Bitonic, .textures = 1};
    stats.upload_ms = total.ms();
    slot.begin_.take_time();
    passes_.sort(on, job);
    slot.end_.take_time();
    const bool keys_move = job.kind == BitonicJob::Kind::Sort;
    if (keys_move) slot.keys_back_.request(device_, on.memory.texture);
    if (!index.empty()) slot.index_back_.request(device_, on.index.texture);
    slot.read_end_.take_time();
    gl::flush(device_);
    device_.check("Sorter");  // before a key is overwritten
    stats.stages_run = stats.stages_max = job.shape.k;
    stats.steps = static_cast<std::uint64_t>(job.shape.k * (job.shape.k + 1) / 2);
    stats.passes = device_.passes - passes_before;
    slot.job_ = {keys, index, keys_move, stats, total};
}

void BitonicSort::wait(BitonicSlot& slot) {
    if (!slot.job_) return;
    if (slot.job_->keys_move) static_cast<void>(slot.keys_back_.wait());
    if (!slot.job_->index.empty()) static_cast<void>(slot.index_back_.wait());
}

SortStats BitonicSort::finish(BitonicSlot& slot) {
    auto [keys, index, keys_move, stats, total] = *std::exchange(slot.job_, std::nullopt);
    const auto key_bytes = detail::cpu::visit(keys, [](auto of_type) { return sizeof of_type[0]; });
    if (keys_move)
        slot.keys_back_.copy_to(std::span(static_cast<std::byte*>(keys.data()), keys.size() * key_bytes), workers_);
    if (!index.empty()) slot.index_back_.copy_to(std::as_writable_bytes(index), workers_);
    stats.sort_ms = gl::ms_between(slot.begin_, slot.end_);
    stats.readback_ms = gl::ms_between(slot.end_, slot.read_end_);
    stats.total_ms = total.ms();
    return stats;
}

}  // namespace quadmill::detail::sort
