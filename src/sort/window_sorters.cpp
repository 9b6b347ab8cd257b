#include "sort/window_sorters.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "cpu/keys.hpp"
#include "cpu/merge.hpp"
#include "cpu/sort.hpp"
#include "gl/device.hpp"
#include "quadmill/error.hpp"
#include "sort/choose.hpp"
#include "sort/gpu_memory.hpp"
#include "sort/hybrid_sort.hpp"

namespace quadmill::detail::sort {

namespace {

Task task_of(Keys keys, std::size_t window) {
    return {Task::What::Windows, cpu::begin_name, keys, Order::Ascending, {}, window};
}

}  // namespace

SlotWindowSorter::SlotWindowSorter(Context context, const SortOptions& options)
    : context_(std::move(context)),
      options_(checked_options("window_sorter", context_.info(), options)),
      workers_(options.threads) {}

void SlotWindowSorter::begin_batch(const char* function, Keys keys, std::size_t window, std::size_t step) {
    window = cpu::checked_window(function, keys, window);
    cpu::check_in_flight(function, in_flight(), slots);
    check(keys, window);
    auto& device = *detail::Access::of(context_);
    const gl::Scope scope(device, function);
    begin_in(next_slot(), device, keys, window, step);
    scope.check();
    ++begun_;
}

void SlotWindowSorter::finish() {
    const auto slot = finished_++ % slots;  // the slot is free even if this throws
    const gl::Scope scope(*detail::Access::of(context_), "WindowSorter::finish");
    const auto times = finish_in(slot);
    times_.upload += times.upload;
    times_.sort += times.sort;
    times_.readback += times.readback;
    scope.check();
}

MergeWindowSorter::MergeWindowSorter(const Context& context, const SortOptions& options, Target target)
    : SlotWindowSorter(context, options), target_(std::move(target)) {}

std::optional<std::string> MergeWindowSorter::no_space(Keys keys, std::size_t window) const {
    return sort::no_space(context_, options_, gpu_ ? &gpu_->merge : nullptr,
                          task_of(keys, cpu::checked_window(cpu::begin_name, keys, window)), slots);
}

void MergeWindowSorter::check(Keys keys, std::size_t window) const {
    if (const auto why = no_space(keys, window)) throw InvalidArgument(std::string(cpu::begin_name) + ": " + *why);
}

const std::shared_ptr<const Segments>& MergeWindowSorter::segments(Keys keys, std::size_t window) {
    const std::array shape{keys.size(), window, KeyForm{keys.type()}.pair_keys()};
    if (!segments_ || shape != shape_) {
        Segments windows(shape[2]);
        windows.add_windows(keys.size(), window);
        segments_ = std::make_shared<const Segments>(std::move(windows));
        shape_ = shape;
    }
    return segments_;
}

void MergeWindowSorter::begin_sample(Keys keys, std::size_t window, std::size_t step) {
    cpu::WindowSample::check(keys, window, step);
    begin_batch(cpu::WindowSample::begin_name, keys, window, step);
}

void MergeWindowSorter::begin_in(std::size_t slot, gl::Device& device, Keys keys, std::size_t window,
                                 std::size_t step) {
    if (!gpu_) gpu_.emplace(device, workers_, options_);
    const MergeTarget to{.keys = target_ ? target_(keys) : keys, .step = step};
    gpu_->merge.begin(gpu_->slots.at(slot), keys, to, options_.order, segments(keys, window));
}

WindowSorter::Times MergeWindowSorter::finish_in(std::size_t slot) {
    auto& of_batch = gpu_->slots.at(slot);
    gpu_->merge.wait(of_batch);
    const double upload = of_batch.is_busy() ? of_batch.gpu_upload_ms() : 0;
    const auto stats = gpu_->merge.finish(of_batch);
    return {.upload = upload, .sort = stats.sort_ms, .readback = stats.readback_ms};
}

PbsnWindowSorter::PbsnWindowSorter(Context context, const SortOptions& options)
    : SlotWindowSorter(std::move(context), options) {}

// With small batches, a software renderer's textures fit into the CPU's cache.
std::size_t PbsnWindowSorter::batch_bytes() const {
    return std::size_t{context_.info().software ? 4U : 16U} << 20U;
}

std::size_t PbsnWindowSorter::bytes() const {
    std::size_t words = 0;
    for (std::size_t i = 0; gpu_ && i < slots; ++i) words += gpu_->batches.at(i).words.capacity();
    return words * sizeof(std::uint32_t);
}

void PbsnWindowSorter::check(Keys /*keys*/, std::size_t window) const {
    check_pbsn_window(cpu::begin_name, options_.paper.pbsn, window);
}

void PbsnWindowSorter::begin_chunk(Batch& batch) {
    const auto& chunk = batch.chunks[batch.begun++];
    batch.halves ? batch.halves->begin(chunk, batch.slot) : batch.floats->begin(chunk, batch.slot);
}

void PbsnWindowSorter::begin_in(std::size_t slot, gl::Device& device, Keys keys, std::size_t window,
                                std::size_t /*step*/) {
    if (!gpu_) gpu_.emplace(device);
    auto& batch = gpu_->batches.at(slot);
    const auto channels = channels_for(options_.paper.pbsn.channels);
    batch.chunks = cut_windows(keys.size(), window, options_.paper.pbsn.max_texels, channels);
    batch.keys = keys;
    batch.window = window;
    batch.begun = 0;
    batch.floats.reset();
    batch.halves.reset();
    batch.words.clear();
    if (batch.chunks.empty()) return;
    const ChunkSortTools tools{device, gpu_->pbsn, workers_, scratch_, options_};
    cpu::visit(keys, [&]<class Key>(std::span<Key> values) {
        if constexpr (std::is_same_v<Key, Half>) {
            batch.halves.emplace(tools, values, Arrays{keys.type(), window, channels});
        } else if constexpr (sizeof(Key) == sizeof(float)) {
            const std::span floats(reinterpret_cast<float*>(values.data()), values.size());
            batch.floats.emplace(tools, floats, Arrays{keys.type(), window, channels});
        } else {
            const cpu::TotalOrder<Key> order(Order::Ascending);
            batch.words.resize(values.size());
            constexpr std::size_t piece = std::size_t{1} << 16U;
            workers_.for_each((values.size() + piece - 1) / piece, [&](std::size_t task) {
                for (auto i = task * piece; i < std::min((task + 1) * piece, values.size()); ++i)
                    batch.words[i] = static_cast<std::uint32_t>(order.encode(cpu::KeyBits<Key>::of(values[i])) >> 32U);
            });
            const std::span floats(reinterpret_cast<float*>(batch.words.data()), batch.words.size());
            batch.floats.emplace(tools, floats, Arrays{KeyType::U32, window, channels});
        }
    });
    begin_chunk(batch);
}

WindowSorter::Times PbsnWindowSorter::finish_in(std::size_t slot) {
    auto& batch = gpu_->batches.at(slot);
    for (std::size_t i = 0; i < batch.chunks.size(); ++i) {
        if (batch.begun == i) begin_chunk(batch);
        const auto& chunk = batch.chunks[i];
        batch.halves ? batch.halves->finish(chunk, batch.slot) : batch.floats->finish(chunk, batch.slot);
    }
    if (batch.chunks.empty()) return {};
    const auto& stats = batch.halves ? batch.halves->stats() : batch.floats->stats();
    const auto upload = batch.halves ? batch.halves->copies_ms() : batch.floats->copies_ms();
    const cpu::Stopwatch time;
    if (!batch.words.empty()) put_by_words(batch);
    return {.upload = upload, .sort = stats.sort_ms + stats.merge_ms + time.ms(), .readback = stats.readback_ms};
}

// Puts each key at the position of its upper word. Keys with equal upper words keep the order of input and are then
// sorted by themselves.
void PbsnWindowSorter::put_by_words(const Batch& batch) {
    const auto window = batch.window, windows = (batch.words.size() + window - 1) / window;
    cpu::visit(*batch.keys, [&]<class Key>(std::span<Key> keys) {
        using Bits = typename cpu::KeyBits<Key>::Bits;
        if constexpr (sizeof(Bits) == sizeof(std::uint64_t)) {
            const cpu::TotalOrder<Key> order(Order::Ascending);
            workers_.for_each(windows, [&](std::size_t index) {
                const auto size = std::min(window, keys.size() - index * window);
                const auto part = keys.subspan(index * window, size);
                const auto words = std::span(batch.words).subspan(index * window, size);
                std::vector<Bits> sorted(size);
                std::vector<std::uint32_t> there(size);  // for each position where a word begins: keys put so far
                for (const auto key : part) {
                    const auto bits = order.encode(cpu::KeyBits<Key>::of(key));
                    const auto position = static_cast<std::size_t>(
                        std::ranges::lower_bound(words, static_cast<std::uint32_t>(bits >> 32U)) - words.begin());
                    // The GPU has changed a word: the key has no position.
                    if (position >= size || position + there[position] >= size) cpu::throw_not_sorted();
                    sorted[position + there[position]++] = bits;
                }
                for (std::size_t i = 0; i < size; i += there[i]) {
                    if (there[i] == 0 || there[i] > size - i) cpu::throw_not_sorted();
                    const auto run = std::span(sorted).subspan(i, there[i]);
                    if (!std::ranges::is_sorted(run)) std::ranges::sort(run);
                }
                std::ranges::transform(sorted, part.begin(),
                                       [&](Bits bits) { return cpu::KeyBits<Key>::value(order.decode(bits)); });
            });
        }
    });
}

BitonicWindowSorter::BitonicWindowSorter(Context context, const SortOptions& options)
    : SlotWindowSorter(std::move(context), options) {}

BitonicJob BitonicWindowSorter::job(Keys keys, std::size_t window) const {
    return BitonicSort::job(context_.info(), KeyForm{keys.type()}, keys.size(), window, options_, cpu::begin_name);
}

void BitonicWindowSorter::check(Keys keys, std::size_t window) const {
    if (keys.size() > 0) static_cast<void>(job(keys, window));
}

void BitonicWindowSorter::begin_in(std::size_t slot, gl::Device& device, Keys keys, std::size_t window,
                                   std::size_t /*step*/) {
    empty_.at(slot) = keys.size() == 0;
    if (empty_.at(slot)) return;
    if (!gpu_) gpu_.emplace(device, workers_);
    gpu_->bitonic.begin(gpu_->slot.at(slot), keys, {}, job(keys, window));
}

WindowSorter::Times BitonicWindowSorter::finish_in(std::size_t slot) {
    if (empty_.at(slot)) return {};
    auto& of_batch = gpu_->slot.at(slot);
    gpu_->bitonic.wait(of_batch);
    const auto stats = gpu_->bitonic.finish(of_batch);
    return {.upload = stats.upload_ms, .sort = stats.sort_ms, .readback = stats.readback_ms};
}

WindowSorter::Times SharedWindowSorter::times() const {
    auto times = gpu_.times();
    if (cpu_) times.sort += cpu_->times().sort;
    return times;
}

HybridWindowSorter::HybridWindowSorter(const Context& context, const SortOptions& options)
    : SharedWindowSorter(context, options) {
    const auto threads = cpu_threads(gpu_.workers());
    if (threads < 2) return;
    cpu_.emplace(threads, depth());
    cpu_share_ = threads / (threads + 100.0);  // initial guess: the GPU is as fast as 100 threads
}

void HybridWindowSorter::begin(Keys keys, std::size_t window) {
    window = cpu::checked_window(cpu::begin_name, keys, window);
    const auto windows = (keys.size() + window - 1) / window;
    const auto to_gpu = static_cast<std::size_t>(std::ceil((1 - cpu_share_) * static_cast<double>(windows)));
    const auto gpu_keys = std::min(to_gpu * window, keys.size()), cpu_keys = keys.size() - gpu_keys;
    in_flight_.push_back({gpu_keys, cpu_keys});
    try {
        gpu_.begin(cpu::part(keys, 0, gpu_keys), window);
    } catch (...) {
        in_flight_.pop_back();
        throw;
    }
    if (cpu_keys == 0) return;
    const auto rest = cpu::part(keys, gpu_keys, cpu_keys);
    try {
        cpu_->begin(rest, window);
    } catch (const std::bad_alloc&) {  // the GPU is already working, so the batch must go on
        for (std::size_t first = 0; first < cpu_keys; first += window)  // without further memory
            cpu::sort_keys(cpu::part(rest, first, std::min(window, cpu_keys - first)), Order::Ascending);
        in_flight_.back().cpu_keys = 0;
    }
}

void HybridWindowSorter::finish() {
    const auto [gpu_keys, cpu_keys] = in_flight_.front();
    in_flight_.pop_front();
    if (cpu_keys == 0) return gpu_.finish();
    const bool cpu_was_first = cpu_->is_done();
    try {
        gpu_.finish();
    } catch (...) {
        cpu_->finish();
        throw;
    }
    const bool cpu_is_late = !cpu_->is_done();
    cpu_->finish();
    if (cpu_was_first) cpu_share_ = std::min(cpu_share_ * 1.1, 0.5);
    if (cpu_is_late) cpu_share_ *= 0.8;
}

AutoWindowSorter::AutoWindowSorter(const Context& context, const SortOptions& options)
    : SharedWindowSorter(context, options),
      crossings_(crossings_for(context.info(), options)),
      threads_(options.threads) {}

bool AutoWindowSorter::goes_to_gpu(Keys keys, std::size_t window) const {
    auto work = task_of(keys, window).work();
    work.batch = true;
    return choose(crossings_, work) != Engine::Cpu && !gpu_.no_space(keys, window);
}

void AutoWindowSorter::begin_sample(Keys keys, std::size_t window, std::size_t step) {
    cpu::WindowSample::check(keys, window, step);
    begin_batch(keys, window, step);
}

void AutoWindowSorter::begin_batch(Keys keys, std::size_t window, std::size_t step) {
    window = cpu::checked_window(cpu::begin_name, keys, window);
    cpu::check_in_flight(cpu::begin_name, in_flight_.size(), depth());
    const bool to_gpu = goes_to_gpu(keys, window);
    if (!to_gpu && !cpu_) cpu_.emplace(threads_, depth());
    if (to_gpu) {
        in_flight_.push_back({.sorter = &gpu_});
    } else {
        in_flight_.push_back({.sorter = &*cpu_});
        if (step > 0) in_flight_.back().sample = cpu::WindowSample{keys, window, step};
    }
    try {
        if (to_gpu && step > 0) {
            gpu_.begin_sample(keys, window, step);
        } else {
            in_flight_.back().sorter->begin(keys, window);
        }
    } catch (...) {
        in_flight_.pop_back();
        throw;
    }
}

void AutoWindowSorter::finish() {
    const auto batch = in_flight_.front();
    in_flight_.pop_front();
    batch.sorter->finish();
    if (batch.sample) batch.sample->take();
}

}  // namespace quadmill::detail::sort

namespace quadmill {

std::unique_ptr<WindowSorter> window_sorter(const Context& context, const SortOptions& options) {
    using namespace detail::sort;  // NOLINT(google-build-using-namespace)
    const auto refuse = [](const std::string& why) { throw InvalidArgument("window_sorter: " + why); };
    if (options.precision != Precision::Native)
        refuse("windows are sorted as they are; use Precision::Native, and convert the keys before");
    if (options.order != Order::Ascending) refuse("windows are sorted in ascending order; use Order::Ascending");
    switch (options.engine) {
        case Engine::Auto:
            if (crossings_for(context.info(), options).batches == SortCrossings::ByWidth{})
                return cpu_window_sorter(options.threads);
            return std::make_unique<AutoWindowSorter>(context, options);
        case Engine::Cpu:
            return cpu_window_sorter(options.threads);
        case Engine::Merge:
            return std::make_unique<MergeWindowSorter>(context, options);
        case Engine::Hybrid:
            return std::make_unique<HybridWindowSorter>(context, options);
        case Engine::Pbsn:
            return std::make_unique<PbsnWindowSorter>(context, options);
        case Engine::Bitonic:
            return std::make_unique<BitonicWindowSorter>(context, options);
    }
    return nullptr;
}

}  // namespace quadmill
