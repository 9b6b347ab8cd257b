#include "query/gpu/parted_columns.hpp"

#include <algorithm>

#include "query/table/key.hpp"

namespace quadmill::detail::query {

namespace {

class PartedBits final : public Bits {
  public:
    explicit PartedBits(std::vector<BitsPtr> parts) : parts_(std::move(parts)) {}
    [[nodiscard]] const Bits& operator[](std::size_t part) const { return *parts_[part]; }

  private:
    std::vector<BitsPtr> parts_;
};

const PartedBits& parted(const Bits& bits) {
    return static_cast<const PartedBits&>(bits);
}

// floor(a b / n) without overflow. Pre: a < n.
std::uint64_t scaled(std::uint64_t a, std::uint64_t b, std::uint64_t n) {
    std::uint64_t quotient = 0, rest = 0;
    for (int bit = 63; bit >= 0; --bit) {
        quotient <<= 1U;
        rest <<= 1U;
        if ((b >> static_cast<unsigned>(bit) & 1U) != 0) rest += a;
        while (rest >= n) {
            rest -= n;
            ++quotient;
        }
    }
    return quotient;
}

}  // namespace

template <class Make>
BitsPtr PartedColumns::each(Make&& make) {
    std::vector<BitsPtr> all;
    for (std::size_t i = 0; i < parts_.size(); ++i) all.push_back(make(*parts_[i].columns, i));
    return std::make_shared<PartedBits>(std::move(all));
}

BitsPtr PartedColumns::leaf(const Leaf& leaf) {
    return each([&](GpuColumns& columns, std::size_t /*i*/) { return columns.leaf(leaf); });
}

BitsPtr PartedColumns::combine(BoolOp op, const Bits& a, const Bits& b) {
    return each([&](GpuColumns& columns, std::size_t i) { return columns.combine(op, parted(a)[i], parted(b)[i]); });
}

BitsPtr PartedColumns::conjunction(const Clauses& clauses) {
    return each([&](GpuColumns& columns, std::size_t /*i*/) { return columns.conjunction(clauses); });
}

std::uint64_t PartedColumns::count(const Bits& rows) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) sum += parts_[i].columns->count(parted(rows)[i]);
    return sum;
}

template <class Count>
Counting PartedColumns::counting(const Count& count) {
    std::vector<Counting> all;
    for (std::size_t i = 0; i < parts_.size(); ++i) all.push_back(count(*parts_[i].columns, i));
    const auto held = std::make_shared<std::vector<Counting>>(std::move(all));
    return {.result =
                [held] {
                    std::uint64_t sum = 0;
                    for (const auto& part : *held) sum += part.result();
                    return sum;
                },
            .ready = [held] { return std::ranges::all_of(*held, [](const auto& part) { return part.ready(); }); }};
}

Counting PartedColumns::count_later(const Bits& rows) {
    return counting([&](GpuColumns& columns, std::size_t i) { return columns.count_later(parted(rows)[i]); });
}

Counting PartedColumns::count_conjunction_later(const Clauses& clauses) {
    return counting([&](GpuColumns& columns, std::size_t /*i*/) { return columns.count_conjunction_later(clauses); });
}

void PartedColumns::send_again(std::span<const std::size_t> columns) {
    for (const auto& part : parts_) part.columns->send_again(columns);
}

std::vector<PartedColumns::Used> PartedColumns::used(const Bits& rows) {
    std::vector<Used> all;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (const auto count = parts_[i].columns->count(parted(rows)[i]); count > 0) all.push_back({i, count});
    }
    return all;
}

std::pair<Key, Key> PartedColumns::extremes(std::size_t column, const Bits& rows) {
    std::pair<Key, Key> all{~Key{0}, 0};
    for (const auto& [i, count] : used(rows)) {
        const auto [min, max] = parts_[i].columns->extremes(column, parted(rows)[i]);
        all = {std::min(all.first, min), std::max(all.second, max)};
    }
    return all;
}

Key PartedColumns::kth(std::size_t column, std::uint64_t k, const Bits& rows) {
    const auto within = [&](const Bits& some, Key low, Key high) {
        return combine(BoolOp::And, some, *leaf(Range{.column = column, .low = low, .high = high}));
    };
    BitsPtr kept;  // rows among which it is the k-th
    for (const Bits* among = &rows;; among = kept.get()) {
        const auto [low, high] = around_kth(column, k, *among);
        if (low == high) return low;
        if (low > 0) k -= count(*within(*among, 0, low - 1));
        const auto middle = low + (high - low) / 2;
        auto lower = within(*among, low, middle);
        if (const auto n = count(*lower); n > k) {
            kept = std::move(lower);
        } else {
            k -= n;
            kept = within(*among, middle + 1, high);
        }
    }
}

// Two keys: at most k keys are below the first, and more than k keys are not above the second.
std::pair<Key, Key> PartedColumns::around_kth(std::size_t column, std::uint64_t k, const Bits& rows) {
    const auto parts = used(rows);
    std::uint64_t n = 0;
    for (const auto& part : parts) n += part.count;
    std::pair<Key, Key> between{~Key{0}, 0};
    for (const auto& [i, count] : parts) {
        const auto key = parts_[i].columns->kth(column, scaled(k, count, n), parted(rows)[i]);
        between = {std::min(between.first, key), std::max(between.second, key)};
    }
    return between;
}

Sum PartedColumns::sum(std::size_t column, const Bits& rows) {
    Sum all;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const auto sum = parts_[i].columns->sum(column, parted(rows)[i]);
        all.integer += sum.integer;
        all.value += sum.value;
    }
    return all;
}

std::vector<std::uint64_t> PartedColumns::rows(const Bits& rows) {
    std::vector<std::uint64_t> all;
    std::size_t first = 0;
    for (std::size_t i = 0; i < parts_.size(); first += parts_[i++].rows) {
        for (const auto row : parts_[i].columns->rows(parted(rows)[i])) all.push_back(first + row);
    }
    return all;
}

BitsPtr PartedColumns::bits_of(std::span<const std::uint32_t> words) {
    return each([&](GpuColumns& columns, std::size_t i) {
        const auto used = words.first((parts_[i].rows + 31) / 32);
        words = words.subspan(used.size());
        return columns.bits_of(used);
    });
}

std::vector<std::uint32_t> PartedColumns::words(const Bits& rows) {
    std::vector<std::uint32_t> all;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const auto some = parts_[i].columns->words(parted(rows)[i]);
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

}  // namespace quadmill::detail::query
