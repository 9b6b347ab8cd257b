#include "external/wide_sort.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "cpu/merge.hpp"
#include "cpu/scratch.hpp"
#include "cpu/stopwatch.hpp"
#include "cpu/workers.hpp"
#include "external/item_sort.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::external {
namespace {

constexpr std::size_t share = std::size_t{1} << 14;     // keys that a thread takes at a time
constexpr std::size_t max_runs = std::size_t{1} << 16;  // that are sorted together: each takes memory in an engine
constexpr std::size_t max_rounds = 64;                  // words of 4 bytes, for keys of 255 bytes

// Positions [begin, end) of the order whose keys are equal in the bytes compared so far.
struct Run {
    std::size_t begin, end;
    [[nodiscard]] std::size_t size() const { return end - begin; }
};

// Marks the positions of an order that are tied with the previous position.
class Ties {
  public:
    explicit Ties(std::size_t n) : tied_(n, 1) {
        if (n > 0) tied_[0] = 0;
    }
    void set(std::size_t place, bool tied) { tied_[place] = tied ? 1 : 0; }
    void settle(Run run) { std::fill(at(run.begin), at(run.end), std::uint8_t{0}); }

    // The first run of at least two positions in [from, to); an empty run if there is none. Pre: no run contains `from`
    // or `to` inside.
    [[nodiscard]] Run next(std::size_t from, std::size_t to) const {
        const auto tied = std::find(at(from), at(to), 1);
        if (tied == at(to)) return {to, to};
        return {static_cast<std::size_t>(tied - at(0)) - 1,
                static_cast<std::size_t>(std::find(tied, at(to), 0) - at(0))};
    }
    // The first position >= `place` that is not inside a run.
    [[nodiscard]] std::size_t between_runs(std::size_t place) const {
        return static_cast<std::size_t>(std::find(at(place), tied_.end(), 0) - at(0));
    }
    [[nodiscard]] std::size_t size() const { return tied_.size(); }

  private:
    [[nodiscard]] std::vector<std::uint8_t>::const_iterator at(std::size_t place) const {
        return tied_.begin() + static_cast<std::ptrdiff_t>(place);
    }
    [[nodiscard]] std::vector<std::uint8_t>::iterator at(std::size_t place) {
        return tied_.begin() + static_cast<std::ptrdiff_t>(place);
    }
    std::vector<std::uint8_t> tied_;
};

// Calls work(run) for each run of at least two, on all threads. It may resolve ties within its run.
template <class Work>
void for_runs(const Ties& ties, cpu::Workers& workers, Work work) {
    std::vector<std::size_t> begins;
    for (std::size_t place = 0; place < ties.size(); place += share) begins.push_back(ties.between_runs(place));
    begins.push_back(ties.size());
    workers.for_each(begins.size() - 1, [&](std::size_t task) {
        const auto to = begins[task + 1];
        for (auto run = ties.next(begins[task], to); run.begin < to; run = ties.next(run.end, to)) work(run);
    });
}

// The state of one argsort.
class Argsort {
  public:
    struct Tools {
        ItemSorter& engine;
        cpu::Workers& workers;
        cpu::Scratch &items, &scratch;
    };

    Argsort(const WideKeys& keys, std::span<std::uint32_t> order, const Tools& tools)
        : keys_(keys),
          order_(order),
          tools_(tools),
          items_(tools.items.of<std::uint64_t>(order.size())),
          place_bits_(tools.engine.place_bits(order.size())),
          word_bits_(tools.engine.word_bits(order.size())),
          ties_(order.size()) {
        std::iota(order_.begin(), order_.end(), 0U);
        stats_.n = order.size();
    }

    WideStats run() {
        while (!done() && round()) {
        }
        return stats_;
    }

  private:
    [[nodiscard]] std::size_t bits_done() const { return stats_.rounds * word_bits_; }
    [[nodiscard]] bool done() const { return keys_.one_length() && bits_done() >= 8 * keys_.length; }
    bool round();
    std::size_t sort_short_runs(std::size_t below);
    void sort_short_run(std::span<std::uint32_t> places, std::size_t from) const;
    void settle_equal(std::span<std::uint32_t> places, std::size_t done) const;
    void compare_run(std::span<std::uint32_t> places, std::size_t from) const;
    std::size_t gather(std::size_t from);
    void sort_gathered();
    void settle_ended();
    template <class Work>
    void for_items(Work work);

    const WideKeys& keys_;
    std::span<std::uint32_t> order_;
    Tools tools_;
    std::span<std::uint64_t> items_;
    unsigned place_bits_, word_bits_;
    Ties ties_;
    std::vector<Run> runs_;          // that are sorted together
    std::vector<std::size_t> ends_;  // of their items
    WideStats stats_;
};

// Sorts all runs by the next word. Returns whether there were any.
bool Argsort::round() {
    std::size_t compared = 0, sorted = 0;
    if (stats_.rounds == max_rounds) {
        compared = sort_short_runs(std::numeric_limits<std::size_t>::max());
    } else if (stats_.rounds > 0) {
        compared = sort_short_runs(tools_.engine.worth_a_round());
    }
    for (auto from = gather(0); !runs_.empty(); from = gather(from)) {
        sort_gathered();
        sorted += ends_.back();
    }
    if (stats_.rounds == 1) stats_.tied = sorted + compared;
    stats_.compared += compared;
    if (sorted == 0) return false;
    ++stats_.rounds;
    if (!keys_.one_length()) settle_ended();
    return true;
}

// Sorts runs of fewer than `below` keys, each on its own. Returns the number of keys.
std::size_t Argsort::sort_short_runs(std::size_t below) {
    if (below <= 2) return 0;
    const cpu::Stopwatch watch;
    std::atomic<std::size_t> compared = 0;
    for_runs(ties_, tools_.workers, [&](Run run) {
        if (run.size() >= below) return;
        settle_equal(order_.subspan(run.begin, run.size()), bits_done());
        ties_.settle(run);
        compared += run.size();
    });
    stats_.sort_ms += watch.ms();
    return compared;
}

// Sorts a short run by its next bits, which it reads once from each key, and then its runs of equal bits. `from` is the
// number of bits compared so far.
void Argsort::sort_short_run(std::span<std::uint32_t> places, std::size_t from) const {
    constexpr unsigned bits = 56, position_bits = 8;
    constexpr std::size_t longest = std::size_t{1} << position_bits;
    constexpr std::size_t shortest = 4, far = std::size_t{64} * bits;  // limits of what is faster than comparing
    if (places.size() < shortest || places.size() > longest || from > far) return compare_run(places, from);
    std::array<std::uint64_t, longest> memory;
    std::array<std::uint32_t, longest> before;
    const auto items = std::span(memory).first(places.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
        before[i] = places[i];
        items[i] = keys_.word(places[i], from, bits) << position_bits | i;
    }
    std::sort(items.begin(), items.end());
    for (std::size_t i = 0; i < items.size(); ++i) places[i] = before[items[i] & (longest - 1)];
    for (std::size_t begin = 0, end = 0; begin < items.size(); begin = end) {
        const auto word = items[begin] >> position_bits;
        for (end = begin + 1; end < items.size() && items[end] >> position_bits == word;) ++end;
        if (end - begin > 1) settle_equal(places.subspan(begin, end - begin), from + bits);
    }
}

// The keys are equal in bits before `done`, where zeros follow the end of a key.
void Argsort::settle_equal(std::span<std::uint32_t> places, std::size_t done) const {
    const auto size = [&](std::uint32_t key) { return keys_.size_of(key); };
    const auto shortest = size(*std::ranges::min_element(places, {}, size));
    if (8 * shortest >= done) return sort_short_run(places, done);
    const bool have_one_size = std::ranges::all_of(places, [&](std::uint32_t key) { return size(key) == shortest; });
    if (!have_one_size) compare_run(places, 0);
}

// Compares keys that are equal in the bits before `from`, or 0.
void Argsort::compare_run(std::span<std::uint32_t> places, std::size_t from) const {
    std::sort(places.begin(), places.end(), [&](std::uint32_t a, std::uint32_t b) {
        const int difference = external::compare(keys_[a], keys_[b], from / 8);
        return difference < 0 || (difference == 0 && a < b);
    });
}

// Collects runs from position `from` on. Returns the position to continue at.
std::size_t Argsort::gather(std::size_t from) {
    const cpu::Stopwatch watch;
    runs_.clear();
    ends_.clear();
    while (runs_.size() < max_runs) {
        const auto run = ties_.next(from, ties_.size());
        if (run.size() == 0) break;
        runs_.push_back(run);
        ends_.push_back((ends_.empty() ? 0 : ends_.back()) + run.size());
        from = run.end;
    }
    stats_.scan_ms += watch.ms();
    return from;
}

// Calls work(run, position in the order, items) for consecutive items of one run, on all threads. items.data()[-1]
// belongs to the same run unless the position is the run's beginning.
template <class Work>
void Argsort::for_items(Work work) {
    const auto n = ends_.back();
    tools_.workers.for_each((n + share - 1) / share, [&](std::size_t task) {
        const auto end = std::min(n, (task + 1) * share);
        auto item = task * share;
        auto r = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), item) - ends_.begin());
        for (; item < end; ++r) {
            const auto to = std::min(end, ends_[r]);
            work(runs_[r], runs_[r].end - (ends_[r] - item), items_.subspan(item, to - item));
            item = to;
        }
    });
}

void Argsort::sort_gathered() {
    const cpu::Stopwatch keys;
    for_items([&](Run, std::size_t place, std::span<std::uint64_t> items) {
        for (auto& item : items) {
            const auto key = order_[place++];
            item = keys_.word(key, bits_done(), word_bits_) << place_bits_ | key;
        }
    });
    stats_.key_ms += keys.ms();
    const cpu::Stopwatch sort;
    const auto n = ends_.back();
    tools_.engine.sort({items_.first(n), tools_.scratch.of<std::uint64_t>(order_.size()).first(n), ends_, place_bits_});
    stats_.sort_ms += sort.ms();
    const cpu::Stopwatch scan;
    const auto mask = (std::uint64_t{1} << place_bits_) - 1;
    for_items([&](Run run, std::size_t place, std::span<std::uint64_t> items) {
        for (auto& item : items) {
            const auto key = item & mask;
            if (key >= order_.size()) cpu::throw_not_sorted();  // a faulty driver has changed it
            order_[place] = static_cast<std::uint32_t>(key);
            ties_.set(place, place > run.begin && item >> place_bits_ == *(&item - 1) >> place_bits_);
            ++place;
        }
    });
    stats_.scan_ms += scan.ms();
}

// Among keys with equal words so far, those that have ended come first, shorter ones before longer ones: the zeros
// after their ends may equal bytes of other keys. Short runs are settled where they are sorted, since each look at a
// key is a miss of the cache.
void Argsort::settle_ended() {
    const cpu::Stopwatch watch;
    const auto done = bits_done();
    const auto length = [&](std::uint32_t key) { return std::min(8 * keys_.size_of(key), done + 1); };
    const auto short_run = tools_.engine.worth_a_round();
    for_runs(ties_, tools_.workers, [&](Run run) {
        if (run.size() < short_run) return;
        const auto places = order_.subspan(run.begin, run.size());
        const auto goes_on = [&](std::uint32_t key) { return length(key) > done; };
        if (std::all_of(places.begin(), places.end(), goes_on)) return;
        const auto is_before = [&](std::uint32_t a, std::uint32_t b) {
            return length(a) != length(b) ? length(a) < length(b) : a < b;
        };
        // Equal keys are in order already, and a column may have few values.
        if (!std::is_sorted(places.begin(), places.end(), is_before))
            std::sort(places.begin(), places.end(), is_before);
        const auto first =
            static_cast<std::size_t>(std::find_if(places.begin(), places.end(), goes_on) - places.begin());
        ties_.settle({run.begin, std::min(run.begin + first + 1, run.end)});
    });
    stats_.scan_ms += watch.ms();
}

}  // namespace

struct WideSorter::State {
    State(const std::optional<Context>& context, Engine wanted, unsigned threads)
        : workers(threads), engine(make_item_sorter(context, wanted, workers)) {}
    cpu::Workers workers;
    std::unique_ptr<ItemSorter> engine;
    cpu::Scratch items, scratch;
};

WideSorter::WideSorter(const std::optional<Context>& context, Engine engine, unsigned threads)
    : state_(std::make_unique<State>(context, engine, threads)) {}
WideSorter::WideSorter(WideSorter&&) noexcept = default;
WideSorter& WideSorter::operator=(WideSorter&&) noexcept = default;
WideSorter::~WideSorter() = default;

WideStats WideSorter::argsort(const WideKeys& keys, std::span<std::uint32_t> order) {
    if (order.size() > std::numeric_limits<std::uint32_t>::max())
        throw InvalidArgument("WideSorter::argsort: " + std::to_string(order.size()) +
                              " keys are more than 32 bits can count; sort them in several runs");
    return Argsort(keys, order, {*state_->engine, state_->workers, state_->items, state_->scratch}).run();
}

Engine WideSorter::engine() const noexcept {
    return state_->engine->engine();
}

std::size_t WideSorter::memory(std::size_t n) {
    const auto runs = std::min(n / 2 + 1, max_runs);
    return n * (2 * sizeof(std::uint64_t) + 1) + 2 * runs * (sizeof(Run) + sizeof(std::size_t)) +
           n / share * 2 * sizeof(std::size_t);
}

}  // namespace quadmill::detail::external
