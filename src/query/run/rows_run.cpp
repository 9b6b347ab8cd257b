#include "query/run/rows_run.hpp"

#include <algorithm>

#include "query/gpu/bitmap_columns.hpp"
#include "query/table/order.hpp"

namespace quadmill::detail::query {

namespace {

constexpr const char* processor = "QueryProcessor";
constexpr std::size_t max_leaves = 64;  // of a condition that an engine evaluates as a whole

BitsPtr combined(Columns& columns, BoolOp op, const BitsPtr& a, const BitsPtr& b) {
    return a ? columns.combine(op, *a, *b) : b;
}

}  // namespace

BitsPtr select(Columns& columns, const Bound& condition) {
    if (condition.kind == Bound::Kind::One) return columns.leaf(condition.leaf);
    const auto op = condition.kind == Bound::Kind::And ? BoolOp::And : BoolOp::Or;
    BitsPtr all;
    for (const auto& operand : condition.operands) all = combined(columns, op, all, select(columns, operand));
    return all;
}

BitsPtr select_at_once(Columns& columns, const Bound& condition) {
    if (auto* const gpu = columns.gpu(); gpu && condition.kind != Bound::Kind::One) {
        if (const auto normal = clauses(condition, max_leaves)) return gpu->conjunction(*normal);
    }
    return select(columns, condition);
}

std::uint64_t count_at_once(Columns& columns, const Bound& condition) {
    if (auto* const gpu = columns.gpu()) {
        if (const auto normal = clauses(condition, max_leaves)) return gpu->count_conjunction(*normal);
    }
    return columns.count(*select_at_once(columns, condition));
}

Counting count_later(Columns& columns, const Bound& condition) {
    auto* const gpu = columns.gpu();
    if (!gpu) return known(count_at_once(columns, condition));
    if (const auto normal = clauses(condition, max_leaves)) return gpu->count_conjunction_later(*normal);
    return gpu->count_later(*select_at_once(columns, condition));
}

std::shared_ptr<Columns> near(Columns& columns, const Bound& condition) {
    auto* const textures = columns.textures();
    const auto normal = textures ? clauses(condition, max_leaves) : std::nullopt;
    return normal ? textures->near(*normal) : nullptr;
}

// ---- RowsRun

RowsRun::RowsRun(const std::vector<PlanNode>& nodes, const TableData& table, Columns& columns, Log& log,
                 Execution execution)
    : nodes_(nodes), table_(table), columns_(columns), log_(log), execution_(execution), states_(nodes.size()) {
    for (const auto& node : nodes) {
        for (const auto input : node.inputs) ++states_[input].needed;
    }
}

const Bound& RowsRun::bound(std::size_t node) {
    auto& bound = states_[node].bound;
    if (!bound) bound = bind(processor, detail::Access::of(*nodes_[node].predicate), table_);
    return *bound;
}

std::optional<Bound> RowsRun::whole(std::size_t node, std::size_t& left) {
    const auto& n = nodes_[node];
    if (n.kind == NodeKind::Rows) {
        const auto used = leaves(bound(node));
        if (used > left) return {};
        left -= used;
        return bound(node);
    }
    std::vector<Bound> operands;
    for (const auto input : n.inputs) {
        auto operand = whole(input, left);
        if (!operand) return {};
        operands.push_back(std::move(*operand));
    }
    return junction(n.kind == NodeKind::And ? Bound::Kind::And : Bound::Kind::Or, std::move(operands));
}

std::optional<Clauses> RowsRun::at_once(std::size_t node) {
    if (!columns_.gpu() || execution_ == Execution::OneOperation) return {};
    auto left = max_leaves;
    const auto condition = whole(node, left);
    return condition ? clauses(*condition, max_leaves) : std::nullopt;
}

BitsPtr RowsRun::make(std::size_t node) {
    const auto& n = nodes_[node];
    if (n.kind == NodeKind::Rows) return select_at_once(columns_, bound(node));
    if (const auto normal = at_once(node)) return columns_.gpu()->conjunction(*normal);
    BitsPtr all;
    for (const auto input : n.inputs) {
        all = combined(columns_, n.kind == NodeKind::And ? BoolOp::And : BoolOp::Or, all, bits(input));
        if (--states_[input].needed == 0) states_[input].bits = nullptr;
    }
    return all;
}

void RowsRun::send_columns(std::size_t node) {
    if (!columns_.gpu() || nodes_[node].kind != NodeKind::Rows) return;
    std::vector<std::size_t> columns;
    for (const auto& name : columns_of(detail::Access::of(*nodes_[node].predicate)))
        columns.push_back(table_.places.at(name));
    sort_unique(columns);
    columns_.gpu()->send_again(columns);
}

BitsPtr RowsRun::returned(const BitsPtr& rows) {
    const auto words = columns_.words(*rows);
    return columns_.bits_of(words);
}

BitsPtr RowsRun::bits(std::size_t node) {
    auto& state = states_[node];
    if (state.bits) return state.bits;
    const cpu::Stopwatch time;
    if (execution_ == Execution::OneOperation) {
        send_columns(node);
        state.bits = returned(make(node));
    } else {
        state.bits = make(node);
    }
    if (log_.wanted()) {
        const bool counted = state.count.has_value();
        state.count = columns_.count(*state.bits);
        if (!counted) log_.add(node, *state.count, time.ms());
    }
    return state.bits;
}

std::uint64_t RowsRun::count(std::size_t node) {
    auto& state = states_[node];
    if (state.count) return *state.count;
    const cpu::Stopwatch time;
    if (const auto normal = state.bits ? std::nullopt : at_once(node)) {
        state.count = columns_.gpu()->count_conjunction(*normal);
        log_.add(node, *state.count, time.ms());
        return *state.count;
    }
    const auto rows = bits(node);
    if (!state.count) state.count = columns_.count(*rows);
    return *state.count;
}

std::shared_ptr<Columns> RowsRun::near(std::size_t node) {
    auto* const textures = columns_.textures();
    const auto normal = textures ? at_once(node) : std::nullopt;
    return normal ? textures->near(*normal) : nullptr;
}

std::optional<IndexUse> RowsRun::index_use(IndexUse::Does does, std::size_t node) {
    auto* const textures = columns_.textures();
    const auto normal = textures ? at_once(node) : std::nullopt;
    const auto* const indexes = normal ? textures->tables().indexes().get() : nullptr;
    return indexes ? indexes->use(does, *normal, *textures) : std::nullopt;
}

// ---- EngineMeasures

const Bits& EngineMeasures::bits() {
    if (!rows_) rows_ = of_.first->bits(of_.second);
    return *rows_;
}

std::uint64_t EngineMeasures::rows() {
    if (!count_) count_ = of_.first ? of_.first->count(of_.second) : columns_.count(*rows_);
    return *count_;
}

EngineMeasures::Column& EngineMeasures::of(const ColumnPlace& place) {
    auto& column = by_column_[place.column];
    if (column.rows) return column;
    const auto& all = bits();
    column.rows = table_.columns[place.column]->valid.empty()
                      ? rows_
                      : columns_.combine(BoolOp::And, all, *columns_.leaf(IsNull{place.column, true}));
    return column;
}

std::uint64_t EngineMeasures::count(const ColumnPlace& place) {
    if (table_.columns[place.column]->valid.empty()) return rows();
    auto& column = of(place);
    if (!column.count) column.count = columns_.count(*column.rows);
    return *column.count;
}

Sum EngineMeasures::sum(const ColumnPlace& place) {
    auto& column = of(place);
    if (!column.sum) column.sum = columns_.sum(place.column, *column.rows);
    return *column.sum;
}

std::pair<Key, Key> EngineMeasures::extremes(const ColumnPlace& place) {
    auto& column = of(place);
    if (!column.extremes) column.extremes = columns_.extremes(place.column, *column.rows);
    return *column.extremes;
}

Key EngineMeasures::kth(const ColumnPlace& place, std::uint64_t k) {
    return columns_.kth(place.column, k, *of(place).rows);
}

// ---- Groups

namespace {

class GroupFinder {
  public:
    GroupFinder(Columns& columns, const TableData& table, const std::vector<ColumnPlace>& by)
        : columns_(columns), table_(table), by_(by) {}

    void find(const BitsPtr& rows) {
        if (label_.size() == by_.size()) {
            found_.push_back({label_, rows});
            return;
        }
        const auto column = by_[label_.size()].column;
        auto rest = rows;
        if (!table_.columns[column]->valid.empty()) {
            const auto nulls = columns_.combine(BoolOp::And, *rows, *columns_.leaf(IsNull{column}));
            if (columns_.count(*nulls) > 0) with({}, nulls);
            rest = columns_.combine(BoolOp::AndNot, *rows, *nulls);
        }
        if (columns_.count(*rest) > 0) find_values(column, std::move(rest));
    }

    [[nodiscard]] std::vector<EngineGroup> take() { return std::move(found_); }

  private:
    void with(Value value, const BitsPtr& rows) {
        label_.push_back(std::move(value));
        find(rows);
        label_.pop_back();
    }

    // Pre: there is a row, and none is NULL.
    void find_values(std::size_t column, BitsPtr rest) {
        const auto type = table_.columns[column]->type;
        const auto nan = first_nan(type);
        const auto max = columns_.extremes(column, *rest).second;
        while (true) {
            const auto key = columns_.extremes(column, *rest).first;
            const bool is_nan = key >= nan;
            // The last group has the remaining rows.
            if (is_nan || key == max) return with(value_of(table_, column, is_nan ? nan : key), rest);
            const auto group =
                columns_.combine(BoolOp::And, *rest, *columns_.leaf(Range{.column = column, .low = key, .high = key}));
            with(value_of(table_, column, key), group);
            rest = columns_.combine(BoolOp::AndNot, *rest, *group);
        }
    }

    Columns& columns_;
    const TableData& table_;
    const std::vector<ColumnPlace>& by_;
    std::vector<Value> label_;
    std::vector<EngineGroup> found_;
};

}  // namespace

std::uint64_t max_groups(const TableData& table, const std::vector<ColumnPlace>& by) {
    constexpr std::uint64_t many = std::uint64_t{1} << 31U;
    std::uint64_t groups = 1;
    for (const auto& place : by) {
        const auto& of = *table.columns[place.column];
        groups *= std::min(of.max - of.min, many) + 1 + (of.valid.empty() ? 0 : 1);
        if (groups > many) return groups;
    }
    return groups;
}

std::vector<EngineGroup> engine_groups(Columns& columns, const TableData& table, const std::vector<ColumnPlace>& by,
                                       const BitsPtr& rows) {
    GroupFinder finder(columns, table, by);
    finder.find(rows);
    return finder.take();
}

}  // namespace quadmill::detail::query
