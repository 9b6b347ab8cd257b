#include "sql/compute.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "query/table/cells.hpp"
#include "query/table/text_numbers.hpp"
#include "sql/binder.hpp"

namespace quadmill::detail::sql {

namespace {

using Op = query::Arithmetic;
constexpr std::size_t block_rows = 1024;

// Values of some rows.
struct Block {
    bool is_integer = true;
    std::array<std::int64_t, block_rows> integers;
    std::array<double, block_rows> doubles;
    std::array<bool, block_rows> valid;
};

class Computer {
  public:
    Computer(const SqlSteps& steps, const query::TableData& table, const RowList& rows)
        : steps_(steps), table_(table), rows_(rows), stack_(steps.size()) {}

    Numbers run() {
        Numbers all;
        all.valid.reserve(rows_.size());
        for (begin_ = 0; begin_ < rows_.size() || begin_ == 0; begin_ += block_rows) {
            n_ = std::min(block_rows, rows_.size() - begin_);
            for (const auto& step : steps_) take(step);
            const auto& top = *stack_[--size_];
            all.are_integers = top.is_integer;
            const auto count = static_cast<std::ptrdiff_t>(n_);
            all.valid.insert(all.valid.end(), top.valid.begin(), top.valid.begin() + count);
            if (top.is_integer) {
                all.integers.insert(all.integers.end(), top.integers.begin(), top.integers.begin() + count);
            } else {
                all.doubles.insert(all.doubles.end(), top.doubles.begin(), top.doubles.begin() + count);
            }
        }
        return all;
    }

  private:
    Block& push() {
        auto& block = stack_[size_++];
        if (!block) block = std::make_unique<Block>();
        return *block;
    }

    void take(const SqlStep& step) {
        if (step.op == Op::Leaf) return column(step.leaf);
        if (step.op == Op::Constant) return constant(step.constant);
        if (step.op == Op::Negate) return negate();
        const auto& b = *stack_[--size_];
        auto& a = *stack_[size_ - 1];
        for (std::size_t i = 0; i < n_; ++i) a.valid[i] = a.valid[i] && b.valid[i];
        if (step.op != Op::Divide && a.is_integer && b.is_integer) {
            integers(step.op, a, b);
        } else {
            const bool is_mean = step.constant == rounding_mean;
            make_double(a, a, is_mean);
            make_double(*stack_[size_], a, is_mean);
            doubles(step.op, a, b);
        }
    }

    void make_double(Block& block, const Block& of_valid, bool may_round) const {
        if (!std::exchange(block.is_integer, false)) return;
        for (std::size_t i = 0; i < n_; ++i) {
            const auto integer = block.integers[i];
            block.doubles[i] = static_cast<double>(integer);
            if (may_round || std::abs(block.doubles[i]) < 0x1p53 || !of_valid.valid[i]) continue;
            if (!query::is_exact_double(query::Integer{integer}))
                throw InvalidArgument("the integer " + std::to_string(integer) + " in " + text_of(steps_) +
                                      " meets a fraction, and a double would round it; --types NAME:f64 allows that");
        }
    }

    void column(const std::string& name) {
        auto& to = push();
        const auto& column = *table_.columns[table_.places.at(name)];
        query::visit_column_type(column.type, [&]<class T>(const T* /*type*/) {
            const auto& values = std::get<std::vector<T>>(column.values);
            to.is_integer = !std::is_floating_point_v<T>;
            for (std::size_t i = 0; i < n_; ++i) {
                const auto row = rows_[begin_ + i];
                to.valid[i] = query::has_value(column, row);
                if constexpr (std::is_floating_point_v<T>) {
                    to.doubles[i] = values[row];
                } else {
                    to.integers[i] = values[row];
                }
            }
        });
    }

    void constant(const query::Numeral& number) {
        auto& to = push();
        std::fill_n(to.valid.begin(), n_, true);
        const auto value = query::value_of(number);
        const auto* integer = value ? std::get_if<std::int64_t>(&*value) : nullptr;
        to.is_integer = integer != nullptr;
        if (integer) {
            std::fill_n(to.integers.begin(), n_, *integer);
        } else {
            std::fill_n(to.doubles.begin(), n_, query::nearest_double(number));
        }
    }

    void negate() {
        auto& a = *stack_[size_ - 1];
        for (std::size_t i = 0; i < n_; ++i) {
            if (!a.is_integer) {
                a.doubles[i] = -a.doubles[i];
            } else if (__builtin_sub_overflow(std::int64_t{0}, a.integers[i], &a.integers[i]) && a.valid[i]) {
                refuse();
            }
        }
    }

    void integers(Op op, Block& a, const Block& b) {
        for (std::size_t i = 0; i < n_; ++i) {
            auto& x = a.integers[i];
            const auto y = b.integers[i];
            bool beyond = false;
            if (op == Op::Add) {
                beyond = __builtin_add_overflow(x, y, &x);
            } else if (op == Op::Subtract) {
                beyond = __builtin_sub_overflow(x, y, &x);
            } else if (op == Op::Multiply) {
                beyond = __builtin_mul_overflow(x, y, &x);
            } else if (y == 0) {
                a.valid[i] = false;
            } else {
                x = y == -1 ? 0 : x % y;
            }
            if (beyond && a.valid[i]) refuse();
        }
    }

    void doubles(Op op, Block& a, const Block& b) const {
        for (std::size_t i = 0; i < n_; ++i) {
            auto& x = a.doubles[i];
            const auto y = b.doubles[i];
            if (op == Op::Add) {
                x += y;
            } else if (op == Op::Subtract) {
                x -= y;
            } else if (op == Op::Multiply) {
                x *= y;
            } else {
                a.valid[i] = a.valid[i] && y != 0;
                x = op == Op::Divide ? x / y : std::fmod(x, y);
            }
        }
    }

    [[noreturn]] void refuse() const {
        throw InvalidArgument("a value of " + text_of(steps_) +
                              " does not fit into 64 bits; multiply by 1.0 if it may be rounded");
    }

    const SqlSteps& steps_;
    const query::TableData& table_;
    const RowList& rows_;
    std::vector<std::unique_ptr<Block>> stack_;
    std::size_t size_ = 0, begin_ = 0, n_ = 0;
};

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

RowList RowList::part(std::size_t begin, std::size_t count) const {
    std::vector<std::uint64_t> rows(count);
    for (std::size_t i = 0; i < count; ++i) rows[i] = (*this)[begin + i];
    return RowList(std::move(rows));
}

Numbers computed(const SqlSteps& steps, const query::TableData& table, const RowList& rows) {
    return Computer(steps, table, rows).run();
}

// '\0' stands for any text, '\1' for one character of UTF-8. After a mismatch, the last '\0' takes one byte more.
bool has_pattern(std::string_view text, std::string_view pattern, bool ignore_case) {
    const auto same = [&](char a, char b) { return a == b || (ignore_case && lower(a) == lower(b)); };
    std::size_t t = 0, p = 0, star = std::string_view::npos, from = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '\0') {
            star = p++;
            from = t;
        } else if (p < pattern.size() && pattern[p] == '\1') {
            ++p;
            do {
                ++t;
            } while (t < text.size() && (static_cast<unsigned char>(text[t]) & 0xC0U) == 0x80);
        } else if (p < pattern.size() && same(text[t], pattern[p])) {
            ++t;
            ++p;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            do {
                ++from;
            } while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0U) == 0x80);
            t = from;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '\0') ++p;
    return p == pattern.size();
}

Numbers matches(const SqlComputed& like, const query::TableData& table, const RowList& rows) {
    const auto& column = *table.columns[table.places.at(like.steps[0].leaf)];
    Numbers found;
    const auto find = [&](const auto& has) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            found.valid.push_back(query::has_value(column, rows[i]));
            found.integers.push_back(found.valid.back() && has(rows[i]) ? 1 : 0);
        }
    };
    const auto has = [&](std::string_view text) { return has_pattern(text, *like.pattern, like.ignore_case); };
    if (const auto* const printed = std::get_if<std::vector<std::int64_t>>(&column.values)) {
        find([&](std::uint64_t row) { return has(query::PrintedTexts::text((*printed)[row])); });
        return found;
    }
    const auto& codes = std::get<std::vector<std::uint32_t>>(column.values);
    std::vector<std::optional<bool>> known(table.dictionary->size());  // by code
    find([&](std::uint64_t row) {
        auto& one = known[codes[row]];
        if (!one) one = has((*table.dictionary)[codes[row]]);
        return *one;
    });
    return found;
}

}  // namespace quadmill::detail::sql
