#include "bench/sort_bench.hpp"

#include <cstring>
#include <map>
#include <utility>

#include "bench/refusal.hpp"
#include "bench/spread.hpp"
#include "bench/wake.hpp"
#include "cpu/keys.hpp"
#include "cpu/stopwatch.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::bench {

namespace {

// Counts the texels that passes write.
class WrittenTexels final : public PassObserver {
  public:
    explicit WrittenTexels(std::optional<Context>& context) : context_(context) {
        if (context_) previous_ = context_->observe(this);
    }
    WrittenTexels(const WrittenTexels&) = delete;
    WrittenTexels& operator=(const WrittenTexels&) = delete;
    ~WrittenTexels() override {
        if (context_) context_->observe(previous_);
    }
    void before(const PassEvent& pass) override {
        ++passes;
        texels[{std::string(pass.format), pass.write}] += pass.texels * static_cast<std::uint64_t>(pass.targets);
    }
    std::map<std::pair<std::string, PassEvent::Write>, std::uint64_t> texels;
    std::uint64_t passes = 0;

  private:
    std::optional<Context>& context_;
    PassObserver* previous_ = nullptr;
};

// For fewer keys, a CPU's branch predictor learns all comparisons, so that the second of two similar sorts is twice as
// fast. Then each contender gets its own keys.
constexpr std::size_t learned_keys = std::size_t{1} << 15;

constexpr std::size_t warmed_keys = std::size_t{1} << 18;

SortStats medians(const std::vector<SortStats>& runs) {
    auto parts = runs.front();
    for (auto part : {&SortStats::upload_ms, &SortStats::sort_ms, &SortStats::readback_ms, &SortStats::merge_ms,
                      &SortStats::total_ms})
        parts.*part = spread_of(runs, part).median;
    return parts;
}

// Gathers the keys in the order of the index. False if the index is not a permutation.
bool gather(Keys from, std::span<const std::uint32_t> index, Keys to) {
    return cpu::visit(from, [&]<class Key>(std::span<Key> keys) {
        auto* const out = static_cast<Key*>(to.data());
        std::vector<bool> seen(keys.size());
        for (std::size_t i = 0; i < index.size(); ++i) {
            if (index[i] >= keys.size() || seen[index[i]]) return false;
            seen[index[i]] = true;
            out[i] = keys[index[i]];
        }
        return true;
    });
}

}  // namespace

SortStats sort_by(Sorter* sorter, Sorted sorted, Keys keys, std::span<std::uint32_t> index) {
    if (!sorter) return sorted == Sorted::Keys ? sort_on_cpu(keys) : sort_with_index_on_cpu(keys, index);
    if (sorted == Sorted::Keys) return sorter->sort(keys);
    return sorted == Sorted::Pairs ? sorter->sort_with_index(keys, index) : sorter->argsort(keys, index);
}

bool is_right(Sorted sorted, SortData& input, SortData& output) {
    const auto sum = cpu::checksum(input.keys.keys());
    if (moves_keys(sorted) && !(cpu::in_order(output.keys.keys()) && cpu::checksum(output.keys.keys()) == sum))
        return false;
    if (sorted == Sorted::Keys) return true;
    auto gathered = input.keys;
    return gather(input.keys.keys(), output.index, gathered.keys()) && cpu::in_order(gathered.keys()) &&
           (moves_keys(sorted) || cpu::checksum(output.keys.keys()) == sum);
}

SortOptions paper_form_of_pbsn() {
    SortOptions options{.engine = Engine::Pbsn};
    options.paper.pbsn.early_stop = EarlyStop::No;
    options.paper.pbsn.max_run = options.paper.pbsn.max_texels;
    return options;
}

SortOptions paper_form_of_bitonic() {
    SortOptions options{.engine = Engine::Bitonic};
    options.paper.bitonic.steps_per_pass = 1;
    return options;
}

SortData SortBench::make_data(const SortCase& which, std::uint64_t seed) {
    return {cpu::KeyBuffer(which.type, which.distribution, which.n, seed),
            std::vector<std::uint32_t>(which.sorted == Sorted::Keys ? 0 : which.n)};
}

SortBench::SortBench(std::optional<Context> context, std::string why_no_context, std::vector<Contender> contenders,
                     int repeat)
    : context_(std::move(context)),
      why_no_context_(std::move(why_no_context)),
      contenders_(std::move(contenders)),
      repeat_(repeat),
      sorters_(contenders_.size()) {
    if (context_) limits_.emplace(*context_);
}

SortStats SortBench::sort(std::size_t i, Sorted sorted, Keys keys, std::span<std::uint32_t> index) {
    if (auto* early = std::get_if<EarlySorter>(&sorters_[i])) return early->sort(keys, index);
    if (const auto* rival = std::get_if<const Rival*>(&contenders_[i].what)) {
        (*rival)->sort(keys);
        return {.n = keys.size()};
    }
    return sort_by(std::get_if<Sorter>(&sorters_[i]), sorted, keys, index);
}

// The total is measured by this function's clock, the same for all.
SortStats SortBench::sort(std::size_t i, Sorted sorted, SortData& data) {
    if (sorted == Sorted::Texture) return sort_texture(std::get<Sorter>(sorters_[i]), data);
    const cpu::Stopwatch time;
    auto stats = sort(i, sorted, data.keys.keys(), data.index);
    stats.total_ms = time.ms();
    return stats;
}

// From texture to texture, waiting for the GPU. The keys are copied on the GPU before the clock starts: below OpenGL
// 4.5 NVIDIA's driver uploads the content of a new texture only when the texture is first read.
SortStats SortBench::sort_texture(Sorter& sorter, SortData& data) {
    const auto keys = data.keys.keys();
    const auto format = keys.type() == KeyType::F32   ? gl::Format::R32f
                        : keys.type() == KeyType::I32 ? gl::Format::R32i
                                                      : gl::Format::R32ui;
    if (keys.type() != KeyType::U32 && format == gl::Format::R32ui)
        throw InvalidArgument("a texture has keys of 32 bits");
    auto& device = *detail::Access::of(*context_);
    const gl::Scope scope(device, "bench sort");
    constexpr int width = 4096;
    const auto height = static_cast<int>((keys.size() + width - 1) / width);
    const gl::Texture uploaded(device, format, width, height), from(device, format, width, height),
        to(device, gl::Format::R32ui, width, height);
    const auto bytes = keys.size() * sizeof(std::uint32_t);
    const gl::PixelBuffer memory(device, gl::PixelBuffer::Direction::Upload, from.bytes());
    std::memcpy(memory.memory().data(), keys.data(), bytes);
    upload_rows(device, memory, 0, uploaded, 0, height);
    {
        const gl::Unobserved unobserved(device);
        copy(device, "keys", uploaded, from);
    }
    gl::finish(device);
    const cpu::Stopwatch time;
    auto stats = sorter.argsort_texture(from.id(), to.id(), keys.size());
    gl::finish(device);
    stats.total_ms = time.ms();
    std::memcpy(data.index.data(), read_texels(device, to).data(), bytes);
    scope.check();
    return stats;
}

// With few keys, each contender first sorts untimed: otherwise one that follows another with the same code would find
// that code in the caches.
void SortBench::wake(std::size_t i, Sorted sorted, SortData data) {
    if (data.keys.keys().size() <= warmed_keys) sort(i, sorted, data);
    if (std::holds_alternative<std::monostate>(sorters_[i])) return;
    bench::wake(*context_, [&] { sort(i, sorted, data); });
}

void SortBench::warm_up(const SortCase& which, std::size_t i, Result& result) {
    result.refusal = refusal_of([&] {
        const auto& what = contenders_[i].what;
        const auto* early = std::get_if<EarlySort>(&what);
        if (std::holds_alternative<const Rival*>(what) && which.sorted != Sorted::Keys)
            throw InvalidArgument("it sorts keys alone");
        if (!std::holds_alternative<SortOptions>(what) && !moves_keys(which.sorted))
            throw InvalidArgument("it gives the keys back, too");
        if (contenders_[i].needs_context()) {
            if (!context_) throw InvalidArgument(why_no_context_);
            auto& sorter = sorters_[i];
            if (early && std::holds_alternative<std::monostate>(sorter)) sorter.emplace<EarlySorter>(*context_, *early);
            if (std::holds_alternative<std::monostate>(sorter))
                sorter.emplace<Sorter>(*context_, std::get<SortOptions>(what));
        } else if (!moves_keys(which.sorted)) {
            throw InvalidArgument("the CPU gives the keys back, too; see --what pairs");
        }
        auto data = make_data(which, 0);
        WrittenTexels written(context_);
        sort(i, which.sorted, data);
        result.passes = written.passes;
        if (written.texels.empty()) return;
        result.min_ms = 0;
        context_->observe(nullptr);  // limits are measured with passes, too
        for (const auto& [target, texels] : written.texels)
            *result.min_ms += limits_->min_ms(texels, target.first, target.second);
    });
}

CaseResult SortBench::run(const SortCase& which) {
    CaseResult found{which, {}};
    const auto count = contenders_.size();
    for (std::size_t i = 0; i < count; ++i) {
        found.results.push_back({.contender = &contenders_[i]});
        warm_up(which, i, found.results.back());
    }
    // GPU contenders go first, then the CPU's: if only CPUs sorted for seconds, the GPU's clock would be low for the
    // next contender. All sort in the same memory.
    std::vector<std::size_t> gpu, cpu;
    for (std::size_t i = 0; i < count; ++i) {
        if (found.results[i].ran()) (contenders_[i].needs_context() ? gpu : cpu).push_back(i);
    }
    std::vector<std::vector<SortStats>> runs(count);
    auto data = make_data(which, 0);
    for (int repetition = 1; repetition <= repeat_; ++repetition) {
        auto seed = static_cast<std::uint64_t>(repetition) * count;
        auto input = make_data(which, seed);
        for (auto* group : {&gpu, &cpu}) {
            if (group->empty()) continue;
            std::rotate(group->begin(), group->begin() + 1, group->end());  // so that none is always first
            for (const auto i : *group) {
                if (which.n <= learned_keys) input = make_data(which, ++seed);
                wake(i, which.sorted, which.n <= warmed_keys ? make_data(which, ~seed - i) : input);
                data = input;
                runs[i].push_back(sort(i, which.sorted, data));
                found.results[i].verified = found.results[i].verified && is_right(which.sorted, input, data);
            }
        }
    }
    for (std::size_t i = 0; i < count; ++i) {
        auto& result = found.results[i];
        if (!result.ran()) continue;
        result.parts = medians(runs[i]);
        spread_of(runs[i], &SortStats::total_ms).note_in(result);
    }
    return found;
}

}  // namespace quadmill::detail::bench
