#include "query/gpu/depth_codes.hpp"

#include <algorithm>
#include <numeric>

#include "query/table/key.hpp"

namespace quadmill::detail::query {

namespace {

constexpr int max_plane_bits = 29;
constexpr std::uint32_t max_codes = depth_codes - 1;  // one code is for NULL

// For keys of 32 bits, the key range is cut into this many equal buckets. Each bucket gives a run from its min to its
// max key.
constexpr int bits_of_buckets = 16;
// For keys of 64 bits equal buckets would be too wide. Each distinct key is a run, if there are at most this many.
constexpr std::size_t max_distinct = std::size_t{1} << 16U;

template <class Take>
void each_key(const ColumnData& column, std::size_t first, std::size_t rows, const Take& take) {
    visit_column_type(column.type, [&]<class T>(const T* /*type*/) {
        const auto& values = std::get<std::vector<T>>(column.values);
        for (std::size_t row = first; row < first + rows; ++row) {
            if (has_value(column, row) && !take(Key{KeyOf<T>::key(values[row])})) return;
        }
    });
}

std::vector<KeyRun> buckets(const ColumnData& column, std::size_t first, std::size_t rows) {
    const auto width = static_cast<int>(std::bit_width(column.max - column.min));
    const auto shift = static_cast<unsigned>(std::max(width - bits_of_buckets, 0));
    std::vector<KeyRun> all(((column.max - column.min) >> shift) + 1, KeyRun{~Key{0}, 0});
    each_key(column, first, rows, [&](Key key) {
        auto& [min, max] = all[(key - column.min) >> shift];
        min = std::min(min, key);
        max = std::max(max, key);
        return true;
    });
    std::erase_if(all, [](const KeyRun& run) { return run.first > run.last; });
    return all;
}

// An open hash table of keys; it is called once per row.
class Distinct {
  public:
    // False if there are too many distinct keys.
    bool add(Key key) {
        const auto last = slots_.size() - 1;
        auto slot = static_cast<std::size_t>(key * 0x9e3779b97f4a7c15U >> 45U) & last;
        for (; used_[slot]; slot = (slot + 1) & last) {
            if (slots_[slot] == key) return true;
        }
        used_[slot] = true;
        slots_[slot] = key;
        keys_.push_back(key);
        return keys_.size() <= max_distinct;
    }
    [[nodiscard]] std::optional<std::vector<KeyRun>> runs() && {
        if (keys_.size() > max_distinct) return {};
        std::ranges::sort(keys_);
        std::vector<KeyRun> all;
        for (const auto key : keys_) all.push_back({key, key});
        return all;
    }

  private:
    std::vector<Key> slots_ = std::vector<Key>(4 * max_distinct), keys_{};
    std::vector<char> used_ = std::vector<char>(4 * max_distinct);
};

// Nothing if there are too many runs to be useful.
std::optional<std::vector<KeyRun>> runs_of(const ColumnData& column, std::size_t first, std::size_t rows) {
    if (std::holds_alternative<HostObjects>(column.values)) return {};  // their content may change
    if (key_bits(column.type) == 32) return buckets(column, first, rows);
    Distinct distinct;
    each_key(column, first, rows, [&](Key key) { return distinct.add(key); });
    return std::move(distinct).runs();
}

}  // namespace

DepthPlanes DepthPlanes::of(const ColumnData& column, std::size_t first, std::size_t rows) {
    auto plain = of(column.min, column.max);
    if (plain.planes == 1) return plain;
    const auto runs = runs_of(column, first, rows);
    const auto one = runs ? of_runs(*runs) : std::nullopt;
    return one ? *one : plain;
}

DepthPlanes DepthPlanes::of(Key min, Key max) {
    const auto width = static_cast<int>(std::bit_width(max - min));
    const auto differ = static_cast<int>(std::bit_width(max ^ min));
    auto base = min;
    if (differ == width && width < 64) base = min >> static_cast<unsigned>(width) << static_cast<unsigned>(width);
    if (max - base >= max_codes) base = min;
    const auto range = max - base;
    if (range < max_codes)
        return {.base = base,
                .width = width,
                .planes = 1,
                .bits = width,
                .null_code = static_cast<std::uint32_t>(range) + 1};
    const int planes = std::max((width + max_plane_bits - 1) / max_plane_bits, 2);
    const int bits = (width + planes - 1) / planes;
    return {.base = base, .width = width, .planes = planes, .bits = bits, .null_code = 1U << bits};
}

std::optional<DepthPlanes> DepthPlanes::of_runs(const std::vector<KeyRun>& runs) {
    if (runs.empty()) return {};
    const auto gap = [&](std::size_t i) { return runs[i].first - runs[i - 1].last - 1; };  // before run i
    std::vector<std::size_t> widest(runs.size() - 1);
    std::iota(widest.begin(), widest.end(), std::size_t{1});
    std::ranges::sort(widest, [&](std::size_t a, std::size_t b) { return gap(a) > gap(b); });
    auto span = runs.back().last - runs.front().first;  // one less than the number of codes
    std::vector<bool> left_out(runs.size());
    for (std::size_t i = 0; i < widest.size() && span >= max_codes; ++i) {
        left_out[widest[i]] = true;
        span -= gap(widest[i]);
    }
    if (span >= max_codes) return {};
    DepthPlanes made{.width = static_cast<int>(std::bit_width(span)),
                     .planes = 1,
                     .bits = static_cast<int>(std::bit_width(span)),
                     .null_code = static_cast<std::uint32_t>(span) + 1};
    std::uint32_t code = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (i > 0 && !left_out[i]) {
            code += static_cast<std::uint32_t>(runs[i].last - made.runs.back().keys.last);
            made.runs.back().keys.last = runs[i].last;
            continue;
        }
        made.runs.push_back({runs[i], code});
        code += static_cast<std::uint32_t>(runs[i].last - runs[i].first) + 1;
    }
    made.base = runs.front().first;
    return made;
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> DepthPlanes::codes(Key low, Key high) const {
    if (runs.empty()) {
        const auto max = base + (null_code - 1);
        if (high < base || low > max) return {};
        return std::pair{code(std::max(low, base), 0), code(std::min(high, max), 0)};
    }
    const auto from = std::ranges::lower_bound(runs, low, {}, [](const CodedRun& run) { return run.keys.last; });
    const auto after = std::ranges::upper_bound(runs, high, {}, [](const CodedRun& run) { return run.keys.first; });
    if (from >= after) return {};
    const auto code_in = [](const CodedRun& run, Key key) {
        return run.code + static_cast<std::uint32_t>(std::clamp(key, run.keys.first, run.keys.last) - run.keys.first);
    };
    return std::pair{code_in(*from, low), code_in(*(after - 1), high)};
}

Key DepthPlanes::key(Key code) const {
    if (runs.empty()) return base + code;
    const auto after = std::ranges::upper_bound(runs, code, {}, [](const CodedRun& run) { return Key{run.code}; });
    return (after - 1)->keys.first + (code - (after - 1)->code);
}

}  // namespace quadmill::detail::query
