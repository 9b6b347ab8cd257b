// Summaries of streams for JavaScript (web/package/streams.js). A summary is a handle. Values and answers pass through
// memory that malloc() gave, or that the module keeps until the next call.
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "quadmill/stream.hpp"
#include "web/call.hpp"

namespace quadmill::detail::web {

namespace {

// As in docs/stream-format.md.
enum class Kind { Quantiles = 1, Frequencies, SlidingQuantiles, SlidingFrequencies, HeavyPrefixes };

struct Options {
    double eps = 0, support = 0;
    std::uint64_t window = 0;
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

template <class T>
std::uint64_t bits(T value) {
    if constexpr (sizeof(T) == 4) return std::bit_cast<std::uint32_t>(value);
    if constexpr (sizeof(T) == 8) return std::bit_cast<std::uint64_t>(value);
}

void put(Answer& to, const Count& count) {
    to.insert(to.end(), {count.lower, count.upper});
}

template <class T>
void answer(const Quantiles<T>& of, double phi, std::optional<std::uint64_t> /*width*/, Answer& to) {
    const auto found = of.quantile(phi);
    to = {bits(found.value), found.rank_lower, found.rank_upper};
}
template <class T>
void answer(const SlidingQuantiles<T>& of, double phi, std::optional<std::uint64_t> width, Answer& to) {
    const auto found = of.quantile(phi, width);
    to = {bits(found.value), found.rank_lower, found.rank_upper};
}
template <class T>
void put_frequent(const std::vector<Frequent<T>>& all, Answer& to) {
    to.clear();
    for (const auto& one : all) {
        to.push_back(bits(one.value));
        put(to, one.count);
    }
}
template <class T>
void answer(const Frequencies<T>& of, double support, std::optional<std::uint64_t> /*width*/, Answer& to) {
    put_frequent(of.frequent(support), to);
}
template <class T>
void answer(const SlidingFrequencies<T>& of, double support, std::optional<std::uint64_t> width, Answer& to) {
    put_frequent(of.frequent(support, width), to);
}
template <class T>
void answer(const HeavyPrefixes<T>& of, double support, std::optional<std::uint64_t> /*width*/, Answer& to) {
    to.clear();
    for (const auto& one : of.heavy(support)) {
        to.push_back(one.value);
        to.push_back(static_cast<std::uint64_t>(one.length));
        put(to, one.count);
        put(to, one.discounted);
    }
}

// A summary of that class for values of type T.
template <class Summary, class T>
class StreamOf final : public Stream {
  public:
    template <class Made>
    explicit StreamOf(Made&& made) : summary_(std::forward<Made>(made)) {}
    void add(const void* values, std::size_t count) override {
        summary_.add(std::span(static_cast<const T*>(values), count));
    }
    [[nodiscard]] std::uint64_t n() const override { return summary_.n(); }
    void ask(double at, std::optional<std::uint64_t> width, Answer& to) const override {
        answer(summary_, at, width, to);
    }
    // Pre: the same class.
    void merge(const Stream& other) override {
        if constexpr (requires { summary_.merge(summary_); }) {
            summary_.merge(static_cast<const StreamOf&>(other).summary_);
        } else {
            throw InvalidArgument("sliding summaries cannot be merged; merge their summary() instead");
        }
    }
    [[nodiscard]] std::vector<std::byte> save() const override { return summary_.save(); }

  private:
    Summary summary_;
};

using Made = std::unique_ptr<Stream>;

template <class Summary, class T, class Options>
Made make(const Options& options, std::span<const std::byte> saved) {
    using Result = StreamOf<Summary, T>;
    return saved.empty() ? std::make_unique<Result>(Summary(options)) : std::make_unique<Result>(Summary::load(saved));
}

// Calls make_of.operator()<T>() for the type with that number.
template <class MakeOf>
Made with_type(int type, const MakeOf& make_of) {
    switch (type) {
        case 1:
            return make_of.template operator()<float>();
        case 2:
            return make_of.template operator()<double>();
        case 3:
            return make_of.template operator()<std::int32_t>();
        case 4:
            return make_of.template operator()<std::uint32_t>();
        case 5:
            return make_of.template operator()<std::int64_t>();
        case 6:
            return make_of.template operator()<std::uint64_t>();
        default:
            throw InvalidArgument("a summary's values are f32, f64, i32, u32, i64 or u64");
    }
}

// A new summary, or a saved one if there are bytes.
Made make(Kind kind, int type, const Options& options, std::span<const std::byte> saved) {
    const SlidingOptions sliding{.eps = options.eps, .window = options.window};
    switch (kind) {
        case Kind::Quantiles:
            return with_type(
                type, [&]<class T>() { return make<Quantiles<T>, T>(QuantileOptions{.eps = options.eps}, saved); });
        case Kind::Frequencies:
            return with_type(
                type, [&]<class T>() { return make<Frequencies<T>, T>(FrequencyOptions{.eps = options.eps}, saved); });
        case Kind::SlidingQuantiles:
            return with_type(type, [&]<class T>() { return make<SlidingQuantiles<T>, T>(sliding, saved); });
        case Kind::SlidingFrequencies:
            return with_type(type, [&]<class T>() { return make<SlidingFrequencies<T>, T>(sliding, saved); });
        case Kind::HeavyPrefixes: {
            HeavyPrefixOptions prefixes{.eps = options.eps, .support = options.support};
            if (type == 4) {
                for (int length = 0; length <= 32; length += 8) prefixes.lengths.push_back(length);
                return make<HeavyPrefixes<std::uint32_t>, std::uint32_t>(prefixes, saved);
            }
            if (type == 6) {
                for (int length = 0; length <= 64; length += 8) prefixes.lengths.push_back(length);
                return make<HeavyPrefixes<std::uint64_t>, std::uint64_t>(prefixes, saved);
            }
            throw InvalidArgument("HeavyPrefixes takes values of u32 or u64");
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
int qm_stream_make(int kind, int type, double eps, std::uint64_t window, double support, const std::byte* saved,
                   std::size_t bytes) {
    return call([&] {
        last.made = make(static_cast<Kind>(kind), type, {eps, support, window}, {saved, bytes}).release();
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
