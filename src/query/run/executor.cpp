#include "query/run/executor.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <utility>

#include "cpu/workers.hpp"
#include "quadmill/error.hpp"
#include "query/gpu/sorted_groups.hpp"
#include "query/plan/describe.hpp"
#include "query/run/pair_filter.hpp"
#include "query/run/rows_run.hpp"
#include "query/table/order.hpp"

namespace quadmill::detail::query {

namespace {

constexpr const char* run_name = "QueryProcessor::run";

std::size_t column_in(const TableData& table, const ColumnInfo& wanted) {
    const auto found = table.places.find(wanted.name);
    if (found == table.places.end())
        throw InvalidArgument(std::string(run_name) + ": the table has no column '" + wanted.name +
                              "', which the plan needs");
    if (table.infos[found->second].type != wanted.type)
        throw InvalidArgument(std::string(run_name) + ": column '" + wanted.name +
                              "' is of another type than in the columns that the plan was made for");
    return found->second;
}

// All columns that a node names, resolved with the plan's schema.
std::vector<ColumnPlace> places_of(const Schema& schema, const PlanNode& node) {
    std::vector<ColumnPlace> places;
    if (node.kind == NodeKind::Rows) {
        for (const auto& name : columns_of(detail::Access::of(*node.predicate)))
            places.push_back(schema.find_in(node.table, run_name, name));
        return places;
    }
    auto names = node.columns;
    if (node.kind == NodeKind::Filter) names = columns_of(detail::Access::of(*node.predicate));
    if (node.kind == NodeKind::Aggregate && !node.aggregate.column.empty()) names.push_back(node.aggregate.column);
    for (const auto& name : names) places.push_back(schema.find(run_name, name));
    if (node.kind == NodeKind::Join) {
        places.push_back(schema.find_in(0, run_name, node.join->left));
        places.push_back(schema.find_in(1, run_name, node.join->right));
    }
    return places;
}

bool is_everything(const PlanNode& node) {
    const auto& e = detail::Access::of(*node.predicate);
    return e.kind == Expression::Kind::Always && e.always;
}

// The rows of a selection's words, some at a time.
class SelectedRows {
  public:
    explicit SelectedRows(std::span<const std::uint32_t> words) : words_(words), left_(words.empty() ? 0 : words[0]) {}

    // Replaces the pairs by the next rows, at most `max`, each on both sides.
    void next(std::size_t max, std::vector<RowPair>& to) {
        to.clear();
        for (; to.size() < max && has_row(); left_ &= left_ - 1) {
            const auto row = 32 * at_ + static_cast<std::size_t>(std::countr_zero(left_));
            to.push_back({row, row});
        }
    }
    void skip(std::size_t rows) {
        for (; rows > 0 && has_row(); left_ &= left_ - 1) --rows;
    }

  private:
    bool has_row() {
        while (left_ == 0 && at_ + 1 < words_.size()) left_ = words_[++at_];
        return left_ != 0;
    }
    std::span<const std::uint32_t> words_;
    std::size_t at_ = 0;
    std::uint32_t left_;  // of the current word
};

// ---- Common to plans with and without a join

class Run {
  public:
    Run(const QueryPlan::State& plan, std::array<std::shared_ptr<const TableData>, 2> tables, const RunTools& tools)
        : plan_(plan), nodes_(plan.nodes), tools_(tools), tables_{std::move(tables)}, log_(nodes_, tools.statistics) {}

    QueryResult operator()() {
        prepare();
        if (plan_.schema.joined()) {
            on_pairs();
        } else {
            on_rows();
        }
        if (tools_.take && !result_.rows.empty()) give();
        log_.add(nodes_.size() - 1, rows_out_, total_.ms());
        result_.nodes = log_.take();
        return std::move(result_);
    }

    [[nodiscard]] std::string uses_of_indexes() {
        prepare();
        const auto columns = open(0);
        RowsRun run(nodes_, *tables_.data[0], *columns, log_, tools_.execution);
        using enum IndexUse::Does;
        auto use = only_counts() ? run.index_use(Count, source_) : std::nullopt;
        if (!use) use = run.index_use(FindRows, source_);
        auto line = "node " + std::to_string(source_) + ": ";
        if (!use) return line + "no index\n";
        line += "index of ";
        for (const auto& name : use->columns)
            line += (&name == use->columns.data() ? "" : " and ") + describe_name(name);
        return line + (use->does == Count ? " counts, " : " finds rows, ") + std::to_string(use->rows) + " of " +
               std::to_string(run.table().rows) + " rows are read\n";
    }

  private:
    void prepare() {
        const auto& last = nodes_.back();
        result_.columns = last.names;
        limit_ = last.limit.value_or(~std::uint64_t{0});
        const auto& first = nodes_[last.inputs.front()];
        source_ = first.inputs.front();
        if (nodes_[source_].kind == NodeKind::Group) {
            for (const auto& name : nodes_[source_].columns) by_.push_back(place(name));
            source_ = nodes_[*(group_ = source_)].inputs.front();
        }
        plain_ = first.kind == NodeKind::Column && !group_;
        collect_wanted();
    }

    [[nodiscard]] ColumnPlace place(const std::string& name) const {
        const auto known = plan_.schema.find(run_name, name);
        return {known.table, column_in(*tables_.data.at(known.table), plan_.schema[known])};
    }

    void collect_wanted() {
        for (const auto output : nodes_.back().inputs) {
            const auto& node = nodes_[output];
            if (node.kind == NodeKind::Column) {
                columns_.push_back(place(node.columns.front()));
            } else {
                const auto& what = node.aggregate;
                wanted_.push_back({what, what.column.empty() ? ColumnPlace{} : place(what.column)});
            }
        }
    }

    [[nodiscard]] bool wants_more() const { return rows_out_ < limit_; }
    void out(std::vector<Value> row) {
        constexpr std::size_t at_once = 4096;
        result_.rows.push_back(std::move(row));
        ++rows_out_;
        if (tools_.take && result_.rows.size() == at_once) give();
    }
    void give() {
        tools_.take(result_.rows);
        result_.rows.clear();
    }

    // `by` has the values of the columns to group by.
    void group_out(const std::vector<Value>& by, Measures& measures) {
        if (!wants_more()) return;
        std::vector<Value> cells;
        auto column = columns_.begin();
        auto wanted = wanted_.begin();
        for (const auto output : nodes_.back().inputs) {
            if (nodes_[output].kind == NodeKind::Column) {
                const auto at = std::find(by_.begin(), by_.end(), *column++) - by_.begin();
                cells.push_back(by[static_cast<std::size_t>(at)]);
            } else {
                cells.push_back(answer(*wanted++, tables_, measures));
            }
        }
        out(std::move(cells));
    }
    void groups_out(Groups& groups) {
        if (group_) log_.add(*group_, groups.size(), dealing_ms_);
        groups.each(limit_, [this](const std::vector<Value>& by, Measures& measures) { group_out(by, measures); });
    }

    // Reads the values of plain columns, one output row per pair.
    [[nodiscard]] std::vector<Cells> plain_cells() const {
        std::vector<Cells> cells;
        for (const auto& place : columns_) cells.push_back(tables_.cells(place));
        return cells;
    }
    void plain_out(const std::vector<Cells>& cells, const RowPair& pair) {
        std::vector<Value> values;
        for (std::size_t i = 0; i < cells.size(); ++i)
            values.push_back(cells[i].value(static_cast<std::size_t>(columns_[i].table == 0 ? pair.left : pair.right)));
        out(std::move(values));
    }

    // Columns that are read value by value must be in memory.
    void in_memory(std::size_t table, const std::vector<ColumnPlace>& places) {
        std::vector<std::size_t> columns;
        for (const auto& place : places) {
            if (place.table == table) columns.push_back(place.column);
        }
        sort_unique(columns);
        tables_.data.at(table) = tools_.in_memory(tables_.data.at(table), columns);
    }
    [[nodiscard]] std::vector<ColumnPlace> read_places() const {
        auto places = columns_;
        places.insert(places.end(), by_.begin(), by_.end());
        for (const auto& [what, at] : wanted_) {
            if (!what.column.empty()) places.push_back(at);
        }
        return places;
    }

    [[nodiscard]] std::shared_ptr<Columns> open(std::size_t table) {
        auto& data = tables_.data.at(table);
        const auto columns = needed_columns(plan_, table, *data);
        if (&tools_.engine == &tools_.cpu) data = tools_.in_memory(data, columns);
        return tools_.engine.open(data, columns);
    }

    // Whether the bits of the output's rows are not needed.
    [[nodiscard]] bool only_counts(const Wanted& wanted) const {
        const auto& [what, of] = wanted;
        return what.kind == QueryAggregate::Kind::CountRows ||
               (what.kind == QueryAggregate::Kind::Count && tables_[of].valid.empty());
    }
    [[nodiscard]] bool only_counts() const {
        return !group_ && !plain_ && std::ranges::all_of(wanted_, [this](const auto& one) { return only_counts(one); });
    }
    void on_rows();
    void on_rows(RowsRun& run);
    void aggregates(RowsRun& run);
    void groups(RowsRun& run);
    void deal(std::span<const std::uint32_t> words, Groups& to) const;
    void plain(RowsRun& run);

    void on_pairs();
    struct Selected {
        std::shared_ptr<Columns> columns{};  // null for all rows
        BitsPtr rows{};
        [[nodiscard]] std::optional<std::vector<std::uint32_t>> words() const {
            return rows ? std::optional(columns->words(*rows)) : std::nullopt;
        }
    };
    [[nodiscard]] Selected selected(std::size_t node, std::size_t table);
    [[nodiscard]] std::optional<PairFilter> filter() const;
    void take_pairs(const std::function<Next(std::span<const RowPair>)>& take);
    void join(std::size_t node, const std::function<Next(std::span<const RowPair>)>& take);

    const QueryPlan::State& plan_;
    const std::vector<PlanNode>& nodes_;
    const RunTools& tools_;
    Tables tables_;
    Log log_;
    cpu::Stopwatch total_;
    QueryResult result_;
    std::uint64_t limit_ = 0, rows_out_ = 0;
    std::size_t source_ = 0;  // the node of the rows or pairs
    std::optional<std::size_t> group_;
    double dealing_ms_ = 0;             // time to distribute rows to groups
    std::vector<ColumnPlace> by_;       // the columns to group by
    bool plain_ = false;                // one output row per row or pair
    std::vector<ColumnPlace> columns_;  // outputs that are columns, in order
    std::vector<Wanted> wanted_;        // outputs that are aggregates
};

// ---- One table

void Run::on_rows() {
    const auto columns = open(0);
    // The engine knows the table by this pointer; the pointer in tables_ may change.
    const auto table = tables_.data[0];
    RowsRun all(nodes_, *table, *columns, log_, tools_.execution);
    const auto few = only_counts() ? nullptr : all.near(source_);
    if (!few) return on_rows(all);
    RowsRun run(nodes_, *table, *few, log_, tools_.execution);
    on_rows(run);
}

void Run::on_rows(RowsRun& run) {
    if (group_) {
        groups(run);
    } else if (plain_) {
        plain(run);
    } else {
        aggregates(run);
    }
    result_.matched = run.count(source_);
}

void Run::aggregates(RowsRun& run) {
    EngineMeasures measures(run, source_);
    // If bits are needed anyway, they also give the number of rows.
    if (!only_counts()) static_cast<void>(measures.bits());
    if (!wants_more()) return;
    std::vector<Value> cells;
    for (const auto output : nodes_.back().inputs) {
        const cpu::Stopwatch time;
        cells.push_back(answer(wanted_[cells.size()], tables_, measures));
        log_.add(output, 1, time.ms());
    }
    out(std::move(cells));
}

void Run::groups(RowsRun& run) {
    const cpu::Stopwatch time;
    const auto bits = run.bits(source_);
    if (max_groups(run.table(), by_) <= tools_.join.tuning.engine_groups) {
        const auto found = engine_groups(run.columns(), run.table(), by_, bits);
        log_.add(*group_, found.size(), time.ms());
        for (const auto& group : found) {
            EngineMeasures measures(run.table(), run.columns(), group.rows);
            group_out(group.by, measures);
        }
        return;
    }
    auto* const sorts = run.columns().textures();
    auto found = sorts ? std::optional<SortedGroups>(std::in_place, *sorts, by_, wanted_, *bits) : std::nullopt;
    if (found && found->fits()) {
        log_.add(*group_, found->size(), time.ms());
        for (std::size_t i = 0; i < found->size() && wants_more(); ++i) {
            found->go_to(i);
            group_out(found->values(run.table()), *found);
        }
        return;
    }
    found.reset();
    in_memory(0, read_places());
    Groups dealt(tables_, by_, wanted_);
    deal(run.columns().words(*bits), dealt);
    dealing_ms_ = time.ms();
    groups_out(dealt);
}

// Parts are added in order. They have a fixed length if a sum of floats depends on it; otherwise each thread has one,
// because adding parts takes as long as dealing if most rows are groups of their own.
void Run::deal(std::span<const std::uint32_t> words, Groups& to) const {
    const auto sums_floats = [&](const Wanted& one) {
        const auto kind = one.what.kind;
        return (kind == QueryAggregate::Kind::Sum || kind == QueryAggregate::Kind::Average) &&
               is_float(tables_[one.place].type);
    };
    std::size_t count = 0;
    for (const auto word : words) count += static_cast<std::size_t>(std::popcount(word));
    const cpu::Workers workers(tools_.threads);
    auto part = tools_.join.tuning.rows_a_deal;
    if (std::ranges::none_of(wanted_, sums_floats))
        part = std::max(part, (count + workers.threads() - 1) / workers.threads());
    SelectedRows rows(words);
    const auto take = [&](SelectedRows from, Groups& groups) {
        std::vector<RowPair> pairs;
        for (std::size_t left = part; left > 0; left -= std::min(left, pairs.size())) {
            from.next(std::min(left, tools_.join.tuning.chunk), pairs);
            if (pairs.empty()) return;
            groups.add(pairs);
        }
    };
    const auto parts = (count + part - 1) / part;
    if (parts < 2) return take(rows, to);
    std::vector<SelectedRows> begin;
    for (std::size_t i = 0; i < parts; ++i, rows.skip(part)) begin.push_back(rows);
    std::vector<std::unique_ptr<Groups>> dealt(parts);
    workers.then_in_order(
        parts,
        [&](std::size_t i) {
            if (i > 0) dealt[i] = std::make_unique<Groups>(tables_, by_, wanted_);
            take(begin[i], i > 0 ? *dealt[i] : to);
        },
        [&](std::size_t i) {
            if (i > 0) to.add(std::move(*dealt[i]));
            dealt[i].reset();
        });
}

void Run::plain(RowsRun& run) {
    const auto rows = run.columns().rows(*run.bits(source_));
    in_memory(0, columns_);
    const auto cells = plain_cells();
    for (const auto row : rows) {
        if (!wants_more()) break;
        plain_out(cells, {row, row});
    }
}

// ---- A join

// The rows that a node selects in a table.
Run::Selected Run::selected(std::size_t node, std::size_t table) {
    if (nodes_[node].kind == NodeKind::Rows && is_everything(nodes_[node])) return {};
    auto columns = open(table);
    RowsRun run(nodes_, *tables_.data.at(table), *columns, log_, tools_.execution);
    auto rows = run.bits(node);
    return {std::move(columns), std::move(rows)};
}

std::optional<PairFilter> Run::filter() const {
    if (nodes_[source_].kind != NodeKind::Filter) return {};
    std::vector<std::string> names = columns_of(detail::Access::of(*nodes_[source_].predicate));
    sort_unique(names);
    std::vector<PairFilter::Column> columns;
    for (const auto& name : names) columns.push_back({name, place(name)});
    return PairFilter(*nodes_[source_].predicate, std::move(columns), tables_, tools_.cpu);
}

void Run::join(std::size_t node, const std::function<Next(std::span<const RowPair>)>& take) {
    const auto& n = nodes_[node];
    const auto left = selected(n.inputs[0], 0), right = selected(n.inputs[1], 1);
    const auto& on = *n.join;
    const auto column = [&](std::size_t table, const std::string& name) {
        const auto known = plan_.schema.find_in(table, run_name, name);
        return column_in(*tables_.data.at(table), plan_.schema[known]);
    };
    const auto a = column(0, on.left), b = column(1, on.right);
    const cpu::Stopwatch time;
    auto found = std::optional<std::uint64_t>();
    if (&tools_.engine != &tools_.cpu) {
        found = join_textures({tables_.data[0], a, left.rows}, {tables_.data[1], b, right.rows}, on, tools_.join,
                              tools_.texture_join, take);
    }
    if (!found) {
        const auto left_words = left.words(), right_words = right.words();
        found = query::join({*tables_.data[0], a, left_words ? &*left_words : nullptr},
                            {*tables_.data[1], b, right_words ? &*right_words : nullptr}, on, tools_.join, take);
    }
    const auto pairs = *found;
    log_.add(node, pairs, time.ms());
    if (nodes_[source_].kind == NodeKind::Join) result_.matched = pairs;
}

void Run::on_pairs() {
    for (std::size_t table = 0; table < 2; ++table) {
        const auto& data = *tables_.data.at(table);
        std::vector<ColumnPlace> places;
        const bool by_cpu = &tools_.engine == &tools_.cpu;  // reads all values now, because cells point to this copy
        for (const auto& node : nodes_) {
            if (node.kind == NodeKind::Rows && !by_cpu) continue;
            for (const auto& known : places_of(plan_.schema, node)) {
                if (known.table == table) places.push_back({table, column_in(data, plan_.schema[known])});
            }
        }
        in_memory(table, places);
    }
    const auto is_count = [](const Wanted& wanted) { return wanted.what.kind == QueryAggregate::Kind::CountRows; };
    const bool only_count = !plain_ && !group_ && std::all_of(wanted_.begin(), wanted_.end(), is_count);
    Groups dealt(tables_, by_, wanted_);
    const auto cells = plain_cells();
    take_pairs([&](std::span<const RowPair> pairs) {
        const cpu::Stopwatch time;
        if (!plain_ && !only_count) dealt.add(pairs);
        dealing_ms_ += time.ms();
        for (std::size_t i = 0; i < pairs.size() && plain_ && wants_more(); ++i) plain_out(cells, pairs[i]);
        // Further rows are only counted.
        return only_count || (plain_ && !wants_more()) ? Next::Enough : Next::More;
    });
    if (only_count) dealt.add_rows(result_.matched);
    if (!plain_) groups_out(dealt);
}

// Keeps the pairs that satisfy the condition.
void Run::take_pairs(const std::function<Next(std::span<const RowPair>)>& take) {
    auto condition = filter();
    if (!condition) {
        join(source_, take);
        return;
    }
    double ms = 0;
    join(nodes_[source_].inputs.front(), [&](std::span<const RowPair> pairs) {
        const cpu::Stopwatch time;
        const auto kept = (*condition)(pairs);
        ms += time.ms();
        result_.matched += kept.size();
        static_cast<void>(take(kept));
        return Next::More;
    });
    log_.add(source_, result_.matched, ms);
}

}  // namespace

std::vector<std::size_t> needed_columns(const QueryPlan::State& plan, std::size_t table, const TableData& data) {
    std::vector<std::size_t> columns;
    for (const auto& node : plan.nodes) {
        // The CPU reads pairs and plain columns.
        const bool by_engine =
            node.kind == NodeKind::Rows || node.kind == NodeKind::Group || node.kind == NodeKind::Aggregate;
        if (!by_engine || (plan.schema.joined() && node.kind != NodeKind::Rows)) continue;
        for (const auto& place : places_of(plan.schema, node)) {
            if (place.table == table) columns.push_back(column_in(data, plan.schema[place]));
        }
    }
    sort_unique(columns);
    return columns;
}

QueryWork work_of(const QueryPlan::State& plan, std::size_t table) {
    QueryWork work;
    for (const auto& node : plan.nodes) {
        if (node.kind == NodeKind::Rows && node.table == table)
            work.linear_columns =
                std::max(work.linear_columns, max_linear_columns(detail::Access::of(*node.predicate)));
        if (node.kind == NodeKind::Aggregate && !plan.schema.joined()) work.ranks |= is_rank(node.aggregate.kind);
    }
    return work;
}

std::string uses_of_indexes(const QueryPlan::State& plan, const std::shared_ptr<const TableData>& table,
                            const RunTools& tools) {
    return Run(plan, {table, nullptr}, tools).uses_of_indexes();
}

QueryResult execute(const QueryPlan::State& plan, std::array<std::shared_ptr<const TableData>, 2> tables,
                    const RunTools& tools) {
    return Run(plan, std::move(tables), tools)();
}

}  // namespace quadmill::detail::query
