#include "query/run/measures.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>

#include "cpu/rank.hpp"
#include "cpu/trim.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::query {

namespace {

using AggregateKind = QueryAggregate::Kind;

bool fits(const Sum& sum) {
    return sum.integer == static_cast<std::int64_t>(sum.integer);
}

// The nearest double, except that the lower half is rounded separately if the sum does not fit into 64 bits. The
// absolute value is converted, as in shaders: for a negative number in two's complement the lower half may be nearly
// 2^64, and its rounding error larger than the number's.
double number(const Sum& sum) {
    if (fits(sum)) return static_cast<double>(static_cast<std::int64_t>(sum.integer));
    const bool below = sum.integer < 0;
    const Integer all = below ? -sum.integer : sum.integer;
    const auto size = std::ldexp(static_cast<double>(static_cast<std::uint64_t>(all >> 64)), 64) +
                      static_cast<double>(static_cast<std::uint64_t>(all));
    return below ? -size : size;
}

Value sum_of(const ColumnData& column, const Sum& sum) {
    if (is_float(column.type)) return sum.value;
    if (fits(sum)) return static_cast<std::int64_t>(sum.integer);
    throw InvalidArgument("QueryProcessor: the sum of column '" + column.name +
                          "' does not fit into 64 bits; its average does");
}

}  // namespace

Value answer(const Wanted& wanted, const Tables& tables, Measures& measures) {
    const auto& what = wanted.what;
    const auto& place = wanted.place;
    if (what.kind == AggregateKind::CountRows) return static_cast<std::int64_t>(measures.rows());
    const auto n = measures.count(place);
    if (what.kind == AggregateKind::Count) return static_cast<std::int64_t>(n);
    if (n == 0) return {};
    const auto value = [&](Key key) { return value_of(*tables.data.at(place.table), place.column, key); };
    const auto& column = tables[place];
    switch (what.kind) {
        case AggregateKind::Sum:
            return sum_of(column, measures.sum(place));
        case AggregateKind::Average: {
            const auto sum = measures.sum(place);
            return (is_float(column.type) ? sum.value : number(sum)) / static_cast<double>(n);
        }
        case AggregateKind::Min:
            return value(measures.extremes(place).first);
        case AggregateKind::Max:
            return value(measures.extremes(place).second);
        default: {
            const auto k = rank_in(what, n);
            return k ? value(measures.kth(place, *k)) : Value();
        }
    }
}

std::optional<std::uint64_t> rank_in(const QueryAggregate& what, std::uint64_t n) {
    if (n == 0) return {};
    switch (what.kind) {
        case AggregateKind::Quantile:
            return cpu::rank_of(what.phi, n) - 1;
        case AggregateKind::KthSmallest:
            return what.k > n ? std::nullopt : std::optional(what.k - 1);
        case AggregateKind::KthLargest:
            return what.k > n ? std::nullopt : std::optional(n - what.k);
        default:
            return {};
    }
}

// ---- Groups

Groups::Groups(const Tables& tables, std::vector<ColumnPlace> by, std::span<const Wanted> wanted)
    : tables_(tables), by_(std::move(by)), width_(2 * by_.size()), slots_(std::size_t{1} << 10U) {
    for (const auto& one : wanted) measure(one);
    constexpr Key few = Key{1} << 20U;
    if (by_.size() == 1) {
        const auto& column = tables_[by_[0]];
        if (!is_float(column.type) && column.max - column.min < few) {
            dense_ = column.min;
            slots_.assign(column.max - column.min + 2, 0);
        }
    }
    if (by_.empty()) static_cast<void>(group_of(nullptr));  // so that there is a group even without rows
}

void Groups::measure(const Wanted& wanted) {
    const auto kind = wanted.what.kind;
    if (kind == AggregateKind::CountRows) return;
    auto found = std::ranges::find(measured_, wanted.place, &Measured::place);
    if (found == measured_.end()) found = measured_.insert(found, {.place = wanted.place});
    found->sum = found->sum || kind == AggregateKind::Sum || kind == AggregateKind::Average;
    found->order = found->order || is_rank(kind);
}

namespace {

std::size_t row_of(const ColumnPlace& place, const RowPair& pair) {
    return static_cast<std::size_t>(place.table == 0 ? pair.left : pair.right);
}

std::size_t hash_of(const Key* label, std::size_t width) {
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < width; ++i) {
        hash = (hash ^ label[i]) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 29U;
    }
    return static_cast<std::size_t>(hash);
}

}  // namespace

// Goes column by column for some pairs at a time, so that the work per row does not depend on types.
void Groups::add(std::span<const RowPair> pairs) {
    constexpr std::size_t at_once = 4096;
    for (; !pairs.empty(); pairs = pairs.subspan(std::min(at_once, pairs.size()))) {
        const auto some = pairs.first(std::min(at_once, pairs.size()));
        label(some);
        find_groups(some.size());
        for (auto& of : measured_) add_values(of, some);
    }
}

void Groups::label(std::span<const RowPair> pairs) {
    new_labels_.resize(pairs.size() * width_);
    for (std::size_t i = 0; i < by_.size(); ++i) {
        const auto& place = by_[i];
        const auto& column = tables_[place];
        visit_column_type(column.type, [&]<class T>(const T* /*type*/) {
            const auto& values = std::get<std::vector<T>>(column.values);
            auto* to = new_labels_.data() + 2 * i;
            for (const auto& pair : pairs) {
                const auto row = row_of(place, pair);
                const bool valid = has_value(column, row);
                to[0] = valid ? 1 : 0;
                to[1] = valid ? std::min<Key>(KeyOf<T>::key(values[row]), first_nan<T>()) : 0;
                to += width_;
            }
        });
    }
}

void Groups::find_groups(std::size_t n) {
    constexpr std::size_t ahead = 16;
    const auto dense_slot = [&](std::size_t i) { return slots_.data() + dense_place(new_labels_.data() + i * width_); };
    groups_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        if (dense_ && i + 2 * ahead < n) {
            __builtin_prefetch(dense_slot(i + 2 * ahead));
            if (const auto group = *dense_slot(i + ahead); group > 0) __builtin_prefetch(&rows_[group - 1]);
        }
        groups_[i] = by_.empty() ? 0 : group_of(new_labels_.data() + i * width_);
        ++rows_[groups_[i]];
    }
}

std::size_t Groups::group_of(const Key* label) {
    if (dense_) {
        auto& slot = slots_[dense_place(label)];
        if (slot == 0) slot = add_group(label) + 1;
        return slot - 1;
    }
    const auto last = slots_.size() - 1;
    auto slot = hash_of(label, width_) & last;
    for (; slots_[slot] != 0; slot = (slot + 1) & last) {
        const auto group = slots_[slot] - 1;
        if (std::equal(label, label + width_, labels_.data() + group * width_)) return group;
    }
    const auto group = add_group(label);
    slots_[slot] = group + 1;
    if (2 * rows_.size() > slots_.size()) make_space();
    return group;
}

std::size_t Groups::add_group(const Key* label) {
    const auto group = rows_.size();
    labels_.insert(labels_.end(), label, label + width_);
    rows_.push_back(0);
    for (auto& of : measured_) {
        of.states.emplace_back();
        if (of.order) of.keys.emplace_back();
    }
    return group;
}

void Groups::make_space() {
    slots_.assign(2 * slots_.size(), 0);
    const auto last = slots_.size() - 1;
    for (std::size_t group = 0; group < rows_.size(); ++group) {
        auto slot = hash_of(labels_.data() + group * width_, width_) & last;
        while (slots_[slot] != 0) slot = (slot + 1) & last;
        slots_[slot] = group + 1;
    }
}

void Groups::add_values(Measured& of, std::span<const RowPair> pairs) {
    const auto& column = tables_[of.place];
    visit_column_type(column.type, [&]<class T>(const T* /*type*/) {
        const auto& values = std::get<std::vector<T>>(column.values);
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const auto row = row_of(of.place, pairs[i]);
            if (!has_value(column, row)) continue;
            auto& state = of.states[groups_[i]];
            const Key key = KeyOf<T>::key(values[row]);
            ++state.count;
            state.min = std::min(state.min, key);
            state.max = std::max(state.max, key);
            if (of.order) of.keys[groups_[i]].push_back(key);
            if (!of.sum) continue;
            if constexpr (std::is_floating_point_v<T>) {
                state.sum.add(double{values[row]});
            } else {
                state.integer += values[row];
            }
        }
    });
}

void Groups::State::add(const State& other) {
    count += other.count;
    min = std::min(min, other.min);
    max = std::max(max, other.max);
    sum.add(other.sum.value);
    sum.lost += other.sum.lost;
    integer += other.integer;
}

void Groups::add(Groups&& other) {
    constexpr std::size_t trimmed_keys = std::size_t{1} << 18U;  // after so many copies, freed memory is given back
    for (std::size_t from = 0; from < other.rows_.size(); ++from) {
        const auto to = by_.empty() ? 0 : group_of(other.labels_.data() + from * width_);
        rows_[to] += other.rows_[from];
        for (std::size_t i = 0; i < measured_.size(); ++i) {
            measured_[i].states[to].add(other.measured_[i].states[from]);
            if (!measured_[i].order) continue;
            auto &all = measured_[i].keys[to], &more = other.measured_[i].keys[from];
            if (all.empty()) {
                all = std::move(more);
            } else {
                all.insert(all.end(), more.begin(), more.end());
                copied_ += more.size();
                more = std::vector<Key>();  // gives the memory back
            }
            if (copied_ >= trimmed_keys) {
                copied_ = 0;
                cpu::trim_memory();
            }
        }
    }
}

Groups::Measured& Groups::measured(const ColumnPlace& place) {
    return *std::ranges::find(measured_, place, &Measured::place);
}

// Measures of one group.
class GroupMeasures : public Measures {
  public:
    GroupMeasures(Groups& groups, std::size_t group) : groups_(groups), group_(group) {}
    [[nodiscard]] std::uint64_t rows() override { return groups_.rows_[group_]; }
    [[nodiscard]] std::uint64_t count(const ColumnPlace& place) override { return state(place).count; }
    [[nodiscard]] Sum sum(const ColumnPlace& place) override {
        return {.integer = state(place).integer, .value = state(place).sum.total()};
    }
    [[nodiscard]] std::pair<Key, Key> extremes(const ColumnPlace& place) override {
        return {state(place).min, state(place).max};
    }
    [[nodiscard]] Key kth(const ColumnPlace& place, std::uint64_t k) override {
        auto& keys = groups_.measured(place).keys[group_];
        const auto at = keys.begin() + static_cast<std::ptrdiff_t>(k);
        std::nth_element(keys.begin(), at, keys.end());
        return *at;
    }

  private:
    [[nodiscard]] const Groups::State& state(const ColumnPlace& place) {
        return groups_.measured(place).states[group_];
    }

    Groups& groups_;
    std::size_t group_;
};

std::vector<std::size_t> Groups::ordered(std::uint64_t max) const {
    if (dense_) {
        std::vector<std::size_t> groups;
        for (std::size_t i = 0; i < slots_.size() && groups.size() < max; ++i) {
            if (slots_[i] != 0) groups.push_back(slots_[i] - 1);
        }
        return groups;
    }
    // The first column is stored next to the group's number: most comparisons need only that, and it is in the cache.
    struct Entry {
        Key valid, key;
        std::size_t group;
    };
    std::vector<Entry> all(rows_.size());
    for (std::size_t group = 0; group < all.size(); ++group) {
        const auto* label = labels_.data() + group * width_;
        all[group] = {width_ > 0 ? label[0] : 0, width_ > 0 ? label[1] : 0, group};
    }
    const auto before = [&](const Entry& a, const Entry& b) {
        if (a.valid != b.valid) return a.valid < b.valid;
        if (a.key != b.key) return a.key < b.key;
        const auto *x = labels_.data() + a.group * width_, *y = labels_.data() + b.group * width_;
        return std::lexicographical_compare(x, x + width_, y, y + width_);
    };
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(max, all.size()));
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(n);
    if (n < all.size()) std::nth_element(all.begin(), end, all.end(), before);
    std::sort(all.begin(), end, before);
    std::vector<std::size_t> groups(n);
    for (std::size_t i = 0; i < n; ++i) groups[i] = all[i].group;
    return groups;
}

void Groups::each(std::uint64_t max, const std::function<void(const std::vector<Value>&, Measures&)>& take) {
    std::vector<Value> by(by_.size());
    constexpr std::size_t ahead = 16;
    const auto groups = ordered(max);
    for (std::size_t k = 0; k < groups.size(); ++k) {
        const auto group = groups[k], later = groups[std::min(k + ahead, groups.size() - 1)];
        __builtin_prefetch(&rows_[later]);
        __builtin_prefetch(labels_.data() + later * width_);
        const auto* label = labels_.data() + group * width_;
        for (std::size_t i = 0; i < by_.size(); ++i) {
            const auto& place = by_[i];
            by[i] =
                label[2 * i] == 0 ? Value() : value_of(*tables_.data.at(place.table), place.column, label[2 * i + 1]);
        }
        GroupMeasures measures(*this, group);
        take(by, measures);
    }
}

}  // namespace quadmill::detail::query
