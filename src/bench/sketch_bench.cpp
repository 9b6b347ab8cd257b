#include "bench/sketch_bench.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>

#include "bench/pass_count.hpp"
#include "bench/refusal.hpp"
#include "bench/spread.hpp"
#include "bench/wake.hpp"
#include "cpu/stopwatch.hpp"
#include "gl/device.hpp"
#include "pass/transfer.hpp"

namespace quadmill::detail::bench {

namespace {

constexpr std::size_t compared_counters = std::size_t{1} << 22, compared_keys = std::size_t{1} << 16;
constexpr std::size_t slow_on_cpu = std::size_t{1} << 20;  // for more keys, the CPU is measured only once

// Whether the engine can fill tables of that kind.
bool goes_with(SketchKind kind, SketchEngine engine) {
    const bool buckets = engine == SketchEngine::BlendBuckets || engine == SketchEngine::BlendPacked;
    if (engine == SketchEngine::Auto || engine == SketchEngine::Cpu) return true;
    if (kind == SketchKind::Msws) return engine == SketchEngine::BlendCounters;
    return kind != SketchKind::Sf && !(buckets && kind == SketchKind::Thread);
}

std::uint64_t width_of(const SketchCase& which) {
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(static_cast<double>(which.n) / which.load), 1);
}

SketchTimes times_of(std::vector<double> values) {
    SketchTimes times;
    Spread(std::move(values)).note_in(times);
    return times;
}

// Fills a texture, whose texels are words, row after row.
void send(gl::Device& device, const gl::Texture& texture, std::span<const std::uint32_t> words) {
    pass::Uploader uploader;
    cpu::Workers workers;
    const auto across = static_cast<std::size_t>(texture.width());
    uploader.send(device, texture, workers, [&](std::size_t row, std::size_t rows, std::span<std::byte> memory) {
        const auto begin = std::min(row * across, words.size()), end = std::min((row + rows) * across, words.size());
        std::memcpy(memory.data(), words.data() + begin, (end - begin) * 4);
    });
    gl::Fence(device).wait();
}

// The first words of such a texture.
std::vector<std::uint64_t> first_words(gl::Device& device, const gl::Texture& texture, std::size_t count) {
    const gl::Scope scope(device, "bench");
    pass::ReadBack readback;
    cpu::Workers workers;
    std::vector<std::uint32_t> words(count);
    readback.request(device, texture);
    readback.copy_to(std::as_writable_bytes(std::span(words)), workers);
    scope.check();
    return {words.begin(), words.end()};
}

std::vector<std::uint64_t> estimates_of(std::span<const SketchCount> counts) {
    std::vector<std::uint64_t> estimates;
    for (const auto& count : counts) estimates.push_back(count.estimate);
    return estimates;
}

// Whether the words are `times` times those of one insert.
bool is_multiple(std::span<const std::uint64_t> found, std::span<const std::uint64_t> of_one, std::uint64_t times) {
    return std::ranges::equal(found, of_one, {}, {}, [times](std::uint64_t one) { return times * one; });
}

}  // namespace

struct SketchBench::State {
    // Keys in memory and, if there is a GPU, in a texture, and a texture for their estimates.
    struct Input {
        std::vector<std::uint32_t> keys;
        gl::Texture texture, estimates;
        [[nodiscard]] std::span<const std::uint32_t> compared() const {
            return std::span(keys).first(std::min(keys.size(), compared_keys));
        }
    };
    // The CPU's results after each key was inserted once.
    struct Expected {
        std::vector<std::uint64_t> estimates;  // for the keys that are compared
        std::vector<std::uint64_t> counters;   // empty if there are too many to compare
    };
    using Work = std::function<void()>;
    const Input& input(const SketchCase& which);
    // Runs once untimed, which compiles programs and allocates memory.
    [[nodiscard]] SketchTimes measured(int times, const Work& work) const;
    // Measures until the GPU, which runs at full clock, is done.
    [[nodiscard]] SketchTimes measured_on_gpu(const Work& work) const;
    void run_on_gpu(const SketchCase& which, const Input& in, SketchResult& result);
    void run_on_cpu(const SketchCase& which, const Input& in, SketchResult& result);
    void judge(const SketchCase& which, SketchResult& result);
    const Limit& gather(std::uint64_t texels, int fetches);
    const Expected& expect(const SketchCase& which, const Input& in);
    // Checks a sketch into which all keys were inserted, any number of times.
    [[nodiscard]] bool is_right(const SketchCase& which, const Input& in, const Sketch<std::uint32_t>& sketch);
    [[nodiscard]] static SketchOptions options(const SketchCase& which, const SketchContender& contender) {
        return {.kind = which.kind, .width = width_of(which), .engine = contender.engine, .threads = contender.threads};
    }

    std::optional<Context> context;
    std::string why_no_context;
    std::vector<SketchContender> contenders;
    int repeat;
    std::vector<Limit> limits;
    std::map<std::pair<std::uint64_t, int>, Limit> gathers;  // by number of texels and of fetches
    std::optional<std::pair<std::pair<std::size_t, cpu::Distribution>, Input>> last;
    std::optional<Expected> expected;  // for the case, once needed
};

const SketchBench::State::Input& SketchBench::State::input(const SketchCase& which) {
    const std::pair key{which.n, which.distribution};
    if (last && last->first == key) return last->second;
    last.reset();
    Input in;
    cpu::KeyBuffer buffer(KeyType::U32, which.distribution, which.n, 1);
    const std::span keys(static_cast<const std::uint32_t*>(buffer.keys().data()), which.n);
    in.keys.assign(keys.begin(), keys.end());
    if (context) {
        auto& device = *detail::Access::of(*context);
        const gl::Scope scope(device, "bench");
        constexpr int width = 8192;
        const auto height = static_cast<int>((which.n + width - 1) / width);
        in.texture = gl::Texture(device, gl::Format::R32ui, width, height);
        in.estimates = gl::Texture(device, gl::Format::R32ui, width, height);
        send(device, in.texture, in.keys);
        scope.check();
    }
    return last.emplace(key, std::move(in)).second;
}

SketchTimes SketchBench::State::measured(int times, const Work& work) const {
    work();
    std::vector<double> values;
    for (int i = 0; i < times; ++i) {
        const cpu::Stopwatch time;
        work();
        values.push_back(time.ms());
    }
    return times_of(std::move(values));
}

SketchTimes SketchBench::State::measured_on_gpu(const Work& work) const {
    auto& device = *detail::Access::of(*context);
    const auto finished = [&] {
        const gl::Scope scope(device, "bench");
        work();
        gl::Fence(device).wait();
    };
    wake(*context, finished);
    return measured(repeat, finished);
}

const SketchBench::State::Expected& SketchBench::State::expect(const SketchCase& which, const Input& in) {
    if (expected) return *expected;
    Sketch<std::uint32_t> sketch({.kind = which.kind, .width = width_of(which), .engine = SketchEngine::Cpu});
    sketch.insert(in.keys);
    const bool are_few = 3 * width_of(which) <= compared_counters;
    return expected.emplace(Expected{estimates_of(sketch.query(in.compared())),
                                     are_few ? sketch.counters() : std::vector<std::uint64_t>()});
}

bool SketchBench::State::is_right(const SketchCase& which, const Input& in, const Sketch<std::uint32_t>& sketch) {
    const auto& [estimates, counters] = expect(which, in);
    const auto times = sketch.n() / in.keys.size();
    return times * in.keys.size() == sketch.n() &&
           is_multiple(estimates_of(sketch.query(in.compared())), estimates, times) &&
           (counters.empty() || is_multiple(sketch.counters(), counters, times));
}

void SketchBench::State::run_on_gpu(const SketchCase& which, const Input& in, SketchResult& result) {
    const bool filled_by_cpu = which.kind == SketchKind::Sf;
    std::optional<Sketch<std::uint32_t>> made(std::in_place, *context, options(which, *result.contender));
    auto& sketch = *made;
    const auto insert = [&] {
        if (filled_by_cpu) return sketch.insert(in.keys);
        sketch.insert_texture(in.texture.id(), which.n);
    };
    if (filled_by_cpu) {
        result.insert = measured(repeat, insert);
    } else {
        result.insert = measured_on_gpu(insert);
        result.insert_memory = measured_on_gpu([&] { sketch.insert(in.keys); });
    }
    result.bytes = sketch.bytes();
    result.verified = is_right(which, in, sketch);
    // As in the paper, queries go to a sketch of n keys, not to one of a multiple.
    made.reset();
    made.emplace(*context, options(which, *result.contender));
    insert();
    result.query = measured_on_gpu([&] { sketch.query_texture(in.texture.id(), in.estimates.id(), which.n); });
    const auto found = first_words(*detail::Access::of(*context), in.estimates, in.compared().size());
    result.verified = result.verified && is_multiple(found, expect(which, in).estimates, 1);
    judge(which, result);
}

void SketchBench::State::run_on_cpu(const SketchCase& which, const Input& in, SketchResult& result) {
    Sketch<std::uint32_t> sketch(options(which, *result.contender));
    const int times = which.n > slow_on_cpu ? 1 : repeat;
    result.insert = measured(times, [&] { sketch.insert(in.keys); });
    std::vector<SketchCount> found;
    result.query = measured(times, [&] { found = sketch.query(in.keys); });
    result.bytes = sketch.bytes();
    const auto compared = std::span<const SketchCount>(found).first(in.compared().size());
    result.verified = is_right(which, in, sketch) &&
                      is_multiple(estimates_of(compared), expect(which, in).estimates, sketch.n() / in.keys.size());
}

// Compares with the rates of drawing an insert's points into one render target, and of reading a query's texels from
// random positions.
void SketchBench::State::judge(const SketchCase& which, SketchResult& result) {
    if (limits.empty()) limits = sketch_limits(*context);
    const auto percent = [&](double each, const Limit& limit, const SketchTimes& times) {
        return 100 * each * times.per_s(which.n) * 1e-9 / limit.value;
    };
    const auto engine = result.contender->engine;
    if (engine == SketchEngine::BlendCounters) result.insert_percent_of_limit = percent(3, limits[0], result.insert);
    if (engine == SketchEngine::BlendPacked && which.kind == SketchKind::Quarter)
        result.insert_percent_of_limit = percent(1, limits[1], result.insert);
    // The counters of a bucket are next to each other; in each row of Thread the counter is at another position. Msws
    // reads its bucket's index as well as counters.
    const int fetches = which.kind == SketchKind::Thread ? 3 : which.kind == SketchKind::Msws ? 2 : 1;
    const bool halves = which.kind == SketchKind::Quarter && engine != SketchEngine::BlendCounters &&
                        engine != SketchEngine::BlendBuckets;
    const auto& limit = gather(3 * width_of(which) / (halves ? 8 : 4) + 1, fetches);
    result.query_percent_of_limit = percent(1, limit, result.query);
}

const Limit& SketchBench::State::gather(std::uint64_t texels, int fetches) {
    const std::pair which{texels, fetches};
    if (const auto found = gathers.find(which); found != gathers.end()) return found->second;
    limits.push_back(gather_limit(*context, texels, fetches));
    return gathers.emplace(which, limits.back()).first->second;
}

SketchBench::SketchBench(std::optional<Context> context, std::string why_no_context,
                         std::vector<SketchContender> contenders, int repeat)
    : state_(new State{std::move(context), std::move(why_no_context), std::move(contenders), repeat, {}, {}, {}, {}}) {}
SketchBench::SketchBench(SketchBench&&) noexcept = default;
SketchBench::~SketchBench() = default;

const std::vector<Limit>& SketchBench::limits() const {
    return state_->limits;
}

SketchCaseResult SketchBench::run(const SketchCase& which) {
    SketchCaseResult found{which, width_of(which), 3 * width_of(which), {}};
    const auto& in = state_->input(which);
    state_->expected.reset();
    for (const auto& contender : state_->contenders) {
        if (!goes_with(which.kind, contender.engine)) continue;
        SketchResult result{.contender = &contender};
        if (contender.is_rival()) {
            result.refusal = refusal_of([&] { state_->run_on_cpu(which, in, result); });
        } else if (!state_->context) {
            result.refusal = state_->why_no_context;
        } else {
            const PassCount count(state_->context, result.passes);
            result.refusal = refusal_of([&] { state_->run_on_gpu(which, in, result); });
        }
        found.results.push_back(std::move(result));
    }
    return found;
}

std::vector<SketchAccuracy> SketchBench::accuracy(const std::vector<double>& loads, std::size_t width) {
    struct Known {
        std::string name;
        SketchOptions options;
        std::optional<double> at_half, at_one;
    };
    // The rates of the last two follow from the paper's factors over Thread.
    const std::vector<Known> all{{"thread", {.kind = SketchKind::Thread}, 6.2, 27.2},
                                 {"warp", {.kind = SketchKind::Warp}, 8.1, 30.3},
                                 {"half", {.kind = SketchKind::Half}, 9.3, 32.5},
                                 {"quarter", {.kind = SketchKind::Quarter}, 12.6, 38.3},
                                 {"msws", {.kind = SketchKind::Msws}, 0.6543, 2.578},
                                 {"sf-3", {.kind = SketchKind::Sf, .fat = 3}, 6.2 / 3.91, 27.2 / 3.64},
                                 {"sf-8", {.kind = SketchKind::Sf, .fat = 8}, 0.496, 2.014}};
    std::vector<SketchAccuracy> found;
    for (auto known : all) {
        known.options.width = width;
        for (const double load : loads) {
            const auto n = static_cast<std::size_t>(load * static_cast<double>(width));
            cpu::KeyBuffer buffer(KeyType::U32, cpu::Distribution::Uniform, n, 2);
            const std::span keys(static_cast<const std::uint32_t*>(buffer.keys().data()), n);
            std::unordered_map<std::uint32_t, std::uint64_t> counts;
            for (const auto key : keys) ++counts[key];
            Sketch<std::uint32_t> sketch(known.options);
            sketch.insert(keys);
            const auto estimates = sketch.query(keys);
            double sum = 0;  // over the different keys, which all have the same number of inserts
            for (std::size_t i = 0; i < n; ++i) {
                const auto count = static_cast<double>(counts[keys[i]]);
                sum += (static_cast<double>(estimates[i].estimate) / count - 1) / count;
            }
            const auto paper = load == 0.5 ? known.at_half : load == 1 ? known.at_one : std::nullopt;
            found.push_back({known.name, load, 100 * sum / static_cast<double>(counts.size()), paper});
        }
    }
    return found;
}

const std::vector<PaperRate>& paper_rates() {
    static const std::vector<PaperRate> rates{{SketchKind::Thread, 396, 982},
                                              {SketchKind::Warp, 1175, 1126},
                                              {SketchKind::Quarter, 1146, 2417},
                                              {SketchKind::Msws, 1142, 2414}};
    return rates;
}

}  // namespace quadmill::detail::bench
