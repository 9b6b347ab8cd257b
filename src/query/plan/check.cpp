#include <algorithm>
#include <string>

#include "quadmill/error.hpp"
#include "query/plan/bind.hpp"
#include "query/plan/describe.hpp"

namespace quadmill::detail::query {
namespace {

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
                    if (step.kind == Arithmetic::Column) number(column(step.column));
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

}  // namespace

void check(const char* function, const Expression& expression, const std::vector<ColumnInfo>& columns) {
    Checker(function, columns)(expression);
}

}  // namespace quadmill::detail::query
