#include "sort/pbsn/chunk_sort.hpp"

#include <algorithm>
#include <type_traits>

namespace quadmill::detail::sort {

namespace {

// Compares numbers that blending has sorted: there are no NaNs, no -0 and no denormals among them.
template <class Float>
struct NumberLess {
    bool descending;
    bool operator()(const Float& a, const Float& b) const {
        if constexpr (std::is_same_v<Float, float>) {
            return descending ? b < a : a < b;
        } else {
            // Converts sign and magnitude to two's complement, which is the order if there is no -0 and no NaN.
            const auto x = static_cast<std::int16_t>(a.bits), y = static_cast<std::int16_t>(b.bits);
            const auto i = x ^ ((x >> 15) & 0x7fff), j = y ^ ((y >> 15) & 0x7fff);
            return descending ? j < i : i < j;
        }
    }
};

cpu::Ways ways(ChannelMerge merge) {
    return merge == ChannelMerge::FourWays ? cpu::Ways::Four : cpu::Ways::Two;
}

template <class Float>
std::vector<Float> sorted_values(std::vector<typename cpu::KeyBits<Float>::Bits>& bits, Order order) {
    cpu::sort_bits<Float>(bits, order);
    std::vector<Float> values(bits.size());
    std::transform(bits.begin(), bits.end(), values.begin(), cpu::KeyBits<Float>::value);
    return values;
}

}  // namespace

ChunkSlot::ChunkSlot(gl::Device& with)
    : device(with),
      sort_begin(with, gl::Query::Kind::Timestamp),
      sort_end(with, gl::Query::Kind::Timestamp),
      read_end(with, gl::Query::Kind::Timestamp) {}

PbsnTextures& ChunkSlot::textures(gl::Format format, const pass::FourArray& shape) {
    if (!current || !current->now.is(format, shape.width, shape.height)) {
        current.reset();
        current.emplace(device, format, shape);
    }
    return *current;
}

template <class Float>
void ChunkSort<Float>::upload(const Chunk& chunk, ChunkSlot& slot, Aside& aside) {
    const cpu::Stopwatch time;
    constexpr auto format = std::is_same_v<Float, float> ? gl::Format::Rgba32f : gl::Format::Rgba16f;
    const auto& tex = slot.textures(format, chunk.shape).now.texture;
    const std::span<const Float> keys = keys_.subspan(chunk.begin, chunk.size);
    const auto width = static_cast<std::size_t>(chunk.shape.width);
    slot.uploader.send(
        tools_.device, tex, tools_.workers, [&](std::size_t first_row, std::size_t rows, std::span<std::byte> memory) {
            const auto first = first_row * width, count = rows * width;
            if (arrays_.window == 0) {
                pack_in_turn(keys, chunk.k, first, count, memory.data(), form_, aside);
            } else if (arrays_.channels == Channels::Split) {
                pack_split_windows(keys, arrays_.window, chunk.k, first, count, memory.data(), form_, aside);
            } else {
                pack_windows(keys, arrays_.window, chunk.k, first, count, memory.data(), form_, aside);
            }
        });
    stats_.upload_ms += time.ms();
}

template <class Float>
void ChunkSort<Float>::collect(const Chunk& chunk, ChunkSlot& slot, Aside& aside) {
    const auto* sorted = reinterpret_cast<const Float*>(slot.readback.wait().data());
    tools_.device.check("Sorter");  // before a key is overwritten
    copies_ms_ += slot.uploader.copies_ms();
    stats_.sort_ms += gl::ms_between(slot.sort_begin, slot.sort_end);
    stats_.readback_ms += gl::ms_between(slot.sort_end, slot.read_end);
    const cpu::Stopwatch merging;
    if (arrays_.window == 0) {
        merge_runs_of(chunk, sorted, aside);
    } else {
        // Keys of the same array must be next to each other.
        std::sort(aside.keys.begin(), aside.keys.end(), [](const Key& a, const Key& b) { return a.array < b.array; });
        arrays_.channels == Channels::Split ? merge_windows(chunk, sorted, aside) : take_windows(chunk, sorted, aside);
    }
    stats_.set_aside += aside.keys.size();
    stats_.merge_ms += merging.ms();
}

template <class Float>
void ChunkSort<Float>::merge_runs_of(const Chunk& chunk, const Float* sorted, const Aside& aside) {
    const auto block = std::size_t{4} << static_cast<unsigned>(chunk.k);  // in keys
    std::vector<cpu::Run<Float>> runs;
    for (std::size_t begin = 0; begin < chunk.size; begin += block) {
        const auto size = std::min(block, chunk.size - begin);
        for (std::size_t c = 0; c < 4; ++c) runs.push_back({sorted + begin + c, (size + 3 - c) / 4, 4});
    }
    for (const auto& key : aside.keys) {
        --runs[key.array].size;  // its padding comes last in the run
        set_aside_.push_back(key.bits);
    }
    const NumberLess<Float> less{form_.order == Order::Descending};
    cpu::require_sorted(runs, tools_.workers, less);  // before a key is overwritten
    const auto size = chunk.size - aside.keys.size();
    const auto out = keys_.subspan(chunk.begin, size);
    stats_.merge_moves += cpu::merge_rounds(runs.size(), ways(tools_.options.paper.pbsn.channel_merge)) * size;
    cpu::merge_runs(std::move(runs), out, tools_.scratch.template of<Float>(size), tools_.workers, less,
                    ways(tools_.options.paper.pbsn.channel_merge));
    // Keys stay a permutation of what they were, even if an exception is thrown before the end.
    std::transform(aside.keys.begin(), aside.keys.end(),
                   keys_.begin() + static_cast<std::ptrdiff_t>(chunk.begin + size),
                   [](const auto& key) { return cpu::KeyBits<Float>::value(key.bits); });
    runs_.push_back({out.data(), size, 1});
}

template <class Float>
void ChunkSort<Float>::merge_chunks() {
    const NumberLess<Float> less{form_.order == Order::Descending};
    std::size_t size = 0;
    for (const auto& run : runs_) size += run.size;
    const auto by = ways(tools_.options.paper.pbsn.channel_merge);
    if (runs_.size() > 1) stats_.merge_moves += cpu::merge_rounds(runs_.size(), by) * size;
    cpu::merge_in_place(runs_, keys_.first(size), tools_.scratch.template of<Float>(size), tools_.workers, less, by);
}

template <class Float>
std::vector<Float> ChunkSort<Float>::set_aside_of(const Aside& aside, std::size_t first, std::size_t end) const {
    const auto before = [](const Key& key, std::size_t array) { return key.array < array; };
    const auto from = std::lower_bound(aside.keys.begin(), aside.keys.end(), first, before);
    const auto to = std::lower_bound(from, aside.keys.end(), end, before);
    std::vector<typename cpu::KeyBits<Float>::Bits> bits;
    for (auto key = from; key != to; ++key) bits.push_back(key->bits);
    return sorted_values<Float>(bits, form_.order);
}

template <class Float>
void ChunkSort<Float>::take_windows(const Chunk& chunk, const Float* sorted, Aside& aside) {
    const cpu::KeyLess<Float> less{cpu::TotalOrder<Float>(form_.order)};
    const NumberLess<Float> number_less{form_.order == Order::Descending};
    const auto window = arrays_.window, windows = (chunk.size + window - 1) / window;
    const auto take = [&](std::size_t index) {
        const auto out = keys_.subspan(chunk.begin + index * window, std::min(window, chunk.size - index * window));
        const auto block = (index / 4) << static_cast<unsigned>(chunk.k);
        const auto aside_values = set_aside_of(aside, index, index + 1);
        const auto size = out.size() - aside_values.size();
        const cpu::Run<Float> run{sorted + pass::FourArray::position(block, index % 4), size, 4};
        if (!cpu::is_sorted(run, number_less)) cpu::throw_not_sorted();
        for (std::size_t i = 0; i < size; ++i) out[i] = run[i];
        merge_into<Float>(out, size, aside_values, less);
        form_.coding.to_keys(out);
    };
    // Enough windows per task that its overhead is small.
    const auto each = std::max<std::size_t>((std::size_t{1} << 16) / window, 1);
    tools_.workers.for_each((windows + each - 1) / each, [&](std::size_t task) {
        for (auto index = task * each; index < std::min((task + 1) * each, windows); ++index) take(index);
    });
}

// Merges the runs of each window in the four channels. Threads share the windows or, if these are long, the pieces of
// one window.
template <class Float>
void ChunkSort<Float>::merge_windows(const Chunk& chunk, const Float* sorted, Aside& aside) {
    const cpu::KeyLess<Float> less{cpu::TotalOrder<Float>(form_.order)};
    const NumberLess<Float> number_less{form_.order == Order::Descending};
    const auto window = arrays_.window, windows = (chunk.size + window - 1) / window;
    const auto by = ways(tools_.options.paper.pbsn.channel_merge);
    stats_.merge_moves += cpu::merge_rounds(4, by) * chunk.size;
    const auto merge = [&](std::size_t index, std::span<Float> scratch, auto merge_all) {
        const auto out = keys_.subspan(chunk.begin + index * window, std::min(window, chunk.size - index * window));
        const auto* block = sorted + (index << static_cast<unsigned>(chunk.k)) * 4;
        const auto aside_values = set_aside_of(aside, 4 * index, 4 * index + 4);
        cpu::FourRuns<Float> runs;
        for (std::size_t c = 0; c < 4; ++c) runs.at(c) = {block + c, (out.size() + 3 - c) / 4, 4};
        const auto first = std::lower_bound(aside.keys.begin(), aside.keys.end(), 4 * index,
                                            [](const Key& key, std::size_t array) { return key.array < array; });
        for (std::size_t i = 0; i < aside_values.size(); ++i)  // their padding comes last
            --runs.at((first + static_cast<std::ptrdiff_t>(i))->array % 4).size;
        for (const auto& run : runs) {
            if (!cpu::is_sorted(run, number_less)) cpu::throw_not_sorted();
        }
        const auto size = out.size() - aside_values.size();
        merge_all(runs, out.first(size), scratch);
        merge_into<Float>(out, size, aside_values, less);
        form_.coding.to_keys(out);
    };
    constexpr std::size_t worth_sharing = std::size_t{1} << 18U;
    if (window >= worth_sharing) {
        const auto scratch = by == cpu::Ways::Two ? tools_.scratch.template of<Float>(window) : std::span<Float>();
        for (std::size_t index = 0; index < windows; ++index) {
            merge(index, scratch, [&](const auto& runs, std::span<Float> out, std::span<Float> between) {
                cpu::merge_runs(std::vector(runs.begin(), runs.end()), out, between, tools_.workers, number_less, by);
            });
        }
        return;
    }
    const auto each = std::max<std::size_t>((std::size_t{1} << 16) / window, 1);
    const auto alone = [&](const auto& runs, std::span<Float> out, std::span<Float> between) {
        if (by == cpu::Ways::Four) return cpu::merge_four(runs, out.data(), number_less);
        const auto half = runs[0].size + runs[1].size;
        cpu::merge_two(runs[0], runs[1], between.data(), number_less);
        cpu::merge_two(runs[2], runs[3], between.data() + half, number_less);
        cpu::merge_two(cpu::Run<Float>{between.data(), half}, cpu::Run<Float>{between.data() + half, out.size() - half},
                       out.data(), number_less);
    };
    tools_.workers.for_each((windows + each - 1) / each, [&](std::size_t task) {
        std::vector<Float> scratch(by == cpu::Ways::Two ? window : 0);
        for (auto index = task * each; index < std::min((task + 1) * each, windows); ++index)
            merge(index, scratch, alone);
    });
}

template <class Float>
void ChunkSort<Float>::begin(const Chunk& chunk, ChunkSlot& slot) {
    aside_[0].keys.clear();
    upload(chunk, slot, aside_[0]);
    issue(chunk, slot, Pbsn::Request::Look::Never, {});
}

template <class Float>
void ChunkSort<Float>::finish(const Chunk& chunk, ChunkSlot& slot) {
    collect(chunk, slot, aside_[0]);
}

// The passes and the read-back.
template <class Float>
void ChunkSort<Float>::issue(const Chunk& chunk, ChunkSlot& slot, Pbsn::Request::Look look,
                             const std::function<void()>& meanwhile) {
    slot.sort_begin.take_time();
    tools_.pbsn.sort(
        *slot.current,
        {.k = chunk.k, .order = form_.order, .early_stop = tools_.options.paper.pbsn.early_stop, .look = look},
        meanwhile);
    slot.sort_end.take_time();
    slot.readback.request(tools_.device, slot.current->now.texture);
    slot.read_end.take_time();
    gl::flush(tools_.device);  // a time is recorded when the GPU gets the command
}

template <class Float>
SortStats ChunkSort<Float>::run(const std::vector<Chunk>& chunks, std::array<ChunkSlot, 2>& slots) {
    const cpu::Stopwatch total;
    const auto passes_before = tools_.device.passes;
    stats_ = {.n = keys_.size(), .engine = Engine::Pbsn, .textures = chunks.size()};
    // Allocates before anything is changed.
    if (arrays_.window == 0) static_cast<void>(tools_.scratch.template of<Float>(keys_.size()));
    const auto slot = [&](std::size_t i) -> ChunkSlot& { return slots.at(i % 2); };
    const auto send = [&](std::size_t i) {
        aside_[i % 2].keys.clear();
        upload(chunks[i], slot(i), aside_[i % 2]);
    };
    if (!chunks.empty()) send(0);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        auto& here = slot(i);
        issue(chunks[i], here, Pbsn::Request::Look::EachStage, [&] {
            if (i > 0) collect(chunks[i - 1], slot(i - 1), aside_[(i - 1) % 2]);
            if (i + 1 < chunks.size()) send(i + 1);
        });
        const int stages = tools_.pbsn.stages_run();
        stats_.stages_run = std::max(stats_.stages_run, stages);
        stats_.stages_max = std::max(stats_.stages_max, chunks[i].k);
        stats_.steps += static_cast<std::uint64_t>(stages) * static_cast<std::uint64_t>(chunks[i].k);
    }
    if (!chunks.empty()) collect(chunks.back(), slot(chunks.size() - 1), aside_[(chunks.size() - 1) % 2]);
    const cpu::Stopwatch merging;
    if (arrays_.window == 0) {
        const auto order = form_.order;
        const auto aside_values = sorted_values<Float>(set_aside_, order);
        merge_chunks();
        merge_into<Float>(keys_, keys_.size() - aside_values.size(), aside_values,
                          cpu::KeyLess<Float>{cpu::TotalOrder<Float>(order)});
    }
    stats_.merge_ms += merging.ms();
    stats_.passes = tools_.device.passes - passes_before;
    stats_.total_ms = total.ms();
    return stats_;
}

template class ChunkSort<float>;
template class ChunkSort<Half>;

}  // namespace quadmill::detail::sort
