#include "stream/quantile_summary.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "cpu/merge.hpp"

namespace quadmill::detail::stream {

std::uint64_t QuantileSummary::gap_for(double max_error) {
    constexpr double max = 0x1p62;
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(std::clamp(2 * max_error, 0.0, max)), 1);
}

Reach::Reach(Tail tail, double max_error, std::uint64_t n)
    : tail_(tail),
      n_(n),
      gap_(QuantileSummary::gap_for(max_error)),
      error_(max_error / static_cast<double>(std::max<std::uint64_t>(n, 1))),
      low_(error_ / (1 - error_)),
      high_(error_ / (1 + error_)) {}

bool Reach::worth_pruning(double error, std::uint64_t gap, std::size_t size) const {
    if (tail_ == Tail::Off) return gap_ > gap && n_ / (gap_ - gap) < size;
    const auto more = error_ - error;
    const auto ends = tail_ == Tail::Both ? 2 : 1;
    return more > 0 &&
           ends * (1 + std::log1p(2 * more * static_cast<double>(n_))) / (2 * more) < static_cast<double>(size);
}

QuantileSummary QuantileSummary::merged(const QuantileSummary& a, const QuantileSummary& b, QuantileSummary&& memory,
                                        const Share& share) {
    if (a.n_ == 0) return b;
    if (b.n_ == 0) return a;
    const auto unpacked = [](QuantileSummary summary) {
        summary.unpack();
        return summary;
    };
    if (a.is_packed()) return merged(unpacked(a), b, std::move(memory), share);
    if (b.is_packed()) return merged(a, unpacked(b), std::move(memory), share);
    memory.unpack();
    auto out = std::move(memory);
    out.n_ = a.n_ + b.n_;
    out.tail_ = a.tail_;
    out.error_ = std::max(a.error_, b.error_);
    out.keys_.clear();  // so that a reallocation copies no old values
    out.ranks_.clear();
    out.keys_.resize(a.size() + b.size());
    const bool exact = a.is_exact() && b.is_exact();
    out.ranks_.resize(exact ? 0 : out.size());
    if (exact) {
        out.merge_exactly(a, b, share);
        return out;
    }
    const auto with_ranks = [](const QuantileSummary& of, const auto& work) {
        of.is_stepped() ? work(Stepped(of)) : work([ranks = of.ranks_.data()](std::size_t i) { return ranks[i]; });
    };
    with_ranks(a, [&](const auto& ranks_a) {
        with_ranks(b, [&](const auto& ranks_b) {
            out.gap_ = largest(share, out.size(), [&](std::size_t /*piece*/, std::size_t begin, std::size_t end) {
                return out.merge_piece(a, ranks_a, b, ranks_b, begin, end);
            });
        });
    });
    return out;
}

namespace {

// How many of the first `count` merged keys come from `a`.
std::size_t from_first(std::span<const Key> a, std::span<const Key> b, std::size_t count) {
    const cpu::Run<Key> run_a{a.data(), a.size()}, run_b{b.data(), b.size()};
    return cpu::merge_path(run_a, run_b, count, std::less<Key>());
}

}  // namespace

// The max of what work(piece, begin, end) returns.
template <class Work>
std::uint64_t QuantileSummary::largest(const Share& share, std::size_t size, const Work& work) {
    std::vector<std::uint64_t> of_piece(size / shared_piece + 1);
    share_pieces(share, size, [&](std::size_t piece, std::size_t begin, std::size_t end) {
        of_piece[piece] = work(piece, begin, end);
    });
    return *std::max_element(of_piece.begin(), of_piece.end());
}

void QuantileSummary::merge_exactly(const QuantileSummary& a, const QuantileSummary& b, const Share& share) {
    gap_ = 1;
    share_pieces(share, size(), [&](std::size_t /*piece*/, std::size_t begin, std::size_t end) {
        const auto from_a = from_first(a.keys_, b.keys_, begin), to_a = from_first(a.keys_, b.keys_, end);
        const cpu::Run<Key> run_a{a.keys_.data() + from_a, to_a - from_a};
        const cpu::Run<Key> run_b{b.keys_.data() + (begin - from_a), (end - to_a) - (begin - from_a)};
        cpu::merge_halves(run_a, run_b, keys_.data() + begin, std::less<Key>());
    });
}

// The rank of a merged entry is its old rank plus the number of values before it in the other summary: at least those
// up to its predecessor there, and at most those before its successor. Among equal keys, those of `a` come first.
std::uint64_t QuantileSummary::merge_piece(const QuantileSummary& a, const auto& ranks_a, const QuantileSummary& b,
                                           const auto& ranks_b, std::size_t begin, std::size_t end) {
    const auto na = a.size(), nb = b.size();
    std::size_t x = from_first(a.keys_, b.keys_, begin), y = begin - x;
    // rank_min of the predecessors
    std::uint64_t x_min = x > 0 ? ranks_a(x - 1).min : 0, y_min = y > 0 ? ranks_b(y - 1).min : 0, gap = 2;
    while (x < na && y < nb && x + y < end) {
        const bool take_x = a.keys_[x] <= b.keys_[y];  // random: no branch may depend on it
        const auto in_a = ranks_a(x), in_b = ranks_b(y);
        const auto max = in_a.max + in_b.max - 1;
        gap = std::max(gap, max - (x_min + y_min));
        x_min = take_x ? in_a.min : x_min;
        y_min = take_x ? y_min : in_b.min;
        keys_[x + y] = take_x ? a.keys_[x] : b.keys_[y];
        ranks_[x + y] = {x_min + y_min, max};
        x += take_x;
        y += !take_x;
    }
    auto before = x_min + y_min;
    const auto take = [&](Key key, const Ranks& ranks, std::uint64_t others) {
        keys_[x + y] = key;
        ranks_[x + y] = {ranks.min + others, ranks.max + others};
        gap = std::max(gap, ranks.max + others - before);
        before = ranks.min + others;
    };
    for (; x < na && x + y < end; ++x) take(a.keys_[x], ranks_a(x), b.n_);
    for (; y < nb && x + y < end; ++y) take(b.keys_[y], ranks_b(y), a.n_);
    return gap;
}

// A sum of many inputs is a walk through their entries in order. Let min be the sum of rank_min of the last entry
// passed in each input, and max that of rank_max - 1 of the next one, which is the number of values there if there is
// none. Then an entry of the sum has rank_min min after it is passed, and rank_max max + 1 before.
template <class Rank>
class QuantileSummary::Walk {
  public:
    using Parts = std::span<const QuantileSummary* const>;

    // With a `coarse` error, per value, inputs are pruned before.
    Walk(Parts parts, std::optional<double> coarse) : coarse_(coarse) {
        std::size_t count = 0;
        for (const auto* part : parts) count += part->size();
        List<Step> spare(count);
        steps_.resize(count);
        steps_.resize(static_cast<std::size_t>(merge(parts, steps_.data(), spare.data()) - steps_.data()));
    }
    // Takes the entries that are kept with that reach, or all.
    void take(QuantileSummary& sum, const Reach* reach) {
        if (reach) {
            Ranks at{0, before_ + 1};
            const auto ranks_of = [&](std::size_t i) {
                at.min += steps_[i].min;
                return Ranks{at.min, std::exchange(at.max, at.max + steps_[i].max)};
            };
            const auto key_of = [steps = steps_.data()](std::size_t i) { return steps[i].key; };
            const auto* const end = thin(steps_.size(), key_of, ranks_of, reach, sum.n_, steps_.data());
            steps_.resize(static_cast<std::size_t>(end - steps_.data()));
        }
        sum.keys_.resize(steps_.size());
        sum.ranks_.resize(steps_.size());
        std::uint64_t min = 0, max = before_ + 1, gap = 2;
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            gap = std::max(gap, max - min);
            min += steps_[i].min;
            sum.keys_[i] = steps_[i].key;
            sum.ranks_[i] = {min, std::exchange(max, max + steps_[i].max)};
        }
        sum.gap_ = gap;
        if (steps_.size() < sum.n_) return;
        sum.ranks_.clear();  // all values are kept
        sum.gap_ = 1;
    }

  private:
    struct Step {
        Key key;
        Rank min, max;  // of rank_min since the previous entry, and of rank_max until the next one
    };
    // In order at `to`; `spare` has as much room. Returns the end.
    Step* merge(Parts parts, Step* to, Step* spare) {
        if (parts.size() == 1) return write(*parts.front(), to);
        const auto half = parts.size() / 2;
        const auto middle = merge(parts.first(half), spare, to);
        const auto end = merge(parts.subspan(half), middle, to + (middle - spare));
        const auto less = [](const Step& a, const Step& b) { return a.key < b.key; };
        if constexpr (for_size) {
            return std::merge(spare, middle, middle, end, to, less);
        } else {
            const auto run = [](const Step* from, const Step* until) {
                return cpu::Run<Step>{from, static_cast<std::size_t>(until - from)};
            };
            cpu::merge_halves(run(spare, middle), run(middle, end), to, less);
            return to + (end - spare);
        }
    }
    Step* write(const QuantileSummary& part, Step* to) {
        const Reach reach(part.tail_, coarse_.value_or(0) * static_cast<double>(part.n_), part.n_);
        const bool prunes = coarse_ && reach.worth_pruning(part.error_, part.gap_, part.size());
        before_ += part.ranks_of(0).max - 1;
        const auto with_keys = [&](const auto& key_of) {
            const auto with_ranks = [&](const auto& ranks_of) {
                return thin(part.size(), key_of, ranks_of, prunes ? &reach : nullptr, part.n_, to);
            };
            if constexpr (!for_size) {
                if (part.is_stepped()) return with_ranks(Stepped(part));
            }
            return with_ranks([&](std::size_t i) { return part.ranks_of(i); });
        };
        if constexpr (for_size) {
            return with_keys([&](std::size_t i) { return part.key(i); });
        } else {
            if (part.short_keys_.empty())
                return with_keys([keys = part.keys_.data()](std::size_t i) { return keys[i]; });
            return with_keys(
                [base = part.base_, keys = part.short_keys_.data()](std::size_t i) { return base + keys[i]; });
        }
    }
    // Writes the steps of the entries that are kept: the first one, the last one, and those after which the next one is
    // out of reach of the last kept one. These steps may replace those that are read. Returns their end.
    static Step* thin(std::size_t size, const auto& key_of, const auto& ranks_of, const Reach* reach, std::uint64_t n,
                      Step* to) {
        const auto with = [&](const auto& is_beyond) {  // whether that rank_max is, for an entry with that rank_min
            Ranks last{}, ranks = ranks_of(0);
            auto* at = to;
            for (std::size_t i = 0; i < size; ++i) {
                const auto next = i + 1 < size ? ranks_of(i + 1) : Ranks{};
                const bool is_kept = i == 0 || i + 1 == size || is_beyond(next.max, last.min);
                *at = {key_of(i), static_cast<Rank>(ranks.min - last.min), 0};
                if (i > 0) at[-1].max = static_cast<Rank>(ranks.max - last.max);
                at += is_kept ? 1 : 0;
                last = is_kept ? ranks : last;
                ranks = next;
            }
            at[-1].max = static_cast<Rank>(n + 1 - last.max);
            return at;
        };
        if constexpr (for_size) {
            return with([reach](std::uint64_t max, std::uint64_t min) { return !reach || max > (*reach)(min); });
        } else {
            if (!reach) return with([](std::uint64_t /*max*/, std::uint64_t /*min*/) { return true; });
            if (reach->has_tail())
                return with([reach](std::uint64_t max, std::uint64_t min) { return max > (*reach)(min); });
            return with([gap = (*reach)(0)](std::uint64_t max, std::uint64_t min) { return max > min + gap; });
        }
    }

    std::optional<double> coarse_;
    std::uint64_t before_ = 0;
    List<Step> steps_;
};

// Each entry is moved once a level of the tree of merges. So where the error permits it, inputs are pruned to half of
// their entries before.
QuantileSummary QuantileSummary::merged(std::span<const QuantileSummary* const> parts, double max_error) {
    QuantileSummary sum;
    std::size_t size = 0;
    std::uint64_t widest = 0;
    for (const auto* part : parts) {
        sum.n_ += part->n_;
        size += part->size();
    }
    const auto n = static_cast<double>(sum.n_);
    sum.tail_ = parts.front()->tail_;
    constexpr double growth = 1. / 12, few = 8;
    std::optional<double> coarse;
    if (few * n / (2 * growth * max_error) < static_cast<double>(size)) coarse = max_error / n * (1 - growth);
    std::uint64_t gap = 1;  // the largest possible one of the sum
    for (const auto* part : parts) {
        const auto own = coarse ? std::max(part->gap_, gap_for(*coarse * static_cast<double>(part->n_))) : part->gap_;
        gap += own - 1;
        widest = std::max(widest, own);
        sum.error_ = std::max(sum.error_, part->error_);
    }
    if (coarse && sum.tail_ != Tail::Off) sum.error_ = std::max(sum.error_, *coarse);
    const Reach reach(sum.tail_, max_error, sum.n_);
    const bool prunes = reach.worth_pruning(sum.error_, gap, size);
    if (prunes) {
        sum.error_ = max_error / n;
        widest = std::max(widest, gap_for(max_error) + 1);
    }
    const auto merge = [&]<class Rank>(Rank /*type*/) {
        Walk<Rank>(parts, coarse).take(sum, prunes ? &reach : nullptr);
    };
    if constexpr (!for_size) {
        if (widest <= std::numeric_limits<std::uint32_t>::max()) {
            merge(std::uint32_t{});
            return sum;
        }
    }
    merge(std::uint64_t{});
    return sum;
}

// Moves the kept entries of a piece to its front.
std::uint64_t QuantileSummary::prune_piece(std::size_t begin, std::size_t end, const Reach& reach, std::size_t& count) {
    std::size_t kept = begin;
    std::uint64_t gap = 2;
    const auto keep = [&](std::size_t i) {
        gap = std::max(gap, ranks_[i].max - ranks_[kept].min);
        ++kept;
        keys_[kept] = keys_[i];
        ranks_[kept] = ranks_[i];
    };
    const auto last = std::min(end, size() - 1);
    for (std::size_t i = begin + 1; i < last; ++i) {
        if (ranks_[i + 1].max > reach(ranks_[kept].min)) keep(i);
    }
    if (end < size()) {
        gap = std::max(gap, ranks_[end].max - ranks_[kept].min);  // the next piece keeps this entry
    } else if (last > begin) {
        keep(last);
    }
    count = kept + 1 - begin;
    return gap;
}

// After a kept entry, the last entry that the gap permits is kept. The one after that is too far, but by at most the
// old gap. So each step gains more than the growth of the gap, and at most n / growth + 1 entries are kept. Each piece
// keeps its first entry, so that pieces are independent.
void QuantileSummary::prune(double max_error, const Share& share) {
    const Reach reach(tail_, max_error, n_);
    if (!reach.worth_pruning(error_, gap_, size())) return;  // too few would go
    unpack();
    if (is_stepped()) {
        QuantileSummary pruned;
        const auto at = [&](std::uint64_t i) { return keys_[static_cast<std::size_t>((i + gap_ - 1) / gap_)]; };
        tail_ != Tail::Off ? pruned.sample_tail(n_, max_error, tail_, at)
                           : pruned.sample(n_, gap_for(max_error) / gap_ * gap_, at, share);
        *this = std::move(pruned);
        return;
    }
    error_ = max_error / static_cast<double>(n_);
    std::vector<std::size_t> kept(size() / shared_piece + 1);  // number of kept entries in each piece
    gap_ = largest(share, size(), [&](std::size_t piece, std::size_t begin, std::size_t end) {
        return prune_piece(begin, end, reach, kept[piece]);
    });
    auto to = kept.front();
    for (std::size_t piece = 1; piece < kept.size(); ++piece) {
        const auto from = piece * shared_piece;
        for (auto i = from; i < from + kept[piece]; ++i, ++to) {
            keys_[to] = keys_[i];
            ranks_[to] = ranks_[i];
        }
    }
    keys_.resize(to);
    ranks_.resize(to);
    if (to < keys_.capacity() / 2) {
        keys_.shrink_to_fit();
        ranks_.shrink_to_fit();
    }
}

void QuantileSummary::pack() {
    constexpr std::size_t max_entries = std::size_t{1} << 16U;
    constexpr Key max_short = std::numeric_limits<std::uint32_t>::max();
    if (size() > max_entries) return;
    if (!keys_.empty() && keys_.back() - keys_.front() <= max_short) {
        base_ = keys_.front();
        short_keys_.reserve(keys_.size());
        for (const auto key : keys_) short_keys_.push_back(static_cast<std::uint32_t>(key - base_));
        keys_.clear();
    }
    if (!ranks_.empty() && n_ <= max_short) {
        short_ranks_.reserve(ranks_.size());
        for (const auto& [min, max] : ranks_)
            short_ranks_.push_back({static_cast<std::uint32_t>(min), static_cast<std::uint32_t>(max - min)});
        ranks_.clear();
    }
    keys_.shrink_to_fit();
    ranks_.shrink_to_fit();
}

void QuantileSummary::unpack() {
    if (!short_keys_.empty()) {
        keys_.resize(short_keys_.size());
        for (std::size_t i = 0; i < keys_.size(); ++i) keys_[i] = key(i);
        short_keys_ = List<std::uint32_t>();  // {} would keep the memory
    }
    if (!short_ranks_.empty()) {
        ranks_.resize(short_ranks_.size());
        for (std::size_t i = 0; i < ranks_.size(); ++i) ranks_[i] = ranks_of(i);
        short_ranks_ = List<ShortRanks>();
    }
}

// After pruning, most ranks are as far apart as the gap permits, so the differences to the gap are small.
void QuantileSummary::write(Writer& to) const {
    to.u64(n_);
    if (n_ == 0) return;
    to.u64(is_stepped() ? gap_ : 0);
    if (!is_stepped()) {
        if (tail_ == Tail::Off) to.u64(gap_);
        to.u64(size());
    }
    to.keys(*this);
    for (std::size_t i = 1; i < size() && !is_stepped(); ++i) {
        const auto before = ranks_of(i - 1), ranks = ranks_of(i);
        to.u64(ranks.min - before.min);
        to.u64(tail_ == Tail::Off ? gap_ - (ranks.max - before.min) : ranks.max - ranks.min);
    }
}

QuantileSummary QuantileSummary::read(Reader& from, Tail tail) {
    constexpr std::uint64_t max = std::uint64_t{1} << 60U;
    QuantileSummary summary;
    summary.tail_ = tail;
    summary.n_ = from.u64();
    from.require(summary.n_ <= max, "the number of values");
    if (summary.n_ == 0) return summary;
    const auto step = from.u64();
    from.require(step <= (tail == Tail::Off ? std::max<std::uint64_t>(summary.n_ - 1, 1) : 1), "the step of a sample");
    summary.gap_ = step > 0 ? step : tail == Tail::Off ? from.u64() : 2;
    summary.keys_.resize(step > 0 ? from.count_of(steps(summary.n_, step)) : from.count());
    Key before = 0;
    for (auto& key : summary.keys_) key = before = from.key(before);
    if (step == 0) summary.read_ranks(from);
    return summary;
}

// The first entry has rank 1, the last one rank n. Without a tail, the distance equals the gap somewhere.
void QuantileSummary::read_ranks(Reader& from) {
    const bool has_tail = tail_ != Tail::Off;
    from.require(size() >= 2 && size() <= n_ && (has_tail || (gap_ >= 2 && gap_ <= n_)), "the number of keys");
    ranks_.resize(size());
    ranks_.front() = {1, 1};
    std::uint64_t widest = 2;
    for (std::size_t i = 1; i < size(); ++i) {
        const auto& before = ranks_[i - 1];
        const auto above = from.u64(), more = from.u64(), left = n_ - before.min;
        from.require(above >= 1 && above <= left && more <= (has_tail ? left - above : gap_), "the ranks of a summary");
        const auto gap = has_tail ? above + more : gap_ - more;
        ranks_[i] = {before.min + above, before.min + gap};
        from.require(gap >= above && gap <= left && ranks_[i].max > before.max, "the ranks of a summary");
        widest = std::max(widest, gap);
        if (!has_tail) continue;
        const auto k = gap / 2, low = before.min + k, high = n_ + 1 - ranks_[i].max + k;
        const auto distance = tail_ == Tail::Low ? low : tail_ == Tail::High ? high : std::min(low, high);
        error_ = std::max(error_, static_cast<double>(k) / static_cast<double>(distance));
    }
    from.require(ranks_.back().min == n_ && (has_tail || widest == gap_), "the ends of a summary");
    gap_ = widest;
}

}  // namespace quadmill::detail::stream
