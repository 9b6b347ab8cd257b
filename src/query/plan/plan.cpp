#include "query/plan/plan.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "quadmill/error.hpp"
#include "query/plan/bind.hpp"
#include "query/plan/describe.hpp"

namespace quadmill {

namespace detail::query {

using Kind = PlanNode::Kind;

// ---- Names

Schema::Schema(std::vector<ColumnInfo> columns) : tables_{std::move(columns)} {
    find_places();
}

Schema::Schema(std::vector<ColumnInfo> left, std::vector<ColumnInfo> right, const Join& join)
    : joined_(true), tables_{std::move(left), std::move(right)}, names_{join.left_name, join.right_name} {
    find_places();
}

void Schema::find_places() {
    for (std::size_t table = 0; table < (joined_ ? 2U : 1U); ++table) {
        for (std::size_t i = 0; i < tables_.at(table).size(); ++i) {
            const Place place{table, i};
            places_[(*this)[place].name].push_back(place);
            if (joined_ && name(place) != (*this)[place].name) places_[name(place)].push_back(place);
        }
    }
    for (auto& [name, places] : places_) {
        std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
            return std::pair(a.table, a.column) < std::pair(b.table, b.column);
        });
    }
}

std::vector<Place> Schema::matches(const std::string& name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? std::vector<Place>() : found->second;
}

Place Schema::find(const std::string& where, const std::string& name) const {
    const auto found = matches(name);
    if (found.size() == 1) return found.front();
    if (found.empty()) throw InvalidArgument(where + ": there is no column '" + name + "'");
    throw InvalidArgument(where + ": '" + name + "' may be " + this->name(found[0]) + " or " + this->name(found[1]));
}

Place Schema::find_in(std::size_t table, const std::string& where, const std::string& name) const {
    for (const auto& place : matches(name)) {
        if (place.table == table) return place;
    }
    throw InvalidArgument(where + ": there is no column '" + name + "'" +
                          (joined_ ? " in table '" + names_[table] + "'" : ""));
}

std::string Schema::name(const Place& place) const {
    const auto& plain = (*this)[place].name;
    return joined_ ? names_[place.table] + "." + plain : plain;
}

std::vector<ColumnInfo> Schema::pair_columns() const {
    std::vector<ColumnInfo> all;
    for (std::size_t table = 0; table < 2; ++table) {
        for (const auto& info : tables_[table]) all.push_back({names_[table] + "." + info.name, info.type});
    }
    return all;
}

static std::shared_ptr<const Expression> with_names(const Expression& expression,
                                                    const std::function<std::string(const std::string&)>& name) {
    auto copy = std::make_shared<Expression>(expression);
    if (!copy->column.empty()) copy->column = name(copy->column);
    if (!copy->other.empty()) copy->other = name(copy->other);
    for (auto& term : copy->terms) term.column = name(term.column);
    for (auto& step : copy->steps) {
        if (step.kind == Arithmetic::Column) step.column = name(step.column);
    }
    for (auto& operand : copy->operands) operand = with_names(*operand, name);
    return copy;
}

Predicate renamed(const Predicate& predicate, const std::function<std::string(const std::string&)>& name) {
    return Predicate(with_names(predicate.expression(), name));
}

std::vector<std::string> columns_of(const Expression& expression) {
    std::vector<std::string> names;
    with_names(expression, [&](const std::string& name) {
        names.push_back(name);
        return name;
    });
    return names;
}

std::size_t source_of(const std::vector<PlanNode>& nodes, std::size_t output) {
    const auto input = nodes.at(output).inputs.at(0);
    return nodes[input].kind == Kind::Group ? nodes[input].inputs.at(0) : input;
}

std::string line(const std::vector<PlanNode>& nodes, std::size_t node) {
    std::string inputs;
    for (const auto input : nodes.at(node).inputs) inputs += (inputs.empty() ? " of " : ", ") + std::to_string(input);
    return std::to_string(node) + ": " + describe(nodes[node]) + inputs;
}

namespace {

// ---- Nodes, checked as they are added

// One factor of a condition that is a conjunction.
struct Term {
    Predicate predicate;
    bool negate;
    [[nodiscard]] Predicate whole() const { return negate ? !predicate : predicate; }
};

bool is_junction(const Expression& e) {
    return e.kind == Expression::Kind::And || e.kind == Expression::Kind::Or;
}

void split(const Term& term, std::vector<Term>& terms) {
    const auto& e = term.predicate.expression();
    const bool is_and = is_junction(e) && (e.kind == Expression::Kind::And) != term.negate;
    if (e.kind != Expression::Kind::Not && !is_and) {
        terms.push_back(term);
        return;
    }
    const bool negate = term.negate != (e.kind == Expression::Kind::Not);
    for (const auto& operand : e.operands) split({Predicate(operand), negate}, terms);
}

bool is_number(ColumnType type) {
    return type != ColumnType::Text;
}

class Builder {
  public:
    Builder(Schema schema, std::string where) : schema_(std::move(schema)), where_(std::move(where)) {}

    // What messages begin with from now on.
    void at(std::string where) { where_ = std::move(where); }

    std::size_t rows(const Predicate& predicate, bool negate, std::size_t table) {
        const auto bare = renamed(
            predicate, [&](const std::string& name) { return schema_[schema_.find_in(table, where_, name)].name; });
        check(where_.c_str(), bare.expression(), schema_.columns(table));
        return bare_rows(bare, negate, table);
    }

    std::size_t junction(Kind kind, std::vector<std::size_t> inputs) {
        std::sort(inputs.begin(), inputs.end());
        inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
        if (inputs.size() == 1) return inputs.front();
        return share({.kind = kind, .inputs = std::move(inputs)});
    }

    std::size_t join(std::size_t left, std::size_t right, Join join) {
        const auto& a = schema_[schema_.find_in(0, where_, join.left)];
        const auto& b = schema_[schema_.find_in(1, where_, join.right)];
        join.left = a.name;
        join.right = b.name;
        if (join.left_name == join.right_name)
            fail("the tables of a join must have two names, not both '" + join.left_name + "'");
        if (is_number(a.type) != is_number(b.type))
            fail("columns '" + a.name + "' and '" + b.name + "' cannot be joined: one is of text, one of numbers");
        if (!(join.band >= 0)) fail("a join's band must be at least 0, not " + std::to_string(join.band));
        if (join.band > 0 && !is_number(a.type))
            fail("a join of text must have band 0, not " + std::to_string(join.band));
        return share({.kind = Kind::Join, .inputs = {left, right}, .join = std::move(join)});
    }

    std::size_t filter(std::size_t pairs, const Predicate& predicate) {
        auto named = renamed(predicate, [&](const std::string& name) { return canonical(name); });
        check(where_.c_str(), named.expression(), schema_.pair_columns());
        if (nodes_[pairs].kind == Kind::Filter) {
            named = *nodes_[pairs].predicate && named;
            pairs = nodes_[pairs].inputs.front();
        }
        return share({.kind = Kind::Filter, .inputs = {pairs}, .predicate = std::move(named)});
    }

    std::size_t group(std::size_t input, const std::vector<std::string>& by) {
        if (by.empty()) fail("a group must have a column at least");
        std::vector<std::string> names;
        for (const auto& name : by) {
            auto known = canonical(name);
            if (std::find(names.begin(), names.end(), known) == names.end()) names.push_back(std::move(known));
        }
        return share({.kind = Kind::Group, .inputs = {input}, .columns = std::move(names)});
    }

    std::size_t column(std::size_t input, const std::string& name) {
        auto known = canonical(name);
        if (nodes_[input].kind == Kind::Group) {
            const auto& by = nodes_[input].columns;
            if (std::find(by.begin(), by.end(), known) == by.end())
                fail("column '" + name + "' is not one of those to group by, so a group has no one value of it");
        }
        return share({.kind = Kind::Column, .inputs = {input}, .columns = {std::move(known)}});
    }

    std::size_t aggregate(std::size_t input, QueryAggregate what) {
        using Which = QueryAggregate::Kind;
        if (what.kind == Which::CountRows) {
            what.column.clear();
            return share({.kind = Kind::Aggregate, .inputs = {input}, .aggregate = std::move(what)});
        }
        const auto place = schema_.find(where_, what.column);
        if (!is_number(schema_[place].type) && (what.kind == Which::Sum || what.kind == Which::Average))
            fail("column '" + what.column + "' is of text, which has no sum");
        if (what.kind == Which::Quantile && !(what.phi >= 0 && what.phi <= 1))
            fail("phi must be from 0 to 1, not " + std::to_string(what.phi));
        if ((what.kind == Which::KthLargest || what.kind == Which::KthSmallest) && what.k == 0)
            fail("k must be at least 1, not 0");
        what.column = schema_.name(place);
        return share({.kind = Kind::Aggregate, .inputs = {input}, .aggregate = std::move(what)});
    }

    // Takes the place of the nodes so far: those that lead to the result.
    void result(const std::vector<std::size_t>& outputs, std::vector<std::string> names,
                std::optional<std::uint64_t> limit) {
        if (outputs.empty()) fail("there must be an output at least");
        if (names.size() != outputs.size())
            fail(std::to_string(outputs.size()) + " outputs must have as many names, not " +
                 std::to_string(names.size()));
        for (std::size_t i = 0; i < names.size(); ++i) {
            const auto& node = nodes_[outputs[i]];
            if (names[i].empty()) names[i] = node.kind == Kind::Column ? node.columns.front() : describe(node);
        }
        check_sources(outputs);
        nodes_.push_back(
            {.kind = Kind::Result, .inputs = outputs, .names = std::move(names), .limit = std::move(limit)});
    }

    [[nodiscard]] const Schema& schema() const { return schema_; }
    [[nodiscard]] std::unique_ptr<QueryPlan::State> state() &&;

  private:
    [[noreturn]] void fail(const std::string& why) const { throw InvalidArgument(where_ + ": " + why); }

    [[nodiscard]] std::string canonical(const std::string& name) const {
        return schema_.name(schema_.find(where_, name));
    }

    // Pre: the names are right.
    std::size_t bare_rows(const Predicate& predicate, bool negate, std::size_t table) {
        const auto& e = predicate.expression();
        if (e.kind == Expression::Kind::Not) return bare_rows(Predicate(e.operands.at(0)), !negate, table);
        if (e.kind == Expression::Kind::Always && negate) return bare_rows(Predicate::always(!e.always), false, table);
        if (!is_junction(e) || e.operands.empty()) {
            return share({.kind = Kind::Rows, .predicate = Term{predicate, negate}.whole(), .table = table});
        }
        std::vector<std::size_t> inputs;
        for (const auto& operand : e.operands) inputs.push_back(bare_rows(Predicate(operand), negate, table));
        return junction((e.kind == Expression::Kind::And) != negate ? Kind::And : Kind::Or, std::move(inputs));
    }

    // Columns need one line of values each: all outputs are then of the same rows, pairs or groups.
    void check_sources(const std::vector<std::size_t>& outputs) const {
        const auto of = [&](std::size_t output) { return nodes_[output].inputs.front(); };
        bool column = false, aggregate = false, group = false, pairs = false, one = true;
        for (const auto output : outputs) {
            const auto kind = nodes_[of(output)].kind;
            (nodes_[output].kind == Kind::Column ? column : aggregate) = true;
            group = group || kind == Kind::Group;
            pairs = pairs || kind == Kind::Join || kind == Kind::Filter;
            one = one && of(output) == of(outputs.front());
        }
        if (column && aggregate && !group) fail("a column beside an aggregate must be one to group by");
        if (!one && (column || group || pairs))
            fail("all outputs must be of the same rows, pairs or groups (aggregates of one table's rows need not)");
    }

    // Words of equal nodes are equal, and those of others differ.
    std::size_t share(PlanNode node) {
        auto words = describe(node);
        for (const auto input : node.inputs) words.append(1, ' ').append(std::to_string(input));
        const auto [at, fresh] = known_.emplace(std::move(words), nodes_.size());
        if (fresh) nodes_.push_back(std::move(node));
        return at->second;
    }

    Schema schema_;
    std::string where_;
    std::vector<PlanNode> nodes_;
    std::unordered_map<std::string, std::size_t> known_;
};

std::unique_ptr<QueryPlan::State> Builder::state() && {
    std::vector<bool> needed(nodes_.size());
    needed.back() = true;
    for (std::size_t i = nodes_.size(); i-- > 0;) {
        for (const auto input : nodes_[i].inputs) needed[input] = needed[input] || needed[i];
    }
    std::vector<std::size_t> place(nodes_.size());
    std::vector<PlanNode> kept;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        place[i] = kept.size();
        if (!needed[i]) continue;
        for (auto& input : nodes_[i].inputs) input = place[input];
        kept.push_back(std::move(nodes_[i]));
    }
    return std::make_unique<QueryPlan::State>(QueryPlan::State{std::move(schema_), std::move(kept)});
}

// ---- From a query

// Of pairs. What concerns one table alone goes before the join.
std::size_t joined_source(Builder& builder, const Query& query) {
    std::vector<Term> terms;
    if (query.where) split({*query.where, false}, terms);
    std::array<std::optional<Predicate>, 2> of_table;
    std::optional<Predicate> of_pairs;
    for (const auto& term : terms) {
        std::array<bool, 2> named{};
        for (const auto& name : columns_of(term.predicate.expression()))
            named.at(builder.schema().find("QueryPlan", name).table) = true;
        auto& part = named[0] && named[1] ? of_pairs : of_table.at(named[1] ? 1 : 0);
        part = part ? *part && term.whole() : term.whole();
    }
    const auto rows = [&](std::size_t table) {
        return builder.rows(of_table.at(table).value_or(Predicate::always(true)), false, table);
    };
    const auto left = rows(0), right = rows(1);
    const auto pairs = builder.join(left, right, *query.join);
    return of_pairs ? builder.filter(pairs, *of_pairs) : pairs;
}

std::unique_ptr<QueryPlan::State> planned(const Query& query, Schema schema) {
    Builder builder(std::move(schema), "QueryPlan");
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

// ---- From a graph of the caller's

// What flows out of a node.
enum class Flow { LeftRows, RightRows, Pairs, Groups, Output, End };

const char* words(Flow flow) {
    constexpr std::array<const char*, 6> all{"rows of table 0", "rows of table 1", "pairs",
                                             "groups",          "an output",       "the result"};
    return all.at(static_cast<std::size_t>(flow));
}

class Graph {
  public:
    Graph(const std::vector<PlanNode>& nodes, const std::vector<ColumnInfo>& left, const std::vector<ColumnInfo>& right)
        : nodes_(nodes), builder_(schema(left, right), "QueryPlan::from_nodes"), state_(nodes.size()) {}

    std::unique_ptr<QueryPlan::State> plan() {
        visit(only(Kind::Result, "one"));
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (state_[i].visit == Visit::None) fail(i, "does not lead to the result");
        }
        return std::move(builder_).state();
    }

  private:
    enum class Visit { None, Open, Done };
    struct NodeState {
        Visit visit = Visit::None;
        Flow flow = Flow::End;
        std::array<std::optional<std::size_t>, 2> built{};  // the builder's node; for rows, [1] is the negation's
    };

    [[nodiscard]] std::string where(std::size_t i) const {
        return "QueryPlan::from_nodes: node " + std::to_string(i) + " (" + kind_name(nodes_[i].kind) + ")";
    }
    [[noreturn]] void fail(std::size_t i, const std::string& why) const {
        throw InvalidArgument(where(i) + ": " + why);
    }

    // The node of a kind of which there is one at most.
    [[nodiscard]] std::optional<std::size_t> find(Kind kind) const {
        std::optional<std::size_t> found;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (nodes_[i].kind != kind) continue;
            if (found) fail(i, "node " + std::to_string(*found) + " is one already, and a graph has one at most");
            found = i;
        }
        return found;
    }
    [[nodiscard]] std::size_t only(Kind kind, const char* number) const {
        if (const auto found = find(kind)) return *found;
        throw InvalidArgument(std::string("QueryPlan::from_nodes: there must be ") + number + " node of kind " +
                              kind_name(kind));
    }

    [[nodiscard]] Schema schema(const std::vector<ColumnInfo>& left, const std::vector<ColumnInfo>& right) const {
        for (std::size_t i = 0; i < nodes_.size(); ++i) check_shape(i);
        const auto join = find(Kind::Join);
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
        const bool predicate = node.kind == Kind::Rows || node.kind == Kind::Filter;
        if (predicate && !node.predicate) fail(i, "has no predicate");
        if (node.table > 1) fail(i, "there is no table " + std::to_string(node.table));
        if (node.kind == Kind::Join && !node.join) fail(i, "does not say what to join");
        if (node.kind == Kind::Column && node.columns.size() != 1) fail(i, "must name one column");
        if (node.kind == Kind::Rows) {
            needs(n == 0, "no input");
        } else if (node.kind == Kind::And || node.kind == Kind::Or) {
            needs(n >= 2, "two inputs or more");
        } else if (node.kind == Kind::Join) {
            needs(n == 2, "two inputs");
        } else {
            needs(node.kind == Kind::Result ? n >= 1 : n == 1, node.kind == Kind::Result ? "an input" : "one input");
        }
        for (const auto input : node.inputs) {
            if (input >= nodes_.size()) fail(i, "its input " + std::to_string(input) + " is no node");
        }
    }

    // Sets what flows out of it; and builds it, but for rows, which build when it is known how they are needed.
    void visit(std::size_t i) {
        auto& state = state_[i];
        if (state.visit == Visit::Open) fail(i, "leads back to itself (a cycle)");
        if (state.visit == Visit::Done) return;
        state.visit = Visit::Open;
        for (const auto input : nodes_[i].inputs) visit(input);
        state.flow = flow_of(i);
        if (state.flow == Flow::LeftRows || state.flow == Flow::RightRows) {
            rows(i, false);  // for its errors
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
            case Kind::Rows:
                if (node.table == 1 && !builder_.schema().joined()) fail(i, "there is no table 1 without a Join");
                return node.table == 0 ? Flow::LeftRows : Flow::RightRows;
            case Kind::And:
            case Kind::Or:
            case Kind::Not:
                all({Flow::LeftRows, Flow::RightRows});
                all({state_[node.inputs.front()].flow});
                return state_[node.inputs.front()].flow;
            case Kind::Join:
                accept(i, node.inputs[0], {Flow::LeftRows});
                accept(i, node.inputs[1], {Flow::RightRows});
                return Flow::Pairs;
            case Kind::Filter:
                all({Flow::Pairs});
                return Flow::Pairs;
            case Kind::Result:
                all({Flow::Output});
                return Flow::End;
            default:
                break;
        }
        // In a plan with a join, names of columns are those of pairs.
        const auto rows = builder_.schema().joined() ? Flow::Pairs : Flow::LeftRows;
        if (node.kind == Kind::Group) {
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
        if (node.kind == Kind::Rows) {
            builder_.at(where(i));
            built = builder_.rows(*node.predicate, negate, node.table);
        } else if (node.kind == Kind::Not) {
            built = rows(node.inputs.front(), !negate);
        } else {
            std::vector<std::size_t> inputs;
            for (const auto input : node.inputs) inputs.push_back(rows(input, negate));
            built = builder_.junction((node.kind == Kind::And) != negate ? Kind::And : Kind::Or, std::move(inputs));
        }
        return *built;
    }

    [[nodiscard]] std::size_t built(std::size_t i) const { return state_[i].built[0].value(); }

    void build(std::size_t i) {
        const auto& node = nodes_[i];
        const auto first = built(node.inputs.front());
        auto& built_as = state_[i].built[0];
        switch (node.kind) {
            case Kind::Join:
                built_as = builder_.join(first, built(node.inputs[1]), *node.join);
                break;
            case Kind::Filter:
                built_as = builder_.filter(first, *node.predicate);
                break;
            case Kind::Group:
                built_as = builder_.group(first, node.columns);
                break;
            case Kind::Column:
                built_as = builder_.column(first, node.columns.front());
                break;
            case Kind::Aggregate:
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
    Builder builder_;
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
