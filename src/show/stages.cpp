#include "show/stages.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "cpu/keys.hpp"
#include "cpu/stopwatch.hpp"
#include "gl/device.hpp"
#include "gl/observing.hpp"
#include "gl/pass.hpp"
#include "gl/pixels.hpp"
#include "pass/banked.hpp"
#include "pass/layout.hpp"
#include "pass/target.hpp"
#include "pass/transfer.hpp"
#include "quadmill/error.hpp"
#include "show_shaders.hpp"
#include "sort/note.hpp"

namespace quadmill::detail::show {

namespace {

using sort::SortNote;

constexpr std::size_t merge_run = 64;  // keys per initial run: a pair of blocks
constexpr float infinity = std::numeric_limits<float>::infinity();

Representation representation_of(Watched engine) {
    return engine == Watched::BitonicFour ? Representation::FourArray : Representation::SingleArray;
}

SortOptions options_of(const Request& request) {
    SortOptions options{.paper = {.pbsn = {.early_stop = request.early_stop}}};
    options.engine = request.engine == Watched::Pbsn    ? Engine::Pbsn
                     : request.engine == Watched::Merge ? Engine::Merge
                                                        : Engine::Bitonic;
    options.paper.pbsn.max_run = options.paper.pbsn.max_texels;  // the paper's own form: one run per channel
    options.merge.kernel = MergeKernel::Fragment;
    options.paper.bitonic = {.representation = representation_of(request.engine), .block = 0, .steps_per_pass = 1};
    return options;
}

// Texels of a pass's target as floats.
template <class Key>
std::vector<float> floats_of(const std::vector<std::byte>& texels, SortNote::Texels form) {
    const bool decode = form == SortNote::Texels::Numbers;
    using Bits = typename cpu::KeyBits<Key>::Bits;
    const cpu::TotalOrder<Key> rule(Order::Ascending);
    std::vector<float> keys(texels.size() / sizeof(Bits));
    for (std::size_t i = 0; i < keys.size(); ++i) {
        Bits bits{};
        std::memcpy(&bits, texels.data() + i * sizeof bits, sizeof bits);
        const auto key = cpu::KeyBits<Key>::value(decode ? rule.decode(bits) : bits);
        if constexpr (std::is_same_v<Key, Half>) {
            keys[i] = key.value();
        } else {
            keys[i] = key;
        }
        if (std::isnan(keys[i])) keys[i] = infinity;  // padding
    }
    return keys;
}

// The layers of an array texture next to each other, without rows beyond the picture's height.
std::vector<float> side_by_side(const std::vector<float>& texels, const Stages& stages) {
    const auto layers = static_cast<std::size_t>(stages.layers), height = static_cast<std::size_t>(stages.height);
    const auto row = 4 * static_cast<std::size_t>(stages.width) / layers, layer = texels.size() / layers;
    std::vector<float> keys(row * layers * height);
    for (std::size_t l = 0; l < layers; ++l) {
        for (std::size_t y = 0; y < height; ++y)
            std::copy_n(texels.data() + l * layer + y * row, row, keys.data() + (y * layers + l) * row);
    }
    return keys;
}

// The positions of the elements of all arrays.
std::vector<Place> order_of(const Stages& stages) {
    std::vector<Place> order(4 * stages.texels());
    const auto texels = static_cast<Place>(stages.texels());
    if (stages.request.engine == Watched::BitonicSingle) {
        std::iota(order.begin(), order.end(), 0U);
    } else if (stages.request.engine != Watched::Merge) {  // channel after channel
        for (Place i = 0; i < order.size(); ++i) order[i] = 4 * (i % texels) + i / texels;
    } else {
        const auto across = static_cast<std::size_t>(stages.width / stages.layers);
        const auto half = stages.texels() / 2;  // odd blocks are in the upper half
        const pass::Banked shape{pass::log2_ceil(across), stages.height / 2};
        auto* next = order.data();
        order.resize(std::max(stages.request.n, merge_run));
        for (std::size_t block = 0; block < 2 * order.size() / merge_run; ++block) {
            const auto texel = shape.texel_of_pair(block / 2);
            const auto row = texel / across * static_cast<std::size_t>(stages.width);
            for (std::size_t layer = 0; layer < pass::Banked::max_layers; ++layer) {
                const auto at = block % 2 * half + row + layer * across + texel % across;
                for (std::size_t c = 0; c < 4; ++c) *next++ = static_cast<Place>(4 * at + c);
            }
        }
    }
    return order;
}

// Calls `each` for every texel of the quad, with the texel that it meets. Bitonic quads are moved right by whole
// widths, which tells their program what to keep (sort::BitonicQuads).
template <class Each>
void for_texels(const PassQuad& quad, int width, Each&& each) {
    const auto& [target, source] = quad;
    const auto wide = static_cast<float>(width), moved = std::floor(std::min(source.x0, source.x1) / wide) * wide;
    const float step_x = (source.x1 - source.x0) / (target.x1 - target.x0);
    const float step_y = (source.y1 - source.y0) / (target.y1 - target.y0);
    const auto position = [&](float x, float y) {
        return static_cast<Place>(static_cast<int>(y) * width + static_cast<int>(x));
    };
    for (float y = target.y0 + 0.5F; y < target.y1; ++y) {
        for (float x = target.x0 + 0.5F; x < target.x1; ++x) {
            each(position(x, y),
                 position(source.x0 - moved + (x - target.x0) * step_x, source.y0 + (y - target.y0) * step_y));
        }
    }
}

void add_pbsn(Step& step, int width) {
    for (const auto& [quad, keep] : step.quads) {
        if (keep != Keep::Min) continue;
        for_texels(quad, width, [&](Place texel, Place partner) {
            for (Place c = 0; c < 4; ++c) step.comparators.push_back({4 * texel + c, 4 * partner + c});
        });
    }
}

void add_bitonic(Step& step, const sort::BitonicPass& pass, int width) {
    const auto compare = [&](Place texel, Place a, Place b) {
        const bool turned = (pass.turn >= 0 && (texel >> static_cast<unsigned>(pass.turn) & 1U) != 0) !=
                            ((static_cast<int>(a % 4) & pass.turn_channel) != 0);
        step.comparators.push_back(turned ? Comparator{b, a} : Comparator{a, b});
    };
    const auto in_texel = [&](Place texel, Place a, Place b) { compare(texel, 4 * texel + a, 4 * texel + b); };
    for (const auto& [quad, keep] : step.quads) {
        for_texels(quad, width, [&](Place texel, Place partner) {
            for (Place c = 0; pass.steps > 0 && texel < partner && c < 4; ++c)
                compare(texel, 4 * texel + c, 4 * partner + c);
            if (pass.pairs) {
                step.comparators.push_back({4 * texel, 4 * texel + 1});
                step.comparators.push_back({4 * texel + 3, 4 * texel + 2});
            }
            if (pass.fours) {
                for (const auto& [a, b] : {std::array<Place, 2>{0, 2}, {1, 3}, {0, 1}, {2, 3}}) in_texel(texel, a, b);
            }
        });
    }
}

// Keys that are sorted without an index keep their width.
std::vector<float> floats_of(const std::vector<std::byte>& texels, KeyType type, SortNote::Texels form) {
    return type == KeyType::F16 ? floats_of<Half>(texels, form) : floats_of<float>(texels, form);
}

class StageWatcher : public PassObserver {
  public:
    StageWatcher(Context& context, Stages& stages) : device_(*detail::Access::of(context)), stages_(stages) {}

    void before(const PassEvent& /*pass*/) override {
        gl::finish(device_);
        time_ = {};
    }

    void after(const PassEvent& pass) override {
        gl::finish(device_);
        next_.ms[std::string(pass.name)] += time_.ms();
        ++stages_.passes;
        if (const auto* note = gl::note_of<SortNote>(pass)) take(pass, *note);
    }

  private:
    void take(const PassEvent& pass, const SortNote& note) {
        if (note.act != SortNote::Act::Place) take_quads(pass, keep_of(note.act));
        if (note.step == SortNote::Step::Ends) keep(pass, note);
    }

    static Keep keep_of(SortNote::Act act) {
        return act == SortNote::Act::KeepLower ? Keep::Min : act == SortNote::Act::KeepUpper ? Keep::Max : Keep::None;
    }

    void take_quads(const PassEvent& pass, Keep kept) {
        for (const auto& quad : pass.rectangles) next_.quads.push_back({quad, kept});
    }

    void keep(const PassEvent& pass, const SortNote& note) {
        if (stages_.format.empty()) set_shape(pass);
        auto step = std::move(next_);
        next_ = {};
        step.stage = std::max(pass.stage, 0);
        step.step = std::max(pass.step, 0);
        step.keys = floats_of(gl::read_target(device_, pass), stages_.request.type, note.texels);
        if (stages_.layers > 1) step.keys = side_by_side(step.keys, stages_);
        step.passes = stages_.passes;
        if (stages_.request.engine == Watched::Pbsn) add_pbsn(step, stages_.width);
        if (note.made) add_bitonic(step, *note.made, stages_.width);
        stages_.steps.push_back(std::move(step));
    }

    void set_shape(const PassEvent& pass) {
        stages_.format = pass.format;
        stages_.layers = pass.targets;
        stages_.width = pass.width * pass.targets;
        stages_.height = stages_.request.engine == Watched::Merge ? pass.height - 1 : pass.height;
    }

    gl::Device& device_;
    Stages& stages_;
    cpu::Stopwatch time_;
    Step next_;
};

// Counts, with an occlusion query, the keys that are larger than the next key of their array.
class OutOfOrder {
  public:
    // Pre: a session is open.
    OutOfOrder(gl::Device& device, const Stages& stages)
        : device_(device),
          stages_(stages),
          program_(device, "show/out_of_order.frag", shaders::show_out_of_order_frag),
          keys_(device, gl::Format::R32f, width, height_of(stages)),
          kept_(device, gl::Format::R32f, width, height_of(stages)),
          count_(device, gl::Query::Kind::Samples) {
        if (device.features.exact_counts) return;
        throw ContextError(
            "show counts keys by occlusion queries, and those of OpenGL ES do not count; use desktop OpenGL");
    }

    [[nodiscard]] std::uint64_t operator()(const Step& step) {
        std::vector<float> keys(static_cast<std::size_t>(width * keys_.height()));
        for (std::size_t i = 0; i < stages_.order.size(); ++i) keys[i] = step.keys[stages_.order[i]];
        uploader_.send(device_, keys_, workers_, [&](std::size_t first, std::size_t, std::span<std::byte> memory) {
            std::memcpy(memory.data(), keys.data() + first * width, memory.size());
        });
        draw(device_, {.name = "out of order",
                       .program = &program_,
                       .inputs = {&keys_},
                       .uniforms = {{"size", static_cast<int>(stages_.array_size())},
                                    {"count", static_cast<int>(stages_.order.size())}},
                       .target = &kept_.framebuffer,
                       .quads = &kept_.whole,
                       .count_samples = &count_});
        return count_.result();
    }

  private:
    static constexpr int width = 256;
    static int height_of(const Stages& stages) {
        return std::max((static_cast<int>(stages.order.size()) + width - 1) / width, 1);
    }

    gl::Device& device_;
    const Stages& stages_;
    gl::Program program_;
    gl::Texture keys_;
    pass::Target kept_;
    gl::Query count_;
    cpu::Workers workers_{1};
    pass::Uploader uploader_;
};

// The formulas are in docs/notes/sorting.md.
void expect(Stages& stages) {
    const int k = pass::log2_ceil(stages.array_size());
    const auto steps = static_cast<std::uint64_t>(k);
    stages.stages = k;
    switch (stages.request.engine) {
        case Watched::Pbsn:
            stages.expected_steps = steps * steps;
            break;
        case Watched::BitonicSingle:
            stages.expected_steps = std::max<std::uint64_t>(steps * (steps - 1) / 2, 1);
            break;
        case Watched::BitonicFour:
            stages.expected_steps = steps * (steps + 1) / 2 - 1;
            break;
        case Watched::Merge:
            stages.stages = std::max(pass::log2_ceil(stages.array_size() / merge_run), 1);
            stages.expected_steps = static_cast<std::uint64_t>(stages.stages) + 1;
            break;
    }
}

// Clears texels without an element, whose content is undefined.
void clear_unused(Stages& stages) {
    std::vector<bool> used(4 * stages.texels());
    for (const auto position : stages.order) used[position] = true;
    for (auto& step : stages.steps) {
        for (std::size_t i = 0; i < used.size(); ++i) {
            if (!used[i]) step.keys[i] = infinity;
        }
    }
}

void check(const Request& request) {
    if (request.n < Request::min_keys || request.n > Request::max_keys || !std::has_single_bit(request.n))
        throw InvalidArgument("show: the number of keys must be a power of two from " +
                              std::to_string(Request::min_keys) + " to " + std::to_string(Request::max_keys) +
                              ", not " + std::to_string(request.n));
    if (request.type != KeyType::F32 && request.type != KeyType::F16)
        throw InvalidArgument("show: keys are 32- or 16-bit floats");
}

std::vector<float> floats_of(Keys keys) {
    std::vector<std::byte> bytes(keys.size() * (keys.type() == KeyType::F16 ? 2 : 4));
    std::memcpy(bytes.data(), keys.data(), bytes.size());
    return floats_of(bytes, keys.type(), SortNote::Texels::Keys);
}

}  // namespace

const char* name_of(Watched engine) {
    static constexpr std::array names{"pbsn", "bitonic, single array", "bitonic, four arrays", "merge"};
    return names.at(static_cast<std::size_t>(engine));
}

float Stages::rank(float key) const {
    if (key == infinity) return 2;
    const auto at = std::ranges::lower_bound(sorted, key) - sorted.begin();
    return static_cast<float>(at) / static_cast<float>(std::max<std::size_t>(sorted.size() - 1, 1));
}

Stages watch(Context& context, const Request& request) {
    check(request);
    Stages stages;
    stages.request = request;
    cpu::KeyBuffer buffer(request.type, request.distribution, request.n, request.seed);
    const auto input = floats_of(buffer.keys());
    StageWatcher watcher(context, stages);
    SortStats stats;
    {
        const gl::Observing observing(context, watcher);
        stats = quadmill::sort(context, buffer.keys(), options_of(request));
    }
    stages.sorted = floats_of(buffer.keys());
    if (request.engine == Watched::Pbsn) stages.arrays = 4;
    stages.order = order_of(stages);
    clear_unused(stages);
    if (request.engine == Watched::Merge) {  // its first pass reads keys in the layout of memory
        Step first;
        first.keys.assign(4 * stages.texels(), infinity);
        for (std::size_t i = 0; i < input.size(); ++i) first.keys[stages.order[i]] = input[i];
        stages.steps.insert(stages.steps.begin(), std::move(first));
    }
    expect(stages);
    stages.stages_run = request.engine == Watched::Pbsn ? stats.stages_run : stages.stages;
    std::erase_if(stages.steps, [&](const Step& step) { return step.stage > stages.stages_run; });
    const gl::Scope scope(*detail::Access::of(context), "show");
    OutOfOrder out_of_order(*detail::Access::of(context), stages);
    std::uint64_t comparisons = 0;
    for (auto& step : stages.steps) {
        step.comparisons = comparisons += step.comparators.size();
        step.out_of_order = out_of_order(step);
    }
    scope.check();
    return stages;
}

}  // namespace quadmill::detail::show
