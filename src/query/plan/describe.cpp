#include "query/plan/describe.hpp"

#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace quadmill::detail::query {

namespace {

// Characters that would break the line or the quotes are written as their codes.
std::string in_quotes(std::string_view text, char quote) {
    std::string out(1, quote);
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f || c == '\\') {
            std::array<char, 8> number{};
            std::snprintf(number.data(), number.size(), "\\x%02x", static_cast<unsigned>(byte));
            out += number.data();
        } else {
            if (c == quote) out += c;
            out += c;
        }
    }
    return out + quote;
}

// Writes enough digits to distinguish any two doubles.
std::string number(double value) {
    if (std::isnan(value)) return "nan";
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.17g", value);
    std::array<char, 40> shorter{};
    std::snprintf(shorter.data(), shorter.size(), "%.15g", value);
    return std::strtod(shorter.data(), nullptr) == value ? shorter.data() : text.data();
}

// Like number(), but distinguishable from an integer.
std::string real(double value) {
    auto text = number(value);
    if (text.find_first_not_of("+-0123456789") == std::string::npos) text.append(".0");
    return text;
}

const char* describe(Comparison op) {
    constexpr std::array<const char*, 6> words{"<", "<=", "=", "<>", ">=", ">"};
    return words.at(static_cast<std::size_t>(op));
}

template <class List, class Words>
std::string joined(const List& list, const char* between, const Words& words) {
    std::string out;
    for (const auto& item : list) {
        if (!out.empty()) out += between;
        out += words(item);
    }
    return out;
}

std::string linear(const Expression& e) {
    const auto sum = joined(e.terms, " + ", [](const Predicate::Term& term) {
        return number(term.factor) + " " + describe_name(term.column);
    });
    return (e.terms.empty() ? "0" : sum) + " " + describe(e.op) + " " + number(e.constant);
}

std::string operands(const Expression& e, const char* between) {
    return std::string("(") + joined(e.operands, between, [](const auto& operand) { return describe(*operand); }) + ")";
}

std::string where(const PlanNode& node) {
    return " where " + describe(detail::Access::of(*node.predicate));
}

std::string on(const Join& join) {
    const auto left = describe_name(join.left_name) + "." + describe_name(join.left);
    const auto right = describe_name(join.right_name) + "." + describe_name(join.right);
    const auto how = join.method == JoinMethod::NestedLoops ? " by nested loops"
                     : join.method == JoinMethod::SortMerge ? " by sort-merge"
                                                            : "";
    return (join.band == 0 ? left + " = " + right : "|" + left + " - " + right + "| <= " + number(join.band)) + how;
}

std::string name_list(const std::vector<std::string>& names) {
    return joined(names, ", ", [](const std::string& name) { return describe_name(name); });
}

}  // namespace

std::vector<std::string> texts_of(const std::vector<NamedStep>& steps,
                                  const std::function<std::string(std::string_view)>& name) {
    struct Part {
        std::string text{};
        int rank = 3;  // of its operator: 1 for sums, 2 for signs and products, 3 for all else
    };
    const auto within = [](Part part, int rank) {
        return part.rank < rank ? std::string("(").append(part.text).append(")") : std::move(part.text);
    };
    const auto first = [&](const auto& step) -> Part {
        if (step.op == Arithmetic::Leaf) return {name(step.leaf)};
        const auto* integer = std::get_if<Integer>(&step.constant);
        return {integer ? text_of(*integer) : real(std::get<double>(step.constant))};
    };
    const auto parts = after<Part>(steps, first, [&](Arithmetic op, Part a, Part b) -> Part {
        if (op == Arithmetic::Negate) return {std::string("-").append(within(std::move(b), 3)), 2};
        constexpr std::array words{" + ", " - ", " * ", " / ", " % "};
        const auto i = static_cast<std::size_t>(op) - static_cast<std::size_t>(Arithmetic::Add);
        const int rank = i < 2 ? 1 : 2;
        return {within(std::move(a), rank).append(words.at(i)).append(within(std::move(b), rank + 1)), rank};
    });
    std::vector<std::string> texts;
    for (const auto& part : parts) texts.push_back(part.text);
    return texts;
}

std::string describe(const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&value)) return number(*real);
    if (const auto* text = std::get_if<std::string>(&value)) return in_quotes(*text, '\'');
    return "NULL";
}

std::string describe_name(std::string_view name) {
    // A column's name may look like a number.
    bool plain =
        !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 && name != "nan" && name != "inf";
    for (const char c : name)
        plain = plain && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.');
    return plain ? std::string(name) : in_quotes(name, '"');
}

std::string describe(const Expression& e) {
    const auto left = [&] { return describe_name(e.column) + " "; };
    switch (e.kind) {
        case Expression::Kind::Always:
            return e.always ? "true" : "false";
        case Expression::Kind::Compare:
            return left() + describe(e.op) + " " + describe(e.values.at(0));
        case Expression::Kind::CompareColumns:
            return left() + describe(e.op) + " " + describe_name(e.other);
        case Expression::Kind::Between:
            return left() + "between " + describe(e.values.at(0)) + " and " + describe(e.values.at(1));
        case Expression::Kind::In:
            return left() + "in (" + joined(e.values, ", ", [](const Value& v) { return describe(v); }) + ")";
        case Expression::Kind::IsNull:
            return left() + "is null";
        case Expression::Kind::Linear:
            return linear(e);
        case Expression::Kind::Formula:
            return joined(texts_of(e.steps, [](std::string_view name) { return describe_name(name); }),
                          (std::string(" ") + describe(e.op) + " ").c_str(),
                          [](const std::string& side) { return side; });
        case Expression::Kind::And:
            return operands(e, " and ");
        case Expression::Kind::Or:
            return operands(e, " or ");
        case Expression::Kind::Not:
            return "not (" + describe(*e.operands.at(0)) + ")";
    }
    return "?";
}

std::string describe(const QueryAggregate& aggregate) {
    using enum QueryAggregate::Kind;
    constexpr std::array words{"count", "count", "sum", "avg", "min", "max", "quantile", "kth_largest", "kth_smallest"};
    const auto kind = aggregate.kind;
    auto inside = kind == CountRows ? "*" : describe_name(aggregate.column);
    if (kind == Quantile) inside += ", " + number(aggregate.phi);
    if (kind == KthLargest || kind == KthSmallest) inside += ", " + std::to_string(aggregate.k);
    return std::string(words.at(static_cast<std::size_t>(kind))).append("(").append(inside).append(")");
}

std::string describe(const PlanNode& node) {
    switch (node.kind) {
        case PlanNode::Kind::Rows:
            return (node.table == 0 ? "rows" : "rows of table 1") + where(node);
        case PlanNode::Kind::And:
            return "and";
        case PlanNode::Kind::Or:
            return "or";
        case PlanNode::Kind::Join:
            return "join on " + on(*node.join);
        case PlanNode::Kind::Filter:
            return "pairs" + where(node);
        case PlanNode::Kind::Group:
            return "group by " + name_list(node.columns);
        case PlanNode::Kind::Column:
            return "column " + name_list(node.columns);
        case PlanNode::Kind::Aggregate:
            return describe(node.aggregate);
        case PlanNode::Kind::Result:
            return "result " + name_list(node.names) + (node.limit ? " limit " + std::to_string(*node.limit) : "");
    }
    return "?";
}

const char* name_of(ColumnType type) {
    constexpr const char* names[] = {"F32", "F64", "I32", "U32", "I64", "text"};
    return names[static_cast<std::size_t>(type)];
}

}  // namespace quadmill::detail::query
