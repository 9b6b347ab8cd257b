#include "sketch/device_table.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <vector>

#include "gl/lanes.hpp"
#include "gl/pixels.hpp"
#include "sketch/choose.hpp"
#include "sketch/hash_prelude.hpp"
#include "sketch/reciprocal.hpp"
#include "sketch_shaders.hpp"

namespace quadmill::detail::sketch {

namespace {

constexpr int key_width = 2048;
constexpr std::size_t max_keys = std::size_t{1} << 22;     // per slice of a batch; slices are uploaded one by one
constexpr std::size_t max_places = std::size_t{1} << 27U;  // cells that are sorted together
constexpr int packed_pause = 15;                           // batches that are not packed after an overflow

// Counters of a texel in one render target, if a point is a bucket.
int texel_counters(SketchEngine form) {
    return form == SketchEngine::BlendPacked ? 8 : 4;
}

// Layers of the blended texture; 0: not an array.
int layers_of(const Shape& shape, SketchEngine form) {
    return form == SketchEngine::BlendCounters ? 0 : shape.bucket() / texel_counters(form);
}

std::size_t pending_texels(const Shape& shape, SketchEngine form) {
    return form == SketchEngine::BlendCounters ? shape.seen_cells() : shape.columns();
}

// Msws: 32 bytes per bucket. Others: four counters per texel.
std::size_t table_texels(const Shape& shape) {
    if (shape.kind() == SketchKind::Msws) return std::size_t{2} * shape.columns();
    return (shape.seen_cells() + 3) / 4;
}

// Some forms process the whole table for each slice, so large tables get larger slices.
std::size_t slice_of(const Shape& shape) {
    return std::max(std::bit_floor(shape.seen_cells() / 4), max_keys);
}

}  // namespace

std::optional<std::string> DeviceTable::refusal(const gl::Device& device, const Shape& shape, SketchEngine engine) {
    const auto kind = shape.kind();
    const bool by_points = engine == SketchEngine::BlendCounters;
    const bool buckets = engine == SketchEngine::BlendBuckets || engine == SketchEngine::BlendPacked;
    if (kind == SketchKind::Sf && engine != SketchEngine::Auto)
        return "the table of Sf is filled by the CPU; use Auto, which queries on the GPU, or Cpu";
    if (kind == SketchKind::Msws && engine != SketchEngine::Auto && !by_points)
        return "Msws is filled by BlendCounters or by the CPU; use Auto";
    if (buckets && shape.bucket() == 0) return "Thread has no buckets; use Sort or BlendCounters";
    const auto form = buckets ? engine : SketchEngine::BlendCounters;
    const bool sorts = engine == SketchEngine::Sort;
    const auto max = static_cast<std::size_t>(device.info.max_texture_size);
    auto texels = table_texels(shape);
    if (!sorts && kind != SketchKind::Sf) texels = std::max(texels, pending_texels(shape, form));
    const auto grid = Grid::of(texels);
    if (static_cast<std::size_t>(grid.width()) > max || static_cast<std::size_t>(grid.height) > max) {
        return std::to_string(shape.cells()) + " counters take a texture of " + std::to_string(grid.width()) + " x " +
               std::to_string(grid.height) + " texels, and the GPU has at most " + std::to_string(max) + " x " +
               std::to_string(max) + "; take a smaller width, or the CPU";
    }
    if (!sorts && !device.features.float_blending) return "the GPU does not blend 32-bit floats; use Sort or the CPU";
    if (buckets && layers_of(shape, form) > device.features.color_targets) {
        return "a bucket takes " + std::to_string(layers_of(shape, form)) + " render targets, and the GPU has " +
               std::to_string(device.features.color_targets) + "; use BlendCounters";
    }
    return {};
}

DeviceTable::DeviceTable(gl::Device& device, cpu::Workers& workers, const Shape& shape, KeyTexels texels)
    : device_(device),
      workers_(workers),
      shape_(shape),
      texels_(texels),
      hash_prelude_(hash_prelude(shape)),
      programs_(device),
      points_(device),
      positions_(device, gl::Format::Rgba32ui, static_cast<int>(Shape::masks), 1),
      grid_(Grid::of(table_texels(shape))),
      slice_keys_(slice_of(shape)),
      instead_of_packed_(refusal(device, shape, SketchEngine::Sort) ? SketchEngine::BlendCounters
                                                                    : SketchEngine::Sort) {
    const auto masks = shape_.mask_table();
    auto& uploader = lanes_[0].keys_uploader;
    send_words(device_, uploader, workers_, positions_, [&](std::size_t first, std::span<std::uint32_t> to) {
        std::ranges::fill(to, 0U);
        for (std::size_t i = 0; i < to.size() && !masks.empty(); ++i) {
            const auto* const four = &masks[(first + i) / 4].at(4 * ((first + i) % 4));
            for (unsigned b = 0; b < 4; ++b) to[i] |= std::uint32_t{four[b]} << (8 * b);
        }
    });
    if (shape_.bucket() > 0) send_masks();
    if (shape.kind() == SketchKind::Msws) {
        levels_.emplace(device, workers, shape);
        return;
    }
    table_ = pass::Target(device_, gl::Format::Rgba32ui, grid_.width(), grid_.height);
    gl::clear_texels(device_, table_.texture, 0, 0, grid_.width(), grid_.height, 0);
}

// A word holds several masks.
void DeviceTable::send_masks() {
    const auto bits = static_cast<std::size_t>(shape_.bucket()), a_word = 32 / bits;
    std::vector<std::uint32_t> words(Shape::masks / a_word);
    for (std::size_t i = 0; i < Shape::masks; ++i) {
        for (const auto position : std::span(shape_.mask_table()[i]).first(static_cast<std::size_t>(shape_.depth())))
            words[i / a_word] |= std::uint32_t{1} << (i % a_word * bits + position);
    }
    masks_ = gl::Texture(device_, gl::Format::R32ui, static_cast<int>(words.size()), 1);
    send_words(device_, lanes_[0].keys_uploader, workers_, masks_, std::span<const std::uint32_t>(words));
}

std::string DeviceTable::key_prelude(bool weighted) const {
    return std::string(texels_.floats ? "#define FLOATS\n" : "") + (weighted ? "#define WEIGHTED\n" : "") +
           shaders::sketch_keys_glsl;
}

gl::Uniforms DeviceTable::key_uniforms(const gl::Texture& keys, std::size_t first) const {
    const auto width = static_cast<std::uint32_t>(keys.width());
    const auto by = Reciprocal::of(width);
    return {{"key_width", width},
            {"key_reciprocal", by.factor},
            {"key_shifts", glm::ivec2(by.first, by.then)},
            {"first_key", static_cast<int>(first)}};
}

gl::Uniforms DeviceTable::table_uniforms() const {
    return {{"table_log2", grid_.width_log2}, {"table_texels", static_cast<int>(table_texels(shape_))}};
}

// ---- keys ------------------------------------------------------------------------------------------------------

// Number of keys, from `first` on, that can be blended before the next carry.
std::size_t DeviceTable::next_slice(const Batch& batch, std::size_t first) const {
    const auto max = std::min({batch.size - first, slice_keys_, static_cast<std::size_t>(exact)});
    if (batch.weights.empty()) return max;
    std::uint64_t weight = 0;
    for (std::size_t i = 0; i < max; ++i) {
        weight += batch.weight(first + i);
        if (weight > exact) return std::max<std::size_t>(i, 1);
    }
    return max;
}

KeyTextures DeviceTable::upload(const Batch& batch, std::size_t first, std::size_t count) {
    auto& lane = lanes_.at(lane_ = 1 - lane_);
    const auto rows = (count + key_width - 1) / key_width;
    const auto fit = [&](gl::Texture& texture, gl::Format format) {
        const auto wanted = static_cast<int>(std::bit_ceil(rows));
        if (texture && texture.height() >= wanted) return;
        texture = {};
        texture = gl::Texture(device_, format, key_width, wanted);
    };
    fit(lane.keys, texels_.format);
    const auto words = gl::info(texels_.format).bytes / 4;
    lane.keys_uploader.send(device_, lane.keys, rows, workers_, [&](std::size_t row, std::size_t some, auto memory) {
        auto* to = reinterpret_cast<std::uint32_t*>(memory.data());
        std::array<Key, 256> keys{};
        const auto end = std::min((row + some) * key_width, count);
        for (auto i = row * key_width; i < end; i += keys.size()) {
            const auto part = std::span(keys).first(std::min(keys.size(), end - i));
            batch.get(first + i, part);
            for (const auto& key : part) {
                *to++ = key.low;
                if (words == 2) *to++ = key.high;
            }
        }
    });
    KeyTextures sent{.keys = &lane.keys, .count = count, .weight = batch.weight(first, count)};
    if (batch.weights.empty()) return sent;
    fit(lane.weights, gl::Format::R32ui);
    lane.weights_uploader.send(
        device_, lane.weights, rows, workers_, [&](std::size_t row, std::size_t some, auto memory) {
            const auto end = std::min((row + some) * key_width, count);
            const auto from = batch.weights.subspan(first + row * key_width, end - row * key_width);
            std::memcpy(memory.data(), from.data(), from.size_bytes());
        });
    sent.weights = &lane.weights;
    return sent;
}

// ---- inserts ---------------------------------------------------------------------------------------------------

void DeviceTable::add(const Batch& batch, Sign sign, SketchEngine engine) {
    for (std::size_t first = 0; first < batch.size;) {
        const auto count = next_slice(batch, first);
        add_slice(upload(batch, first, count), sign, engine);
        gl::flush(device_);
        first += count;
    }
}

void DeviceTable::add(const gl::Texture& keys, std::size_t count, Sign sign, SketchEngine engine) {
    add_slices({.keys = &keys, .first = 0, .count = count, .weight = count}, sign, engine);
}

// Packed counters are checked, so any number of keys will do, and Sort does not use floats. Other forms are limited by
// what a float counts exactly.
void DeviceTable::add_slices(const KeyTextures& keys, Sign sign, SketchEngine engine) {
    const auto max = engine == SketchEngine::BlendPacked ? slice_keys_
                     : engine == SketchEngine::Sort
                         ? std::min(slice_keys_, max_places / static_cast<std::size_t>(shape_.depth()))
                         : std::min(slice_keys_, std::size_t{exact});
    for (std::size_t done = 0; done < keys.count; done += max) {
        auto slice = keys;
        slice.first += done;
        slice.weight = slice.count = std::min(max, keys.count - done);
        add_slice(slice, sign, engine);
    }
}

void DeviceTable::add_slice(const KeyTextures& keys, Sign sign, SketchEngine engine) {
    if (keys.weights) return blend(keys, sign, SketchEngine::BlendCounters);
    if (engine == SketchEngine::Sort) return sort(keys, sign);
    if (engine == SketchEngine::BlendPacked) return blend_packed(keys, sign);
    blend(keys, sign, engine);
}

DeviceTable::Pending& DeviceTable::make_pending(SketchEngine form) {
    pending_.reset();
    const bool halves = form == SketchEngine::Sort;
    const auto layers = halves ? 0 : layers_of(shape_, form);
    const auto grid = Grid::of(pending_texels(shape_, form));
    const auto format = halves ? gl::Format::Rgba32ui : layers == 0 ? gl::Format::R32f : gl::Format::Rgba32f;
    return pending_.emplace(Pending{form, grid, pass::Target(device_, format, grid.width(), grid.height, layers)});
}

DeviceTable::Pending& DeviceTable::cleared_pending(SketchEngine form) {
    if (pending_ && pending_->form == form) return *pending_;
    auto& made = make_pending(form);
    gl::fill(device_, made.target.texture, 0);
    return made;
}

void DeviceTable::blend(const KeyTextures& keys, Sign sign, SketchEngine form) {
    if (pending_ && (pending_->form != form || pending_->sign != sign || pending_->weight + keys.weight > exact))
        carry();
    auto& onto = cleared_pending(form);
    onto.sign = sign;
    draw_points(keys, onto);
    onto.weight += keys.weight;
}

// Up to 4,095 keys no counter can overflow. Larger batches are blended into a cleared texture, and go to the table only
// if a check proves that no counter has overflowed. Otherwise they are dropped and inserted in another form.
void DeviceTable::blend_packed(const KeyTextures& keys, Sign sign) {
    constexpr auto form = SketchEngine::BlendPacked;
    if (skip_packed_ > 0) {
        --skip_packed_;
        return add_slices(keys, sign, instead_of_packed_);
    }
    const auto fits = [&] {
        return !pending_ ||
               (pending_->form == form && pending_->sign == sign && pending_->weight + keys.weight <= packed_exact);
    };
    if (!fits()) carry();
    auto& onto = cleared_pending(form);
    onto.sign = sign;
    draw_points(keys, onto);
    onto.weight += keys.weight;
    if (onto.weight <= packed_exact) return;
    if (check(onto, keys.count * static_cast<std::uint64_t>(shape_.depth())) == Checked::Right) return;
    skip_packed_ = packed_pause;
    pending_.reset();
    add_slices(keys, sign, instead_of_packed_);
}

void DeviceTable::draw_points(const KeyTextures& keys, const Pending& onto) {
    auto uniforms = key_uniforms(*keys.keys, keys.first);
    const bool counters = onto.form == SketchEngine::BlendCounters;
    uniforms.set("target_log2", onto.grid.width_log2)
        .set("target_scale", 2.0F / glm::vec2(onto.target.texture.width(), onto.target.texture.height()));
    gl::Pass pass{.name = "insert points",
                  .inputs = {keys.keys, keys.weights, counters ? &positions_ : &masks_},
                  .uniforms = std::move(uniforms),
                  .target = &onto.target.framebuffer,
                  .blend = gl::Blend::Add,
                  .points = &points_,
                  .first = 0,
                  .count = keys.count};
    const auto vertex = hash_prelude_ + key_prelude(keys.weights) + shaders::sketch_points_glsl +
                        (counters ? shaders::sketch_counters_vert : shaders::sketch_bucket_vert);
    if (counters) {
        // The fragment shader ignores WEIGHTED; the macro only distinguishes the programs.
        pass.program = &programs_.get("sketch/counters", {vertex.c_str(), shaders::sketch_counters_frag},
                                      keys.weights ? "#define WEIGHTED\n" : "");
        pass.count *= static_cast<std::size_t>(shape_.depth());
    } else {
        pass.program = &programs_.get("sketch/bucket", {vertex.c_str(), shaders::sketch_bucket_frag},
                                      "#define TARGETS " + std::to_string(layers_of(shape_, onto.form)) + "\n" +
                                          (onto.form == SketchEngine::BlendPacked ? "#define PACKED\n" : ""));
    }
    draw(device_, pass);
}

// Waits for the GPU.
DeviceTable::Checked DeviceTable::check(const Pending& packed, std::uint64_t increments) {
    const gl::Texture* from = &packed.target.texture;
    std::size_t round = 0;
    for (bool later = false; !later || from->width() > 1 || from->height() > 1; later = true) {
        const int width = (from->width() + 15) / 16, height = (from->height() + 15) / 16;
        auto& next = sums_.at(round++);
        if (!next.is(gl::Format::Rg32ui, width, height))
            next = pass::Target(device_, gl::Format::Rg32ui, width, height);
        const auto prelude = later ? std::string("#define LATER\n")
                                   : "#define TARGETS " + std::to_string(layers_of(shape_, packed.form)) + "\n";
        draw(device_, {.name = "check packed",
                       .program = &programs_.get("sketch/check.frag", shaders::sketch_check_frag, prelude),
                       .inputs = {from},
                       .uniforms = {{"source_size", glm::ivec2(from->width(), from->height())}},
                       .target = &next.framebuffer,
                       .quads = &next.whole});
        from = &next.texture;
    }
    read_back_.request(device_, *from);
    std::array<std::uint32_t, 2> total{};
    std::memcpy(total.data(), read_back_.wait().data(), sizeof total);
    return total[0] == static_cast<std::uint32_t>(increments) && total[1] == 0 ? Checked::Right : Checked::RanOver;
}

void DeviceTable::renew(gl::Pass pass) {
    if (!next_.texture) next_ = pass::Target(device_, gl::Format::Rgba32ui, grid_.width(), grid_.height);
    pass.target = &next_.framebuffer;
    pass.quads = &next_.whole;
    draw(device_, pass);
    std::swap(table_, next_);
    is_empty_ = false;
}

void DeviceTable::carry() {
    if (is_carried()) return;
    if (levels_) {
        levels_->carry(pending_->target.texture, pending_->grid, pending_->sign);
    } else {
        carry_to_table();
    }
    if (pending_->form == SketchEngine::Sort) return pending_.reset();
    gl::fill(device_, pending_->target.texture, 0);
    pending_->weight = 0;
}

void DeviceTable::carry_to_table() {
    const auto form = pending_->form == SketchEngine::BlendCounters  ? 0
                      : pending_->form == SketchEngine::BlendBuckets ? 1
                      : pending_->form == SketchEngine::BlendPacked  ? 2
                                                                     : 3;
    auto uniforms = table_uniforms();
    uniforms.set("pending_log2", pending_->grid.width_log2).set("removes", pending_->sign == Sign::Minus ? 1 : 0);
    renew({.name = "carry",
           .program = &programs_.get("sketch/carry.frag", shaders::sketch_carry_frag,
                                     "#define FORM " + std::to_string(form) + "\n#define BUCKET " +
                                         std::to_string(shape_.bucket()) + "\n" +
                                         (form == 0 ? shaders::sketch_pending_glsl : "")),
           .inputs = {&table_.texture, &pending_->target.texture},
           .uniforms = std::move(uniforms)});
}

RunCounter& DeviceTable::runs() {
    if (!runs_) runs_.emplace(device_, workers_, shape_, hash_prelude_, masks_);
    return *runs_;
}

SketchEngine DeviceTable::quicker(SketchEngine than, std::size_t keys) const {
    const bool may = instead_of_packed_ == SketchEngine::Sort;
    return may && keys >= sorted_keys && gl::has_lanes_in_boxes(device_) ? SketchEngine::Sort : than;
}

void DeviceTable::sort(const KeyTextures& keys, Sign sign) {
    const bool onto_halves = pending_ && pending_->form == SketchEngine::Sort;
    if (!onto_halves) carry();
    runs().sort({.keys = *keys.keys,
                 .count = keys.count,
                 .key_prelude = key_prelude(false),
                 .key_uniforms = key_uniforms(*keys.keys, keys.first)});
    const bool onto_nothing = !onto_halves && is_empty_ && sign == Sign::Plus && shape_.bucket() == 8;
    if ((onto_halves || onto_nothing) && device_.features.exact_counts && sort_in_halves(onto_halves, keys, sign))
        return;
    carry();
    renew(runs().onto(table_.texture, grid_, static_cast<int>(table_texels(shape_)), sign));
}

// Adds to the counters in halves, or starts new ones. Returns whether all counters fit into 16 bits.
bool DeviceTable::sort_in_halves(bool there_are, const KeyTextures& keys, Sign sign) {
    auto& halves = there_are ? *pending_ : make_pending(SketchEngine::Sort);
    if (!there_are) {
        halves.weight = keys.weight;
        if (runs().count_halves(halves.target, halves.grid, nullptr, sign)) return true;
        pending_.reset();
        return false;
    }
    if (!halves.spare.texture)
        halves.spare = pass::Target(device_, gl::Format::Rgba32ui, halves.grid.width(), halves.grid.height);
    if (!runs().count_halves(halves.spare, halves.grid, &halves.target.texture, sign)) return false;
    halves.weight += keys.weight;
    std::swap(halves.target, halves.spare);
    return true;
}

// ---- whole tables ----------------------------------------------------------------------------------------------

void DeviceTable::add(DeviceTable& other) {
    carry();
    other.carry();
    renew({.name = "add tables",
           .program = &programs_.get("sketch/add_tables.frag", shaders::sketch_add_tables_frag),
           .inputs = {&table_.texture, &other.table_.texture}});
}

// Loads a table of Sf for queries only, with 16 bits per counter like Sort: a bucket is one texel. False if a counter
// does not fit.
bool DeviceTable::load_halves(const CpuTable& from) {
    if (!is_empty_) gl::clear_texels(device_, table_.texture, 0, 0, grid_.width(), grid_.height, 0);
    is_empty_ = true;
    auto& halves = make_pending(SketchEngine::Sort);
    halves.weight = 1;  // only says that it is not empty
    std::atomic<bool> fit = true;
    send_words(device_, lanes_[0].keys_uploader, workers_, halves.target.texture,
               [&](std::size_t first, std::span<std::uint32_t> to) {
                   std::ranges::fill(to, 0U);
                   std::array<std::uint32_t, 8> bucket{};
                   for (std::size_t word = 0; word < to.size(); word += 4) {
                       const auto cell = 2 * (first + word);
                       if (cell >= shape_.seen_cells()) return;
                       from.copy_seen(cell, bucket);
                       if (std::ranges::max(bucket) > 0xffffU) fit = false;
                       for (std::size_t c = 0; c < 4; ++c) to[word + c] = bucket.at(c) | bucket.at(c + 4) << 16U;
                   }
               });
    if (!fit) pending_.reset();
    return fit;
}

void DeviceTable::load(const CpuTable& from) {
    pending_.reset();
    if (levels_) return levels_->load(from.multi_level());
    if (shape_.kind() == SketchKind::Sf && load_halves(from)) return;
    is_empty_ = false;
    const auto all = shape_.seen_cells();
    send_words(device_, lanes_[0].keys_uploader, workers_, table_.texture,
               [&](std::size_t first, std::span<std::uint32_t> to) {
                   const auto count = first < all ? std::min(to.size(), all - first) : 0;
                   from.copy_seen(first, to.first(count));
                   std::ranges::fill(to.subspan(count), 0U);
               });
}

void DeviceTable::add_to(CpuTable& to) {
    carry();
    if (levels_) return levels_->add_to(to);
    read_back_.request(device_, table_.texture);
    const auto bytes = read_back_.wait();
    to.add_cells(0, {reinterpret_cast<const std::uint32_t*>(bytes.data()), shape_.seen_cells()});
}

// ---- queries ---------------------------------------------------------------------------------------------------

void DeviceTable::query(const gl::Texture& keys, std::size_t count, const gl::Framebuffer& estimates) {
    // If all counters are packed, a query reads only one texel per bucket.
    const bool alone = is_empty_ && pending_ && pending_->sign == Sign::Plus;
    const bool halves = alone && pending_->form == SketchEngine::Sort;
    const bool packed = halves || (alone && pending_->form == SketchEngine::BlendPacked);
    if (!packed) carry();
    const auto& table = packed ? pending_->target.texture : levels_ ? levels_->low() : table_.texture;
    if (asked_.width != estimates.width() || asked_.count != count)
        asked_ = {estimates.width(), count, {device_, pass::first_texels(estimates.width(), count)}};
    auto uniforms = key_uniforms(keys, 0);
    uniforms.set("table_log2", packed ? pending_->grid.width_log2 : grid_.width_log2);
    const bool levels = levels_.has_value(), same_places = keys.width() == estimates.width();
    if (levels) uniforms.set("high_log2", DeviceLevels::high_log2);
    if (!same_places) uniforms.set("estimates_width", estimates.width());
    const bool by_mask = packed || (shape_.bucket() == 8 && !levels);
    const auto& masks = by_mask ? masks_ : positions_;
    const auto prelude = hash_prelude_ + key_prelude(false) + (levels ? "#define LEVELS\n" : "") +
                         (halves   ? "#define HALVES\n"
                          : packed ? "#define PENDING\n"
                                   : "") +
                         (same_places ? "#define SAME_PLACES\n" : "");
    draw(device_, {.name = "estimates",
                   .program = &programs_.get("sketch/query.frag", shaders::sketch_query_frag, prelude),
                   .inputs = {&keys, nullptr, &masks, &table, levels ? &levels_->high() : nullptr},
                   .uniforms = std::move(uniforms),
                   .target = &estimates,
                   .quads = &asked_.quads});
}

void DeviceTable::query(const Batch& batch, std::span<SketchCount> counts) {
    for (std::size_t first = 0; first < batch.size; first += max_keys) {
        const auto count = std::min(batch.size - first, max_keys);
        const auto sent = upload(batch, first, count);
        const auto rows = static_cast<int>(std::bit_ceil((count + key_width - 1) / key_width));
        if (!estimates_.is(gl::Format::R32ui, key_width, rows)) {
            estimates_ = {};
            estimates_ = pass::Target(device_, gl::Format::R32ui, key_width, rows);
        }
        query(*sent.keys, count, estimates_.framebuffer);
        read_back_.request(device_, estimates_.texture);
        const auto bytes = read_back_.wait();
        const std::span found(reinterpret_cast<const std::uint32_t*>(bytes.data()), count);
        for (std::size_t i = 0; i < count; ++i) counts[first + i].estimate = found[i];
    }
}

std::size_t DeviceTable::bytes() const {
    return (table_.texture ? table_.texture.bytes() : 0) + (next_.texture ? next_.texture.bytes() : 0) +
           (levels_ ? levels_->bytes() : 0) + (pending_ ? pending_->target.texture.bytes() : 0);
}

}  // namespace quadmill::detail::sketch
