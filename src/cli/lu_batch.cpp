#include "cli/lu_batch.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/passes.hpp"
#include "cli/refusals.hpp"
#include "files/files.hpp"
#include "input/checks.hpp"
#include "input/matrix_file.hpp"
#include "linalg/measures.hpp"
#include "quadmill/error.hpp"
#include "quadmill/linalg.hpp"

namespace quadmill::detail::cli {

namespace {

class LuBatchWork {
  public:
    explicit LuBatchWork(const LuBatchCall& call) : call_(call) {
        if (call.output == "-" && call.json)
            throw CLI::ValidationError("-o", "standard output has the JSON object; name a file");
        if (!call.sides.empty() && call.output.empty())
            throw CLI::ValidationError("--solve", "with --batch, name a file for the solutions: -o FILE");
        if (call.output.empty()) return;
        refuse_lu_inputs(call.output, call.matrices, call.sides);
        content_.emplace(call.output);
        if (!input::is_matrix_market(call.output)) refuse_terminal("-o", *content_);
        if (call.sides.empty() && call.output != "-") {
            rows_.emplace(call.output + ".rows");
            must_differ(*content_, *rows_);
        }
    }

    void run() {
        matrices_ = input::read_matrix(call_.matrices, call_.n);
        if (matrices_.columns != call_.n || matrices_.rows % call_.n != 0)
            throw InvalidArgument(fmt::format("'{}' has {} rows of {} values, which do not make {} x {} matrices",
                                              call_.matrices, matrices_.rows, matrices_.columns, call_.n, call_.n));
        const auto sides = read_sides();
        auto context = Context::headless({.device = call_.device});
        LuBatch batch(context);
        std::vector<PassProfiler::Row> passes;
        {
            std::optional<PassProfiler> profiler;
            if (call_.profile) profiler.emplace(context);
            stats_ = batch.factor(matrices_.values, call_.n);
            if (profiler) passes = profiler->rows();
        }
        const auto factors = batch.factors();
        conditions_ = batch.conditions(matrices_.values);
        if (sides) {
            write(input::MatrixFile{sides->rows, sides->columns, batch.solve(sides->values, sides->columns)}, factors);
            warn();
        } else if (content_ && factors.row_exponents.empty()) {
            write(input::MatrixFile{matrices_.rows, matrices_.columns, factors.lu}, factors);
        } else if (content_) {
            write(input::MatrixOf<double>{matrices_.rows, matrices_.columns, factors.unscaled()}, factors);
        }
        if (call_.profile) print_passes(context, passes);
        if (call_.output != "-")
            report(linalg::residual_ratio(matrices_.values, factors, call_.n), context.info().renderer);
    }

  private:
    [[nodiscard]] std::optional<input::MatrixFile> read_sides() const {
        if (call_.sides.empty()) return std::nullopt;
        auto found = input::read_matrix(call_.sides, std::size_t{1});
        const auto values = found.values.size(), rows = matrices_.rows;
        if (rows == 0 ? values > 0 : values % rows != 0)
            throw InvalidArgument(fmt::format(
                "the matrices have {} rows in all, and the right-hand sides in '{}' {} values, which is not "
                "a multiple of that",
                rows, call_.sides, values));
        found.rows = rows;
        found.columns = rows == 0 ? 0 : values / rows;
        return found;
    }

    // As `lu` warns about one matrix.
    void warn() const {
        constexpr double too_large = 0x1p24 / 16;
        const auto is_bad = [](double condition) { return condition >= too_large; };
        const auto bad = std::ranges::count_if(conditions_, is_bad);
        if (bad == 0) return;
        const auto first = std::ranges::find_if(conditions_, is_bad);
        fmt::print(
            stderr,
            "quadmill lu: do not trust the solutions of {} systems, first number {}: its condition number is {}, "
            "too much for 32-bit floats; without --batch, --refine solves in double\n",
            bad, first - conditions_.begin() + 1,
            std::isinf(*first) ? "infinite" : fmt::format("about {:.2g}", *first));
    }

    template <class Value>
    void write(const input::MatrixOf<Value>& content, const BatchFactors& factors) {
        const auto bytes = input::matrix_content(call_.output, content);
        content_->write(std::as_bytes(std::span(bytes)));
        if (rows_) {
            std::string text;
            for (const auto row : factors.rows) text += fmt::format("{}\n", row + 1);
            rows_->write(std::as_bytes(std::span(text)));
        }
        content_->commit();
        if (rows_) rows_->commit();
    }

    [[nodiscard]] double gflops() const {
        const auto n = static_cast<double>(stats_.n);
        return stats_.factor_ms > 0
                   ? 2.0 / 3 * n * n * n * static_cast<double>(stats_.systems) / stats_.factor_ms * 1e-6
                   : 0;
    }

    void report(double residual, const std::string& renderer) const {
        const auto singular = stats_.systems - static_cast<std::size_t>(std::ranges::count(stats_.info, 0U));
        const auto first = std::ranges::find_if(stats_.info, [](std::uint32_t info) { return info > 0; });
        const auto number = first - stats_.info.begin() + 1;  // counted from 1
        const auto worst = conditions_.empty() ? 0 : std::ranges::max(conditions_);
        if (call_.json) {
            const nlohmann::ordered_json said{{"systems", stats_.systems},
                                              {"n", stats_.n},
                                              {"pivot", "partial"},
                                              {"singular", singular},
                                              {"first_singular", singular > 0 ? number : 0},
                                              {"residual", residual},
                                              {"worst_condition", worst},
                                              {"passes", stats_.passes},
                                              {"upload_seconds", stats_.upload_ms * 1e-3},
                                              {"seconds", stats_.factor_ms * 1e-3},
                                              {"gflops", gflops()},
                                              {"renderer", renderer}};
            return fmt::print("{}\n", said.dump());
        }
        fmt::print("{} matrices of {} x {}, {} of them singular\n", stats_.systems, stats_.n, stats_.n, singular);
        if (singular > 0) fmt::print("the first singular one is number {}\n", number);
        fmt::print("residual {:.3g} (of at most 30) in the worst, condition number up to about {:.3g}\n", residual,
                   worst);
        fmt::print(stderr, "{:.6f} seconds, {:.2f} GFLOP/s, {} passes\n", stats_.factor_ms * 1e-3, gflops(),
                   stats_.passes);
    }

    const LuBatchCall& call_;
    std::optional<files::OutputFile> content_, rows_;
    input::MatrixFile matrices_;
    BatchStats stats_;
    std::vector<double> conditions_;
};

}  // namespace

void refuse_lu_inputs(const std::string& output, const std::string& matrix, const std::string& sides) {
    for (const auto& one : {output, output + ".rows", output + ".columns"}) {
        if (one == output || (sides.empty() && output != "-")) input::refuse_inputs("-o", one, {matrix, sides});
    }
}

void must_differ(const files::OutputFile& content, const files::OutputFile& order) {
    if (!order.same_as(content)) return;
    throw CLI::ValidationError("-o",
                               fmt::format("{} is also where {} leads; name another", order.name(), content.name()));
}

void run_lu_batch(const LuBatchCall& call) {
    LuBatchWork(call).run();
}

}  // namespace quadmill::detail::cli
