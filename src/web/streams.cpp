// Summaries of streams for JavaScript (web/package/streams.js). A summary is a handle. Values and answers pass through
// memory that malloc() gave, or that the module keeps until the next call.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "quadmill/stream.hpp"
#include "stream/counted_state.hpp"
#include "stream/quantiles_state.hpp"
#include "stream/sliding_state.hpp"
#include "web/call.hpp"

namespace quadmill::detail::web {

namespace {

// As in docs/stream-format.md.
enum class Kind { Quantiles = 1, Frequencies, SlidingQuantiles, SlidingFrequencies, HeavyPrefixes };

struct Options {
    double eps = 0, support = 0;
    std::uint64_t window = 0;
    Widths widths = Widths::Fixed;
};

// Numbers of an answer: for a quantile its value's bits and the bounds of its rank; for a frequent value its bits, and
// the bounds of its count; for a prefix also its length and the discounted bounds.
using Answer = std::vector<std::uint64_t>;

class Stream {
  public:
    Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    virtual ~Stream() = default;
    virtual void add(const void* values, std::size_t count) = 0;
    [[nodiscard]] virtual std::uint64_t n() const = 0;
    // `at` is phi or a support.
    virtual void ask(double at, std::optional<std::uint64_t> width, Answer& to) const = 0;
    virtual void merge(const Stream& other) = 0;
    [[nodiscard]] virtual std::vector<std::byte> save() const = 0;
};

void put(Answer& to, const Count& count) {
    to.insert(to.end(), {count.lower, count.upper});
}

// Summaries of all types are compiled for numbers of 64 bits alone, whose answers are keys (stream/key.hpp).
using Cell = std::uint64_t;
using Rule = stream::KeyRule;

const Rule& rule_of_type(int type) {
    static constexpr std::array rules{stream::wide_rule_of<float>,        stream::wide_rule_of<double>,
                                      stream::wide_rule_of<std::int32_t>, stream::wide_rule_of<std::uint32_t>,
                                      stream::wide_rule_of<std::int64_t>, stream::wide_rule_of<std::uint64_t>};
    if (type < 1 || type > static_cast<int>(rules.size()))
        throw InvalidArgument("a summary's values are f32, f64, i32, u32, i64 or u64");
    return rules[static_cast<std::size_t>(type - 1)];
}

void answer(const Quantiles<Cell>& of, double phi, std::optional<std::uint64_t> /*width*/, Answer& to) {
    const auto found = of.quantile(phi);
    to = {found.value, found.rank_lower, found.rank_upper};
}
void answer(const SlidingQuantiles<Cell>& of, double phi, std::optional<std::uint64_t> width, Answer& to) {
    const auto found = of.quantile(phi, width);
    to = {found.value, found.rank_lower, found.rank_upper};
}
void put_frequent(const std::vector<Frequent<Cell>>& all, Answer& to) {
    to.clear();
    for (const auto& one : all) {
        to.push_back(one.value);
        put(to, one.count);
    }
}
void answer(const Frequencies<Cell>& of, double support, std::optional<std::uint64_t> /*width*/, Answer& to) {
    put_frequent(of.frequent(support), to);
}
void answer(const SlidingFrequencies<Cell>& of, double support, std::optional<std::uint64_t> width, Answer& to) {
    put_frequent(of.frequent(support, width), to);
}
void answer(const HeavyPrefixes<Cell>& of, double support, std::optional<std::uint64_t> /*width*/, Answer& to) {
    to.clear();
    for (const auto& one : of.heavy(support)) {
        to.push_back(one.value);
        to.push_back(static_cast<std::uint64_t>(one.length));
        put(to, one.count);
        put(to, one.discounted);
    }
}

// A summary of that class.
template <class Summary>
class StreamOf final : public Stream {
  public:
    StreamOf(const Rule& rule, std::size_t each, Summary made) : rule_(rule), each_(each), summary_(std::move(made)) {}
    void add(const void* values, std::size_t count) override {
        if (!rule_.narrow) return summary_.add(std::span(static_cast<const Cell*>(values), count));
        std::array<Cell, 4096> cells;
        for (const auto* from = static_cast<const std::uint32_t*>(values); count > 0;) {
            const auto part = std::span(cells).first(std::min(count, cells.size()));
            for (auto& cell : part) cell = rule_.of_raw(*from++);
            summary_.add(std::span<const Cell>(part));
            count -= part.size();
        }
    }
    [[nodiscard]] std::uint64_t n() const override { return summary_.n(); }
    void ask(double at, std::optional<std::uint64_t> width, Answer& to) const override {
        answer(summary_, at, width, to);
        for (std::size_t i = 0; i < to.size(); i += each_) to[i] = rule_.raw(rule_.bits(to[i]));
    }
    // Pre: the same class.
    void merge(const Stream& other) override {
        if constexpr (requires { summary_.merge(summary_); }) {
            summary_.merge(static_cast<const StreamOf&>(other).summary_);
        } else {
            throw InvalidArgument("sliding summaries cannot be merged; add both streams to one");
        }
    }
    [[nodiscard]] std::vector<std::byte> save() const override { return summary_.save(); }

  private:
    const Rule& rule_;
    std::size_t each_;  // numbers of a row of an answer
    Summary summary_;
};

using Made = std::unique_ptr<Stream>;

// A new summary, or a saved one if there are bytes.
Made make(Kind kind, int type, const Options& options, std::span<const std::byte> saved) {
    const auto& rule = rule_of_type(type);
    const auto made = [&]<class Summary, class State>(std::size_t each, std::unique_ptr<State> state) -> Made {
        return std::make_unique<StreamOf<Summary>>(rule, each, Access::make<Summary>(std::move(state)));
    };
    const auto plain = [&]<class Summary, class State>(const auto& wanted) {
        return made.template operator()<Summary>(3, saved.empty()
                                                        ? std::make_unique<State>(rule, wanted, cpu_window_sorter(1))
                                                        : State::load(rule, saved, cpu_window_sorter(1)));
    };
    const auto sliding = [&]<class Summary, class State>(const char* name) {
        const SlidingOptions wanted{.eps = options.eps, .window = options.window, .widths = options.widths};
        return made.template operator()<Summary>(
            3, saved.empty() ? std::make_unique<State>(rule, name, wanted, cpu_window_sorter(1))
                             : State::load(rule, name, saved, cpu_window_sorter(1)));
    };
    switch (kind) {
        case Kind::Quantiles:
            return plain.operator()<Quantiles<Cell>, stream::QuantilesState>(QuantileOptions{.eps = options.eps});
        case Kind::Frequencies:
            return plain.operator()<Frequencies<Cell>, stream::FrequenciesState>(FrequencyOptions{.eps = options.eps});
        case Kind::SlidingQuantiles:
            return sliding.operator()<SlidingQuantiles<Cell>, stream::SlidingState<stream::QuantileSummary>>(
                "SlidingQuantiles");
        case Kind::SlidingFrequencies:
            return sliding.operator()<SlidingFrequencies<Cell>, stream::SlidingState<stream::FrequencySummary>>(
                "SlidingFrequencies");
        case Kind::HeavyPrefixes: {
            if (type != 4 && type != 6) throw InvalidArgument("HeavyPrefixes takes values of u32 or u64");
            HeavyPrefixOptions prefixes{.eps = options.eps, .support = options.support};
            for (int length = 0; length <= (type == 4 ? 32 : 64); length += 8) prefixes.lengths.push_back(length);
            using State = stream::HeavyPrefixesState;
            return made.operator()<HeavyPrefixes<Cell>>(
                6, saved.empty() ? std::make_unique<State>(rule, prefixes, cpu_window_sorter(1))
                                 : State::load(rule, saved, cpu_window_sorter(1)));
        }
    }
    throw InvalidArgument("these bytes are not a summary that quadmill/streams reads");
}

// What the last call answered.
struct Last {
    Stream* made = nullptr;
    Answer answer;
    std::vector<std::byte> bytes;
} last;

}  // namespace

// `saved` 0: a new summary. Its handle is qm_stream_made().
QUADMILL_EXPORT(qm_stream_make)
int qm_stream_make(int kind, int type, double eps, std::uint64_t window, int any_width, double support,
                   const std::byte* saved, std::size_t bytes) {
    return call([&] {
        last.made =
            make(static_cast<Kind>(kind), type, {eps, support, window, static_cast<Widths>(any_width)}, {saved, bytes})
                .release();
    });
}
QUADMILL_EXPORT(qm_stream_made) Stream* qm_stream_made() {
    return last.made;
}
QUADMILL_EXPORT(qm_stream_free) void qm_stream_free(Stream* stream) {
    delete stream;
}
QUADMILL_EXPORT(qm_stream_add) int qm_stream_add(Stream* stream, const void* values, std::size_t count) {
    return call([&] { stream->add(values, count); });
}
QUADMILL_EXPORT(qm_stream_n) double qm_stream_n(const Stream* stream) {
    return static_cast<double>(stream->n());
}
// `width` 0: the whole window. The answer is at qm_stream_answer(), qm_stream_numbers() numbers of 64 bits.
QUADMILL_EXPORT(qm_stream_ask) int qm_stream_ask(const Stream* stream, double at, std::uint64_t width) {
    return call([&] { stream->ask(at, width == 0 ? std::nullopt : std::optional(width), last.answer); });
}
QUADMILL_EXPORT(qm_stream_answer) const std::uint64_t* qm_stream_answer() {
    return last.answer.data();
}
QUADMILL_EXPORT(qm_stream_numbers) std::size_t qm_stream_numbers() {
    return last.answer.size();
}
QUADMILL_EXPORT(qm_stream_merge) int qm_stream_merge(Stream* stream, const Stream* other) {
    return call([&] { stream->merge(*other); });
}
// The bytes are at qm_stream_bytes(), qm_stream_size() of them.
QUADMILL_EXPORT(qm_stream_save) int qm_stream_save(const Stream* stream) {
    return call([&] { last.bytes = stream->save(); });
}
QUADMILL_EXPORT(qm_stream_bytes) const std::byte* qm_stream_bytes() {
    return last.bytes.data();
}
QUADMILL_EXPORT(qm_stream_size) std::size_t qm_stream_size() {
    return last.bytes.size();
}

}  // namespace quadmill::detail::web
