#include "query/plan/builder.hpp"

#include <algorithm>

#include "quadmill/error.hpp"
#include "query/plan/bind.hpp"
#include "query/plan/describe.hpp"
#include "query/table/order.hpp"

namespace quadmill::detail::query {

namespace {

bool is_junction(const Expression& e) {
    return e.kind == Expression::Kind::And || e.kind == Expression::Kind::Or;
}

bool is_number(ColumnType type) {
    return type != ColumnType::Text;
}

}  // namespace

void split(const Term& term, std::vector<Term>& terms) {
    const auto& e = detail::Access::of(term.predicate);
    const bool is_and = is_junction(e) && (e.kind == Expression::Kind::And) != term.negate;
    if (e.kind != Expression::Kind::Not && !is_and) {
        terms.push_back(term);
        return;
    }
    const bool negate = term.negate != (e.kind == Expression::Kind::Not);
    for (const auto& operand : e.operands) split({detail::Access::make<Predicate>(operand), negate}, terms);
}

std::size_t PlanBuilder::rows(const Predicate& predicate, bool negate, std::size_t table) {
    const auto bare =
        renamed(predicate, [&](const std::string& name) { return schema_[schema_.find_in(table, where_, name)].name; });
    check(where_.c_str(), detail::Access::of(bare), schema_.columns(table));
    return bare_rows(bare, negate, table);
}

std::size_t PlanBuilder::junction(NodeKind kind, std::vector<std::size_t> inputs) {
    sort_unique(inputs);
    if (inputs.size() == 1) return inputs.front();
    return share({.kind = kind, .inputs = std::move(inputs)});
}

std::size_t PlanBuilder::join(std::size_t left, std::size_t right, Join join) {
    const auto& a = schema_[schema_.find_in(0, where_, join.left)];
    const auto& b = schema_[schema_.find_in(1, where_, join.right)];
    join.left = a.name;
    join.right = b.name;
    if (join.left_name == join.right_name)
        fail("the tables of a join must have two names, not both '" + join.left_name + "'");
    if (is_number(a.type) != is_number(b.type))
        fail("columns '" + a.name + "' and '" + b.name + "' cannot be joined: one has text, the other numbers");
    if (!(join.band >= 0)) fail("a join's band must be at least 0, not " + describe(Value(join.band)));
    if (join.band > 0 && !is_number(a.type)) fail("a join of text must have band 0, not " + describe(Value(join.band)));
    return share({.kind = NodeKind::Join, .inputs = {left, right}, .join = std::move(join)});
}

std::size_t PlanBuilder::filter(std::size_t pairs, const Predicate& predicate) {
    auto named = renamed(predicate, [&](const std::string& name) { return canonical(name); });
    check(where_.c_str(), detail::Access::of(named), schema_.pair_columns());
    if (nodes_[pairs].kind == NodeKind::Filter) {
        named = *nodes_[pairs].predicate && named;
        pairs = nodes_[pairs].inputs.front();
    }
    return share({.kind = NodeKind::Filter, .inputs = {pairs}, .predicate = std::move(named)});
}

std::size_t PlanBuilder::group(std::size_t input, const std::vector<std::string>& by) {
    if (by.empty()) fail("a group must have at least one column");
    std::vector<std::string> names;
    for (const auto& name : by) {
        auto known = canonical(name);
        if (std::find(names.begin(), names.end(), known) == names.end()) names.push_back(std::move(known));
    }
    return share({.kind = NodeKind::Group, .inputs = {input}, .columns = std::move(names)});
}

std::size_t PlanBuilder::column(std::size_t input, const std::string& name) {
    auto known = canonical(name);
    if (nodes_[input].kind == NodeKind::Group) {
        const auto& by = nodes_[input].columns;
        if (std::find(by.begin(), by.end(), known) == by.end())
            fail("column '" + name + "' is not in group_by, so a group does not have a single value of it");
    }
    return share({.kind = NodeKind::Column, .inputs = {input}, .columns = {std::move(known)}});
}

std::size_t PlanBuilder::aggregate(std::size_t input, QueryAggregate what) {
    using Which = QueryAggregate::Kind;
    if (what.kind == Which::CountRows) {
        what.column.clear();
        return share({.kind = NodeKind::Aggregate, .inputs = {input}, .aggregate = std::move(what)});
    }
    const auto place = schema_.find(where_, what.column);
    if (!is_number(schema_[place].type) && (what.kind == Which::Sum || what.kind == Which::Average))
        fail("column '" + what.column + "' has text, which cannot be summed");
    if (what.kind == Which::Quantile && !(what.phi >= 0 && what.phi <= 1))
        fail("phi must be from 0 to 1, not " + describe(Value(what.phi)));
    if ((what.kind == Which::KthLargest || what.kind == Which::KthSmallest) && what.k == 0)
        fail("k must be at least 1, not 0");
    what.column = schema_.name(place);
    return share({.kind = NodeKind::Aggregate, .inputs = {input}, .aggregate = std::move(what)});
}

void PlanBuilder::result(const std::vector<std::size_t>& outputs, std::vector<std::string> names,
                         std::optional<std::uint64_t> limit) {
    if (outputs.empty()) fail("there must be at least one output");
    if (names.size() != outputs.size())
        fail(std::to_string(outputs.size()) + " outputs must have the same number of names, not " +
             std::to_string(names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto& node = nodes_[outputs[i]];
        if (names[i].empty()) names[i] = node.kind == NodeKind::Column ? node.columns.front() : describe(node);
    }
    check_sources(outputs);
    nodes_.push_back(
        {.kind = NodeKind::Result, .inputs = outputs, .names = std::move(names), .limit = std::move(limit)});
}

void PlanBuilder::fail(const std::string& why) const {
    throw InvalidArgument(where_ + ": " + why);
}

std::string PlanBuilder::canonical(const std::string& name) const {
    return schema_.name(schema_.find(where_, name));
}

std::size_t PlanBuilder::bare_rows(const Predicate& predicate, bool negate, std::size_t table) {
    const auto& e = detail::Access::of(predicate);
    if (e.kind == Expression::Kind::Not)
        return bare_rows(detail::Access::make<Predicate>(e.operands.at(0)), !negate, table);
    if (e.kind == Expression::Kind::Always && negate) return bare_rows(Predicate::always(!e.always), false, table);
    if (!is_junction(e) || e.operands.empty()) {
        return share({.kind = NodeKind::Rows, .predicate = Term{predicate, negate}.whole(), .table = table});
    }
    std::vector<std::size_t> inputs;
    for (const auto& operand : e.operands)
        inputs.push_back(bare_rows(detail::Access::make<Predicate>(operand), negate, table));
    return junction((e.kind == Expression::Kind::And) != negate ? NodeKind::And : NodeKind::Or, std::move(inputs));
}

void PlanBuilder::check_sources(const std::vector<std::size_t>& outputs) const {
    const auto of = [&](std::size_t output) { return nodes_[output].inputs.front(); };
    bool column = false, aggregate = false, group = false, pairs = false, one = true;
    for (const auto output : outputs) {
        const auto kind = nodes_[of(output)].kind;
        (nodes_[output].kind == NodeKind::Column ? column : aggregate) = true;
        group = group || kind == NodeKind::Group;
        pairs = pairs || kind == NodeKind::Join || kind == NodeKind::Filter;
        one = one && of(output) == of(outputs.front());
    }
    if (column && aggregate && !group) fail("a column next to an aggregate must be in group_by");
    if (!one && (column || group || pairs))
        fail("all outputs must be of the same rows, pairs or groups (aggregates of one table's rows need not)");
}

std::size_t PlanBuilder::share(PlanNode node) {
    auto words = describe(node);
    for (const auto input : node.inputs) words.append(1, ' ').append(std::to_string(input));
    const auto [at, fresh] = known_.emplace(std::move(words), nodes_.size());
    if (fresh) nodes_.push_back(std::move(node));
    return at->second;
}

std::unique_ptr<QueryPlan::State> PlanBuilder::state() && {
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

}  // namespace quadmill::detail::query
