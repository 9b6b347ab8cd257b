#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/lu_batch.hpp"
#include "cli/passes.hpp"
#include "cli/refusals.hpp"
#include "files/files.hpp"
#include "input/checks.hpp"
#include "input/matrix_file.hpp"
#include "input/text.hpp"
#include "input/words.hpp"
#include "linalg/measures.hpp"
#include "quadmill/error.hpp"
#include "quadmill/linalg.hpp"

namespace quadmill::detail::cli {

namespace {

const input::Words<Swap> swap_words{{"pointer", Swap::Pointer}, {"copy", Swap::Copy}};
const input::Words<Layout> layout_words{{"tiles", Layout::Tiles}, {"scalars", Layout::Scalars}};

struct LuCommand {
    std::string matrix, sides, output;
    std::optional<std::size_t> columns{};
    LuOptions options;
    std::size_t batch = 0;
    bool refine = false, json = false, profile = false;
    int device = -1;

    void run() const;

  private:
    struct Outputs {
        std::optional<files::OutputFile> content, row_order, column_order;
    };
    struct Outcome {
        input::MatrixOf<double> a;
        input::MatrixOf<double> b{};
        std::optional<input::MatrixFile> x{};
        std::optional<input::MatrixOf<double>> refined{};  // replaces the solution
        LuStats stats{};
        Factors factors{};
        std::optional<Refinement> refinement{};
        std::optional<Determinant> determinant{};
        std::optional<double> condition{};  // if the matrix is square
    };
    void open(Outputs& out) const;
    [[nodiscard]] input::MatrixOf<double> read_sides(const input::MatrixOf<double>& a) const;
    void solve(Lu& lu, Outcome& outcome) const;
    void warn(const Outcome& outcome, double residual) const;
    void write(Outputs& out, const Outcome& outcome) const;
    [[nodiscard]] std::string content_of_factors(const Outcome& outcome) const;
    static void write_order(files::OutputFile& out, const std::vector<std::uint32_t>& order);
    [[nodiscard]] Json report(const Outcome& outcome, const std::string& renderer) const;
    void print(const Outcome& outcome, const Json& report) const;
};

constexpr const char* refine_advice = "--refine solves in double";

// Number of operations for an m x n matrix: the products of all eliminations.
double operations(std::size_t rows, std::size_t columns) {
    const auto m = static_cast<double>(rows), n = static_cast<double>(columns), k = std::min(m, n);
    return 2 * m * n * k - (m + n) * k * k + 2.0 / 3 * k * k * k;
}

// The solutions, one after the other.
template <class Value>
Json columns_of(const input::MatrixOf<Value>& x) {
    auto all = Json::array();
    for (std::size_t j = 0; j < x.columns; ++j) {
        auto one = Json::array();
        for (std::size_t i = 0; i < x.rows; ++i) one.push_back(static_cast<double>(x.values[i * x.columns + j]));
        all.push_back(std::move(one));
    }
    return all;
}

template <class Value>
void print_rows(const input::MatrixOf<Value>& x) {
    for (std::size_t i = 0; i < x.rows; ++i) {
        std::string line;
        for (std::size_t j = 0; j < x.columns; ++j)
            line.append(j == 0 ? "" : " ").append(input::format_number(x.values[i * x.columns + j]));
        fmt::print("{}\n", line);
    }
}

DoubleMatrixView view(const input::MatrixOf<double>& file) {
    return {file.values, file.rows, file.columns};
}

void LuCommand::write_order(files::OutputFile& out, const std::vector<std::uint32_t>& order) {
    std::string text;
    for (const auto place : order) text += fmt::format("{}\n", place + 1);
    out.write(std::as_bytes(std::span(text)));
}

void LuCommand::solve(Lu& lu, Outcome& outcome) const {
    const auto& b = outcome.b;
    if (!refine) {
        outcome.x = {b.rows, b.columns, lu.solve(input::to_floats(sides, b.values, refine_advice), b.columns)};
        return;
    }
    auto& x = outcome.refined.emplace(input::MatrixOf<double>{b.rows, b.columns, std::vector<double>(b.values.size())});
    const auto& refinement = outcome.refinement.emplace(lu.solve(view(outcome.a), b.values, x.values, b.columns));
    if (refinement.condition) outcome.condition = refinement.condition;
}

// Warns on standard error if solutions cannot be trusted.
void LuCommand::warn(const Outcome& outcome, double residual) const {
    constexpr double some = 1.0 / 16;  // relative error of a solution: barely one digit is right
    const auto say = [](const std::string& why) { fmt::print(stderr, "quadmill lu: {}\n", why); };
    const double condition = outcome.condition.value_or(0);
    if (outcome.refinement && !outcome.refinement->converged)
        say(
            fmt::format("refinement stopped at a residual of {:.3g}: do not trust the solutions; the matrix is too "
                        "near to a singular one",
                        outcome.refinement->residual));
    if (outcome.refinement && condition * 0x1p-53 >= some)
        say(fmt::format("do not trust the solutions: the condition number is about {:.2g}, too much for doubles",
                        condition));
    if (outcome.x && condition * 0x1p-24 >= some)
        say(
            fmt::format("do not trust the solutions: the condition number is about {:.2g}, too much for 32-bit floats; "
                        "{}",
                        condition, refine_advice));
    if (outcome.x && residual >= 30)
        say(fmt::format("do not trust the solutions: the factors' residual of {:.3g} is above 30; take --pivot partial",
                        residual));
}

input::MatrixOf<double> LuCommand::read_sides(const input::MatrixOf<double>& a) const {
    if (a.rows != a.columns)
        throw InvalidArgument(fmt::format("--solve needs a square matrix, and '{}' has {} rows and {} columns", matrix,
                                          a.rows, a.columns));
    auto b = input::read_matrix<double>(sides, std::size_t{1});
    if (!input::is_matrix_market(sides) && b.columns == 1 && a.rows > 0 && b.rows % a.rows == 0) {
        b.columns = b.rows / a.rows;  // a raw file: the number of right-hand sides follows from its size
        b.rows = a.rows;
    }
    if (b.values.empty() && a.rows > 0) throw InvalidArgument(fmt::format("'{}' has no right-hand side", sides));
    if (b.rows != a.rows)
        throw InvalidArgument(
            fmt::format("the matrix has {} rows, and the right-hand sides in '{}' have {}", a.rows, sides, b.rows));
    return b;
}

void LuCommand::open(Outputs& out) const {
    if (matrix == "-" && sides == "-")
        throw CLI::ValidationError("--solve", "- is standard input, which has the matrix; name a file");
    if (refine && sides.empty()) throw CLI::ValidationError("--refine", "goes with --solve");
    if (output == "-" && json) throw CLI::ValidationError("-o", "standard output has the JSON object; name a file");
    if (output.empty()) return;
    refuse_lu_inputs(output, matrix, sides);
    out.content.emplace(output);
    if (!input::is_matrix_market(output)) refuse_terminal("-o", *out.content);
    if (!sides.empty() || output == "-") return;
    out.row_order.emplace(output + ".rows");
    if (options.pivot == Pivot::Full) out.column_order.emplace(output + ".columns");
    must_differ(*out.content, *out.row_order);
    if (out.column_order) must_differ(*out.content, *out.column_order);
}

std::string LuCommand::content_of_factors(const Outcome& outcome) const {
    const auto& a = outcome.a;
    const auto& factors = outcome.factors;
    if (factors.row_exponents.empty())
        return input::matrix_content(output, input::MatrixFile{a.rows, a.columns, factors.lu});
    auto unscaled = factors.unscaled();
    if (!std::ranges::all_of(unscaled, [](double value) { return std::isfinite(value); }))
        throw Error("the factors of this matrix do not fit into doubles; scale it");
    return input::matrix_content(output, input::MatrixOf<double>{a.rows, a.columns, std::move(unscaled)});
}

void LuCommand::write(Outputs& out, const Outcome& outcome) const {
    if (!out.content) return;
    const auto content = outcome.refined ? input::matrix_content(output, *outcome.refined)
                         : outcome.x     ? input::matrix_content(output, *outcome.x)
                                         : content_of_factors(outcome);
    out.content->write(std::as_bytes(std::span(content)));
    if (out.row_order) write_order(*out.row_order, outcome.factors.rows);
    if (out.column_order) write_order(*out.column_order, outcome.factors.columns);
    out.content->commit();
    if (out.row_order) out.row_order->commit();
    if (out.column_order) out.column_order->commit();
}

Json LuCommand::report(const Outcome& outcome, const std::string& renderer) const {
    const auto& [a, b, x, refined, stats, factors, refinement, determinant, condition] = outcome;
    const double seconds = stats.factor_ms * 1e-3;
    Json report{{"rows", a.rows},
                {"n", a.columns},
                {"pivot", input::word_for(input::pivot_words, options.pivot)},
                {"block", stats.block},
                {"info", stats.info},
                {"residual", linalg::residual_ratio(view(a), factors)},
                {"growth", linalg::growth(view(a), factors)},
                {"passes", stats.passes},
                {"upload_seconds", stats.upload_ms * 1e-3},
                {"seconds", seconds},
                {"gflops", seconds > 0 ? operations(a.rows, a.columns) / seconds * 1e-9 : 0},
                {"renderer", renderer}};
    if (condition) {
        report["condition"] = *condition;  // null if it is infinite
        report["determinant_sign"] = determinant ? Json(determinant->sign) : Json();
        report["determinant_log"] = determinant && determinant->sign != 0 ? Json(determinant->log_magnitude) : Json();
    }
    if (refinement)
        report["refinement"] = {{"steps", refinement->steps},
                                {"converged", refinement->converged},
                                {"residual", refinement->residual},
                                {"factors", refinement->condition ? "double" : "float"}};
    if (output.empty() && refined) report["x"] = columns_of(*refined);
    if (output.empty() && x) report["x"] = columns_of(*x);
    return report;
}

void LuCommand::print(const Outcome& outcome, const Json& report) const {
    const auto& stats = outcome.stats;
    fmt::print("{} x {}, pivoting: {}, {} row{} a pass: info {}\n", stats.rows, stats.columns,
               input::word_for(input::pivot_words, options.pivot), stats.block, stats.block == 1 ? "" : "s",
               stats.info);
    if (stats.info > 0)
        fmt::print("pivot {} is zero: the matrix {}\n", stats.info,
                   options.pivot == Pivot::Diagonal ? "needs pivoting or is singular; --pivot partial tells which"
                                                    : "is singular in 32-bit floats");
    fmt::print("residual {:.3g} (of at most 30), growth {:.3g}\n", report["residual"].get<double>(),
               report["growth"].get<double>());
    if (outcome.condition) fmt::print("condition number about {:.3g}\n", *outcome.condition);
    if (outcome.refinement)
        fmt::print("refined in {} step{} to a residual of {:.3g}{}\n", outcome.refinement->steps,
                   outcome.refinement->steps == 1 ? "" : "s", outcome.refinement->residual,
                   outcome.refinement->condition ? ", by factors in double that the CPU made" : "");
    fmt::print(stderr, "{:.6f} seconds, {:.2f} GFLOP/s, {} passes\n", stats.factor_ms * 1e-3,
               report["gflops"].get<double>(), stats.passes);
    if (!output.empty()) return;
    if (outcome.x) print_rows(*outcome.x);
    if (outcome.refined) print_rows(*outcome.refined);
}

void LuCommand::run() const {
    if (batch > 0)
        return run_lu_batch({.n = batch,
                             .matrices = matrix,
                             .sides = sides,
                             .output = output,
                             .json = json,
                             .profile = profile,
                             .device = device});
    Outputs out;
    open(out);
    Outcome outcome{.a = input::read_matrix<double>(matrix, columns)};
    if (columns && outcome.a.columns != *columns)
        throw InvalidArgument(
            fmt::format("{} is Matrix Market and has {} columns, not {}; --columns goes with raw matrices",
                        files::input_name(matrix), outcome.a.columns, *columns));
    if (!sides.empty()) outcome.b = read_sides(outcome.a);
    auto context = Context::headless({.device = device});
    auto lu = checked([&] { return Lu(context, options); });
    std::vector<PassProfiler::Row> rows;
    {
        std::optional<PassProfiler> profiler;
        if (profile) profiler.emplace(context);
        outcome.stats = lu.factor(view(outcome.a));
        if (profiler) rows = profiler->rows();
    }
    outcome.factors = lu.factors();
    if (outcome.a.rows == outcome.a.columns) {
        outcome.condition = lu.condition(view(outcome.a));
        if (options.pivot != Pivot::Diagonal || outcome.stats.info == 0) outcome.determinant = lu.determinant();
    }
    if (!sides.empty()) solve(lu, outcome);
    write(out, outcome);
    if (profile) print_passes(context, rows);
    const auto said = report(outcome, context.info().renderer);
    warn(outcome, said["residual"].get<double>());
    if (output == "-") return;
    if (json) return fmt::print("{}\n", said.dump());
    print(outcome, said);
}

void check_options(const CLI::App& verb, const LuCommand& command) {
    const auto& [pivot, swap, block, layout, threads] = command.options;
    const bool by_rows = pivot == Pivot::Full || block.value_or(0) == 1;
    only_with(verb, {"--swap"}, by_rows, "--block 1 or --pivot full, which eliminate one row a pass");
    only_with(verb, {"--swap"}, pivot != Pivot::Diagonal, "--pivot partial or full, which swap");
    only_with(verb, {"--layout"}, !by_rows, "blocks of more than 1: --block 8, 16 or 32");
}

}  // namespace

void add_lu_command(CLI::App& app) {
    auto command = std::make_shared<LuCommand>();
    auto& options = command->options;
    auto* verb = app.add_subcommand("lu", "Factorize a matrix, P A Q = L U, and solve with it");
    verb->add_option(
            "MATRIX", command->matrix,
            "Matrix Market, NumPy's .npy, or raw 32-bit floats row after row (64-bit if the name ends in .f64); - is "
            "standard input")
        ->required();
    auto* columns =
        verb->add_option("--columns", command->columns, "Number of columns of a raw matrix (default: square)")
            ->transform(input::count_up_to(std::uint64_t{1} << 31U));
    auto* pivot = verb->add_option("--pivot", options.pivot, "Pivoting: none, partial (the default) or full")
                      ->transform(input::one_of(input::pivot_words));
    auto* swap =
        verb->add_option(
                "--swap", options.swap,
                "If a pass eliminates one row: swap rows by copying them (copy, the default) or by an index (pointer)")
            ->transform(input::one_of(swap_words));
    auto* block =
        verb->add_option("--block", options.block, "Rows that a pass eliminates (default: 32; 1 with --pivot full)")
            ->check(input::one_of(std::vector<std::string>{"1", "8", "16", "32"}));
    auto* layout =
        verb->add_option(
                "--layout", options.layout,
                "If a pass eliminates several rows: four values in a texel (tiles, the default) or one (scalars)")
            ->transform(input::one_of(layout_words));
    verb->add_option("--solve", command->sides, "Right-hand sides, one per column")->type_name("FILE");
    auto* refine =
        verb->add_flag("--refine", command->refine,
                       "Refine solutions to double accuracy; if factors in 32-bit floats do not suffice, the CPU "
                       "factorizes again in double");
    auto* batch = verb->add_option("--batch", command->batch,
                                   "The file has many N x N matrices (N up to 32), which are factorized together")
                      ->check(input::shown_number(1, LuBatch::max_n))
                      ->type_name("N");
    for (auto* other : {columns, pivot, swap, block, layout, refine}) batch->excludes(other);
    verb->add_option("-o", command->output,
                     "With --solve: the solutions. Otherwise L and U as one matrix; FILE.rows lists, for each of its "
                     "rows, the row of MATRIX, from 1 (with --pivot full, FILE.columns the columns). Matrix Market if "
                     "the name ends in .mtx, NumPy's file if .npy, raw 64-bit floats if .f64, otherwise 32-bit")
        ->type_name("FILE");
    verb->add_flag("--json", command->json, "One JSON object on standard output");
    verb->add_flag("--profile", command->profile, "A table of GPU time by pass on standard error");
    add_device_option(*verb, command->device);
    verb->footer(
        "Output:\n"
        "- info: 0, or the number of the first zero pivot, as in LAPACK\n"
        "- residual: |LU - PA| / (n |A| 2^-24), estimated with random vectors; should be below 30\n"
        "- condition: an estimate of the condition number in the 1-norm\n"
        "- x: the solutions, with --json and without -o\n"
        "A line on standard error, \"do not trust the solutions\", warns if solutions may have almost no correct "
        "digits.\n"
        "Factors are 32-bit floats, scaled by powers of two if their range needs it.\n"
        "\n"
        "Examples:\n"
        "  quadmill lu matrix.mtx --json\n"
        "  quadmill lu matrix.f32 --solve b.f64 --refine -o x.mtx\n"
        "  quadmill lu many.f32 --batch 16 --solve b.f32 -o x.f32\n"
        "  quadmill lu matrix.f32 --pivot full -o factors.f32");
    verb->callback([command, verb] {
        check_options(*verb, *command);
        command->run();
    });
}

}  // namespace quadmill::detail::cli
