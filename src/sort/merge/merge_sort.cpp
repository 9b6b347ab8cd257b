#include "sort/merge/merge_sort.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "pass/layout.hpp"
#include "quadmill_shaders.hpp"

namespace quadmill::detail::sort {

namespace {

// Fills `count` keys with one value.
void fill(std::byte* to, std::size_t count, std::size_t key_bytes, std::uint64_t bits) {
    for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * key_bytes, &bits, key_bytes);  // little-endian
}

}  // namespace

MergeLane::MergeLane(gl::Device& device)
    : begun_(device, gl::Query::Kind::Timestamp),
      uploaded_(device, gl::Query::Kind::Timestamp),
      sorted_(device, gl::Query::Kind::Timestamp),
      read_(device, gl::Query::Kind::Timestamp) {}

MergeSort::MergeSort(gl::Device& device, cpu::Workers& workers)
    : device_(device), workers_(workers), passes_(device), plan_(device.info), lane_(device), programs_(device) {}

MergeSurface& MergeSort::surface(const KeyForm& form, const Segments& segments) {
    if (!surface_ || !surface_->fits(form, segments.pairs())) {
        surface_.reset();
        in_table_.reset();
        surface_ = std::make_unique<MergeSurface>(device_, form, segments.pairs());
    }
    surface_->segmented = segments.all().size() > 1;
    return *surface_;
}

void MergeSort::upload_segments(pass::Uploader& uploader, const std::shared_ptr<const Segments>& segments) {
    if (!surface_->segmented || in_table_.lock() == segments) return;
    const auto& shape = surface_->shape;
    const auto width = static_cast<std::size_t>(shape.width());
    if (!surface_->segments)
        surface_->segments = gl::Texture(device_, gl::Format::Rg32ui, shape.width(), shape.half_height);
    struct Blocks {
        std::uint32_t begin, end;
    };
    const auto used_rows = static_cast<std::size_t>(pass::Banked::rows_for(segments->pairs(), shape.row_log2));
    std::vector<Blocks> table(used_rows * width);
    const auto& all = segments->all();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto end = i + 1 < all.size() ? all[i + 1].first_pair : segments->pairs();
        for (auto pair = all[i].first_pair; pair < end; ++pair) {
            table[shape.texel_of_pair(pair)] = {static_cast<std::uint32_t>(2 * all[i].first_pair),
                                                static_cast<std::uint32_t>(2 * end)};
        }
    }
    in_table_.reset();
    uploader.send(device_, surface_->segments, used_rows, workers_,
                  [&](std::size_t row, std::size_t rows, auto memory) {
                      std::memcpy(memory.data(), table.data() + row * width, rows * width * sizeof(Blocks));
                  });
    in_table_ = segments;
}

void MergeSort::upload(pass::Uploader& uploader, const KeyForm& form, Keys keys, const Segments& segments) {
    const auto& source = surface_->source.texture;
    const auto key_bytes = form.key_bytes();
    const auto row_keys = static_cast<std::size_t>(source.width()) * gl::info(source.format()).bytes / key_bytes;
    const auto* from = static_cast<const std::byte*>(keys.data());
    const auto padding = form.padding();
    const auto used_rows = surface_->source_rows(segments.pairs());
    uploader.send(device_, source, used_rows, workers_, [&](std::size_t row, std::size_t rows, auto memory) {
        const auto begin = row * row_keys;
        segments.for_each_piece(begin, rows * row_keys, [&](auto place, auto key, auto size, auto rest) {
            auto* to = memory.data() + (place - begin) * key_bytes;
            std::memcpy(to, from + key * key_bytes, size * key_bytes);
            fill(to + size * key_bytes, rest, key_bytes, padding);
        });
    });
}

void MergeSort::take(pass::BankedReadBack& readback, const MergeLane::Job& job) {
    const auto& form = job.form;
    const auto& segments = *job.segments;
    const auto key_bytes = form.key_bytes(), pair_keys = form.pair_keys();
    auto* out = static_cast<std::byte*>(job.to.keys.data());
    readback.take(workers_, [&](std::size_t pair, std::span<const std::byte> words) {
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
                job.to.index[key + i] =
                    static_cast<std::uint32_t>(was - segment.first_pair * pair_keys + segment.first_key);
            }
        });
    });
}

SortStats MergeSort::run(Keys keys, std::span<std::uint32_t> index, Order order, Segments segments) {
    begin(lane_, keys, {keys, index}, order, std::make_shared<const Segments>(std::move(segments)));
    return finish(lane_);
}

SortStats MergeSort::top(Keys keys, Keys best, std::span<std::uint32_t> index, Order order) {
    Segments all(KeyForm{keys.type(), order, !index.empty()}.pair_keys());
    all.add(0, keys.size());
    begin(lane_, keys, {best, index}, order, std::make_shared<const Segments>(std::move(all)));
    return finish(lane_);
}

SortStats MergeSort::merge(Keys keys, std::size_t run, Order order) {
    const auto pair_keys = KeyForm{keys.type(), order}.pair_keys();
    Segments all(pair_keys);
    all.add(0, keys.size());
    begin(lane_, keys, {keys}, order, std::make_shared<const Segments>(std::move(all)), run / pair_keys);
    return finish(lane_);
}

void MergeSort::begin(MergeLane& lane, Keys keys, const MergeTarget& to, Order order,
                      std::shared_ptr<const Segments> segments, std::size_t sorted_pairs) {
    lane.job_.reset();
    if (segments->pairs() == 0) return;
    const cpu::Stopwatch total;
    const KeyForm form{keys.type(), order, !to.index.empty()};
    SortStats stats{.n = keys.size(), .engine = Engine::Merge, .textures = 1};
    const auto passes_before = device_.passes;
    auto& on = surface(form, *segments);
    lane.begun_.note_time();
    upload_segments(lane.table_uploader_, segments);
    upload(lane.uploader_, form, keys, *segments);
    stats.upload_ms = total.ms();
    lane.uploaded_.note_time();
    const bool all = to.keys.size() == keys.size();
    passes_.sort(on, form, {segments->pairs(), segments->longest_pairs(), all ? 0 : to.keys.size(), sorted_pairs},
                 plan_);
    lane.sorted_.note_time();
    if (!all) {
        Segments wanted(form.pair_keys());
        wanted.add(0, to.keys.size());
        segments = std::make_shared<const Segments>(std::move(wanted));
    }
    lane.readback_.request(device_, on.keys.now.texture, on.shape, segments->pairs());
    lane.read_.note_time();
    gl::flush(device_);
    stats.passes = device_.passes - passes_before;
    lane.job_.emplace(MergeLane::Job{form, to, std::move(segments), stats, total});
}

void MergeSort::wait(MergeLane& lane) {
    if (lane.job_) lane.readback_.wait();
}

SortStats MergeSort::finish(MergeLane& lane) {
    const auto job = std::exchange(lane.job_, {});
    if (!job) return {.n = 0, .engine = Engine::Merge};
    device_.check("Sorter");  // before a key is overwritten
    take(lane.readback_, *job);
    auto stats = job->stats;
    stats.sort_ms = gl::ms_between(lane.uploaded_, lane.sorted_);
    stats.readback_ms = gl::ms_between(lane.sorted_, lane.read_);
    stats.total_ms = job->total.ms();
    return stats;
}

// The rows of `source` that are filled, and the places that are written.
const gl::QuadList& MergeSort::argsort_quads(const MergeSurface& on, std::size_t source_rows, int width,
                                             std::size_t count) {
    const std::array key{static_cast<std::size_t>(on.source.texture.width()), static_cast<std::size_t>(width), count};
    if (argsort_quads_ && argsort_quads_->first == key) return argsort_quads_->second;
    std::vector<gl::Quad> quads{gl::rectangle(0, 0, on.source.texture.width(), static_cast<int>(source_rows))};
    std::ranges::copy(pass::first_texels(width, count), std::back_inserter(quads));
    return argsort_quads_.emplace(key, gl::QuadList(device_, std::move(quads))).second;
}

KeyForm MergeSort::argsort_form(gl::Format format, Order order) {
    const auto type = format == gl::Format::R32f    ? KeyType::F32
                      : format == gl::Format::R32ui ? KeyType::U32
                                                    : KeyType::I32;
    return {type, order, true};
}

const MergeSurface& MergeSort::sort_drawn(const KeyForm& form, std::size_t count, const DrawKeys& draw_keys) {
    Segments segments(form.pair_keys());
    segments.add(0, count);
    auto& on = surface(form, segments);
    draw_keys(on, on.source_rows(segments.pairs()));
    passes_.sort(on, form, {segments.pairs(), segments.longest_pairs()}, plan_);
    return on;
}

// Draws the places of sorted keys, row after row.
void MergeSort::store_index(const MergeSurface& on, const KeyForm& form, const gl::Framebuffer& to, DrawnQuads drawn) {
    const auto words = "#define WORDS " + std::to_string(form.words()) + "\n";
    draw(device_, {.name = "index of keys",
                   .program = &programs_.get("sort/index_of_keys.frag", shaders::sort_index_of_keys_frag,
                                             words + shaders::sort_banked_glsl),
                   .inputs = {&on.keys.now.texture},
                   .uniforms = {{"row_log2", on.shape.row_log2},
                                {"half_height", on.shape.half_height},
                                {"target_width", to.width()}},
                   .target = &to,
                   .quads = &drawn.quads,
                   .first = drawn.first,
                   .count = drawn.quads.quads().size() - drawn.first});
}

SortStats MergeSort::argsort(Keys keys, std::span<std::uint32_t> index, Order order) {
    const cpu::Stopwatch total;
    const auto passes_before = device_.passes;
    const KeyForm form{keys.type(), order, true};
    Segments segments(form.pair_keys());
    segments.add(0, keys.size());
    auto& on = surface(form, segments);
    SortStats stats{.n = keys.size(), .engine = Engine::Merge, .textures = 1};
    upload(lane_.uploader_, form, keys, segments);
    stats.upload_ms = total.ms();
    lane_.uploaded_.note_time();
    passes_.sort(on, form, {segments.pairs(), segments.longest_pairs()}, plan_);
    const auto shape = pass::FourArray::of_blocks(0, keys.size());
    if (index_.width() != shape.width || index_.height() != shape.height) {
        index_ = {};
        index_ = gl::Texture(device_, gl::Format::R32ui, shape.width, shape.height);
    }
    const gl::Framebuffer target(device_, index_);
    const gl::QuadList quads(device_, pass::first_texels(shape.width, keys.size()));
    store_index(on, form, target, {quads, 0});
    lane_.sorted_.note_time();
    index_back_.request(device_, index_);
    lane_.read_.note_time();
    gl::flush(device_);
    device_.check("Sorter");  // before a place is overwritten
    index_back_.copy_to(std::as_writable_bytes(index), workers_);
    stats.sort_ms = gl::ms_between(lane_.uploaded_, lane_.sorted_);
    stats.readback_ms = gl::ms_between(lane_.sorted_, lane_.read_);
    stats.passes = device_.passes - passes_before;
    stats.total_ms = total.ms();
    return stats;
}

SortStats MergeSort::argsort(const gl::Texture& keys, const gl::Texture& index, std::size_t count, Order order,
                             IndexWrite write) {
    const cpu::Stopwatch total;
    const auto passes_before = device_.passes;
    const auto form = argsort_form(keys.format(), order);
    IndexTarget target(device_, index, write);
    copy_bits(device_, keys, raw_);
    const gl::QuadList* quads = nullptr;
    const auto& on = sort_drawn(form, count, [&](const MergeSurface& to, std::size_t rows) {
        quads = &argsort_quads(to, rows, index.width(), count);
        draw(device_, {.name = "keys of texture",
                       .program = &programs_.get("sort/keys_of_texture.frag", shaders::sort_keys_of_texture_frag),
                       .inputs = {&raw_},
                       .uniforms = {{"count", static_cast<int>(count)},
                                    {"source_width", keys.width()},
                                    {"target_width", to.source.texture.width()},
                                    {"padding", static_cast<unsigned>(form.padding())}},
                       .target = &to.source.framebuffer,
                       .quads = quads,
                       .first = 0,
                       .count = 1});
    });
    store_index(on, form, target.framebuffer(), {*quads, 1});
    target.finish();
    return {.n = count,
            .engine = Engine::Merge,
            .textures = 1,
            .passes = device_.passes - passes_before,
            .total_ms = total.ms()};
}

}  // namespace quadmill::detail::sort
