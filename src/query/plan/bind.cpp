#include "query/plan/bind.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "quadmill/error.hpp"
#include "query/plan/describe.hpp"
#include "query/plan/key_range.hpp"
#include "query/plan/plain_tables.hpp"
#include "query/table/order.hpp"

namespace quadmill::detail::query {
namespace {

bool is_integer(ColumnType type) {
    return type == ColumnType::I32 || type == ColumnType::U32 || type == ColumnType::I64;
}

std::string shown(const Value& value) {
    return (std::holds_alternative<std::string>(value) ? "the text " : "the number ") + describe(value);
}

class Checker {
  public:
    Checker(const char* function, const std::vector<ColumnInfo>& columns) : function_(function), columns_(columns) {}

    void operator()(const Expression& expression) const {
        switch (expression.kind) {
            case ExpressionKind::Compare:
            case ExpressionKind::Between:
            case ExpressionKind::In:
                constants(column(expression.column), expression.values);
                break;
            case ExpressionKind::CompareColumns:
                both(column(expression.column), column(expression.other));
                break;
            case ExpressionKind::IsNull:
                static_cast<void>(column(expression.column));
                break;
            case ExpressionKind::Linear:
                for (const auto& term : expression.terms) number(column(term.column));
                break;
            case ExpressionKind::Formula:
                for (const auto& step : expression.steps) {
                    if (step.op == Arithmetic::Leaf) number(column(step.leaf));
                }
                break;
            case ExpressionKind::Always:
            case ExpressionKind::And:
            case ExpressionKind::Or:
            case ExpressionKind::Not:
                break;
        }
        for (const auto& operand : expression.operands) (*this)(*operand);
    }

  private:
    [[noreturn]] void fail(const std::string& why) const { throw InvalidArgument(std::string(function_) + ": " + why); }

    [[nodiscard]] const ColumnInfo& column(const std::string& name) const {
        const auto found =
            std::find_if(columns_.begin(), columns_.end(), [&](const ColumnInfo& info) { return info.name == name; });
        if (found != columns_.end()) return *found;
        std::string all;
        for (const auto& info : columns_) all += (all.empty() ? " '" : ", '") + info.name + "'";
        fail("there is no column '" + name + "' among" + (all.empty() ? " none" : all));
    }

    void constants(const ColumnInfo& info, const std::vector<Value>& values) const {
        for (const auto& value : values) {
            if (std::holds_alternative<std::monostate>(value))
                fail("column '" + info.name + "' cannot be compared with NULL; say is_null()");
            if (std::holds_alternative<std::string>(value) != (info.type == ColumnType::Text))
                fail("column '" + info.name + "' of type " + name_of(info.type) + " cannot be compared with " +
                     shown(value));
        }
    }

    void both(const ColumnInfo& a, const ColumnInfo& b) const {
        if ((a.type == ColumnType::Text) != (b.type == ColumnType::Text))
            fail("column '" + a.name + "' of type " + name_of(a.type) + " cannot be compared with column '" + b.name +
                 "' of type " + name_of(b.type));
    }

    void number(const ColumnInfo& info) const {
        if (info.type == ColumnType::Text) fail("column '" + info.name + "' must be of numbers, not text");
    }

    const char* function_;
    const std::vector<ColumnInfo>& columns_;
};

class LeafMaker {
  public:
    LeafMaker(const char* function, const TableData& table) : function_(function), table_(table) {}

    // Pre: the expression is not And, Or or Not.
    [[nodiscard]] Leaf operator()(const Expression& e, bool negate) const {
        switch (e.kind) {
            case ExpressionKind::Compare:
                return in_keys(e.column, keys(e.column, e.op, e.values[0]), negate != (e.op == Comparison::NotEqual));
            case ExpressionKind::Between:
                return in_keys(e.column,
                               intersection(keys(e.column, Comparison::GreaterOrEqual, e.values[0]),
                                            keys(e.column, Comparison::LessOrEqual, e.values[1])),
                               negate);
            case ExpressionKind::In:
                return member(e, negate);
            case ExpressionKind::CompareColumns:
                return pair(e, negate);
            case ExpressionKind::Linear:
                if constexpr (plain_tables) std::abort();
                return linear(e, negate);
            case ExpressionKind::Formula:
                if constexpr (plain_tables) std::abort();
                return formula(e, negate);
            case ExpressionKind::IsNull:
                if (data(e.column).valid.empty()) return Always{negate};
                return IsNull{.column = index(e.column), .negate = negate};
            default:
                return Always{e.always != negate};
        }
    }

  private:
    [[nodiscard]] std::size_t index(const std::string& name) const { return table_.places.at(name); }
    [[nodiscard]] const ColumnData& data(const std::string& name) const { return *table_.columns[index(name)]; }
    [[nodiscard]] std::optional<KeyRange> keys(const std::string& name, Comparison op, const Value& constant) const {
        return keys_of(table_, data(name), op, constant);
    }

    // Selects all rows that are not NULL, or no row.
    [[nodiscard]] Leaf decided(const std::string& name, bool holds) const {
        if (!holds || data(name).valid.empty()) return Always{holds};
        return IsNull{.column = index(name), .negate = true};
    }

    [[nodiscard]] Leaf in_keys(const std::string& name, const std::optional<KeyRange>& keys, bool negate) const {
        const auto min = data(name).min, max = data(name).max;
        if (!keys || keys->high < min || keys->low > max) return decided(name, negate);
        if (keys->low <= min && keys->high >= max) return decided(name, !negate);
        return Range{.column = index(name), .low = keys->low, .high = keys->high, .negate = negate};
    }

    [[nodiscard]] Leaf member(const Expression& e, bool negate) const {
        std::vector<Key> found;
        for (const auto& value : e.values) {
            if (const auto one = keys(e.column, Comparison::Equal, value)) found.push_back(one->low);
        }
        sort_unique(found);
        std::erase_if(found, [&](Key key) { return key < data(e.column).min || key > data(e.column).max; });
        if (found.empty()) return decided(e.column, negate);
        if (found.back() - found.front() == found.size() - 1)
            return in_keys(e.column, KeyRange{.low = found.front(), .high = found.back()}, negate);
        return Member{.column = index(e.column), .keys = std::move(found), .negate = negate};
    }

    [[nodiscard]] Leaf pair(const Expression& e, bool negate) const {
        Pair result{.a = index(e.column), .b = index(e.other), .op = e.op, .as = Pair::As::Keys, .negate = negate};
        const auto &a = data(e.column), &b = data(e.other);
        if (const auto as = comparison_of(a, b)) {
            result.as = *as;
        } else {
            require_exact_doubles(a, "compared with column '" + b.name + "' of type " + name_of(b.type));
            require_exact_doubles(b, "compared with column '" + a.name + "' of type " + name_of(a.type));
        }
        return result;
    }

    void require_exact_doubles(const ColumnData& column, const std::string& use) const {
        if (is_exact_as_doubles(column)) return;
        const auto min = KeyOf<std::int64_t>::value(column.min), max = KeyOf<std::int64_t>::value(column.max);
        throw InvalidArgument(std::string(function_) + ": column '" + column.name + "' can be " + use +
                              " only where doubles are exact, from -2^53 to 2^53, but has values from " +
                              std::to_string(min) + " to " + std::to_string(max));
    }

    [[nodiscard]] Leaf linear(const Expression& e, bool negate) const {
        Linear result{.factors = {}, .columns = {}, .op = e.op, .constant = e.constant, .negate = negate};
        for (const auto& term : e.terms) {
            result.factors.push_back(term.factor);
            result.columns.push_back(index(term.column));
            require_exact_doubles(data(term.column),
                                  "part of a sum of columns (compared alone, with a constant or column, it is exact)");
        }
        return result;
    }

    // A formula that names only one column, once, becomes a comparison of that column with a constant: both sides are
    // monotonic in the column, even with rounding. So a search among its keys finds those for which the comparison
    // holds as written.
    [[nodiscard]] Leaf formula(const Expression& e, bool negate) const {
        Formula result{.steps = {}, .op = e.op, .negate = negate};
        std::size_t last = 0;
        for (const auto& step : e.steps) {
            if (step.op == Arithmetic::Leaf) last = index(step.leaf);
            result.steps.push_back({step.op, step.op == Arithmetic::Leaf ? last : 0, step.constant});
        }
        const auto facts = facts_of(result.steps, [this](std::size_t column) { return facts_of_column(column); });
        if (!facts.fits) refuse(e, "integers in it may be beyond 128 bits");
        if (!facts.exact) refuse(e, inexact);
        if (facts.columns == 1 && facts.slope != 0)
            return in_keys(table_.infos[last].name, keys_of_formula(result, last, facts.slope),
                           negate != (e.op == Comparison::NotEqual));
        if (!facts.all_integers && !facts.exact_as_doubles) refuse(e, inexact);
        if (!facts.exact_as_doubles) result.as = Formula::As::Integers;
        return result;
    }
    static constexpr const char* inexact =
        "integers in it meet fractions, and may be some that doubles do not have, as they have all only from -2^53 to "
        "2^53";
    [[noreturn]] void refuse(const Expression& e, const char* why) const {
        throw InvalidArgument(std::string(function_) + ": " + describe(e) + " cannot be computed: " + why);
    }

    [[nodiscard]] ColumnFacts facts_of_column(std::size_t column) const {
        const auto& of = *table_.columns[column];
        if (!is_integer(of.type)) return {};
        return visit_column_type(of.type, [&]<class T>(const T* /*type*/) -> ColumnFacts {
            if constexpr (std::is_floating_point_v<T>) return {};
            return {true, static_cast<std::int64_t>(KeyOf<T>::value(of.min)),
                    static_cast<std::int64_t>(KeyOf<T>::value(of.max))};
        });
    }

    [[nodiscard]] std::optional<KeyRange> keys_of_formula(const Formula& formula, std::size_t column, int slope) const {
        const auto& of = *table_.columns[column];
        return visit_column_type(of.type, [&]<class T>(const T* /*type*/) -> std::optional<KeyRange> {
            auto last = of.max;
            if constexpr (std::is_floating_point_v<T>)
                last = std::min(last, Key{KeyOf<T>::key(std::numeric_limits<T>::infinity())});
            if (of.min > last) return {};
            const auto sign = [&](Key key) {
                const auto value = KeyOf<T>::value(key);
                if constexpr (std::is_floating_point_v<T>) return slope * sign_of(formula.steps, double{value});
                return slope * sign_of(formula.steps, static_cast<Integer>(value));
            };
            const auto first = [&](int min) {
                auto found = first_key(last - of.min, [&](Key key) { return sign(of.min + key) >= min; });
                return found ? std::optional(*found + of.min) : found;
            };
            const KeyPlace place{.at_least = first(0), .above = first(1), .last = last};
            return without_negative_zero<T>(keys_at(place, slope > 0 ? formula.op : turned(formula.op)));
        });
    }

    const char* function_;
    const TableData& table_;
};

// De Morgan's laws move negations down to the leaves. They hold for SQL's three truth values, too.
Bound bound(const LeafMaker& leaf, const Expression& expression, bool negate) {
    if (expression.kind == ExpressionKind::Not) return bound(leaf, *expression.operands.front(), !negate);
    if (expression.kind != ExpressionKind::And && expression.kind != ExpressionKind::Or)
        return {.leaf = leaf(expression, negate)};
    std::vector<Bound> operands;
    for (const auto& operand : expression.operands) operands.push_back(bound(leaf, *operand, negate));
    return junction((expression.kind == ExpressionKind::And) != negate ? Bound::Kind::And : Bound::Kind::Or,
                    std::move(operands));
}

}  // namespace

void check(const char* function, const Expression& expression, const std::vector<ColumnInfo>& columns) {
    Checker(function, columns)(expression);
}

bool is_exact_as_doubles(const ColumnData& column) {
    return column.type != ColumnType::I64 || (KeyOf<std::int64_t>::value(column.min) >= -exact_doubles &&
                                              KeyOf<std::int64_t>::value(column.max) <= exact_doubles);
}

std::optional<Pair::As> comparison_of(const ColumnData& a, const ColumnData& b) {
    if (a.type == b.type) return Pair::As::Keys;
    if (is_integer(a.type) && is_integer(b.type)) return Pair::As::Integers;
    if (is_exact_as_doubles(a) && is_exact_as_doubles(b)) return Pair::As::Doubles;
    return {};
}

Bound bind(const char* function, const Expression& expression, const TableData& table) {
    return bound(LeafMaker(function, table), expression, false);
}

}  // namespace quadmill::detail::query
