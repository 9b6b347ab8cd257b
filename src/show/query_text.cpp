#include <fmt/core.h>

#include <array>
#include <bit>

#include "query/gpu/depth_codes.hpp"
#include "query/plan/describe.hpp"
#include "show/query_page.hpp"

namespace quadmill::detail::show {

namespace {

using gl::StencilOp;
using Act = query::QueryNote::Act;

std::string words_of(const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&value)) return fmt::format("{:.6g}", *real);
    if (const auto* text = std::get_if<std::string>(&value)) return "'" + *text + "'";
    return "NULL";
}

std::string column_name(const WatchedQuery& query, const QueryStep& step) {
    return step.content ? query::describe_name(query.table.columns()[step.content->column].name) : "a column";
}

bool of_difference(const QueryStep& step) {
    return step.content && step.content->is_difference();
}

// The value, or the part of a value, that a quad's depth stands for.
std::string depth_of(const WatchedQuery& query, const QueryStep& step, std::uint32_t code) {
    if (of_difference(step)) return "a difference of 0";
    const auto name = column_name(query, step);
    if (const auto value = step.content ? value_at(query, *step.content, code) : std::nullopt)
        return fmt::format("{} = {}", name, words_of(*value));
    return fmt::format("some bits of a value of {}", name);
}

// The relation between the stored depth and the depth that is drawn.
const char* stored_words(gl::Compare incoming) {
    constexpr std::array<const char*, 8> words{"never", ">", "=", ">=", "<", "<>", "<=", "always"};
    return words.at(static_cast<std::size_t>(incoming));
}

std::string action_words(const gl::StencilTest& test) {
    switch (test.on_pass) {
        case StencilOp::Increment:
            return "adds 1";
        case StencilOp::Decrement:
            return "subtracts 1";
        case StencilOp::Replace:
            if (test.on_depth_fail == StencilOp::Zero)
                return fmt::format("sets the stencil to {}: clause 1 holds, and to 0 where it does not",
                                   test.reference);
            return fmt::format("sets bit {}", test.written);
        case StencilOp::Zero:
            return fmt::format("clears bit {}", test.written);
        case StencilOp::Invert:
            return fmt::format("inverts bit {}", test.written);
        case StencilOp::Keep:
            break;
    }
    return "writes nothing";
}

// The condition on the stencil: the number of clauses that hold so far, from 1, and flags above it.
std::string stencil_condition(const gl::StencilTest& test) {
    auto words = fmt::format("the stencil counts {}", test.reference & query::level_bits);
    for (const int flag : {query::undecided, query::decided}) {
        if ((test.compared & flag) != 0)
            words += fmt::format(", its bit {} {}", flag, (test.reference & flag) != 0 ? "is set" : "is not");
    }
    return words;
}

std::string count_words(const QueryStep& step, bool last) {
    if (!step.counted) return {};
    return fmt::format(" The occlusion query counted {}{}.", with_commas(*step.counted),
                       last ? ": the answer" : " of them");
}

std::string load_text(const WatchedQuery& query, const QueryStep& step) {
    const auto* content = step.content ? &*step.content : nullptr;
    if (of_difference(step))
        return "The difference of two columns' values goes to the depth buffer, as a code below, at or above that of "
               "0: a op b is (a - b) op 0. It is that of their ranks among all values, so it is exact.";
    const auto shift = content ? content->planes.shift(content->plane) : 0;
    const auto part = content && !content->whole()
                          ? fmt::format("bits {} to {} of ", shift, shift + content->planes.bits - 1)
                          : std::string();
    return fmt::format(
        "Column {} goes to the depth buffer: {}each value's rank among all that its type has, less the smallest "
        "value's, becomes the bits of a depth. Their order is the order of the values, and nothing is rounded.",
        column_name(query, step), part);
}

std::string test_text(const WatchedQuery& query, std::size_t at) {
    const auto& step = query.steps[at];
    std::string text = "A quad over all rows is drawn";
    if (step.bounds) {
        text += fmt::format(" with a test of depth bounds: from {} to {}", depth_of(query, step, (*step.bounds)[0]),
                            depth_of(query, step, (*step.bounds)[1]));
    } else if (step.drawn) {
        text += fmt::format(" at the depth of {}; a fragment passes where the depth stored is {} it",
                            depth_of(query, step, *step.drawn), stored_words(step.depth_test->pass_if));
    } else if (step.act == Act::TestSum) {
        text += "; each fragment computes its row's sum, and is discarded where the condition does not hold";
    } else {
        text += ", without a test of depth";
    }
    const auto& stencil = step.stencil_test;
    if (stencil && stencil->pass_if == gl::Compare::Equal)
        text += (step.depth_test || step.bounds ? " and " : "; it passes where ") + stencil_condition(*stencil);
    text += ".";
    if (stencil) text += fmt::format(" It {}", action_words(*stencil));
    if (stencil && stencil->on_pass == StencilOp::Increment) text += fmt::format(": clause {} holds", step.level);
    if (stencil) text += ".";
    return text + count_words(step, step.counted == query.count);
}

std::string bitmap_text(const QueryStep& step) {
    if (step.act == Act::Combine) return "Two selections are combined, 32 rows a fragment, bit by bit.";
    if (step.act == Act::Count) return "Each fragment counts the bits of 16 words of the selection: partial counts.";
    if (step.act == Act::AddUp)
        return fmt::format(
            "Each fragment adds up 16 partial counts.{}",
            step.counted ? fmt::format(" One is left, which is read back: {}, the answer.", with_commas(*step.counted))
                         : "");
    return fmt::format(
        "{}: a fragment reads 32 rows of the column, and writes a word with a bit for each of them: whether the "
        "condition holds. {} have it set. The depth and stencil buffers have no part in it.",
        step.act == Act::Compare ? "A comparison with constants" : "A condition on rows",
        with_commas(step.rows_passed()));
}

}  // namespace

// Without the outer parentheses.
std::string sql_of(const WatchedQuery& query) {
    const auto& condition = query.condition;
    const bool several = condition.starts_with('(') && condition.ends_with(')');
    return "SELECT COUNT(*) WHERE " + (several ? condition.substr(1, condition.size() - 2) : condition);
}

std::string title_of(const WatchedQuery& query, std::size_t step) {
    if (step == 0) return "the rows";
    return fmt::format("pass {} of {}: {}", step, query.steps.size() - 1, query.steps[step].name);
}

std::string explain(const WatchedQuery& query, std::size_t step) {
    const auto& now = query.steps[step];
    const bool depth = query.engine == QueryEngine::Depth;
    if (step == 0)
        return fmt::format(
            "The table: {} rows, {} (drawn here as a square, the first row at the lower left), and a point each of the "
            "scatter. No pass has been drawn yet.",
            with_commas(query.rows()),
            depth ? fmt::format("a pixel each of a depth and stencil buffer {} wide",
                                with_commas(static_cast<std::uint64_t>(query.texture_width)))
                  : "a bit each of a selection");
    if (now.is_load()) return load_text(query, now);
    return now.is_test() ? test_text(query, step) : bitmap_text(now);
}

std::string depth_words(const WatchedQuery& query, std::size_t step) {
    const auto& now = query.steps[step];
    if (now.is_load()) return "always; writes";
    if (now.bounds) return "stored within bounds";
    if (!now.depth_test) return "off";
    if (!now.drawn) return fmt::format("stored {} drawn", stored_words(now.depth_test->pass_if));
    const auto value = now.content ? value_at(query, *now.content, *now.drawn) : std::nullopt;
    return fmt::format("stored {} {}", stored_words(now.depth_test->pass_if), value ? words_of(*value) : "drawn");
}

std::string stencil_words(const QueryStep& step) {
    if (!step.stencil_test) return "off";
    const auto& test = *step.stencil_test;
    const auto on_pass = test.on_pass == StencilOp::Increment ? std::string("+ 1")
                         : test.on_pass == StencilOp::Replace ? fmt::format("set {}", test.reference & test.written)
                         : test.on_pass == StencilOp::Zero    ? fmt::format("clear {}", test.written)
                         : test.on_pass == StencilOp::Invert  ? fmt::format("invert {}", test.written)
                                                              : std::string("keep");
    if (test.pass_if == gl::Compare::Always)
        return "always: " + on_pass + (test.on_depth_fail == StencilOp::Zero ? ", else 0" : "");
    const int flags = test.reference & test.compared & ~query::level_bits;
    return fmt::format("= {}{}: {}", test.reference & query::level_bits, flags != 0 ? fmt::format(" | {}", flags) : "",
                       on_pass);
}

}  // namespace quadmill::detail::show
