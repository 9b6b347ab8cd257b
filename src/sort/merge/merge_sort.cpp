#include "sort/merge/merge_sort.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>

#include "gl/device.hpp"
#include "gl/lanes.hpp"
#include "gl/pixels.hpp"
#include "pass/layout.hpp"
#include "quadmill/error.hpp"
#include "sort_shaders.hpp"

namespace quadmill::detail::sort {

namespace {

// Sets `count` keys to one value.
void fill(std::byte* to, std::size_t count, std::size_t key_bytes, std::uint64_t bits) {
    for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * key_bytes, &bits, key_bytes);  // little-endian
}

// Uploads keys to the first rows of the source. `for_each_piece` is that of Segments, `sent` that of the uploader.
template <class ForEachPiece>
void upload(gl::Device& device, cpu::Workers& workers, pass::Uploader& uploader, const gl::Texture& source,
            std::size_t used_rows, const KeyForm& form, Keys keys, const ForEachPiece& for_each_piece,
            const pass::Uploader::Sent& sent = {}) {
    const auto key_bytes = form.key_bytes();
    const auto row_keys = static_cast<std::size_t>(source.width()) * gl::info(source.format()).bytes / key_bytes;
    const auto* from = static_cast<const std::byte*>(keys.data());
    const auto padding = form.padding();
    const auto fill_rows = [&](std::size_t row, std::size_t rows, auto memory) {
        const auto begin = row * row_keys;
        for_each_piece(begin, rows * row_keys, [&](auto position, auto key, auto size, auto rest) {
            auto* to = memory.data() + (position - begin) * key_bytes;
            std::memcpy(to, from + key * key_bytes, size * key_bytes);
            fill(to + size * key_bytes, rest, key_bytes, padding);
        });
    };
    uploader.send(device, source, used_rows, workers, fill_rows, sent);
}

// Bytes of a key as it is read back: alone, or after its index.
std::size_t stored_bytes(const KeyForm& form) {
    return form.indexed ? static_cast<std::size_t>(form.words()) * 4 : form.key_bytes();
}

// Writes `number` keys as they were read back, beginning at key number `key`. Their indices count positions in the
// texture, which are `shift` above the caller's indices.
void put(const KeyForm& form, const MergeTarget& to, const std::byte* from, std::size_t key, std::size_t number,
         std::size_t shift) {
    auto* out = static_cast<std::byte*>(to.keys.data());
    if (!form.indexed) {
        std::memcpy(out + key * form.key_bytes(), from, number * form.key_bytes());
        return;
    }
    const auto stored = stored_bytes(form);
    const auto split = [&]<std::size_t bytes>(std::integral_constant<std::size_t, bytes> /*of a key*/) {
        for (std::size_t i = 0; i < number; ++i, from += stored) {
            std::uint32_t was = 0;
            std::memcpy(&was, from, sizeof was);
            std::memcpy(out + (key + i) * bytes, from + sizeof was, bytes);
            to.index[key + i] = was - static_cast<std::uint32_t>(shift);
        }
    };
    switch (form.key_bytes()) {
        case 2:
            return split(std::integral_constant<std::size_t, 2>{});
        case 4:
            return split(std::integral_constant<std::size_t, 4>{});
        default:
            return split(std::integral_constant<std::size_t, 8>{});
    }
}

std::string words_prelude(const KeyForm& form) {
    return "#undef WORDS\n#define WORDS " + std::to_string(form.words()) + "\n" + shaders::sort_block_glsl;
}

}  // namespace

MergeSlot::MergeSlot(gl::Device& device, Parts parts)
    : in_parts_(parts == Parts::Yes),
      begun_(device, gl::Query::Kind::Timestamp),
      uploaded_(device, gl::Query::Kind::Timestamp),
      sorted_(device, gl::Query::Kind::Timestamp),
      read_(device, gl::Query::Kind::Timestamp) {}

MergeSort::MergeSort(gl::Device& device, cpu::Workers& workers, std::size_t gpu_memory)
    : device_(device),
      workers_(workers),
      gpu_memory_(gpu_memory),
      passes_(device),
      subgroup_passes_(device),
      plan_(device.info.software),
      slot_(device, MergeSlot::Parts::Yes),
      programs_(device),
      quads_(device) {}

MergeTextures& MergeSort::textures(const KeyForm& form, const Segments& segments) {
    if (!textures_ || !textures_->fits(form, segments.pairs())) {
        textures_.reset();
        in_table_.reset();
        if (tiles_ && is_crowded(MergeTextures::bytes(form, segments.pairs()))) tiles_.reset();
        textures_ = std::make_unique<MergeTextures>(device_, form, segments.pairs());
    }
    textures_->segmented = segments.all().size() > 1;
    return *textures_;
}

void MergeSort::upload_segments(pass::Uploader& uploader, const std::shared_ptr<const Segments>& segments) {
    if (!textures_->segmented || in_table_.lock() == segments) return;
    const auto& shape = textures_->shape;
    const auto width = static_cast<std::size_t>(shape.width());
    if (!textures_->segments)
        textures_->segments = gl::Texture(device_, gl::Format::Rg32ui, shape.width(), shape.half_height);
    struct Blocks {
        std::uint32_t begin, end;
    };
    const auto blocks = textures_->blocks_per_32_words();
    const auto used_rows = static_cast<std::size_t>(pass::Banked::rows_for(segments->pairs() * blocks, shape.row_log2));
    std::vector<Blocks> table(used_rows * width);
    const auto& all = segments->all();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto end = i + 1 < all.size() ? all[i + 1].first_pair : segments->pairs();
        for (auto pair = all[i].first_pair * blocks; pair < end * blocks; ++pair) {
            table[shape.texel_of_pair(pair)] = {static_cast<std::uint32_t>(2 * blocks * all[i].first_pair),
                                                static_cast<std::uint32_t>(2 * blocks * end)};
        }
    }
    in_table_.reset();
    uploader.send(device_, textures_->segments, used_rows, workers_,
                  [&](std::size_t row, std::size_t rows, auto memory) {
                      std::memcpy(memory.data(), table.data() + row * width, rows * width * sizeof(Blocks));
                  });
    in_table_ = segments;
}

void MergeSort::take(pass::BankedReadBack& readback, const MergeSlot::Job& job) {
    const auto& segments = *job.segments;
    const auto pair_keys = job.form.pair_keys(), stored = stored_bytes(job.form);
    readback.take(workers_, [&](std::size_t first, std::span<const std::byte> words) {
        const auto begin = first / static_cast<std::size_t>(job.form.words());
        segments.for_each_piece(begin, words.size() / stored,
                                [&](auto position, auto key, auto size, auto /*padding*/) {
                                    // A key comes from another position in the same segment.
                                    const auto& segment = *segments.of_pair(position / pair_keys);
                                    put(job.form, job.to, words.data() + (position - begin) * stored, key, size,
                                        segment.first_pair * pair_keys - segment.first_key);
                                });
    });
}

void MergeSort::take(TileReadBack& readback, const MergeSlot::Job& job) {
    const auto& segments = job.in_tiles->segments;
    const auto& content = job.in_tiles->content;
    const auto positions = job.in_tiles->positions;
    const auto tile = tile_keys(job.form), stored = stored_bytes(job.form), wanted = job.to.keys.size();
    // Writes `number` keys of a segment, after skipping the first `skipped`.
    const auto put_part = [&](std::size_t segment, std::size_t skipped, std::size_t number, const std::byte* from) {
        const auto size = segment < segments.count ? segments.size_of(segment) : 0;
        const auto key = segment * segments.size + skipped;
        if (skipped >= size || key >= wanted) return;
        put(job.form, job.to, from, key, std::min({number, size - skipped, wanted - key}),
            segment * (positions - segments.size));
    };
    readback.take(workers_, [&](std::size_t number, std::span<const std::byte> words) {
        const auto keys = words.size() / stored;
        if (positions > tile)
            return put_part(number / content.tiles, number % content.tiles * keys, keys, words.data());
        for (std::size_t begin = 0; begin < tile; begin += positions)
            put_part((number * tile + begin) / positions, 0, positions, words.data() + begin * stored);
    });
}

SortStats MergeSort::run(Keys keys, std::span<std::uint32_t> index, Order order, Segments segments) {
    begin(slot_, keys, {keys, index}, order, std::make_shared<const Segments>(std::move(segments)));
    return finish(slot_);
}

SortStats MergeSort::top(Keys keys, Keys best, std::span<std::uint32_t> index, Order order) {
    Segments all(KeyForm{keys.type(), order, !index.empty()}.pair_keys());
    all.add(0, keys.size());
    begin(slot_, keys, {best, index}, order, std::make_shared<const Segments>(std::move(all)));
    return finish(slot_);
}

SortStats MergeSort::merge(Keys keys, std::size_t run, Order order) {
    const auto pair_keys = KeyForm{keys.type(), order}.pair_keys();
    Segments all(pair_keys);
    all.add(0, keys.size());
    begin(slot_, keys, {keys}, order, std::make_shared<const Segments>(std::move(all)), run / pair_keys);
    return finish(slot_);
}

bool MergeSort::uses_subgroups(const KeyForm& form, const Segments& segments, std::size_t sorted_pairs) {
    if (plan_.kernel == MergeKernel::Fragment) return false;
    const bool has_lanes = gl::has_lanes_in_boxes(device_);
    if (plan_.kernel == MergeKernel::Subgroup && !has_lanes) {
        throw InvalidArgument(
            "Sorter: the subgroup kernel needs GL_KHR_shader_subgroup and boxes of 4 x 8 fragments, which this driver "
            "does not have; use the auto kernel");
    }
    if (!has_lanes || !SubgroupPasses::can(form) || sorted_pairs != 1) return false;
    const auto equal = segments.equal();
    return equal && (plan_.kernel == MergeKernel::Subgroup || has_space_for_tiles(form, max_tiles(form, *equal)));
}

// Tiles may take twice the bytes of the textures for fragments if segments are a little longer than a tile.
bool MergeSort::has_space_for_tiles(const KeyForm& form, std::size_t tiles) const {
    if (tiles_ && tiles_->fits(form, tiles)) return true;
    const auto wanted = TileTextures::bytes(form, tiles);
    if (gpu_memory_ > 0) return wanted <= gpu_memory_;
    if (wanted < gl::worth_asking) return true;
    const auto free = gl::free_bytes(device_);
    return !free || wanted <= *free + texture_bytes();
}

bool MergeSort::is_crowded(std::size_t wanted) const {
    if (gpu_memory_ > 0) return texture_bytes() + copy_bytes() + wanted > gpu_memory_;
    if (wanted < gl::worth_asking) return false;
    const auto free = gl::free_bytes(device_);
    return free && wanted > *free;
}

TileTextures& MergeSort::tiles(const KeyForm& form, std::size_t tiles) {
    if (!tiles_ || !tiles_->fits(form, tiles)) {
        tiles_.reset();
        if (textures_ && is_crowded(TileTextures::bytes(form, tiles))) {
            textures_.reset();
            in_table_.reset();
        }
        tiles_ = std::make_unique<TileTextures>(device_, form, tiles);
    }
    return *tiles_;
}

void MergeSort::begin(MergeSlot& slot, Keys keys, const MergeTarget& to, Order order,
                      std::shared_ptr<const Segments> segments, std::size_t sorted_pairs) {
    slot.job_.reset();
    slot.readback_.drop();
    slot.tile_readback_.drop();
    if (segments->pairs() == 0) return;
    const KeyForm form{keys.type(), order, !to.index.empty()};
    const bool together = uses_subgroups(form, *segments, sorted_pairs);
    const auto passes_before = device_.passes;
    MergeSlot::Job job{.form = form,
                       .to = to,
                       .segments = std::move(segments),
                       .stats = {.n = keys.size(), .engine = Engine::Merge, .textures = 1}};
    if (together) {
        begin_subgroups(slot, keys, std::move(job));
    } else {
        begin_fragments(slot, keys, std::move(job), sorted_pairs);
    }
    slot.read_.take_time();
    gl::flush(device_);
    slot.job_->stats.passes = device_.passes - passes_before;
}

void MergeSort::begin_fragments(MergeSlot& slot, Keys keys, MergeSlot::Job job, std::size_t sorted_pairs) {
    auto& segments = job.segments;
    auto& on = textures(job.form, *segments);
    slot.begun_.take_time();
    upload_segments(slot.table_uploader_, segments);
    upload(device_, workers_, slot.uploader_, on.source.texture, on.source_rows(segments->pairs()), job.form, keys,
           [&](auto first, auto count, auto&& f) { segments->for_each_piece(first, count, f); });
    job.stats.upload_ms = job.total.ms();
    slot.uploaded_.take_time();
    const auto best = job.to.keys.size();
    const bool all = best == keys.size();
    passes_.sort(on, job.form, {segments->pairs(), segments->longest_pairs(), all ? 0 : best, sorted_pairs}, plan_);
    slot.sorted_.take_time();
    if (!all) {
        Segments wanted(job.form.pair_keys());
        wanted.add(0, best);
        segments = std::make_shared<const Segments>(std::move(wanted));
    }
    if (job.to.step > 0) {
        request_sample(slot, job, sorted_keys(on, job.form), segments->longest_pairs() * job.form.pair_keys());
    } else {
        slot.readback_.request(device_, on.keys.now.texture, on.shape, segments->pairs() * on.blocks_per_32_words());
    }
    slot.job_.emplace(std::move(job));
}

void MergeSort::begin_subgroups(MergeSlot& slot, Keys keys, MergeSlot::Job job) {
    const auto segments = *job.segments->equal();
    const auto positions = segment_places(job.form, segments.size), tile = tile_keys(job.form);
    auto& on = tiles(job.form, max_tiles(job.form, segments));
    const auto used = tiles_of(job.form, segments);
    const int rows = on.shape.rows_for(used);
    int drawn = 0;
    const auto sort_up_to = [&](int end) {
        if (drawn == 0) slot.uploaded_.take_time();
        if (end > drawn) subgroup_passes_.sort_rows(on, job.form, segments, std::exchange(drawn, end), end);
    };
    slot.begun_.take_time();
    pass::Uploader::Sent sent;
    if (slot.in_parts_) sent = [&](std::size_t end) { sort_up_to(std::min(on.rows_from(end), rows)); };
    upload(
        device_, workers_, slot.uploader_, on.source.texture, on.source_rows(used), job.form, keys,
        [&](auto first, auto count, auto&& f) { segments.for_each_piece(positions, first, count, f); }, sent);
    job.stats.upload_ms = job.total.ms();
    sort_up_to(rows);
    const auto best = job.to.keys.size();
    const auto sorted = subgroup_passes_.merge(on, job.form, segments, best == keys.size() ? 0 : best);
    DrawTiles last = [&](int first, int end) {
        if (sorted.last) sorted.last(first, end);
        slot.sorted_.take_time();
    };
    if (!slot.in_parts_ || job.to.step > 0) std::exchange(last, {})(0, on.shape.rows_for(sorted.tiles));
    if (const auto& content = sorted.content; job.to.step > 0) {
        const auto next = positions > tile ? content.tiles * content.step * tile / Tiles::granules : positions;
        request_sample(slot, job, sorted_keys(on, job.form, content), next);
    } else {
        slot.tile_readback_.request(device_, on.keys.now.texture, on.shape, content, sorted.tiles, last);
    }
    job.in_tiles.emplace(MergeSlot::Job::InTiles{segments, positions, sorted.content});
    slot.job_.emplace(std::move(job));
}

void MergeSort::wait(MergeSlot& slot) {
    if (!slot.job_) return;
    if (slot.job_->sample) {
        static_cast<void>(slot.sample_readback_.wait());
    } else if (slot.job_->in_tiles) {
        slot.tile_readback_.wait();
    } else {
        slot.readback_.wait();
    }
}

bool MergeSort::is_ready(MergeSlot& slot) {
    if (!slot.job_) return true;
    if (slot.job_->sample) return slot.sample_readback_.ready();
    return slot.job_->in_tiles ? slot.tile_readback_.ready() : slot.readback_.ready();
}

SortStats MergeSort::finish(MergeSlot& slot) {
    const auto job = std::exchange(slot.job_, {});
    if (!job) return {.n = 0, .engine = Engine::Merge};
    auto stats = job->stats;
    const auto take_times = [&] {
        stats.sort_ms = gl::ms_between(slot.uploaded_, slot.sorted_);
        stats.readback_ms = slot.readback_ms();
    };
    // Nothing may fail once a key is overwritten. A sample overwrites keys that it does not contain.
    if (job->sample) {
        const auto sample = slot.sample_readback_.wait();
        take_times();
        device_.check("Sorter");
        std::memcpy(job->to.keys.data(), sample.data(), job->sample->size() * job->form.key_bytes());
    } else {
        device_.check("Sorter");
        if (job->in_tiles) {
            take(slot.tile_readback_, *job);
        } else {
            take(slot.readback_, *job);
        }
        take_times();
    }
    stats.total_ms = job->total.ms();
    return stats;
}

MergeSort::SortedKeys MergeSort::sorted_keys(const MergeTextures& on, const KeyForm& form) {
    return {
        &on.keys.now.texture,
        "#define LAYERS " + std::to_string(on.shape.layers) + "\n" + words_prelude(form) + shaders::sort_banked_glsl,
        {{"row_log2", on.shape.row_log2}, {"half_height", on.shape.half_height}}};
}

MergeSort::SortedKeys MergeSort::sorted_keys(const TileTextures& on, const KeyForm& form, const TileContent& content) {
    return {&on.keys.now.texture,
            tiles_prelude(content) + words_prelude(form) + shaders::sort_tiles_glsl,
            {{"row_log2", on.shape.row_log2}}};
}

void MergeSort::draw_sample(const SortedKeys& sorted, const SegmentSample& sample, const KeyForm& form,
                            pass::Target& to) {
    const auto format = form.key_bytes() == 2   ? gl::Format::R16ui
                        : form.key_bytes() == 4 ? gl::Format::R32ui
                                                : gl::Format::Rg32ui;
    const auto shape = pass::FourArray::of_blocks(0, sample.size());
    if (!to.is(format, shape.width, shape.height)) to = pass::Target(device_, format, shape.width, shape.height);
    fill(device_, "sample", programs_.get("sort/sample.frag", shaders::sort_sample_frag, sorted.prelude), to,
         {sorted.keys},
         gl::Uniforms(sorted.uniforms)
             .set("segments", static_cast<int>(sample.segments))
             .set("places", static_cast<int>(sample.positions))
             .set("each", static_cast<int>(sample.each()))
             .set("stride", static_cast<int>(sample.step))
             .set("last", static_cast<int>(sample.last))
             .set("target_width", shape.width));
}

void MergeSort::request_sample(MergeSlot& slot, MergeSlot::Job& job, const SortedKeys& sorted, std::size_t positions) {
    const auto all = *job.segments->equal();
    job.sample = {all.count, positions, job.to.step, all.size - 1};
    draw_sample(sorted, *job.sample, job.form, slot.sample_);
    slot.sample_readback_.request(device_, slot.sample_.texture);
}

MergeSort::SortedKeys MergeSort::sort_drawn(const KeyForm& form, std::size_t count, const DrawKeys& draw_keys) {
    Segments segments(form.pair_keys());
    segments.add(0, count);
    if (!uses_subgroups(form, segments, 1)) {
        auto& on = textures(form, segments);
        draw_keys(on.source, on.source_rows(segments.pairs()));
        passes_.sort(on, form, {segments.pairs(), segments.longest_pairs()}, plan_);
        return sorted_keys(on, form);
    }
    const auto all = *segments.equal();
    auto& on = tiles(form, max_tiles(form, all));
    draw_keys(on.source, on.source_rows((count + tile_keys(form) - 1) / tile_keys(form)));
    const auto content = subgroup_passes_.sort(on, form, all).content;
    return sorted_keys(on, form, content);
}

void MergeSort::store_index(const SortedKeys& sorted, const gl::Framebuffer& to, std::size_t count) {
    draw(device_,
         {.name = "index of keys",
          .program = &programs_.get("sort/index_of_keys.frag", shaders::sort_index_of_keys_frag, sorted.prelude),
          .inputs = {sorted.keys},
          .uniforms = gl::Uniforms(sorted.uniforms).set("target_width", to.width()),
          .target = &to,
          .quads = &quads_.first_texels(to.width(), count)});
}

const gl::Texture& MergeSort::index_of(const SortedKeys& sorted, std::size_t count) {
    const auto shape = pass::FourArray::of_blocks(0, count);
    if (!index_.is(gl::Format::R32ui, shape.width, shape.height)) {
        index_ = {};  // first, as both may not fit
        index_ = pass::Target(device_, gl::Format::R32ui, shape.width, shape.height);
    }
    store_index(sorted, index_.framebuffer, count);
    return index_.texture;
}

SortStats MergeSort::argsort(Keys keys, std::span<std::uint32_t> index, Order order) {
    const cpu::Stopwatch total;
    const auto passes_before = device_.passes;
    begin_argsort(keys, order);
    SortStats stats{.n = keys.size(), .engine = Engine::Merge, .textures = 1};
    stats.upload_ms = uploaded_ms_;
    finish_argsort(index);
    stats.sort_ms = gl::ms_between(slot_.uploaded_, slot_.sorted_);
    stats.readback_ms = gl::ms_between(slot_.sorted_, slot_.read_);
    stats.passes = device_.passes - passes_before;
    stats.total_ms = total.ms();
    return stats;
}

void MergeSort::begin_argsort(Keys keys, Order order) {
    const KeyForm form{keys.type(), order, true};
    const cpu::Stopwatch upload_time;
    const auto sorted = sort_drawn(form, keys.size(), [&](const pass::Target& to, std::size_t rows) {
        const EqualSegments all{1, keys.size(), keys.size()};
        upload(device_, workers_, slot_.uploader_, to.texture, rows, form, keys, [&](auto first, auto count, auto&& f) {
            all.for_each_piece(std::numeric_limits<std::size_t>::max() / 2, first, count, f);
        });
        uploaded_ms_ = upload_time.ms();
        slot_.uploaded_.take_time();
    });
    const auto& positions = index_of(sorted, keys.size());
    slot_.sorted_.take_time();
    index_back_.request(device_, positions);
    slot_.read_.take_time();
    gl::flush(device_);
}

void MergeSort::finish_argsort(std::span<std::uint32_t> index) {
    device_.check("Sorter");  // before an index is overwritten
    index_back_.copy_to(std::as_writable_bytes(index), workers_);
}

}  // namespace quadmill::detail::sort
