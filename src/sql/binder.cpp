#include "sql/binder.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "query/plan/describe.hpp"
#include "query/plan/expression.hpp"
#include "sql/lexer.hpp"

namespace quadmill::detail::sql {

namespace {

using Op = query::Arithmetic;

// The first few of them, for a message.
std::string list_of(const std::vector<std::string>& names) {
    constexpr std::size_t max = 20;
    std::string list;
    for (std::size_t i = 0; i < std::min(max, names.size()); ++i) list += (i > 0 ? ", " : "") + names[i];
    return list + (names.size() > max ? " and " + std::to_string(names.size() - max) + " more" : "");
}

class Binder {
  public:
    Binder(SqlQuery query, std::span<const ColumnNames> tables) : out_(std::move(query)), tables_(tables) {}

    SqlQuery run() {
        const auto written = out_.columns.size();
        for (std::size_t i = 0; i < written; ++i) column(i);
        join();
        positions(out_.group_by, "GROUP BY");
        positions(out_.order_by, "ORDER BY");
        name_outputs();
        stars();
        aliases();
        rename();
        if (out_.distinct && !out_.groups()) {
            out_.distinct = false;
            of_distinct_ = true;
            for (const auto& output : out_.outputs)
                out_.group_by.push_back({.steps = output.steps, .offset = output.offset});
        }
        compute_parts();
        if (out_.groups()) group();
        return std::move(out_);
    }

  private:
    [[noreturn]] void fail(const std::string& what, std::size_t offset) const {
        throw SqlError(what, out_.text, offset);
    }

    // Names of columns
    void column(std::size_t index);
    void find(const SqlReference& written, SqlColumn& found);
    [[noreturn]] void refuse_unknown(const SqlReference& written);
    [[nodiscard]] std::size_t source_of(const SqlReference& written);
    [[nodiscard]] bool is_known(const std::string& name) const;
    [[nodiscard]] std::string name_in_query(const SqlColumn& column) const;
    void take_alias(SqlColumn& column, const SqlOutput& output);
    // The column that is the whole expression.
    [[nodiscard]] auto mention_of(const SqlSteps& steps) {
        return is_leaf(steps) ? std::ranges::find(out_.columns, steps[0].leaf, &SqlColumn::leaf) : out_.columns.end();
    }

    void join();
    void positions(std::vector<SqlOrder>& by, const char* clause);
    void name_outputs();
    void stars();
    void star(const SqlOutput& from, std::vector<SqlOutput>& to);
    void aliases();
    void rename();
    [[nodiscard]] std::string unique(std::string name);
    void compute_parts();
    [[nodiscard]] std::string computed(const SqlSteps& steps);
    void group();
    void check_grouped(const std::string& leaf, std::size_t offset) const;

    // Calls `work` for the steps of each expression.
    template <class Work>
    void each_expression(const Work& work) {
        for (auto& one : out_.outputs) work(one.steps);
        for (auto& one : out_.aggregates) work(one.argument);
        for (auto& one : out_.computed) work(one.steps);
        for (auto& one : out_.group_by) work(one.steps);
        for (auto& one : out_.order_by) work(one.steps);
    }

    SqlQuery out_;
    std::span<const ColumnNames> tables_;
    std::unordered_map<std::string, SqlSteps> aliases_;  // by leaf
    std::unordered_set<std::string> taken_;
    bool of_distinct_ = false;  // whether the groups are those of DISTINCT
};

// ---- Names of columns

bool Binder::is_known(const std::string& name) const {
    return std::ranges::any_of(tables_, [&](const ColumnNames& table) {
        return std::ranges::any_of(table.written, [&](const auto& column) { return same_but_for_case(column, name); });
    });
}

void Binder::take_alias(SqlColumn& column, const SqlOutput& output) {
    const auto of = mention_of(output.steps);
    aliases_[column.leaf] = output.steps;
    if (of != out_.columns.end()) {
        column.written = of->written;
        find(column.written, column);
        column.leaf = of->leaf;
    } else if (column.use == SqlUse::WithText || column.use == SqlUse::Pattern) {
        fail("text can only be compared with a column of text", column.written.offset);
    }
}

void Binder::column(std::size_t index) {
    auto& column = out_.columns[index];
    const auto& written = column.written;
    if (column.alias != SqlColumn::Alias::No && written.qualifier.empty()) {
        const auto named = [&](const SqlOutput& output) { return same_but_for_case(output.name, written.name); };
        const auto output = std::ranges::find_if(out_.outputs, named);
        const bool first = column.alias == SqlColumn::Alias::First || !is_known(written.name);
        if (output != out_.outputs.end() && first) return take_alias(column, *output);
    }
    find(written, column);
}

std::size_t Binder::source_of(const SqlReference& written) {
    const auto& sources = out_.sources;
    auto found = std::ranges::find(sources, written.qualifier, &SqlSource::name);
    const auto same = [&](const SqlSource& source) { return same_but_for_case(source.name, written.qualifier); };
    if (found == sources.end() && std::ranges::count_if(sources, same) == 1)
        found = std::ranges::find_if(sources, same);
    if (found != sources.end()) return static_cast<std::size_t>(found - sources.begin());
    std::string all = sources[0].name;
    if (sources.size() > 1) all += " and " + sources[1].name;
    fail("there is no table " + written.qualifier + " in this query, only " + all, written.offset);
}

std::string Binder::name_in_query(const SqlColumn& column) const {
    return column.source && out_.sources.size() > 1 ? out_.sources[*column.source].name + "." + column.name
                                                    : column.name;
}

// Finds the column. A name with the same case goes before one with another case.
void Binder::find(const SqlReference& written, SqlColumn& found) {
    found.name = written.name;
    if (!written.qualifier.empty()) found.source = source_of(written);
    if (tables_.empty()) return;
    if (!found.source && out_.join && out_.join->used && same_but_for_case(*out_.join->used, written.name))
        found.source = 0;
    struct Match {
        std::size_t source, index;
    };
    std::vector<Match> exact, all;
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        const auto& names = tables_[i].written;
        for (std::size_t k = 0; k < names.size(); ++k) {
            if (found.source.value_or(i) != i || !same_but_for_case(names[k], written.name)) continue;
            all.push_back({i, k});
            if (names[k] == written.name) exact.push_back({i, k});
        }
    }
    const auto& matches = exact.empty() ? all : exact;
    if (matches.empty()) refuse_unknown(written);
    const auto words = [&](const Match& match) {
        const auto& [source, index] = match;
        return out_.sources[source].name + "." + tables_[source].written[index] + " (column " +
               std::to_string(index + 1) + ")";
    };
    if (matches.size() > 1)
        fail(written.name + " may be " + words(matches[0]) + " or " + words(matches[1]) +
                 (matches[0].source == matches[1].source ? "; give one another name in the first line" : "; say which"),
             written.offset);
    found.source = matches[0].source;
    found.name = tables_[*found.source].unique[matches[0].index];
}

void Binder::refuse_unknown(const SqlReference& written) {
    std::string there;
    const auto& first = tables_[0].written;
    const bool is_one_field = first.size() == 1 && first[0].find_first_of(",;\t|") != std::string::npos;
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        if (!written.qualifier.empty() && source_of(written) != i) continue;
        there += (there.empty() ? "" : "; ") + out_.sources[i].name + " has " + list_of(tables_[i].written);
    }
    fail("there is no column " + written.name + ": " + there +
             (written.in_double_quotes ? ". A text is written in single quotes: '" + written.name + "'" : "") +
             query::hint_for(tables_[0].written, is_one_field),
         written.offset);
}

// ---- Clauses

void Binder::join() {
    if (!out_.join) return;
    auto& [left, right, band, outer, used] = *out_.join;
    if (out_.columns[left].source == out_.columns[right].source)
        fail("a join compares columns of two tables", out_.columns[right].written.offset);
    if (out_.columns[left].source == 1U) std::swap(left, right);
}

void Binder::positions(std::vector<SqlOrder>& by, const char* clause) {
    for (auto& one : by) {
        if (one.steps.size() != 1 || one.steps[0].op != Op::Constant) continue;
        const auto position = query::nearest_double(one.steps[0].constant);
        if (!(position >= 1 && position <= static_cast<double>(out_.outputs.size())) ||
            position != static_cast<double>(static_cast<std::size_t>(position)))
            fail(std::string("a number after ") + clause + " is the position of an output, from 1 to " +
                     std::to_string(out_.outputs.size()),
                 one.offset);
        one.steps = out_.outputs[static_cast<std::size_t>(position) - 1].steps;
        if (one.steps.empty()) fail("a position cannot refer to *; name a column", one.offset);
    }
}

void Binder::name_outputs() {
    for (auto& output : out_.outputs) {
        if (!output.name.empty() || output.steps.empty()) continue;
        const auto of = mention_of(output.steps);
        output.name = out_.text.substr(output.offset, output.end - output.offset);
        if (of == out_.columns.end() || !output.steps[0].leaf.starts_with('c')) continue;
        const auto name =
            tables_.empty()
                ? of->name
                : tables_[*of->source].written[static_cast<std::size_t>(
                      std::ranges::find(tables_[*of->source].unique, of->name) - tables_[*of->source].unique.begin())];
        output.name = of->written.qualifier.empty() ? name : out_.sources[*of->source].name + "." + name;
    }
}

void Binder::stars() {
    std::vector<SqlOutput> all;
    for (auto& output : out_.outputs) {
        if (!output.steps.empty() || tables_.empty()) {
            all.push_back(std::move(output));
        } else {
            star(output, all);
        }
    }
    out_.outputs = std::move(all);
}

// All columns. In a join, names that both tables have get the table's name.
void Binder::star(const SqlOutput& from, std::vector<SqlOutput>& to) {
    const auto only = from.qualifier.empty() ? std::optional<std::size_t>()
                                             : source_of({.qualifier = from.qualifier, .offset = from.offset});
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        if (only.value_or(i) != i) continue;
        const auto& [written, unique] = tables_[i];
        std::unordered_set<std::string_view> others;
        if (tables_.size() > 1 && !only) others.insert(tables_[1 - i].written.begin(), tables_[1 - i].written.end());
        for (std::size_t k = 0; k < written.size(); ++k) {
            const bool used = out_.join && out_.join->used && !only &&
                              unique[k] == out_.columns[i == 0 ? out_.join->left : out_.join->right].name;
            if (used && i == 1) continue;
            const auto leaf = leaf_name('c', out_.columns.size());
            out_.columns.push_back(
                {.written = {.name = written[k], .offset = from.offset}, .leaf = leaf, .name = unique[k], .source = i});
            const bool both = others.contains(written[k]) && !used;
            to.push_back({.steps = {{.leaf = leaf}},
                          .name = both ? out_.sources[i].name + "." + written[k] : written[k],
                          .offset = from.offset});
        }
    }
}

// Replaces names of outputs by their expressions.
void Binder::aliases() {
    if (aliases_.empty()) return;
    const auto replace = [&](SqlSteps& steps) {
        SqlSteps all;
        for (auto& step : steps) {
            const auto found = step.op == Op::Leaf ? aliases_.find(step.leaf) : aliases_.end();
            if (found == aliases_.end()) {
                all.push_back(std::move(step));
            } else {
                all.insert(all.end(), found->second.begin(), found->second.end());
            }
        }
        steps = std::move(all);
    };
    each_expression(replace);
    const auto named = [&](const std::string& leaf) {
        const auto found = aliases_.find(leaf);
        if (found == aliases_.end()) return leaf;
        if (is_leaf(found->second)) return found->second[0].leaf;
        out_.computed.push_back(
            {.steps = found->second, .of_groups = true, .leaf = leaf_name('x', out_.computed.size())});
        return out_.computed.back().leaf;
    };
    if (out_.having) out_.having = query::renamed(*out_.having, named);
}

// A name that no column and no other leaf has.
std::string Binder::unique(std::string name) {
    while (!taken_.insert(name).second) name += "'";
    return name;
}

std::string with_column(const char* name, const SqlSteps& argument) {
    return std::string(name) + "(" + (argument.empty() ? "*" : text_of(argument)) + ")";
}

// Gives all leaves names that tables and plans show.
void Binder::rename() {
    std::unordered_map<std::string, std::string> names;
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        for (const auto& name : tables_[i].unique) taken_.insert(name_in_query({.name = name, .source = i}));
    }
    for (const auto& column : out_.columns) {
        if (column.leaf.starts_with('c')) names[column.leaf] = name_in_query(column);
    }
    const auto take = [&](SqlSteps& steps) {
        for (auto& step : steps) {
            if (const auto found = names.find(step.leaf); step.op == Op::Leaf && found != names.end())
                step.leaf = found->second;
        }
    };
    for (auto& one : out_.aggregates) take(one.argument);
    std::vector<SqlAggregate> kept;
    for (auto& one : out_.aggregates) {
        const auto same = [&](const SqlAggregate& other) {
            return other.form == one.form && other.population == one.population && other.root == one.root &&
                   other.what.kind == one.what.kind && other.what.phi == one.what.phi && other.what.k == one.what.k &&
                   other.argument == one.argument;
        };
        auto known = std::ranges::find_if(kept, same);
        const auto leaf = one.leaf;
        if (known == kept.end()) {
            constexpr std::array words{"COUNT", "COUNT",    "SUM",         "AVG",         "MIN",
                                       "MAX",   "QUANTILE", "KTH_LARGEST", "KTH_SMALLEST"};
            const char* word = one.form == SqlAggregate::Form::Variance ? (one.root ? "STDDEV" : "VARIANCE")
                               : one.form == SqlAggregate::Form::Distinct
                                   ? "COUNT DISTINCT"
                                   : words.at(static_cast<std::size_t>(one.what.kind));
            one.leaf = unique(with_column(word, one.argument));
            known = kept.insert(kept.end(), std::move(one));
        }
        names[leaf] = known->leaf;
    }
    out_.aggregates = std::move(kept);
    for (auto& one : out_.computed) {
        take(one.steps);
        names[one.leaf] = unique(text_of(one.steps) + (one.pattern ? " LIKE" : ""));
        one.leaf = names[one.leaf];
    }
    for (auto& one : out_.outputs) take(one.steps);
    for (auto& one : out_.group_by) take(one.steps);
    for (auto& one : out_.order_by) take(one.steps);
    const auto named = [&](const std::string& leaf) {
        const auto found = names.find(leaf);
        return found == names.end() ? leaf : found->second;
    };
    for (auto* condition : {&out_.where, &out_.having}) {
        if (*condition) *condition = query::renamed(**condition, named);
    }
    for (auto& column : out_.columns) column.leaf = named(column.leaf);
}

// ---- Groups

// The name of a computed column with these steps.
std::string Binder::computed(const SqlSteps& steps) {
    const auto same = [&](const SqlComputed& one) { return !one.pattern && !one.of_groups && one.steps == steps; };
    if (const auto known = std::ranges::find_if(out_.computed, same); known != out_.computed.end()) return known->leaf;
    out_.computed.push_back({.steps = steps, .leaf = unique(text_of(steps))});
    return out_.computed.back().leaf;
}

// Makes expressions in GROUP BY and in aggregates computed columns of the rows.
void Binder::compute_parts() {
    for (auto& one : out_.aggregates) {
        if (one.argument.size() > 1) one.argument = {{.leaf = computed(one.argument)}};
    }
}

void Binder::check_grouped(const std::string& leaf, std::size_t offset) const {
    const auto is_key = [&](const SqlOrder& key) { return key.steps[0].leaf == leaf; };
    if (std::ranges::any_of(out_.group_by, is_key)) return;
    if (std::ranges::find(out_.aggregates, leaf, &SqlAggregate::leaf) != out_.aggregates.end()) return;
    if (of_distinct_) fail("with DISTINCT, ORDER BY takes outputs only", offset);
    fail("a column next to an aggregate must be in GROUP BY: GROUP BY " + leaf, offset);
}

void Binder::group() {
    for (const auto& key : out_.group_by) {
        for (const auto& step : key.steps) {
            const auto of = std::ranges::find(out_.aggregates, step.leaf, &SqlAggregate::leaf);
            if (step.op == Op::Leaf && of != out_.aggregates.end())
                fail(step.leaf + " is an aggregate of a group, and not a column to group by", key.offset);
        }
    }
    if (tables_.empty()) return;
    std::vector<SqlSteps> keys;
    for (auto& key : out_.group_by) {
        keys.push_back(key.steps);
        if (!is_leaf(key.steps)) key.steps = {{.leaf = computed(key.steps)}};
    }
    // The longest key first, because a key may be a part of another.
    std::vector<std::size_t> longest(keys.size());
    std::iota(longest.begin(), longest.end(), std::size_t{0});
    std::ranges::stable_sort(longest, std::greater(), [&](std::size_t k) { return keys[k].size(); });
    // Steps of one expression inside another stand together.
    const auto take_keys = [&](SqlSteps& steps) {
        for (const auto k : longest) {
            if (keys[k].size() < 2) continue;
            const auto& key = keys[k];
            const auto find = [&] { return std::search(steps.begin(), steps.end(), key.begin(), key.end()); };
            for (auto at = find(); at != steps.end(); at = find()) {
                at = steps.erase(at, at + static_cast<std::ptrdiff_t>(key.size()));
                steps.insert(at, out_.group_by[k].steps[0]);
            }
        }
    };
    const auto check = [&](SqlSteps& steps, std::size_t offset) {
        take_keys(steps);
        for (const auto& step : steps) {
            if (step.op == Op::Leaf) check_grouped(step.leaf, offset);
        }
    };
    for (auto& one : out_.outputs) check(one.steps, one.offset);
    for (auto& one : out_.order_by) check(one.steps, one.offset);
    if (!out_.having) return;
    for (const auto& name : query::columns_of(detail::Access::of(*out_.having))) {
        const auto of = std::ranges::find(out_.computed, name, &SqlComputed::leaf);
        const auto mention = std::ranges::find(out_.columns, name, &SqlColumn::leaf);
        if (of != out_.computed.end()) {
            check(of->steps, out_.outputs[0].offset);
        } else {
            check_grouped(name, mention == out_.columns.end() ? 0 : mention->written.offset);
        }
    }
}

}  // namespace

SqlQuery bind(SqlQuery query, std::span<const ColumnNames> tables) {
    return Binder(std::move(query), tables).run();
}

std::vector<std::size_t> columns_read(const SqlQuery& query, std::size_t source, const ColumnNames& names) {
    std::unordered_map<std::string_view, std::size_t> positions;
    for (const auto& name : names.unique) positions.emplace(name, positions.size());
    std::set<std::size_t> columns;
    for (const auto& column : query.columns) {
        if (column.source == source) columns.insert(positions.at(column.name));
    }
    if (columns.empty()) columns.insert(0);  // COUNT(*) needs the number of rows
    return {columns.begin(), columns.end()};
}

std::set<std::size_t> columns_printed(const SqlQuery& query, std::size_t source, const ColumnNames& names) {
    std::set<std::size_t> columns;
    if (query.groups() || query.distinct) return columns;
    std::unordered_set<std::string> used;
    const auto take = [&](const SqlSteps& steps) {
        for (const auto& step : steps) used.insert(step.leaf);
    };
    for (const auto& one : query.computed) {
        if (!one.pattern) take(one.steps);  // LIKE looks at texts one by one
    }
    for (const auto& one : query.order_by) take(one.steps);
    for (const auto& one : query.outputs) {
        if (!is_leaf(one.steps)) take(one.steps);
    }
    if (query.where) {
        for (const auto& name : query::columns_of(detail::Access::of(*query.where))) used.insert(name);
    }
    if (query.join) {
        for (const auto side : {query.join->left, query.join->right}) used.insert(query.columns[side].leaf);
    }
    for (const auto& column : query.columns) {
        if (column.source == source && !used.contains(column.leaf))
            columns.insert(
                static_cast<std::size_t>(std::ranges::find(names.unique, column.name) - names.unique.begin()));
    }
    return columns;
}

std::string text_of(const SqlSteps& steps) {
    if (steps.empty()) return "*";
    return query::texts_of(steps, [](std::string_view name) { return std::string(name); })[0];
}

}  // namespace quadmill::detail::sql
