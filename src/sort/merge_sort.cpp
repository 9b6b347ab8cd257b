#include "sort/merge_sort.hpp"

#include <algorithm>
#include <cstring>

#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "sort/clock.hpp"

namespace quadmill::detail::sort {

namespace {

// Fills `count` keys with one value.
void fill(std::byte* to, std::size_t count, std::size_t key_bytes, std::uint64_t bits) {
    for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * key_bytes, &bits, key_bytes);  // little-endian
}

}  // namespace

MergeSort::MergeSort(gl::Device& device, array::Workers& workers)
    : device_(device),
      workers_(workers),
      passes_(device),
      begin_(device, gl::Query::Kind::Timestamp),
      end_(device, gl::Query::Kind::Timestamp),
      read_end_(device, gl::Query::Kind::Timestamp) {}

MergeSurface& MergeSort::surface(const KeyForm& form, const Segments& segments) {
    const auto shape = array::Banked::of_pairs(segments.pairs());
    const auto source_width = 1 << MergeSurface::source_log2(device_, form, shape);
    if (!surface_ || !(surface_->shape == shape) || surface_->keys.format() != form.format() ||
        surface_->source.format() != form.source_format() || surface_->source.width() != source_width) {
        surface_.reset();
        surface_ = std::make_unique<MergeSurface>(device_, form, shape);
    }
    surface_->segments = {};
    if (segments.all().size() > 1) upload_segments(*surface_, segments);
    return *surface_;
}

void MergeSort::upload_segments(MergeSurface& surface, const Segments& segments) {
    const auto& shape = surface.shape;
    const auto width = static_cast<std::size_t>(shape.width());
    surface.segments = gl::Texture(device_, gl::Format::Rg32ui, shape.width(), shape.half_height);
    struct Blocks {
        std::uint32_t begin, end;
    };
    // What lies behind the last segment is one of its own.
    std::vector<Blocks> table(shape.pairs(), {static_cast<std::uint32_t>(2 * segments.pairs()),
                                              static_cast<std::uint32_t>(2 * shape.pairs())});
    const auto& all = segments.all();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto end = i + 1 < all.size() ? all[i + 1].first_pair : segments.pairs();
        for (auto pair = all[i].first_pair; pair < end; ++pair) {
            table[shape.texel_of_pair(pair)] = {static_cast<std::uint32_t>(2 * all[i].first_pair),
                                                static_cast<std::uint32_t>(2 * end)};
        }
    }
    table_uploader_.send(device_, surface.segments, workers_, [&](std::size_t row, std::size_t rows, auto memory) {
        std::memcpy(memory.data(), table.data() + row * width, rows * width * sizeof(Blocks));
    });
}

void MergeSort::upload(MergeSurface& surface, const KeyForm& form, Keys keys, const Segments& segments) {
    const auto key_bytes = form.key_bytes();
    const auto row_keys =
        static_cast<std::size_t>(surface.source.width()) * gl::info(surface.source.format()).bytes / key_bytes;
    const auto* from = static_cast<const std::byte*>(keys.data());
    const auto padding = form.padding();
    uploader_.send(device_, surface.source, workers_, [&](std::size_t row, std::size_t rows, auto memory) {
        const auto begin = row * row_keys;
        segments.for_each_piece(begin, rows * row_keys, [&](auto place, auto key, auto size, auto rest) {
            auto* to = memory.data() + (place - begin) * key_bytes;
            std::memcpy(to, from + key * key_bytes, size * key_bytes);
            fill(to + size * key_bytes, rest, key_bytes, padding);
        });
    });
}

void MergeSort::take(const KeyForm& form, Keys keys, std::span<std::uint32_t> index, const Segments& segments) {
    const auto key_bytes = form.key_bytes(), pair_keys = form.pair_keys();
    auto* out = static_cast<std::byte*>(keys.data());
    readback_.take(workers_, [&](std::size_t pair, std::span<const std::byte> words) {
        const auto stored = form.indexed ? static_cast<std::size_t>(form.words()) * 4 : key_bytes;
        const auto begin = pair * pair_keys;
        segments.for_each_piece(begin, words.size() / stored, [&](auto place, auto key, auto size, auto /*padding*/) {
            const auto* from = words.data() + (place - begin) * stored;
            if (!form.indexed) {
                std::memcpy(out + key * key_bytes, from, size * stored);
                return;
            }
            // A key came from another place of the same segment.
            const auto& segment = *segments.of_pair(place / pair_keys);
            for (std::size_t i = 0; i < size; ++i, from += stored) {
                std::uint32_t was = 0;
                std::memcpy(&was, from, sizeof was);
                std::memcpy(out + (key + i) * key_bytes, from + sizeof was, key_bytes);
                index[key + i] = static_cast<std::uint32_t>(was - segment.first_pair * pair_keys + segment.first_key);
            }
        });
    });
}

SortStats MergeSort::run(Keys keys, std::span<std::uint32_t> index, Order order, const Segments& segments) {
    const Stopwatch total;
    const KeyForm form{keys.type(), order, !index.empty()};
    SortStats stats{.n = keys.size(), .engine = Engine::Merge};
    if (segments.pairs() == 0) return stats;
    const auto passes_before = device_.passes;
    auto& on = surface(form, segments);
    upload(on, form, keys, segments);
    stats.upload_ms = total.ms();
    begin_.note_time();
    passes_.sort(on, form, segments.longest_pairs(), plan_);
    end_.note_time();
    readback_.request(device_, on.keys, on.shape, segments.pairs());
    read_end_.note_time();
    gl::flush(device_);
    device_.check("Sorter");  // before a key is overwritten
    take(form, keys, index, segments);
    stats.sort_ms = gl::ms_between(begin_, end_);
    stats.readback_ms = gl::ms_between(end_, read_end_);
    stats.textures = 1;
    stats.passes = device_.passes - passes_before;
    stats.total_ms = total.ms();
    return stats;
}

}  // namespace quadmill::detail::sort
