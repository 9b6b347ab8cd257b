#include "bench/index_bench.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <utility>

#include "bench/pass_count.hpp"
#include "bench/query_cases.hpp"
#include "bench/scan.hpp"
#include "bench/spread.hpp"
#include "bench/wake.hpp"
#include "cpu/sort.hpp"
#include "cpu/stopwatch.hpp"
#include "gl/device.hpp"
#include "query/gpu/bitmap_columns.hpp"
#include "query/index/cell_index.hpp"
#include "query/table/key.hpp"

namespace quadmill::detail::bench {

namespace {

using query::KeyRange;
using Rectangle = std::vector<KeyRange>;
using Columns = std::vector<std::size_t>;

constexpr double max_found = 0.02;  // fraction of the rows up to which SUM is measured

std::vector<Rectangle> rectangles(const Columns& columns, double selected, int count) {
    std::mt19937_64 random(46);
    const auto side = std::pow(selected, 1.0 / static_cast<double>(columns.size()));
    std::vector<Rectangle> all;
    for (int i = 0; i < count; ++i) {
        Rectangle one;
        for (const auto column : columns) {
            const auto from = std::uniform_real_distribution<double>(0, 1 - side)(random);
            one.push_back({key_at(column, from), key_at(column, from + side)});
        }
        all.push_back(std::move(one));
    }
    return all;
}

query::Clauses clauses_of(const Columns& columns, const Rectangle& rectangle) {
    query::Clauses clauses;
    for (std::size_t i = 0; i < columns.size(); ++i)
        clauses.push_back({query::Range{columns[i], rectangle[i].low, rectangle[i].high}});
    return clauses;
}

// An index of some columns, and the others that count.
class IndexMeter {
  public:
    IndexMeter(const Context& context, std::shared_ptr<const query::TableData> table,
               std::shared_ptr<query::Columns> opened, const IndexBenchOptions& options)
        : context_(context),
          table_(std::move(table)),
          opened_(std::move(opened)),
          options_(options),
          scan_(options.threads) {}

    [[nodiscard]] IndexOfColumns measure(const Columns& columns) {
        columns_ = columns;
        IndexOfColumns found;
        for (const auto column : columns)
            found.columns += (found.columns.empty() ? "" : ",") + table_->columns[column]->name;
        build(found);
        if (columns.size() == 1) sort(found);
        for (const auto selected : options_.selected) found.cases.push_back(measure(selected));
        return found;
    }

  private:
    using Count = std::function<std::uint64_t(const Rectangle&)>;

    void build(IndexOfColumns& found) {
        std::vector<double> times;
        const auto once = [&] {
            index_.reset();
            index_ = std::make_unique<query::CellIndex>(*opened_->textures(), columns_);
        };
        for (int i = 0; i < 4; ++i) {  // the first time compiles programs
            const cpu::Stopwatch time;
            once();
            if (i > 0) times.push_back(time.ms());
        }
        const Spread spread(std::move(times));
        found.build_ms = spread.median;
        found.build_low_ms = spread.low;
        found.build_high_ms = spread.high;
        PassProfiler profiler(context_);
        once();
        found.build = profiler.rows();
        found.bytes = index_->bytes();
        found.cpu_bytes = index_->cpu_bytes();
    }
    void sort(IndexOfColumns& found) {
        const cpu::Stopwatch time;
        sorted_ = *std::get_if<std::vector<float>>(&table_->columns[columns_.front()]->values);
        cpu::sort_keys(std::span(sorted_), Order::Ascending, options_.threads);
        found.sort_ms = time.ms();
    }
    [[nodiscard]] std::uint64_t in_sorted(const KeyRange& range) const {
        const auto low = query::KeyOf<float>::value(range.low), high = query::KeyOf<float>::value(range.high);
        return static_cast<std::uint64_t>(std::upper_bound(sorted_.begin(), sorted_.end(), high) -
                                          std::lower_bound(sorted_.begin(), sorted_.end(), low));
    }

    [[nodiscard]] IndexCase measure(double selected) {
        const auto all = rectangles(columns_, selected, options_.repeat);
        std::vector<std::uint64_t> right;
        const auto scan = [&](const Rectangle& rectangle) {
            return scan_.answer(*table_, {.where = clauses_of(columns_, rectangle)});
        };
        for (const auto& rectangle : all) right.push_back(scan(rectangle));
        auto* const gpu = opened_->gpu();
        IndexCase found{.selected = selected};
        found.times.push_back(timed("index", all, right, true, [&](const auto& one) { return index_->count(one); }));
        for (const auto& one : all) found.tested += static_cast<double>(index_->rows_on_edge(one)) / options_.repeat;
        found.times.push_back(timed("bitmap", all, right, true, [&](const auto& one) {
            return gpu->count_conjunction(clauses_of(columns_, one));
        }));
        found.times.push_back(timed("scan, all threads", all, right, false, scan));
        if (selected <= max_found) add_sums(all, found);
        if (columns_.size() == 1)
            found.times.push_back(
                timed("std::lower_bound", all, right, false, [&](const auto& one) { return in_sorted(one.front()); }));
        return found;
    }
    // SUM(a) of the rows that the index finds, whose limit is not applied, and of a selection by the bitmap program.
    void add_sums(const std::vector<Rectangle>& all, IndexCase& found) {
        const auto sum_of = [](query::GpuColumns& columns, const query::Clauses& where) {
            return static_cast<std::uint64_t>(columns.sum(column_a, *columns.conjunction(where)).integer);
        };
        const auto by_bitmap = [&](const Rectangle& one) { return sum_of(*opened_->gpu(), clauses_of(columns_, one)); };
        std::vector<std::uint64_t> right;
        for (const auto& one : all) right.push_back(by_bitmap(one));
        found.times.push_back(timed("SUM by index", all, right, true, [&](const auto& one) {
            return sum_of(*query::near_rows(*opened_->textures(), *index_, columns_, one), clauses_of(columns_, one));
        }));
        found.times.push_back(timed("SUM by bitmap", all, right, true, by_bitmap));
    }
    [[nodiscard]] IndexTimes timed(const char* name, const std::vector<Rectangle>& all,
                                   const std::vector<std::uint64_t>& right, bool on_gpu, const Count& count) {
        IndexTimes times{.name = name};
        if (on_gpu) wake(context_, [&] { static_cast<void>(count(all.front())); });
        std::vector<double> each;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const cpu::Stopwatch time;
            const auto rows = count(all[i]);
            each.push_back(time.ms());
            times.verified = times.verified && rows == right[i];
        }
        Spread(std::move(each)).note_in(times);
        if (!on_gpu) return times;
        {
            const PassCount counter(context_, times.passes);
            static_cast<void>(count(all.back()));
        }
        PassProfiler profiler(context_);
        for (const auto& rectangle : all) static_cast<void>(count(rectangle));
        double sum = 0;
        for (const auto& row : profiler.rows()) sum += row.gpu_ms;
        times.gpu_ms = sum / static_cast<double>(all.size());
        return times;
    }

    Context context_;
    std::shared_ptr<const query::TableData> table_;
    std::shared_ptr<query::Columns> opened_;
    IndexBenchOptions options_;
    Scan scan_;
    Columns columns_;
    std::unique_ptr<query::CellIndex> index_;
    std::vector<float> sorted_;
};

}  // namespace

std::vector<IndexOfColumns> measure_index(const Context& context, const IndexBenchOptions& options) {
    auto& device = *Access::of(context);
    // Otherwise each call would make the context current and end with another one, for which NVIDIA's driver waits.
    const gl::Scope session(device, "bench index");
    constexpr std::uint64_t seed = 1;
    const auto table = Access::of(query_table(options.n, seed));
    query::BitmapEngine engine(device, options.threads);
    const Columns used{column_a, column_b, column_c};
    IndexMeter meter(context, table, engine.open(table, used), options);
    std::vector<IndexOfColumns> all;
    for (const auto& columns : {Columns{column_b}, Columns{column_a, column_b}, Columns{column_a, column_c}})
        all.push_back(meter.measure(columns));
    return all;
}

}  // namespace quadmill::detail::bench
