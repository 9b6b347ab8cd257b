#include "bench/query_bench.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <utility>

#include "bench/pass_count.hpp"
#include "bench/spread.hpp"
#include "bench/sqlite_rival.hpp"
#include "bench/wake.hpp"
#include "cpu/stopwatch.hpp"
#include "gl/device.hpp"
#include "gl/objects.hpp"
#include "quadmill/error.hpp"
#include "query/cpu/cpu_engine.hpp"
#include "query/gpu/bitmap_columns.hpp"
#include "query/gpu/depth_engine.hpp"
#include "query/run/executor.hpp"

namespace quadmill::detail::bench {

namespace {

using query::TableData;
using Ask = QueryCase::Ask;

// Counts the pixels of passes that have a depth and stencil but no colour.
class TestedPixels final : public PassObserver {
  public:
    explicit TestedPixels(Context& context) : context_(context), previous_(context.observe(this)) {}
    TestedPixels(const TestedPixels&) = delete;
    TestedPixels& operator=(const TestedPixels&) = delete;
    ~TestedPixels() override { context_.observe(previous_); }
    void before(const PassEvent& pass) override {
        if (pass.format == gl::info(gl::Format::Depth32fStencil8).name) pixels += pass.texels;
    }
    std::uint64_t pixels = 0;

  private:
    Context& context_;
    PassObserver* previous_;
};

std::size_t bytes_of(const query::ColumnData& column) {
    return std::visit(
        []<class T>(const T& values) -> std::size_t {
            if constexpr (std::is_same_v<T, query::HostObjects>)
                return 0;
            else
                return values.size() * sizeof(values[0]);
        },
        column.values);
}

constexpr std::array all_columns{std::size_t{column_a}, std::size_t{column_b}, std::size_t{column_c},
                                 std::size_t{column_d}, std::size_t{column_e}};

}  // namespace

class QueryBench::Runner {
  public:
    virtual ~Runner() = default;
    // The reason if it cannot run; otherwise empty.
    [[nodiscard]] virtual std::string unfit(const QueryCase& which) const {
        return which.ask == Ask::Copy ? "copies nothing to a depth buffer" : "";
    }
    [[nodiscard]] virtual std::uint64_t answer(const QueryCase& which) = 0;
};

namespace {

using Runner = QueryBench::Runner;

// The engine and the case.
struct Asked {
    query::Engine& engine;
    std::shared_ptr<const TableData> table;
    bool on_gpu;
    unsigned threads;
};

// Asks engines in the same way as the library's executor.
class ByEngine : public Runner {
  public:
    ByEngine(Asked asked, std::shared_ptr<query::Columns> columns)
        : asked_(std::move(asked)), columns_(std::move(columns)), all_(columns_->leaf(query::Always{true})) {}

    [[nodiscard]] std::uint64_t answer(const QueryCase& which) override {
        if (which.ask == Ask::Kth) return columns_->kth(which.column, which.k, *all_);
        if (which.ask == Ask::Min) return columns_->extremes(which.column, *all_).first;
        if (which.ask == Ask::Sum) return static_cast<std::uint64_t>(columns_->sum(which.column, *all_).integer);
        if (which.ask == Ask::Groups) return groups(which);
        if (auto* const gpu = columns_->gpu()) return gpu->count_conjunction(which.where);
        query::BitsPtr all;
        for (const auto& clause : which.where) {
            query::BitsPtr any;
            for (const auto& leaf : clause) any = joined(query::BoolOp::Or, any, columns_->leaf(leaf));
            all = joined(query::BoolOp::And, all, any);
        }
        return columns_->count(*all);
    }

  private:
    // All rows of the result, as from QueryProcessor::run().
    [[nodiscard]] std::uint64_t groups(const QueryCase& which) {
        const Query query{
            .outputs = {{QueryAggregate{}, ""}, {QueryAggregate{.kind = QueryAggregate::Kind::Max, .column = "a"}, ""}},
            .group_by = {asked_.table->columns[which.column]->name}};
        const QueryPlan plan(query, asked_.table->infos);
        query::Tuning tuning;
        tuning.engine_groups = asked_.on_gpu ? query::gpu_engine_groups : 0;
        const query::RunTools tools{.engine = asked_.engine,
                                    .cpu = asked_.engine,  // for joins
                                    .join = {.function = "bench query", .sort_with_index = {}, .tuning = tuning},
                                    .threads = asked_.threads,
                                    .in_memory = [](const auto& table, auto /*columns*/) { return table; }};
        std::uint64_t sum = 0;
        for (const auto& row : execute(detail::Access::of(plan), {asked_.table, nullptr}, tools).rows)
            sum += static_cast<std::uint64_t>(std::get<std::int64_t>(row[0]) * std::get<std::int64_t>(row[1]));
        return sum;
    }
    [[nodiscard]] query::BitsPtr joined(query::BoolOp op, const query::BitsPtr& some, const query::BitsPtr& more) {
        return some ? columns_->combine(op, *some, *more) : more;
    }
    Asked asked_;
    std::shared_ptr<query::Columns> columns_;
    query::BitsPtr all_;
};

class ByDepth final : public ByEngine {
  public:
    ByDepth(gl::Device& device, Asked asked, std::shared_ptr<query::DepthColumns> columns)
        : ByEngine(std::move(asked), columns), device_(device), columns_(std::move(columns)) {}
    [[nodiscard]] std::string unfit(const QueryCase& /*which*/) const override { return {}; }
    [[nodiscard]] std::uint64_t answer(const QueryCase& which) override {
        if (which.ask == Ask::Copy) {
            columns_->copy_to_depth(which.column);
            gl::Fence(device_).wait();
            return 0;
        }
        if (which.depth == QueryCase::Depth::Forgotten) columns_->forget_depth();
        return ByEngine::answer(which);
    }

  private:
    gl::Device& device_;
    std::shared_ptr<query::DepthColumns> columns_;
};

class ByScan final : public Runner {
  public:
    ByScan(std::shared_ptr<const TableData> table, unsigned threads) : table_(std::move(table)), scan_(threads) {}
    [[nodiscard]] std::uint64_t answer(const QueryCase& which) override { return scan_.answer(*table_, which); }

  private:
    std::shared_ptr<const TableData> table_;
    Scan scan_;
};

class ByNthElement final : public Runner {
  public:
    explicit ByNthElement(std::shared_ptr<const TableData> table) : table_(std::move(table)) {}
    [[nodiscard]] std::string unfit(const QueryCase& which) const override {
        return which.ask == Ask::Kth || which.ask == Ask::Min ? "" : "finds ranks only";
    }
    [[nodiscard]] std::uint64_t answer(const QueryCase& which) override { return nth_element(*table_, which); }

  private:
    std::shared_ptr<const TableData> table_;
};

class BySqlite final : public Runner {
  public:
    explicit BySqlite(std::unique_ptr<SqliteTable> table) : table_(std::move(table)) {}
    [[nodiscard]] std::uint64_t answer(const QueryCase& which) override { return table_->answer(which); }

  private:
    std::unique_ptr<SqliteTable> table_;
};

}  // namespace

QueryBench::QueryBench(std::optional<Context> context, std::string why_no_context,
                       std::vector<QueryContender> contenders, const QueryBenchOptions& options)
    : context_(std::move(context)),
      why_no_context_(std::move(why_no_context)),
      contenders_(std::move(contenders)),
      options_(options),
      engines_(contenders_.size()),
      runners_(contenders_.size()) {
    if (!context_) return;
    depth_limit_ = bench::depth_limit(*context_);
    scope_ = std::make_unique<gl::Scope>(*detail::Access::of(*context_), "bench query");
}

QueryBench::~QueryBench() {
    runners_.clear();
    engines_.clear();
    scope_.reset();
}

query::Engine& QueryBench::engine(std::size_t i) {
    auto& engine = engines_[i];
    if (engine) return *engine;
    const auto by = contenders_[i].by;
    if (by == QueryBy::Cpu) {
        engine = std::make_unique<query::CpuEngine>(options_.threads);
    } else if (!context_) {
        throw InvalidArgument(why_no_context_);
    } else if (by == QueryBy::Depth) {
        engine = std::make_unique<query::DepthEngine>(*detail::Access::of(*context_), options_.threads);
    } else {
        engine = std::make_unique<query::BitmapEngine>(*detail::Access::of(*context_), options_.threads);
    }
    return *engine;
}

// Each column separately, as one that the engine has not seen.
std::vector<LoadTime> QueryBench::upload_times(std::size_t i, const TableData& table) {
    auto& device = *detail::Access::of(*context_);
    std::vector<LoadTime> out;
    for (const auto column : all_columns) {
        const auto& data = table.columns[column];
        std::vector<double> times;
        for (int repetition = 0; repetition < options_.repeat; ++repetition) {
            auto fresh = std::make_shared<TableData>();
            fresh->rows = table.rows;
            fresh->columns = {std::make_shared<const query::ColumnData>(*data)};
            fresh->infos = {table.infos[column]};
            const cpu::Stopwatch time;
            const auto opened = engine(i).open(fresh, std::array{std::size_t{0}});
            gl::Fence(device).wait();
            times.push_back(time.ms());
        }
        const Spread spread(std::move(times));
        out.push_back({&contenders_[i], data->name, bytes_of(*data), spread.median, spread.low, spread.high});
    }
    return out;
}

std::unique_ptr<Runner> QueryBench::open(std::size_t i, const std::shared_ptr<const TableData>& table,
                                         std::vector<LoadTime>& loads) {
    const auto by = contenders_[i].by;
    switch (by) {
        case QueryBy::Scan:
            return std::make_unique<ByScan>(table, 1);
        case QueryBy::ScanAllThreads:
            return std::make_unique<ByScan>(table, options_.threads);
        case QueryBy::NthElement:
            return std::make_unique<ByNthElement>(table);
        case QueryBy::Sqlite: {
            if (table->rows > options_.sqlite_rows)
                throw InvalidArgument("more rows than --sqlite-rows, " + std::to_string(options_.sqlite_rows));
            const cpu::Stopwatch time;
            auto database = open_sqlite(table);
            if (!database) throw InvalidArgument("SQLite was not built in");
            const auto ms = time.ms();
            std::size_t bytes = 0;
            std::string names;
            for (const auto& column : table->columns) {
                bytes += bytes_of(*column);
                names += (names.empty() ? "" : ",") + column->name;
            }
            loads.push_back({&contenders_[i], names, bytes, ms, ms, ms});
            return std::make_unique<BySqlite>(std::move(database));
        }
        default:
            break;
    }
    auto opened = engine(i).open(table, all_columns);
    if (contenders_[i].on_gpu()) std::ranges::copy(upload_times(i, *table), std::back_inserter(loads));
    Asked asked{engine(i), table, contenders_[i].on_gpu(), options_.threads};
    if (by == QueryBy::Depth)
        return std::make_unique<ByDepth>(*detail::Access::of(*context_), std::move(asked),
                                         std::dynamic_pointer_cast<query::DepthColumns>(std::move(opened)));
    return std::make_unique<ByEngine>(std::move(asked), std::move(opened));
}

void QueryBench::open(const std::shared_ptr<const TableData>& table, std::vector<LoadTime>& loads) {
    refusals_.assign(contenders_.size(), {});
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
        runners_[i].reset();
        try {
            runners_[i] = open(i, table, loads);
        } catch (const Error& error) {
            refusals_[i] = error.what();
        }
    }
}

void QueryBench::wake(std::size_t i, const QueryCase& which) {
    if (!contenders_[i].on_gpu()) return;
    bench::wake(*context_, [&] { static_cast<void>(runners_[i]->answer(which)); });
}

void QueryBench::warm_up(const QueryCase& which, std::uint64_t right, std::size_t i, QueryTimes& times) {
    times.refusal = refusals_[i];
    if (times.refusal.empty()) times.refusal = runners_[i]->unfit(which);
    if (!times.ran()) return;
    try {
        {
            const PassCount count(context_, times.passes);
            times.verified = runners_[i]->answer(which) == right;
        }
        if (contenders_[i].by != QueryBy::Depth) return;
        TestedPixels tested(*context_);  // uses the depth buffer that the first answer left
        times.verified = runners_[i]->answer(which) == right && times.verified;
        times.pixels = tested.pixels;
        times.min_ms = static_cast<double>(tested.pixels) * 1e-6 / depth_limit_->value;
    } catch (const Error& error) {
        times.refusal = error.what();
    }
}

QueryCaseResult QueryBench::measure(const QueryCase& which, const TableData& table) {
    const auto count = contenders_.size();
    const auto right = which.ask == Ask::Copy                           ? 0
                       : which.ask == Ask::Kth || which.ask == Ask::Min ? nth_element(table, which)
                                                                        : plain_.answer(table, which);
    QueryCaseResult found{which, table.rows, {}};
    for (std::size_t i = 0; i < count; ++i) {
        found.results.push_back({.contender = &contenders_[i]});
        warm_up(which, right, i, found.results.back());
    }
    std::vector<std::vector<double>> runs(count);
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937 random(1);
    for (int repetition = 0; repetition < options_.repeat; ++repetition) {
        std::ranges::shuffle(order, random);
        for (const auto i : order) {
            if (!found.results[i].ran()) continue;
            wake(i, which);
            const cpu::Stopwatch time;
            const auto answer = runners_[i]->answer(which);
            runs[i].push_back(time.ms());
            found.results[i].verified = found.results[i].verified && answer == right;
        }
    }
    for (std::size_t i = 0; i < count; ++i) {
        auto& result = found.results[i];
        if (!result.ran()) continue;
        Spread(std::move(runs[i])).note_in(result);
        if (result.pixels) result.passes_time = result.ms * depth_limit_->value * 1e6 / static_cast<double>(table.rows);
    }
    return found;
}

std::vector<LoadTime> QueryBench::run(std::size_t n, const std::vector<QueryKind>& kinds,
                                      const std::function<void(const QueryCaseResult&)>& found) {
    constexpr std::uint64_t seed = 1;
    const auto table = detail::Access::of(query_table(n, seed));
    std::vector<LoadTime> loads;
    open(table, loads);
    for (const auto& which : query_cases(kinds, n)) found(measure(which, *table));
    if (scope_) scope_->check();
    return loads;
}

}  // namespace quadmill::detail::bench
