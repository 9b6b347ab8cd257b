#include "input/expression.hpp"

#include <muParser.h>

#include <memory>

namespace quadmill::detail::input {

namespace {

// muParser keeps a pointer to the variable.
class Expression {
  public:
    Expression(const std::string& text, const std::string& variable) {
        parser_.DefineVar(variable, &value_);
        parser_.SetExpr(text);
    }
    double operator()(double value) {
        value_ = value;
        return parser_.Eval();
    }
    // Throws mu::ParserError.
    [[nodiscard]] std::string fault() {
        constexpr double probe = 0.5;
        static_cast<void>((*this)(probe));
        if (parser_.GetNumResults() != 1) return "is more than one number";
        return value_ == probe ? "" : "must not assign to its variable; == compares";
    }

  private:
    mu::Parser parser_;
    double value_ = 0;
};

}  // namespace

std::string fault_of_expression(const std::string& text, const std::string& variable) {
    try {
        const auto fault = Expression(text, variable).fault();
        return fault.empty() ? fault : "'" + text + "' " + fault;
    } catch (const mu::ParserError& error) {
        return "'" + text + "' is not a formula of " + variable + ": " + error.GetMsg();
    }
}

std::function<double(double)> parse_expression(const std::string& text, const std::string& variable) {
    return [expression = std::make_shared<Expression>(text, variable)](double value) { return (*expression)(value); };
}

}  // namespace quadmill::detail::input
