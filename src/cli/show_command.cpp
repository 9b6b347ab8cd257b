#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <variant>

#include "cli/commands.hpp"
#include "cli/refusals.hpp"
#include "cli/stream_run.hpp"
#include "files/files.hpp"
#include "input/checks.hpp"
#include "input/csv.hpp"
#include "input/printable.hpp"
#include "quadmill/context.hpp"
#include "quadmill/error.hpp"
#include "show/contact_sheet.hpp"
#include "show/png.hpp"
#include "show/quantile_plot.hpp"
#include "show/query_page.hpp"
#include "show/watch_words.hpp"
#include "sql/binder.hpp"
#include "sql/parser.hpp"

namespace quadmill::detail::cli {

namespace {

void draw(files::OutputFile& file, const show::Canvas& picture) {
    if (file.is_terminal()) throw CLI::ValidationError("-o", "a picture cannot go to a terminal; name a file");
    file.write(show::png(picture));
}

void write(files::OutputFile& file, const show::Canvas& picture) {
    draw(file, picture);
    file.commit();
}

struct ShowSort {
    show::Request request;
    std::string output;
    int device = -1;

    void run() const {
        files::OutputFile file(output);
        auto context = Context::headless({.device = device});
        write(file, show::contact_sheet(checked([&] { return show::watch(context, request); })));
    }
};

struct ShowQuantiles {
    std::string input = "-", output;
    input::Reading reading;
    double eps = 0.001;

    void run();
};

// Infinite values cannot be drawn, so the curve ends before them. The tail ends where the error of ranks, or a single
// value, is as large as the rest above it.
show::QuantileCurve curve_of(const SomeQuantiles& summary) {
    constexpr int parts = 400;
    show::QuantileCurve curve{.n = summary.n(), .eps = summary.eps(), .points = {}};
    if (curve.n == 0) throw InvalidArgument("show quantiles: no values");
    const auto add = [&](std::vector<show::QuantileCurve::Point>& to, double phi) {
        const auto value = [&](double at) { return summary.quantile(std::fmin(std::fmax(at, 0), 1)).number(); };
        const show::QuantileCurve::Point point{phi, value(phi - curve.eps), value(phi), value(phi + curve.eps)};
        if (std::isfinite(point.lower) && std::isfinite(point.upper)) to.push_back(point);
    };
    for (int i = 0; i <= parts; ++i) add(curve.points, static_cast<double>(i) / parts);
    const double last = std::fmin(std::fmax(curve.eps, 1 / static_cast<double>(curve.n)), 0.1);
    for (int i = 0; i <= parts; ++i) add(curve.tail, 1 - 0.5 * std::pow(2 * last, static_cast<double>(i) / parts));
    if (curve.points.empty()) throw InvalidArgument("show quantiles: no finite values");
    return curve;
}

void ShowQuantiles::run() {
    reading.take_type_of(input, input::type_words);
    const auto type = reading.type();
    refuse_inputs_or_partial("-o", output, {input});
    files::OutputFile file(output);
    input::StreamInput stream(input);
    const auto summary = make_summary(SummaryKind::Quantiles, type, QuantileOptions{.eps = eps});
    input::Skipped skipped;
    input::read_stream(stream, reading, {input::word_for(input::type_words, type) + " value", type}, reading.parser(),
                       skipped, [&](const input::Records& values) { summary->add(values); });
    stream.release_interrupt();
    input::refuse_all_bad(skipped, summary->n());
    input::note_skipped("quadmill show quantiles", skipped);
    draw(file, show::draw_quantiles(curve_of(dynamic_cast<const SomeQuantiles&>(*summary)), {1000, 600}));
    if (!stream.interrupted()) return file.commit();
    commit_part(file, output);
    throw CLI::RuntimeError(stream.interrupt().status());
}

struct ShowQuery {
    std::string sql, output;
    QueryEngine engine = QueryEngine::Auto;
    int device = -1;

    void run() const;
    [[nodiscard]] sql::SqlQuery parsed() const;
};

// The outputs of the query other than COUNT(*), such as "MEDIAN(a)"; empty if there are none.
std::string others_than_count(const sql::SqlQuery& query) {
    std::string names;
    for (const auto& output : query.outputs) {
        const auto* aggregate = output.steps.size() == 1 ? &*std::ranges::find(query.aggregates, output.steps[0].leaf,
                                                                               &sql::SqlAggregate::leaf)
                                                         : nullptr;
        const bool counts = aggregate && aggregate != query.aggregates.data() + query.aggregates.size() &&
                            aggregate->what.kind == QueryAggregate::Kind::CountRows;
        if (!counts) names += (names.empty() ? "" : ", ") + output.name;
    }
    return names;
}

// The passes count rows of a single file.
sql::SqlQuery ShowQuery::parsed() const {
    auto query = checked([&] { return sql::parse_sql(sql); });
    if (query.sources.size() == 1 && query.group_by.empty() && query.computed.empty()) return query;
    throw CLI::ValidationError(
        "QUERY", "only a WHERE on one table can be shown, without JOIN, GROUP BY, LIKE, and products of columns");
}

void ShowQuery::run() const {
    const auto written = parsed();
    const auto path = written.sources[0].path;
    input::refuse_inputs("-o", output, {path});
    files::OutputFile file(output);
    const input::CsvFile csv(path);
    auto query = checked([&] { return sql::bind(written, {&csv.names(), 1}); });
    const auto found = csv.table(columns_read(query, 0, csv.names()), 0);
    const sql::SqlTable source{found.table, found.notes};
    const auto known = sql::types_in(query, {&source, 1});
    checked([&] { check_types(query, known); });
    take_types(query, known);
    const auto where = query.where.value_or(Predicate::always(true));
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < known.size(); ++i) {
        if (known[i].is_text) texts.push_back(query.columns[i].name);
    }
    const auto table = input::filled(found, texts);
    auto context = Context::headless({.device = device});
    show::QueryWatcher watcher(context, table);
    const auto others = others_than_count(query);
    if (!others.empty()) {
        fmt::print(stderr, "quadmill show query: the picture shows how the rows are counted, not {}\n",
                   input::printable(others));
    }
    write(file, show::query_sheet(watcher.watch(where, engine), others));
}

void add_output_option(CLI::App& verb, std::string& output) {
    verb.add_option("-o,--output", output, "The picture, a PNG file; - is standard output")
        ->required()
        ->check(input::file_name())
        ->check(CLI::Validator(
            [](const std::string& name) {
                const bool other = std::ranges::any_of(std::array{".gif", ".jpeg", ".jpg", ".pdf", ".svg", ".webp"},
                                                       [&](const char* end) { return name.ends_with(end); });
                return other ? "pictures are PNG; let the name end in .png" : "";
            },
            ""))
        ->type_name("FILE");
}

void add_show_sort(CLI::App& show) {
    auto command = std::make_shared<ShowSort>();
    auto* verb = show.add_subcommand("sort", "The stages of a sort, as in the engine's texture, on one page");
    show::add_watch_options(*verb, command->request);
    add_output_option(*verb, command->output);
    add_device_option(*verb, command->device);
    verb->footer(
        "Example:\n"
        "  quadmill show sort --n 4096 -o sort.png");
    verb->callback([command, verb] {
        only_with(*verb, {"--early-stop"}, command->request.engine == show::Watched::Pbsn, "--engine pbsn");
        command->run();
    });
}

void add_show_query(CLI::App& show) {
    auto command = std::make_shared<ShowQuery>();
    auto* verb = show.add_subcommand("query", "The passes of a count of a CSV file's rows, on one page");
    verb->add_option("QUERY", command->sql,
                     "SQL as in `quadmill query`; the picture shows how the rows of its WHERE are counted")
        ->required()
        ->type_name("");
    verb->add_option("--engine", command->engine,
                     "The engine (default: depth; bitmap where OpenGL older than 4.5 has no exact depths)")
        ->transform(input::one_of(show::watched_query_words));
    add_output_option(*verb, command->output);
    add_device_option(*verb, command->device);
    verb->footer(
        "Example:\n"
        "  quadmill show query \"SELECT COUNT(*) FROM data.csv WHERE a > 3 AND b BETWEEN 1 AND 2\" -o query.png");
    verb->callback([command] { command->run(); });
}

void add_show_quantiles(CLI::App& show) {
    auto command = std::make_shared<ShowQuantiles>();
    auto* verb = show.add_subcommand(
        "quantiles", "The quantiles of a stream as a curve, and its tail, with bands that contain the exact ones");
    verb->add_option("FILE", command->input, "File; - is standard input")->type_name("FILE")->capture_default_str();
    add_eps_option(*verb, command->eps);
    input::add_reading_options(*verb, command->reading, input::type_words, "Input is text, one number per line");
    add_output_option(*verb, command->output);
    verb->footer(
        "Example:\n"
        "  quadmill show quantiles latencies.f32 -o quantiles.png");
    verb->callback([command] { command->run(); });
}

}  // namespace

void add_show_command(CLI::App& app) {
    auto* show =
        app.add_subcommand("show", "Draw the stages of a sort, the passes of a query, or the quantiles of a stream");
    show->require_subcommand(1);
    add_show_sort(*show);
    add_show_query(*show);
    add_show_quantiles(*show);
    show->footer(
        "Examples:\n"
        "  quadmill show sort --n 4096 --engine pbsn -o sort.png\n"
        "  quadmill show query \"SELECT COUNT(*) FROM data.csv WHERE a > 3 AND b BETWEEN 1 AND 2\" -o query.png\n"
        "  quadmill show quantiles latencies.f32 -o quantiles.png");
}

}  // namespace quadmill::detail::cli
