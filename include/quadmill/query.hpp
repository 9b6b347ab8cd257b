/// Queries on tables by the graphics pipeline: predicates, aggregates, joins, and plans that run them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "quadmill/api.hpp"
#include "quadmill/context.hpp"
#include "quadmill/sort.hpp"

namespace quadmill {

/// A constant of a query, or a cell of its result; std::monostate is NULL.
using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

/// What a column holds; Text is of bytes.
enum class ColumnType { F32, F64, I32, U32, I64, Text };

/// The left side compared with the right one.
enum class Comparison { Less, LessOrEqual, Equal, NotEqual, GreaterOrEqual, Greater };

namespace detail::query {
struct Expression;
struct TableData;
}  // namespace detail::query

/// A condition on the rows of a table: an immutable tree, cheap to copy. Made by column() and combined by &&, || and !,
/// which throw InvalidArgument past 250 levels; a chain of one operator is one level, however long.
///
/// Guarantee: comparisons are exact for every value of a column's type, also with a constant of another type (an
/// integer column with 2.5, a float32 column with 0.1): both sides count as real numbers, never as rounded ones. Floats
/// compare as IEEE 754 says: -0 equals +0, and a NaN is less, equal or greater than nothing, so that only != holds. A
/// NULL satisfies no comparison and no negation of one (SQL's three values); only is_null() finds it. Text compares
/// byte by byte.
class QUADMILL_API Predicate {
  public:
    /// All rows, or none.
    [[nodiscard]] static Predicate always(bool value);
    /// A term of linear().
    struct Term {
        double factor;       ///< of a term
        std::string column;  ///< its name
    };
    /// Semi-linear: the sum of factor * column over the terms, computed in order and in double precision, compared with
    /// `constant`. Numeric columns only; where it runs, one with integers beyond 2^53, which doubles do not have, is
    /// refused. The GPU takes at most 7 columns; Auto goes to the CPU with more.
    /// Throws: InvalidArgument when there are no terms.
    [[nodiscard]] static Predicate linear(std::vector<Term> terms, Comparison op, double constant);

    [[nodiscard]] Predicate operator&&(const Predicate& other) const;  ///< where both hold
    [[nodiscard]] Predicate operator||(const Predicate& other) const;  ///< where one or both hold
    [[nodiscard]] Predicate operator!() const;                         ///< where it is false, which leaves NULLs out

  private:
    friend detail::Access;
    explicit Predicate(std::shared_ptr<const detail::query::Expression> expression);
    [[nodiscard]] const detail::query::Expression& inside() const noexcept { return *expression_; }
    std::shared_ptr<const detail::query::Expression> expression_;
};

/// A column in a predicate, by its name.
///
///     const auto wanted = (column("a") > 3 || column("b") <= 2.5) && !column("d").in({1, 2, 3});
class QUADMILL_API ColumnName {
  public:
    /// A name alone; whether a table has it is asked when it is used.
    explicit ColumnName(std::string name) : name_(std::move(name)) {}
    [[nodiscard]] const std::string& name() const noexcept { return name_; }        ///< as given
    [[nodiscard]] Predicate compare(Comparison op, const Value& constant) const;    ///< with a constant
    [[nodiscard]] Predicate compare(Comparison op, const ColumnName& other) const;  ///< with another column
    /// low <= column <= high.
    [[nodiscard]] Predicate between(const Value& low, const Value& high) const;
    /// Equal to one of them. A NaN among them is equal to nothing.
    [[nodiscard]] Predicate in(std::vector<Value> list) const;
    [[nodiscard]] Predicate is_null() const;  ///< is NULL

  private:
    std::string name_;
};
/// A column by its name, for a predicate.
[[nodiscard]] inline ColumnName column(std::string name) {
    return ColumnName(std::move(name));
}

namespace detail::query {
// Throws InvalidArgument from 2^63 on.
[[nodiscard]] QUADMILL_API Value unsigned_constant(std::uint64_t value);

template <class T>
[[nodiscard]] auto operand(const T& value) {
    static_assert(!std::is_same_v<T, long double>, "a long double would be rounded: say double");
    if constexpr (std::is_same_v<T, ColumnName> || std::is_same_v<T, Value>) {
        return value;
    } else if constexpr (std::is_integral_v<T>) {
        if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof(std::int64_t)) return unsigned_constant(value);
        return Value(static_cast<std::int64_t>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
        return Value(static_cast<double>(value));
    } else {
        return Value(std::string(value));
    }
}
}  // namespace detail::query

/// Column < constant or column.
template <class T>
[[nodiscard]] Predicate operator<(const ColumnName& a, const T& b) {
    return a.compare(Comparison::Less, detail::query::operand(b));
}
/// Column <= constant or column.
template <class T>
[[nodiscard]] Predicate operator<=(const ColumnName& a, const T& b) {
    return a.compare(Comparison::LessOrEqual, detail::query::operand(b));
}
/// Column == constant or column.
template <class T>
[[nodiscard]] Predicate operator==(const ColumnName& a, const T& b) {
    return a.compare(Comparison::Equal, detail::query::operand(b));
}
/// Column != constant or column; a NaN is unequal to all, a NULL to nothing.
template <class T>
[[nodiscard]] Predicate operator!=(const ColumnName& a, const T& b) {
    return a.compare(Comparison::NotEqual, detail::query::operand(b));
}
/// Column >= constant or column.
template <class T>
[[nodiscard]] Predicate operator>=(const ColumnName& a, const T& b) {
    return a.compare(Comparison::GreaterOrEqual, detail::query::operand(b));
}
/// Column > constant or column.
template <class T>
[[nodiscard]] Predicate operator>(const ColumnName& a, const T& b) {
    return a.compare(Comparison::Greater, detail::query::operand(b));
}

/// A column's name and type.
struct ColumnInfo {
    std::string name;                   ///< unique in its table
    ColumnType type = ColumnType::F32;  ///< of its values
};

/// A column of texts, to be added with others.
struct TextColumn {
    std::string name;                   ///< of the column
    std::vector<std::string> values{};  ///< one a row
    std::vector<bool> valid{};          ///< as of Table::add()
};

/// Columns of one length. Copies share the data; adding to a copy does not change the others.
/// Throws: InvalidArgument for a name that is taken, a column of another length, or a `valid` of another length; the
/// table stays as it was.
class QUADMILL_API Table {
  public:
    Table();
    /// `valid` says which rows have a value; empty: all of them. Where it is false, the row is NULL.
    Table& add(std::string name, std::vector<float> values, std::vector<bool> valid = {});
    Table& add(std::string name, std::vector<double> values, std::vector<bool> valid = {});         ///< the same
    Table& add(std::string name, std::vector<std::int32_t> values, std::vector<bool> valid = {});   ///< the same
    Table& add(std::string name, std::vector<std::uint32_t> values, std::vector<bool> valid = {});  ///< the same
    Table& add(std::string name, std::vector<std::int64_t> values, std::vector<bool> valid = {});   ///< the same
    /// A copy of values that lie elsewhere.
    Table& add(std::string name, std::span<const float> values, std::vector<bool> valid = {});
    Table& add(std::string name, std::span<const double> values, std::vector<bool> valid = {});         ///< the same
    Table& add(std::string name, std::span<const std::int32_t> values, std::vector<bool> valid = {});   ///< the same
    Table& add(std::string name, std::span<const std::uint32_t> values, std::vector<bool> valid = {});  ///< the same
    Table& add(std::string name, std::span<const std::int64_t> values, std::vector<bool> valid = {});   ///< the same
    /// Text is held as numbers into a sorted dictionary, one for all columns of the table; so a column whose texts are
    /// new to it costs a copy of the numbers of those before it: better add all at once.
    Table& add(std::string name, const std::vector<std::string>& values, std::vector<bool> valid = {});
    /// Several columns of text at once.
    Table& add(const std::vector<TextColumn>& columns);
    /// A column that is the caller's texture: row i is texel i in row-major order, among the first `rows` texels. Level
    /// 0 is read in each query, so the content may change between queries. It needs an engine of the GPU.
    /// Shape: 2-D; R32F for F32, R32I for I32, R32UI for U32. Format and size are checked when it is used; filters,
    /// BASE_LEVEL, swizzle and other parameters do not matter and stay. After an image store into it, the program calls
    /// glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT | GL_TEXTURE_UPDATE_BARRIER_BIT) first.
    /// Throws: InvalidArgument for other types, and for texture 0.
    Table& add_texture(std::string name, std::uint32_t texture, ColumnType type, std::size_t rows);
    /// The same for more rows than a texture holds: they go on in the next texture. But for the last, each must have a
    /// multiple of 32 texels.
    Table& add_textures(std::string name, std::vector<std::uint32_t> textures, ColumnType type, std::size_t rows);
    /// The same of one channel of a rectangle, layer or face, a row a texel.
    /// Shape: as for Sorter::argsort_texture(); R32I for I32, R32UI for U32, all else for F32: the floats that a shader
    /// reads. `texels` says how many rows there are, by its count or its width and height.
    /// Throws: InvalidArgument, also where it does not.
    ///
    ///     table.add_texture("alpha", {.texture = sprites, .count = n}, ColumnType::F32, 3);
    Table& add_texture(std::string name, const TextureRegion& texels, ColumnType type, int channel = 0);
    /// A column that lies in the caller's buffer, from which it is read in each query. Its type is that of the keys;
    /// halves are F32.
    /// Shape: as for Sorter::argsort_buffer(), but not U64; checked when it is used. After a shader or image store into
    /// it, the program calls glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT) first.
    /// Throws: InvalidArgument for U64 and for buffer 0.
    ///
    ///     table.add_buffer("speed", {.buffer = particles, .offset = 12, .stride = 16}, n);
    Table& add_buffer(std::string name, const BufferKeys& values, std::size_t rows);

    [[nodiscard]] std::size_t rows() const noexcept;                        ///< of each column
    [[nodiscard]] const std::vector<ColumnInfo>& columns() const noexcept;  ///< in the order of adding

  private:
    friend detail::Access;
    [[nodiscard]] const std::shared_ptr<const detail::query::TableData>& inside() const noexcept { return data_; }
    std::shared_ptr<const detail::query::TableData> data_;
};

/// An aggregate of the rows selected. Those of no rows are NULL, but for Count, which is 0; NULLs are left out.
struct QueryAggregate {
    /// What is computed.
    enum class Kind {
        CountRows,  ///< COUNT(*); has no column
        Count,      ///< of values that are not NULL
        Sum,        ///< of integers exact, an error beyond 64 bits; of floats in double precision, see QueryProcessor
        Average,    ///< the sum over the count, in double precision
        Min,
        Max,
        Quantile,    ///< the value of rank ceil(phi n), from 1, of n values in order; phi 0 is the smallest
        KthLargest,  ///< the k-th, from 1; NULL when there are fewer
        KthSmallest
    };
    Kind kind = Kind::CountRows;  ///< which one
    std::string column{};         ///< of the table; none for CountRows
    double phi = 0.5;             ///< for Quantile; 0.5 is the (lower) median
    std::uint64_t k = 1;          ///< for KthLargest and KthSmallest
};

/// A column of a result: an aggregate, or a column of the table as it is.
struct Output {
    std::variant<std::string, QueryAggregate> what;  ///< a column's name, or an aggregate
    std::string name;                                ///< of the result's column
};

/// How a join finds its pairs.
enum class JoinMethod {
    Auto,         ///< nested loops for few rows, else sort-merge
    NestedLoops,  ///< every row against every row; by passes where the engine is one of the GPU: of columns that are
                  ///< equal, selections then stay there, and the list of pairs is made there, some left rows at a time
    SortMerge     ///< both columns sorted (in the processor's context, when it has one), then merged
};

/// Pairs of rows of two tables whose columns are equal, or differ by at most `band`. In a query with a join, column
/// names say which table they are of where both have one of that name: "x.k".
///
/// Guarantee: exact, as for a Predicate: |left - right| <= band as real numbers. -0 is 0, an infinity equals itself,
/// NULLs and NaNs have no partner. Integers beyond 2^53 are refused where the other column is of floats.
struct Join {
    std::string left, right;                               ///< columns of numbers, or both of text
    double band = 0;                                       ///< from 0; of text 0
    std::string left_name = "left", right_name = "right";  ///< of the tables
    JoinMethod method = JoinMethod::Auto;                  ///< how pairs are found
    /// Nested loops by passes: left rows whose pairs are found and listed at a time, B in MDS'09, a multiple of 4;
    /// 0: as many as fit, which is quickest. No more than fit are taken.
    std::size_t block_rows = 0;
};

/// A pair that a join found: the numbers of its rows, from 0.
struct RowPair {
    std::uint64_t left = 0, right = 0;  ///< numbers from 0
    bool operator==(const RowPair&) const = default;
};

/// What to answer. With an aggregate or `group_by`, each output that is a plain column must be one to group by;
/// without, there is a row out for each row (pair) selected, in their order (a join's by its left row, then its right
/// one). Groups come in the order of their values: NULLs, which are one group, first; NaNs, which are one, last.
struct Query {
    std::vector<Output> outputs;           ///< the columns of the result
    std::optional<Predicate> where{};      ///< none: all rows
    std::vector<std::string> group_by{};   ///< columns; none: no groups
    std::optional<Join> join{};            ///< with a second table
    std::optional<std::uint64_t> limit{};  ///< of rows out
};

/// A node of a query's graph, as plain data. Rows and pairs flow from a node to those that have it as an input.
struct PlanNode {
    /// What a node does.
    enum class Kind {
        Rows,       ///< of table `table` that satisfy `predicate`; no input
        And,        ///< two inputs or more, rows of one table
        Or,         ///< as And
        Not,        ///< of one input: the rows for which its condition is false, which leaves NULLs out
        Join,       ///< pairs by `join`; inputs: rows of table 0, rows of table 1
        Filter,     ///< of a Join or Filter: the pairs that satisfy `predicate`
        Group,      ///< rows or pairs by `columns`
        Column,     ///< the one of `columns`, of rows, pairs or a Group
        Aggregate,  ///< `aggregate` of rows, pairs or a Group
        Result      ///< of Columns and Aggregates; in a graph there is one
    };
    Kind kind = Kind::Rows;                ///< which of these
    std::vector<std::size_t> inputs{};     ///< places of nodes in the graph
    std::optional<Predicate> predicate{};  ///< of Rows and Filter
    std::size_t table = 0;                 ///< 1: the right one of a join
    std::optional<Join> join{};            ///< of Join
    std::vector<std::string> columns{};    ///< of Group and Column
    QueryAggregate aggregate{};            ///< of Aggregate
    std::vector<std::string> names{};      ///< of a Result's columns, one an input
    std::optional<std::uint64_t> limit{};  ///< of a Result's rows
};

/// Whether a run says what each node did.
enum class Statistics {
    Off,
    ByNode  ///< waits for each node and counts its rows
};

/// What ran: predicates by the graphics pipeline or by the CPU.
enum class QueryEngine {
    Auto,   ///< what was measured fastest for the question, the rows and the device; a QueryResult says which it was
    Cpu,    ///< loops on CPU threads
    Depth,  ///< columns in the depth buffer, predicates by depth and stencil tests, counts by occlusion queries, the
            ///< k-th value, MIN and MAX by a count for each bit
    Bitmap  ///< fragment programs that write 32 rows' bits at once, counts by reduction
};

/// How QueryEngine::Depth computes sums of columns; the other engines have Exact only.
enum class SumPrecision {
    Exact,   ///< as Predicate says
    Float32  ///< as SIGMOD'04 has it: values, factors, the constant and each step are rounded to float32. Of n terms, a
    ///< row's answer is that of real numbers where both sides differ by more than (n + 4) 2^-24 times the sum of
    ///< the absolute values of terms and constant, and all of these are 0 or from 2^-100 to 2^100. A sum of
    ///< integers that may be beyond 2^53 stays exact
};

/// How a plan's nodes follow each other.
enum class Execution {
    Pipelined,    ///< selections stay where they were found; a column is uploaded once
    OneOperation  ///< each node by itself, as MDS'09 compares with: its columns and selections are uploaded for it, and
                  ///< what it selects is read back. For measurements
};

/// From where QueryEngine::Auto and JoinMethod::Auto take the GPU, for tables in memory that are asked many times.
/// `quadmill tune` measures them.
struct QueryCrossings {
    static constexpr std::uint64_t never = ~std::uint64_t{0};  ///< the GPU never wins
    std::uint64_t rows = never;                                ///< of a table
    std::uint64_t rank_rows = never;                           ///< and for quantiles and k-th values
    /// Nested loops on the GPU join l rows with r for at most so many comparisons a row: l r / (l + r); 0: never.
    std::uint64_t join_comparisons = 0;
    /// What two comparisons of a column take by Depth, over what they take by Bitmap, of many rows; 0: as on an H100.
    /// Depth is taken where it is the quicker one for all that a question asks.
    double depth_over_bitmap = 0;
    bool operator==(const QueryCrossings&) const = default;
};

/// How queries are run.
struct QueryOptions {
    QueryEngine engine = QueryEngine::Auto;  ///< who answers
    unsigned threads = 0;                    ///< of the CPU; 0: all
    std::size_t gpu_memory = 0;              ///< at most so many bytes for columns; 0: all that the driver says is free
    Statistics statistics = Statistics::Off;     ///< whether each node is counted and timed
    SumPrecision sums = SumPrecision::Exact;     ///< for QueryEngine::Depth
    Execution execution = Execution::Pipelined;  ///< how nodes follow each other
    /// Measured on this machine; unset, the library's own figures count. The library reads no file by itself.
    std::optional<QueryCrossings> crossings{};
};

/// What a node of a plan did in a run. Where an engine does a whole condition at once, its last node stands for all.
struct NodeStats {
    std::string node;        ///< as in QueryPlan::text()
    std::uint64_t rows = 0;  ///< selected, or pairs, or rows out
    double ms = 0;           ///< wall clock
};

/// A column of a result: std::int64_t, double or std::string. Where `valid` is false the row is NULL.
template <class T>
struct ResultColumn {
    std::vector<T> values;    ///< one a row; of a NULL anything
    std::vector<bool> valid;  ///< which rows have a value
};

/// The rows that came out, and how.
struct QueryResult {
    /// By its name or number. As double, integers are rounded to the nearest.
    /// Throws: InvalidArgument for a name or number that no column has, for a name that several have, and for a column
    /// with values of another type.
    ///
    ///     const auto price = result.column<double>("price").values;
    template <class T>
    [[nodiscard]] QUADMILL_API ResultColumn<T> column(std::string_view name) const;
    template <class T>
    [[nodiscard]] QUADMILL_API ResultColumn<T> column(std::size_t number) const;  ///< by its number, from 0

    std::vector<std::string> columns;       ///< names
    std::vector<std::vector<Value>> rows;   ///< in order; none where TakeRows had them
    std::uint64_t matched = 0;              ///< rows (pairs, for a join) that satisfied the condition
    QueryEngine engine = QueryEngine::Cpu;  ///< the one that answered
    double ms = 0;                          ///< wall clock
    std::vector<NodeStats> nodes{};         ///< those that ran, in order; empty without Statistics::ByNode
};

/// A query, checked against the columns of the tables that it is for: a graph of predicates, boolean nodes, a join and
/// outputs. Equal nodes are one, and a negation goes down to the predicates. Runs on any tables with those columns, one
/// after the other: windows of a stream. In a join, parts of the condition that name columns of one table only select
/// that table's rows before the join.
/// Throws: InvalidArgument for columns that are missing or of a type that does not go.
class QUADMILL_API QueryPlan {
  public:
    /// Of one table.
    QueryPlan(const Query& query, const std::vector<ColumnInfo>& columns);
    /// With a join.
    QueryPlan(const Query& query, const std::vector<ColumnInfo>& left, const std::vector<ColumnInfo>& right);
    /// A graph of the caller's own, in any order, without `right` when it has no Join. Beyond what a Query can say,
    /// aggregates of one Result may be of different rows of a table.
    /// Throws: InvalidArgument that names the node: for an input that is no node, is of a wrong kind or leads back to
    /// the node (a cycle), for a number of inputs that its kind does not have, and as above. Each node must lead to the
    /// Result.
    ///
    ///     const auto plan = QueryPlan::from_nodes({{.kind = PlanNode::Kind::Rows, .predicate = column("a") > 1},
    ///                                              {.kind = PlanNode::Kind::Aggregate, .inputs = {0}},  // COUNT(*)
    ///                                              {.kind = PlanNode::Kind::Result, .inputs = {1}, .names = {"n"}}},
    ///                                             table.columns());
    [[nodiscard]] static QueryPlan from_nodes(const std::vector<PlanNode>& nodes, const std::vector<ColumnInfo>& left,
                                              const std::vector<ColumnInfo>& right = {});
    QueryPlan(QueryPlan&&) noexcept;
    QueryPlan& operator=(QueryPlan&&) noexcept;
    ~QueryPlan();
    /// A line a node.
    [[nodiscard]] std::string text() const;
    /// For `dot`.
    [[nodiscard]] std::string graphviz() const;

    struct State;

  private:
    friend detail::Access;
    [[nodiscard]] const State& inside() const noexcept { return *state_; }
    explicit QueryPlan(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

class QUADMILL_API Selection;

/// A COUNT under way on the GPU. Keeps its processor's context in use.
class QUADMILL_API PendingCount {
  public:
    PendingCount(PendingCount&&) noexcept;
    PendingCount& operator=(PendingCount&&) noexcept;
    ~PendingCount();
    /// Whether get() returns at once.
    [[nodiscard]] bool ready() const;
    /// Waits for the GPU; the same each time.
    [[nodiscard]] std::uint64_t get() const;
    [[nodiscard]] QueryEngine engine() const noexcept;  ///< the one that counts

    struct State;

  private:
    friend detail::Access;
    explicit PendingCount(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// An aggregate under way on the GPU. Keeps its processor's context in use.
class QUADMILL_API PendingValue {
  public:
    PendingValue(PendingValue&&) noexcept;
    PendingValue& operator=(PendingValue&&) noexcept;
    ~PendingValue();
    /// Whether get() returns at once.
    [[nodiscard]] bool ready() const;
    /// Waits for the GPU; the same each time. Throws: InvalidArgument for a sum of integers beyond 64 bits.
    [[nodiscard]] Value get() const;
    [[nodiscard]] QueryEngine engine() const noexcept;  ///< the one that has the columns

    struct State;

  private:
    friend detail::Access;
    explicit PendingValue(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// A place of the caller's for one number: in a buffer from byte `offset` on, a multiple of 4, or in a texture the
/// texel (0, 0) of level 0; one of the two.
struct NumberPlace {
    std::uint32_t buffer = 0;   ///< its name
    std::size_t offset = 0;     ///< of the number, in bytes
    std::uint32_t texture = 0;  ///< R32F for F32, R32I for I32, R32UI for U32, RG32UI for F64 and I64 (low, high)
    ColumnType type = ColumnType::F32;  ///< of the number; not Text
};

/// Runs queries in one context, or on the CPU alone; keeps its programs, and the columns of the tables that it has seen
/// in textures for as long as the tables live.
///
/// Guarantee: the same answer from every engine, up to the last bits of Sum and Average of floats, which are within
/// (log2 n + 8) 2^-53 times the sum of the absolute values of the exact sum of n floats. Drivers that flush denormal
/// doubles (Mesa's llvmpipe; NVIDIA's does not) take those for 0 in linear conditions and in Sum and Average of F64.
/// Throws: InvalidArgument, GlError, ContextError, std::bad_alloc.
/// Source: 'Query Processing on GPUs' (Govindaraju, Manocha); SIGMOD'04 (Govindaraju, Lloyd, Wang, Lin, Manocha);
/// Tsakalozos, Tsangaris, Delis, MDS'09, sections 3.2 and 3.3.
///
///     Table table;
///     table.add("a", std::vector<std::int32_t>{3, 1, 2});
///     QueryProcessor processor(Context::headless());
///     const auto n = processor.count(table, column("a") >= 2);  // 2
class QUADMILL_API QueryProcessor {
  public:
    /// Predicates and aggregates in that context.
    explicit QueryProcessor(const Context& context, const QueryOptions& options = {});
    /// On the CPU; takes QueryEngine::Auto and Cpu.
    explicit QueryProcessor(const QueryOptions& options = {});
    QueryProcessor(QueryProcessor&&) noexcept;
    QueryProcessor& operator=(QueryProcessor&&) noexcept;
    ~QueryProcessor();

    /// Gets rows out, some at a time, in order; they are valid during the call. May call the library, but in the
    /// caller's own context leaves OpenGL's state as it finds it.
    using TakeRows = std::function<void(std::span<const std::vector<Value>>)>;

    /// With `take` the rows go there, at most 4,096 at once, and the result has none: so a result may be larger than
    /// memory.
    QueryResult run(const QueryPlan& plan, const Table& table, const TakeRows& take = {});
    /// With a join. Pairs go through in chunks of 65,536, so memory is needed for what comes out only; but a quantile
    /// or k-th value of pairs needs all their values of that column, 8 bytes each, on the CPU.
    QueryResult run(const QueryPlan& plan, const Table& left, const Table& right, const TakeRows& take = {});
    [[nodiscard]] QueryResult run(const Query& query, const Table& table);  ///< makes the plan, and runs it

    /// How many rows satisfy the condition.
    [[nodiscard]] std::uint64_t count(const Table& table, const Predicate& where);
    /// The same, without waiting for the GPU: any number may be under way, and answer in any order. On the CPU the
    /// count is there when this returns.
    ///
    ///     const auto low = processor.count_async(table, column("a") < 2);
    ///     const auto high = processor.count_async(table, column("a") >= 2);
    ///     // ... the CPU does other things ...
    ///     const auto all = low.get() + high.get();
    [[nodiscard]] PendingCount count_async(const Table& table, const Predicate& where);
    /// Stays on the GPU.
    [[nodiscard]] Selection select(const Table& table, const Predicate& where);
    /// An aggregate of all rows, or of those selected.
    [[nodiscard]] Value aggregate(const Table& table, const QueryAggregate& what, const Selection* of = nullptr);
    /// The same, without waiting for the GPU, as count_async(). By reduction, whichever engine of the GPU has the
    /// columns. (Of more rows than a texture holds, and on the CPU, the value is there when this returns.)
    ///
    ///     const auto tenth = processor.aggregate_async(
    ///         table, {.kind = QueryAggregate::Kind::KthLargest, .column = "a", .k = 10});
    ///     // ... a frame later:
    ///     if (tenth.ready()) use(tenth.get());
    [[nodiscard]] PendingValue aggregate_async(const Table& table, const QueryAggregate& what,
                                               const Selection* of = nullptr);
    /// Writes the aggregate to the caller's buffer or texture, for its shaders; the CPU never learns it. It is
    /// converted to NumberPlace::type: to the nearest float; to an integer by cutting off what is behind the point, and
    /// what is beyond the type, or NaN, becomes its end or 0. NULL is a NaN, or 0.
    /// Cost: a pyramid of passes (for a k-th value one for every two bits); does not wait, and nothing is read back,
    /// but of columns on the CPU.
    /// Throws: as aggregate(); InvalidArgument for a place that is none or too small, for texts, for a processor
    /// without a context, and for more rows than a texture of the library holds.
    ///
    ///     processor.write_aggregate(table, {.kind = QueryAggregate::Kind::Max, .column = "a"}, {.buffer = uniforms});
    void write_aggregate(const Table& table, const QueryAggregate& what, const NumberPlace& to,
                         const Selection* of = nullptr);
    /// The same of count().
    void write_count(const Table& table, const Predicate& where, const NumberPlace& to);
    /// As aggregate() with KthLargest.
    [[nodiscard]] Value kth_largest(const Table& table, const std::string& column, std::uint64_t k,
                                    const Selection* of = nullptr) {
        return aggregate(table, {.kind = QueryAggregate::Kind::KthLargest, .column = column, .k = k}, of);
    }
    /// Calls `take` with the pairs of a join of two columns, of all rows or those selected, in the order of the left
    /// rows, then of the right ones, a chunk at a time: at most 65,536 pairs, valid during the call. Returns how many
    /// there were.
    /// Pre: `take` may call the library, but in the caller's own context leaves OpenGL's state as it finds it.
    /// Cost: at most 40 bytes of memory for each row that is joined, whatever the number of pairs; nested loops on the
    /// GPU also some 50 MB there, and at most 40 bytes for each row of either side.
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

/// Rows of a table, a bit each, where they were found: on the GPU or on the CPU. Keeps its processor's context in use;
/// combines with selections of the same processor and number of rows only.
class QUADMILL_API Selection {
  public:
    Selection(Selection&&) noexcept;
    Selection& operator=(Selection&&) noexcept;
    ~Selection();
    [[nodiscard]] Selection operator&(const Selection& other) const;  ///< rows of both
    [[nodiscard]] Selection operator|(const Selection& other) const;  ///< rows of either
    [[nodiscard]] Selection operator~() const;                        ///< all other rows, NULLs too
    [[nodiscard]] std::uint64_t count() const;                        ///< how many rows
    /// The numbers of the rows, from 0, ascending; read back now.
    [[nodiscard]] std::vector<std::uint64_t> rows() const;

    /// Writes the bits to the caller's texture, for its shaders: row i is bit i % 32 of word i / 32, and word w is
    /// texel (w % width, w / width). Bits behind the last row are 0, other texels stay.
    /// Shape: R32UI, 2-D, with a texel for every 32 rows. Cost: one pass; does not wait, and nothing is read back.
    /// Throws: InvalidArgument for another texture, for a processor without a context, and for more rows than a texture
    /// of the library holds.
    ///
    ///     chosen.write_bits(mask);  // if ((texelFetch(mask, ...).x >> (row & 31) & 1u) != 0u) ...
    void write_bits(std::uint32_t texture) const;

    /// Writes how many rows there are, 32 bits, to the caller's buffer at that byte: the `count` of an indirect draw,
    /// say.
    /// Shape: offset is a multiple of 4. Cost, Throws: as write_bits(); a pyramid of passes.
    void write_count(std::uint32_t buffer, std::size_t offset = 0) const;

    /// That, and the numbers of the rows, ascending, 32 bits each, as an element buffer: glDrawElementsIndirect draws
    /// what is selected, and the CPU never learns how many. Behind the last one, up to the table's rows, are zeros.
    /// Shape: `index` has 4 bytes for each row of the table from byte `index_offset` on; offsets are multiples of 4.
    ///
    ///     chosen.write_rows(elements, 0, command);  // command.count; the rest of the command is the caller's
    void write_rows(std::uint32_t index, std::size_t index_offset, std::uint32_t count,
                    std::size_t count_offset = 0) const;

    struct State;

  private:
    friend detail::Access;
    explicit Selection(std::unique_ptr<State> state);
    [[nodiscard]] const State& inside() const noexcept { return *state_; }
    std::unique_ptr<State> state_;
};

}  // namespace quadmill
