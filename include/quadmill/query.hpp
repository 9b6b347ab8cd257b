/// Queries on tables with the graphics pipeline. QueryProcessor (line 81) answers them. Before it are its options,
/// after it the results.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quadmill/api.hpp"
#include "quadmill/context.hpp"
#include "quadmill/crossings.hpp"
#include "quadmill/join.hpp"
#include "quadmill/paper.hpp"
#include "quadmill/plan.hpp"
#include "quadmill/predicate.hpp"
#include "quadmill/selection.hpp"
#include "quadmill/table.hpp"

namespace quadmill {

class PendingCount;
class PendingValue;
struct NumberPlace;
struct QueryResult;

/// The engine of a query: the graphics pipeline or the CPU.
enum class QueryEngine {
    Auto,   ///< Bitmap or Cpu, by the query, its rows and the device; QueryResult::engine tells which ran
    Cpu,    ///< loops on CPU threads
    Depth,  ///< columns in the depth buffer, predicates with depth and stencil tests, counts with occlusion queries
            ///< (for the k-th value, MIN and MAX one per bit). Needs OpenGL 4.5
    Bitmap  ///< fragment shaders that write the bits of 32 rows together, counts with a reduction
};

/// Whether QueryProcessor::run() measures each node of the plan.
enum class Statistics {
    Off,
    ByNode  ///< waits for each node and counts its rows
};

/// Options of queries.
struct QueryOptions {
    QueryEngine engine = QueryEngine::Auto;   ///< the engine
    unsigned threads = 0;                     ///< CPU threads; 0: as many as the machine has
    std::size_t gpu_memory = 0;               ///< max bytes for columns; 0: what the driver reports as free
    Statistics statistics = Statistics::Off;  ///< whether each node is counted and timed
    /// Crossover points measured on this machine; unset: those that are built in. The library does not read the file
    /// that `quadmill tune` writes: pass its values here.
    std::optional<QueryCrossings> crossings{};
    /// The fixed time of an answer by an index, as the number of rows that could be copied in that time. An index whose
    /// ranges leave n rows is used if 64 (n + index_overhead) is at most the number of rows of the table. Otherwise all
    /// rows are tested. Unset: a built-in estimate, 2^17 on a GPU and 2^12 on a software renderer. Counts of ranges
    /// alone always use the index.
    std::optional<std::uint64_t> index_overhead{};
    QueryPaperOptions paper{};  ///< the forms of SIGMOD'04 and MDS'09
};

/// Runs queries in one context, or only on the CPU. It keeps its shader programs, and the columns of its tables in
/// textures as long as the tables live.
///
/// Guarantee: all engines give the same answer, except for the last bits of Sum and Average of floats. The error of a
/// sum of n floats is at most (log2 n + 8) 2^-53 times the sum of their absolute values. If that sum is beyond the
/// largest double, the answer may be infinite or NaN. Drivers that flush denormal doubles (Mesa's llvmpipe; NVIDIA's
/// does not) treat them as 0 in linear conditions and in Sum and Average of F64.
/// Throws: InvalidArgument, also for a Selection of another processor or with another number of rows than the table;
/// GlError, ContextError, std::bad_alloc.
/// Source: 'Query Processing on GPUs' (Govindaraju, Manocha); SIGMOD'04 (Govindaraju, Lloyd, Wang, Lin, Manocha);
/// Tsakalozos, Tsangaris, Delis, MDS'09, sections 3.2 and 3.3.
///
///     Table table;
///     table.add("a", std::vector<std::int32_t>{3, 1, 2});
///     QueryProcessor processor(Context::headless());
///     const auto n = processor.count(table, column("a") >= 2);  // 2
class QUADMILL_API QueryProcessor {
  public:
    /// Works in that context, and on the CPU if that is faster or requested.
    /// Throws: InvalidArgument for contradictory options.
    explicit QueryProcessor(const Context& context, const QueryOptions& options = {});
    /// Works on the CPU alone.
    /// Throws: InvalidArgument for engines other than QueryEngine::Auto and Cpu.
    explicit QueryProcessor(const QueryOptions& options = {});
    QueryProcessor(QueryProcessor&&) noexcept;
    QueryProcessor& operator=(QueryProcessor&&) noexcept;
    ~QueryProcessor();

    /// Receives result rows, some at a time, in order; they are valid during the call.
    /// Pre: it may call the library. In an adopted context it does not change OpenGL state.
    using TakeRows = std::function<void(std::span<const std::vector<Value>>)>;

    /// Runs a plan on a table. If `take` is given, it receives the rows, up to 4,096 per call, and QueryResult::rows
    /// stays empty; so a result may be larger than memory.
    /// Throws: InvalidArgument, in addition to the cases above, for a plan with a join, and for a table without the
    /// columns that the plan needs.
    QueryResult run(const QueryPlan& plan, const Table& table, const TakeRows& take = {});
    /// Runs a plan with a join on two tables.
    /// Memory: pairs are processed in chunks of 65,536, so only the result needs memory. But a quantile or k-th value
    /// of pairs needs all their values of that column, 8 bytes each, on the CPU.
    /// Throws: InvalidArgument also for a plan without a join; otherwise as above.
    QueryResult run(const QueryPlan& plan, const Table& left, const Table& right, const TakeRows& take = {});
    /// Plans and runs a query without a join.
    [[nodiscard]] QueryResult run(const Query& query, const Table& table);

    /// The number of rows that satisfy the condition.
    /// Cost: waits for the GPU.
    [[nodiscard]] std::uint64_t count(const Table& table, const Predicate& where);
    /// count() without waiting for the GPU: any number may be in flight, and be read in any order. On the CPU the count
    /// is ready when this returns.
    ///
    ///     const auto low = processor.count_async(table, column("a") < 2);
    ///     const auto high = processor.count_async(table, column("a") >= 2);
    ///     // ... the CPU does other things ...
    ///     const auto all = low.get() + high.get();
    [[nodiscard]] PendingCount count_async(const Table& table, const Predicate& where);
    /// Makes an index of one or two columns. It is used if a GPU engine runs, and if the condition is an AND with a
    /// range of one of these columns. A range is a comparison with a constant other than `!=`, or between(). A column
    /// without a range must have no NULLs. If the condition has only ranges, count() and COUNT(*) test only rows at the
    /// edges of the ranges. Otherwise, if the ranges leave few rows (QueryOptions::index_overhead), these rows are
    /// copied, and count(), select() and run() on one table read nothing else. Answers are the same as without an
    /// index, except for the last bits of sums of floats. A table's columns do not change, so its index cannot become
    /// stale. The index is kept until the table and its copies are gone. A second call for the same columns does
    /// nothing.
    /// Memory: at most 5 bytes per row on the GPU and 1 MB, and about 40 bytes per row while it is made.
    /// Cost: a sort of all rows; waits for the GPU. A count then is one pass. Of two columns of n independent values it
    /// tests about 16 sqrt(n) rows or fewer.
    /// Throws: InvalidArgument also for other numbers of columns, for columns that are objects of OpenGL, whose values
    /// may change, for a processor without a context or with QueryEngine::Cpu, and for more rows than a texture of the
    /// library holds.
    ///
    ///     processor.index(table, {"x", "y"});
    ///     const auto inside = processor.count(table, column("x").between(0.1, 0.3) && column("y") < 0.5);
    void index(const Table& table, const std::vector<std::string>& columns);
    /// What indexes do for a plan without a join: one line for each condition, with the number of rows that are read,
    /// or `no index`. It uploads the columns, and reads none.
    ///
    ///     processor.explain(plan, table);  // "node 2: index of x and y counts, 4175 of 67108864 rows are read\n"
    [[nodiscard]] std::string explain(const QueryPlan& plan, const Table& table);
    /// The rows that satisfy the condition. The selection stays on the device that computed it.
    [[nodiscard]] Selection select(const Table& table, const Predicate& where);
    /// An aggregate of all rows, or of selected ones.
    /// Cost: waits for the GPU.
    /// Throws: InvalidArgument also for a sum of integers beyond 64 bits.
    [[nodiscard]] Value aggregate(const Table& table, const QueryAggregate& what, const Selection* of = nullptr);
    /// aggregate() without waiting for the GPU, as count_async(). Both GPU engines use a reduction. For more rows than
    /// a texture holds, and on the CPU, the value is ready when this returns.
    ///
    ///     const auto tenth = processor.aggregate_async(
    ///         table, {.kind = QueryAggregate::Kind::KthLargest, .column = "a", .k = 10});
    ///     // ... a frame later:
    ///     if (tenth.ready()) use(tenth.get());
    [[nodiscard]] PendingValue aggregate_async(const Table& table, const QueryAggregate& what,
                                               const Selection* of = nullptr);
    /// Writes the aggregate to the caller's buffer or texture, for its shaders; the CPU does not read it. It is
    /// converted to NumberPlace::type: to the nearest float, or to an integer by truncation. Values outside a type's
    /// range become its limit. For integer types, NaN and NULL become 0. For float types, NULL becomes NaN.
    /// Cost: about log n reduction passes (for a k-th value, one reduction per two bits); does not wait, and reads
    /// nothing back, except for columns on the CPU.
    /// Throws: as aggregate(), but a sum beyond 64 bits does not throw: it is converted, too; InvalidArgument for an
    /// invalid or too small object, for text, for a processor without a context, and for more rows than a texture of
    /// the library holds.
    ///
    ///     processor.write_aggregate(table, {.kind = QueryAggregate::Kind::Max, .column = "a"}, {.buffer = uniforms});
    void write_aggregate(const Table& table, const QueryAggregate& what, const NumberPlace& to,
                         const Selection* of = nullptr);
    /// write_aggregate() for count().
    void write_count(const Table& table, const Predicate& where, const NumberPlace& to);
    /// aggregate() with KthLargest.
    [[nodiscard]] Value kth_largest(const Table& table, const std::string& column, std::uint64_t k,
                                    const Selection* of = nullptr) {
        return aggregate(table, {.kind = QueryAggregate::Kind::KthLargest, .column = column, .k = k}, of);
    }
    /// Joins two columns, of all rows or of selected ones, and calls `take` with the pairs. They come in the order of
    /// the left rows, then of the right ones, in chunks of at most 65,536 pairs, which are valid during the call.
    /// Returns the number of pairs.
    /// Pre: `take` may call the library. In an adopted context it does not change OpenGL state.
    /// Memory: at most 40 bytes per joined row, for any number of pairs; nested loops on the GPU also need about 50 MB
    /// there, and at most 40 bytes per row of either side.
    /// Throws: InvalidArgument also for tables of more than 2^31 rows.
    ///
    ///     processor.join(orders, people, {.left = "person", .right = "id"}, [&](std::span<const RowPair> pairs) {
    ///         for (const auto& pair : pairs) print(pair.left, pair.right);
    ///     });
    std::uint64_t join(const Table& left, const Table& right, const Join& on,
                       const std::function<void(std::span<const RowPair>)>& take, const Selection* left_rows = nullptr,
                       const Selection* right_rows = nullptr);

    struct State;

  private:
    std::shared_ptr<State> state_;
};

/// Statistics of a plan's node. If an engine evaluates a whole condition in one step, the condition is reported as its
/// last node.
struct NodeStats {
    std::string node;        ///< as in QueryPlan::text()
    std::uint64_t rows = 0;  ///< selected rows, pairs, or result rows
    double ms = 0;           ///< wall clock
};

/// A column of a result; T is std::int64_t, double or std::string. If `valid` is false, the row is NULL.
template <class T>
struct ResultColumn {
    static_assert(std::same_as<T, std::int64_t> || std::same_as<T, double> || std::same_as<T, std::string>,
                  "a column is taken as std::int64_t, double or std::string");
    std::vector<T> values;    ///< one per row; unspecified for NULL
    std::vector<bool> valid;  ///< which rows have a value
};

/// The result of a query.
struct QueryResult {
    /// The column with that name, from `rows`. As double, integers are rounded to nearest.
    /// Throws: InvalidArgument for a name or index that no column has, for a name that several have, and for a column
    /// with values of another type.
    ///
    ///     const auto price = result.column<double>("price").values;
    template <class T>
    [[nodiscard]] QUADMILL_API ResultColumn<T> column(std::string_view name) const;
    template <class T>
    [[nodiscard]] QUADMILL_API ResultColumn<T> column(std::size_t number) const;  ///< the column with that index

    std::vector<std::string> columns;       ///< names
    std::vector<std::vector<Value>> rows;   ///< in order; empty if TakeRows received them
    std::uint64_t matched = 0;              ///< rows (pairs, for a join) that satisfied the condition
    QueryEngine engine = QueryEngine::Cpu;  ///< the engine that ran
    double ms = 0;                          ///< wall clock
    std::vector<NodeStats> nodes{};         ///< those that ran, in order; empty without Statistics::ByNode
};

/// A count in flight on the GPU; QueryProcessor::count_async() makes it. Keeps its processor's context in use.
class QUADMILL_API PendingCount {
  public:
    PendingCount(PendingCount&&) noexcept;
    PendingCount& operator=(PendingCount&&) noexcept;
    ~PendingCount();
    /// Whether get() returns without waiting.
    [[nodiscard]] bool ready() const;
    /// Returns the count. It may be called several times.
    /// Cost: waits for the GPU.
    [[nodiscard]] std::uint64_t get() const;
    [[nodiscard]] QueryEngine engine() const noexcept;  ///< the engine that counts

    struct State;

  private:
    friend detail::Access;
    explicit PendingCount(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// An aggregate in flight on the GPU; QueryProcessor::aggregate_async() makes it. Keeps its processor's context in use.
class QUADMILL_API PendingValue {
  public:
    PendingValue(PendingValue&&) noexcept;
    PendingValue& operator=(PendingValue&&) noexcept;
    ~PendingValue();
    /// Whether get() returns without waiting.
    [[nodiscard]] bool ready() const;
    /// Returns the value. It may be called several times.
    /// Cost: waits for the GPU.
    /// Throws: InvalidArgument for a sum of integers beyond 64 bits.
    [[nodiscard]] Value get() const;
    [[nodiscard]] QueryEngine engine() const noexcept;  ///< the engine that computes it

    struct State;

  private:
    friend detail::Access;
    explicit PendingValue(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// A destination for one number, an object of the caller: a buffer, from byte `offset` on (a multiple of 4), or texel
/// (0, 0) of level 0 of a texture.
struct NumberPlace {
    std::uint32_t buffer = 0;   ///< its name
    std::size_t offset = 0;     ///< of the number in the buffer, in bytes
    std::uint32_t texture = 0;  ///< R32F for F32, R32I for I32, R32UI for U32, RG32UI for F64 and I64 (low, high)
    ColumnType type = ColumnType::F32;  ///< of the number; not Text
};

}  // namespace quadmill
