#include "query/plan/plan.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "quadmill/error.hpp"
#include "query/plan/builder.hpp"
#include "query/plan/describe.hpp"

namespace quadmill {

namespace detail::query {

std::size_t source_of(const std::vector<PlanNode>& nodes, std::size_t output) {
    const auto input = nodes.at(output).inputs.at(0);
    return nodes[input].kind == NodeKind::Group ? nodes[input].inputs.at(0) : input;
}

std::string line(const std::vector<PlanNode>& nodes, std::size_t node) {
    std::string inputs;
    for (const auto input : nodes.at(node).inputs) inputs += (inputs.empty() ? " of " : ", ") + std::to_string(input);
    return std::to_string(node) + ": " + describe(nodes[node]) + inputs;
}

namespace {

// The node of a join's pairs. Conditions on one table alone are applied before the join.
std::size_t joined_source(PlanBuilder& builder, const Query& query) {
    std::vector<Term> terms;
    if (query.where) split({*query.where, false}, terms);
    const auto& schema = builder.schema();
    std::array<std::vector<Predicate>, 2> of_table;
    std::vector<Predicate> of_pairs;
    for (const auto& term : terms) {
        std::array<bool, 2> named{};
        for (const auto& name : columns_of(detail::Access::of(term.predicate)))
            named.at(schema.find("QueryPlan", name).table) = true;
        (named[0] && named[1] ? of_pairs : of_table.at(named[1] ? 1 : 0)).push_back(term.whole());
    }
    const auto rows = [&](std::size_t table) {
        const auto& parts = of_table.at(table);
        if (parts.empty()) return builder.rows(Predicate::always(true), false, table);
        const auto own_name = [&](const std::string& name) { return schema[schema.find("QueryPlan", name)].name; };
        return builder.rows(renamed(junction(ExpressionKind::And, parts), own_name), false, table);
    };
    const auto left = rows(0), right = rows(1);
    const auto pairs = builder.join(left, right, *query.join);
    return of_pairs.empty() ? pairs : builder.filter(pairs, junction(ExpressionKind::And, of_pairs));
}

std::unique_ptr<QueryPlan::State> planned(const Query& query, Schema schema) {
    PlanBuilder builder(std::move(schema), "QueryPlan");
    auto source = query.join ? joined_source(builder, query)
                             : builder.rows(query.where.value_or(Predicate::always(true)), false, 0);
    if (!query.group_by.empty()) source = builder.group(source, query.group_by);
    std::vector<std::size_t> outputs;
    std::vector<std::string> names;
    for (const auto& output : query.outputs) {
        const auto* column = std::get_if<std::string>(&output.what);
        outputs.push_back(column ? builder.column(source, *column)
                                 : builder.aggregate(source, std::get<QueryAggregate>(output.what)));
        names.push_back(output.name.empty() && column ? *column : output.name);
    }
    builder.result(outputs, std::move(names), query.limit);
    return std::move(builder).state();
}

// ---- The caller's graph

// The output of a node.
enum class Flow { LeftRows, RightRows, Pairs, Groups, Output, End };

const char* words(Flow flow) {
    constexpr std::array<const char*, 6> all{"rows of table 0", "rows of table 1", "pairs",
                                             "groups",          "an output",       "the result"};
    return all.at(static_cast<std::size_t>(flow));
}

// Checks a graph and makes a plan of it. Refuses graphs that are not plans: those with cycles, unused nodes, inputs of
// the wrong kind, or wrong names or types.
class Graph {
  public:
    Graph(const std::vector<PlanNode>& nodes, const std::vector<ColumnInfo>& left, const std::vector<ColumnInfo>& right)
        : nodes_(nodes), builder_(schema(left, right), "QueryPlan::from_nodes"), state_(nodes.size()) {}

    std::unique_ptr<QueryPlan::State> plan() {
        visit(only(NodeKind::Result, "one"));
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (state_[i].visit == Visit::None) fail(i, "does not lead to the result");
        }
        return std::move(builder_).state();
    }

  private:
    static constexpr std::size_t deepest = 1000;  // recursive walks have enough stack for this
    enum class Visit { None, Open, Done };
    struct NodeState {
        Visit visit = Visit::None;
        std::size_t height = 0;  // levels of nodes below it
        Flow flow = Flow::End;
        std::array<std::optional<std::size_t>, 2> built{};  // index in the builder; for rows, [1] is the negation
    };

    [[nodiscard]] std::string where(std::size_t i) const {
        return "QueryPlan::from_nodes: node " + std::to_string(i) + " (" + kind_name(nodes_[i].kind) + ")";
    }
    [[noreturn]] void fail(std::size_t i, const std::string& why) const {
        throw InvalidArgument(where(i) + ": " + why);
    }

    // The node of a kind that occurs at most once.
    [[nodiscard]] std::optional<std::size_t> find(NodeKind kind) const {
        std::optional<std::size_t> found;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (nodes_[i].kind != kind) continue;
            if (found) fail(i, "node " + std::to_string(*found) + " is one already, and a graph has at most one");
            found = i;
        }
        return found;
    }
    [[nodiscard]] std::size_t only(NodeKind kind, const char* number) const {
        if (const auto found = find(kind)) return *found;
        throw InvalidArgument(std::string("QueryPlan::from_nodes: there must be ") + number + " node of kind " +
                              kind_name(kind));
    }

    [[nodiscard]] Schema schema(const std::vector<ColumnInfo>& left, const std::vector<ColumnInfo>& right) const {
        for (std::size_t i = 0; i < nodes_.size(); ++i) check_shape(i);
        const auto join = find(NodeKind::Join);
        if (!join && !right.empty())
            throw InvalidArgument("QueryPlan::from_nodes: columns of two tables, but no node of kind Join");
        return join ? Schema(left, right, *nodes_[*join].join) : Schema(left);
    }

    void check_shape(std::size_t i) const {
        const auto& node = nodes_[i];
        const auto n = node.inputs.size();
        const auto needs = [&](bool right, const char* what) {
            if (!right) fail(i, std::string("must have ") + what + ", and has " + std::to_string(n));
        };
        const bool predicate = node.kind == NodeKind::Rows || node.kind == NodeKind::Filter;
        if (predicate && !node.predicate) fail(i, "has no predicate");
        if (node.table > 1) fail(i, "there is no table " + std::to_string(node.table));
        if (node.kind == NodeKind::Join && !node.join) fail(i, "has no join");
        if (node.kind == NodeKind::Column && node.columns.size() != 1) fail(i, "must name one column");
        if (node.kind == NodeKind::Rows) {
            needs(n == 0, "no input");
        } else if (node.kind == NodeKind::And || node.kind == NodeKind::Or) {
            needs(n >= 2, "two inputs or more");
        } else if (node.kind == NodeKind::Join) {
            needs(n == 2, "two inputs");
        } else {
            needs(node.kind == NodeKind::Result ? n >= 1 : n == 1,
                  node.kind == NodeKind::Result ? "an input" : "one input");
        }
        for (const auto input : node.inputs) {
            if (input >= nodes_.size()) fail(i, "its input " + std::to_string(input) + " is not a node");
        }
    }

    // Sets the node's flow and builds it. Rows are built later, when it is known whether they are negated.
    void visit(std::size_t i, std::size_t above = 0) {
        auto& state = state_[i];
        if (state.visit == Visit::Open) fail(i, "leads back to itself (a cycle)");
        if (state.visit == Visit::Done) return;
        const auto check_depth = [&](std::size_t levels) {
            if (levels < deepest) return;
            fail(i,
                 "the graph is more than " + std::to_string(deepest) + " nodes deep here; And and Or take many inputs");
        };
        check_depth(above);
        state.visit = Visit::Open;
        for (const auto input : nodes_[i].inputs) {
            visit(input, above + 1);
            state.height = std::max(state.height, state_[input].height + 1);
        }
        check_depth(state.height);
        state.flow = flow_of(i);
        if (state.flow == Flow::LeftRows || state.flow == Flow::RightRows) {
            rows(i, false);  // to report errors
        } else {
            builder_.at(where(i));
            build(i);
        }
        state.visit = Visit::Done;
    }

    void accept(std::size_t i, std::size_t input, std::initializer_list<Flow> flows) const {
        const auto flow = state_[input].flow;
        if (std::find(flows.begin(), flows.end(), flow) != flows.end()) return;
        fail(i, "its input " + std::to_string(input) + " (" + kind_name(nodes_[input].kind) + ") gives " + words(flow) +
                    ", which it cannot take");
    }

    [[nodiscard]] Flow flow_of(std::size_t i) const {
        const auto& node = nodes_[i];
        const auto all = [&](std::initializer_list<Flow> flows) {
            for (const auto input : node.inputs) accept(i, input, flows);
        };
        switch (node.kind) {
            case NodeKind::Rows:
                if (node.table == 1 && !builder_.schema().joined()) fail(i, "there is no table 1 without a Join");
                return node.table == 0 ? Flow::LeftRows : Flow::RightRows;
            case NodeKind::And:
            case NodeKind::Or:
            case NodeKind::Not:
                all({Flow::LeftRows, Flow::RightRows});
                all({state_[node.inputs.front()].flow});
                return state_[node.inputs.front()].flow;
            case NodeKind::Join:
                accept(i, node.inputs[0], {Flow::LeftRows});
                accept(i, node.inputs[1], {Flow::RightRows});
                return Flow::Pairs;
            case NodeKind::Filter:
                all({Flow::Pairs});
                return Flow::Pairs;
            case NodeKind::Result:
                all({Flow::Output});
                return Flow::End;
            default:
                break;
        }
        // In a plan with a join, column names are those of pairs.
        const auto rows = builder_.schema().joined() ? Flow::Pairs : Flow::LeftRows;
        if (node.kind == NodeKind::Group) {
            all({rows});
            return Flow::Groups;
        }
        all({rows, Flow::Groups});
        return Flow::Output;
    }

    std::size_t rows(std::size_t i, bool negate) {
        auto& built = state_[i].built.at(negate ? 1 : 0);
        if (built) return *built;
        const auto& node = nodes_[i];
        if (node.kind == NodeKind::Rows) {
            builder_.at(where(i));
            built = builder_.rows(*node.predicate, negate, node.table);
        } else if (node.kind == NodeKind::Not) {
            built = rows(node.inputs.front(), !negate);
        } else {
            std::vector<std::size_t> inputs;
            for (const auto input : node.inputs) inputs.push_back(rows(input, negate));
            built = builder_.junction((node.kind == NodeKind::And) != negate ? NodeKind::And : NodeKind::Or,
                                      std::move(inputs));
        }
        return *built;
    }

    [[nodiscard]] std::size_t built(std::size_t i) const { return state_[i].built[0].value(); }

    void build(std::size_t i) {
        const auto& node = nodes_[i];
        const auto first = built(node.inputs.front());
        auto& built_as = state_[i].built[0];
        switch (node.kind) {
            case NodeKind::Join:
                built_as = builder_.join(first, built(node.inputs[1]), *node.join);
                break;
            case NodeKind::Filter:
                built_as = builder_.filter(first, *node.predicate);
                break;
            case NodeKind::Group:
                built_as = builder_.group(first, node.columns);
                break;
            case NodeKind::Column:
                built_as = builder_.column(first, node.columns.front());
                break;
            case NodeKind::Aggregate:
                built_as = builder_.aggregate(first, node.aggregate);
                break;
            default: {
                std::vector<std::size_t> outputs;
                for (const auto input : node.inputs) outputs.push_back(built(input));
                builder_.result(outputs, node.names, node.limit);
            }
        }
    }

    const std::vector<PlanNode>& nodes_;
    PlanBuilder builder_;
    std::vector<NodeState> state_;
};

std::string quoted_label(const std::string& text) {
    std::string out(1, '"');
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    out += '"';
    return out;
}

}  // namespace

}  // namespace detail::query

using namespace detail::query;  // NOLINT(google-build-using-namespace): this file is the front door of the room

QueryPlan::QueryPlan(const Query& query, const std::vector<ColumnInfo>& columns) {
    if (query.join) throw InvalidArgument("QueryPlan: a query with a join needs the columns of both tables");
    state_ = planned(query, Schema(columns));
}

QueryPlan::QueryPlan(const Query& query, const std::vector<ColumnInfo>& left, const std::vector<ColumnInfo>& right) {
    if (!query.join) throw InvalidArgument("QueryPlan: columns of two tables, but the query has no join");
    state_ = planned(query, Schema(left, right, *query.join));
}

QueryPlan::QueryPlan(std::unique_ptr<State> state) : state_(std::move(state)) {}
QueryPlan::QueryPlan(QueryPlan&&) noexcept = default;
QueryPlan& QueryPlan::operator=(QueryPlan&&) noexcept = default;
QueryPlan::~QueryPlan() = default;

QueryPlan QueryPlan::from_nodes(const std::vector<PlanNode>& nodes, const std::vector<ColumnInfo>& left,
                                const std::vector<ColumnInfo>& right) {
    return QueryPlan(Graph(nodes, left, right).plan());
}

std::string QueryPlan::text() const {
    std::string out;
    for (std::size_t i = 0; i < state_->nodes.size(); ++i) out += line(state_->nodes, i) + "\n";
    return out;
}

std::string QueryPlan::graphviz() const {
    std::string out = "digraph plan {\n    rankdir = BT;\n    node [shape = box];\n";
    for (std::size_t i = 0; i < state_->nodes.size(); ++i) {
        const auto& node = state_->nodes[i];
        const auto number = std::to_string(i);
        out += "    n" + number + " [label = " + quoted_label(describe(node)) + "];\n";
        for (const auto input : node.inputs) out += "    n" + std::to_string(input) + " -> n" + number + ";\n";
    }
    return out + "}\n";
}

}  // namespace quadmill
