#include "query/plan/bind.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "quadmill/error.hpp"
#include "query/plan/describe.hpp"
#include "query/table/key.hpp"
#include "query/table/order.hpp"

namespace quadmill::detail::query {
namespace {

using Kind = Expression::Kind;

// ---- check

const char* name_of(ColumnType type) {
    constexpr const char* names[] = {"F32", "F64", "I32", "U32", "I64", "text"};
    return names[static_cast<std::size_t>(type)];
}

bool is_integer(ColumnType type) {
    return type == ColumnType::I32 || type == ColumnType::U32 || type == ColumnType::I64;
}

std::string text_of(const Value& value) {
    return (std::holds_alternative<std::string>(value) ? "the text " : "the number ") + describe(value);
}

class Checker {
  public:
    Checker(const char* function, const std::vector<ColumnInfo>& columns) : function_(function), columns_(columns) {}

    void operator()(const Expression& expression) const {
        switch (expression.kind) {
            case Kind::Compare:
            case Kind::Between:
            case Kind::In:
                constants(column(expression.column), expression.values);
                break;
            case Kind::CompareColumns:
                both(column(expression.column), column(expression.other));
                break;
            case Kind::IsNull:
                static_cast<void>(column(expression.column));
                break;
            case Kind::Linear:
                for (const auto& term : expression.terms) number(column(term.column));
                break;
            case Kind::Formula:
                for (const auto& step : expression.steps) {
                    if (step.kind == Arithmetic::Column) number(column(step.column));
                }
                break;
            case Kind::Always:
            case Kind::And:
            case Kind::Or:
            case Kind::Not:
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
                     text_of(value));
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

// ---- Constants and keys

// The keys of a column's values that satisfy a comparison, from low to high; nothing when there are none.
struct Segment {
    Key low, high;
};
using Keys = std::optional<Segment>;

// Where a constant is among the keys that numbers (or texts) of a column may have, which are from 0 to `last`.
struct Place {
    std::optional<Key> at_least;  // the first key of a value >= the constant, if there is one
    std::optional<Key> above;     // and of a value > it
    Key last;
};

// The first key, from 0 to last, where `holds`; it holds for all keys after one for which it does.
template <class Holds>
std::optional<Key> first_key(Key last, const Holds& holds) {
    if (!holds(last)) return {};
    Key low = 0, high = last;
    while (low < high) {
        const auto middle = low + (high - low) / 2;
        if (holds(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

template <class T>
Place place_of_number(const Value& constant) {
    auto last = KeyOf<T>::most;
    if constexpr (std::is_floating_point_v<T>) last = KeyOf<T>::key(std::numeric_limits<T>::infinity());
    const auto first = [&](auto holds) {
        return first_key(last, [&](Key key) { return holds(KeyOf<T>::value(key)); });
    };
    const auto against = [&]<class C>(C c) -> Place {
        using Wide = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
        return {.at_least = first([&](T value) { return order(static_cast<Wide>(value), c) >= 0; }),
                .above = first([&](T value) { return order(static_cast<Wide>(value), c) > 0; }),
                .last = last};
    };
    if (const auto* integer = std::get_if<std::int64_t>(&constant)) return against(*integer);
    return against(std::get<double>(constant));
}

// Pre: the dictionary is not empty.
Place place_of_text(const TableData::Dictionary& dictionary, const std::string& text) {
    const auto key = [&](auto found) {
        return found == dictionary.end() ? std::optional<Key>()
                                         : std::optional(static_cast<Key>(found - dictionary.begin()));
    };
    return {.at_least = key(std::lower_bound(dictionary.begin(), dictionary.end(), text)),
            .above = key(std::upper_bound(dictionary.begin(), dictionary.end(), text)),
            .last = dictionary.size() - 1};
}

// The key before `next`, which may be beyond the last one.
std::optional<Key> before(std::optional<Key> next, Key last) {
    if (!next) return last;
    return *next > 0 ? std::optional(*next - 1) : std::nullopt;
}

Keys segment(std::optional<Key> low, std::optional<Key> high) {
    if (!low || !high || *low > *high) return {};
    return Segment{.low = *low, .high = *high};
}

Keys intersection(const Keys& a, const Keys& b) {
    if (!a || !b) return {};
    return segment(std::max(a->low, b->low), std::min(a->high, b->high));
}

// Pre: op is not NotEqual, whose keys are not side by side.
Keys keys_at(const Place& place, Comparison op) {
    switch (op) {
        case Comparison::Less:
            return segment(0, before(place.at_least, place.last));
        case Comparison::LessOrEqual:
            return segment(0, before(place.above, place.last));
        case Comparison::GreaterOrEqual:
            return segment(place.at_least, place.last);
        case Comparison::Greater:
            return segment(place.above, place.last);
        case Comparison::Equal:
        case Comparison::NotEqual:
            break;
    }
    return segment(place.at_least, before(place.above, place.last));
}

// No value has the key before +0's, which stands for -0. It may be the first of these, but not the last one.
template <class T>
Keys without_negative_zero(Keys keys) {
    if (keys) keys->low = KeyOf<T>::key(KeyOf<T>::value(keys->low));
    return keys;
}

// Pre: as keys_at().
Keys keys_of(const TableData& table, const ColumnData& column, Comparison op, const Value& constant) {
    if (const auto* real = std::get_if<double>(&constant); real && std::isnan(*real)) return {};
    if (column.type == ColumnType::Text) {
        if (table.dictionary->empty()) return {};
        return keys_at(place_of_text(*table.dictionary, std::get<std::string>(constant)), op);
    }
    return visit_type(column.type, [&]<class T>(const T* /*type*/) {
        return without_negative_zero<T>(keys_at(place_of_number<T>(constant), op));
    });
}

// ---- Leaves

class LeafMaker {
  public:
    LeafMaker(const char* function, const TableData& table) : function_(function), table_(table) {}

    // Pre: the expression is neither And, Or nor Not.
    [[nodiscard]] Leaf operator()(const Expression& e, bool negate) const {
        switch (e.kind) {
            case Kind::Compare:
                return in_keys(e.column, keys(e.column, e.op, e.values[0]), negate != (e.op == Comparison::NotEqual));
            case Kind::Between:
                return in_keys(e.column,
                               intersection(keys(e.column, Comparison::GreaterOrEqual, e.values[0]),
                                            keys(e.column, Comparison::LessOrEqual, e.values[1])),
                               negate);
            case Kind::In:
                return member(e, negate);
            case Kind::CompareColumns:
                return pair(e, negate);
            case Kind::Linear:
                return linear(e, negate);
            case Kind::Formula:
                return formula(e, negate);
            case Kind::IsNull:
                if (data(e.column).valid.empty()) return Always{negate};
                return IsNull{.column = index(e.column), .negate = negate};
            default:
                return Always{e.always != negate};
        }
    }

  private:
    [[nodiscard]] std::size_t index(const std::string& name) const { return table_.places.at(name); }
    [[nodiscard]] const ColumnData& data(const std::string& name) const { return *table_.columns[index(name)]; }
    [[nodiscard]] Keys keys(const std::string& name, Comparison op, const Value& constant) const {
        return keys_of(table_, data(name), op, constant);
    }

    // All rows that are not NULL, or no row.
    [[nodiscard]] Leaf decided(const std::string& name, bool holds) const {
        if (!holds || data(name).valid.empty()) return Always{holds};
        return IsNull{.column = index(name), .negate = true};
    }

    [[nodiscard]] Leaf in_keys(const std::string& name, const Keys& keys, bool negate) const {
        const auto least = data(name).least, most = data(name).most;
        if (!keys || keys->high < least || keys->low > most) return decided(name, negate);
        if (keys->low <= least && keys->high >= most) return decided(name, !negate);
        return Range{.column = index(name), .low = keys->low, .high = keys->high, .negate = negate};
    }

    [[nodiscard]] Leaf member(const Expression& e, bool negate) const {
        std::vector<Key> found;
        for (const auto& value : e.values) {
            if (const auto one = keys(e.column, Comparison::Equal, value)) found.push_back(one->low);
        }
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        std::erase_if(found, [&](Key key) { return key < data(e.column).least || key > data(e.column).most; });
        if (found.empty()) return decided(e.column, negate);
        if (found.back() - found.front() == found.size() - 1)
            return in_keys(e.column, Segment{.low = found.front(), .high = found.back()}, negate);
        return Member{.column = index(e.column), .keys = std::move(found), .negate = negate};
    }

    [[nodiscard]] Leaf pair(const Expression& e, bool negate) const {
        Pair result{.a = index(e.column), .b = index(e.other), .op = e.op, .as = Pair::As::Keys, .negate = negate};
        const auto &a = data(e.column), &b = data(e.other);
        if (a.type == b.type) return result;
        if (is_integer(a.type) && is_integer(b.type)) {
            result.as = Pair::As::Integers;
            return result;
        }
        require_exact_doubles(a, "compared with column '" + b.name + "' of type " + name_of(b.type));
        require_exact_doubles(b, "compared with column '" + a.name + "' of type " + name_of(a.type));
        result.as = Pair::As::Doubles;
        return result;
    }

    void require_exact_doubles(const ColumnData& column, const std::string& use) const {
        if (column.type != ColumnType::I64) return;
        const auto least = KeyOf<std::int64_t>::value(column.least), most = KeyOf<std::int64_t>::value(column.most);
        if (least >= -exact_doubles && most <= exact_doubles) return;
        throw InvalidArgument(std::string(function_) + ": column '" + column.name + "' can be " + use +
                              " only where doubles are exact, from -2^53 to 2^53, but has values from " +
                              std::to_string(least) + " to " + std::to_string(most));
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

    // A column that is named once is compared with a constant in the end: both sides are monotonic in it, with every
    // rounding. So a search among its keys finds those for which the comparison holds, as it is written.
    [[nodiscard]] Leaf formula(const Expression& e, bool negate) const {
        Formula result{.steps = {}, .op = e.op, .negate = negate};
        std::size_t last = 0;
        for (const auto& step : e.steps) {
            if (step.kind == Arithmetic::Column) last = index(step.column);
            result.steps.push_back({step.kind, step.kind == Arithmetic::Column ? last : 0, step.constant});
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
        return visit_type(of.type, [&]<class T>(const T* /*type*/) -> ColumnFacts {
            if constexpr (std::is_floating_point_v<T>) return {};
            return {true, static_cast<std::int64_t>(KeyOf<T>::value(of.least)),
                    static_cast<std::int64_t>(KeyOf<T>::value(of.most))};
        });
    }

    [[nodiscard]] Keys keys_of_formula(const Formula& formula, std::size_t column, int slope) const {
        const auto& of = *table_.columns[column];
        return visit_type(of.type, [&]<class T>(const T* /*type*/) -> Keys {
            auto last = of.most;
            if constexpr (std::is_floating_point_v<T>)
                last = std::min(last, Key{KeyOf<T>::key(std::numeric_limits<T>::infinity())});
            if (of.least > last) return {};
            const auto sign = [&](Key key) {
                const auto value = KeyOf<T>::value(key);
                if constexpr (std::is_floating_point_v<T>) return slope * sign_of(formula.steps, double{value});
                return slope * sign_of(formula.steps, static_cast<Integer>(value));
            };
            const auto first = [&](int least) {
                auto found = first_key(last - of.least, [&](Key key) { return sign(of.least + key) >= least; });
                return found ? std::optional(*found + of.least) : found;
            };
            const Place place{.at_least = first(0), .above = first(1), .last = last};
            return without_negative_zero<T>(keys_at(place, slope > 0 ? formula.op : turned(formula.op)));
        });
    }

    const char* function_;
    const TableData& table_;
};

// ---- The tree

template <class B>
auto* range_of(B& bound) {
    return bound.kind == Bound::Kind::One ? std::get_if<Range>(&bound.leaf) : nullptr;
}

// Puts a range of a column that has one among the operands, both being asked for, into that one.
bool narrowed(std::vector<Bound>& operands, const Bound& next) {
    const auto* more = range_of(next);
    if (!more || more->negate) return false;
    for (auto& operand : operands) {
        auto* range = range_of(operand);
        if (!range || range->negate || range->column != more->column) continue;
        range->low = std::max(range->low, more->low);
        range->high = std::min(range->high, more->high);
        return true;
    }
    return false;
}

bool is_empty(const Bound& bound) {
    const auto* range = range_of(bound);
    return range && range->low > range->high;
}

// Negations go down to the leaves by De Morgan, which holds for SQL's three values too.
Bound bound(const LeafMaker& leaf, const Expression& expression, bool negate) {
    if (expression.kind == Kind::Not) return bound(leaf, *expression.operands.front(), !negate);
    if (expression.kind != Kind::And && expression.kind != Kind::Or) return {.leaf = leaf(expression, negate)};
    std::vector<Bound> operands;
    for (const auto& operand : expression.operands) operands.push_back(bound(leaf, *operand, negate));
    return junction((expression.kind == Kind::And) != negate ? Bound::Kind::And : Bound::Kind::Or, std::move(operands));
}

std::size_t leaves_of(const Columns::Clauses& all) {
    std::size_t n = 0;
    for (const auto& clause : all) n += clause.size();
    return n;
}

// Each clause of one with each of the other. Nothing when that has more than `most` leaves.
std::optional<Columns::Clauses> product(const Columns::Clauses& a, const Columns::Clauses& b, std::size_t most) {
    if (a.size() * leaves_of(b) + b.size() * leaves_of(a) > most) return {};
    Columns::Clauses result;
    for (const auto& x : a) {
        for (const auto& y : b) {
            result.push_back(x);
            result.back().insert(result.back().end(), y.begin(), y.end());
        }
    }
    return result;
}

}  // namespace

void check(const char* function, const Expression& expression, const std::vector<ColumnInfo>& columns) {
    Checker(function, columns)(expression);
}

Bound bind(const char* function, const Expression& expression, const TableData& table) {
    return bound(LeafMaker(function, table), expression, false);
}

Bound junction(Bound::Kind kind, std::vector<Bound> operands) {
    const bool neutral = kind == Bound::Kind::And;
    Bound result{.kind = kind};
    const auto add = [&](Bound operand) {
        if (!neutral || !narrowed(result.operands, operand)) result.operands.push_back(std::move(operand));
    };
    for (auto& operand : operands) {
        if (operand.kind == kind) {
            for (auto& inner : operand.operands) add(std::move(inner));
        } else if (operand.kind == Bound::Kind::One && std::holds_alternative<Always>(operand.leaf)) {
            if (std::get<Always>(operand.leaf).value != neutral) return operand;
        } else {
            add(std::move(operand));
        }
    }
    if (std::ranges::any_of(result.operands, is_empty)) return {.leaf = Always{false}};
    if (result.operands.empty()) return {.leaf = Always{neutral}};
    if (result.operands.size() == 1) return Bound(result.operands.front());
    return result;
}

std::size_t leaves(const Bound& bound) {
    if (bound.kind == Bound::Kind::One) return 1;
    std::size_t n = 0;
    for (const auto& operand : bound.operands) n += leaves(operand);
    return n;
}

std::optional<Columns::Clauses> clauses(const Bound& bound, std::size_t most) {
    if (bound.kind == Bound::Kind::One) {
        if (most < 1) return {};
        return Columns::Clauses{{bound.leaf}};
    }
    std::optional<Columns::Clauses> result;
    for (const auto& operand : bound.operands) {
        auto next = clauses(operand, most);
        if (!next) return {};
        if (!result) {
            result = std::move(next);
        } else if (bound.kind == Bound::Kind::Or) {
            result = product(*result, *next, most);
        } else {
            result->insert(result->end(), next->begin(), next->end());
        }
        if (!result || leaves_of(*result) > most) return {};
    }
    return result;
}

}  // namespace quadmill::detail::query
