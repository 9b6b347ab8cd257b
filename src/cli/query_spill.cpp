#include "cli/query_spill.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "external/records.hpp"
#include "quadmill/error.hpp"
#include "quadmill/names.hpp"
#include "query/table/cells.hpp"
#include "sql/compute.hpp"
#include "sql/plans.hpp"
#include "sql/table_maker.hpp"

namespace quadmill::detail::cli {

namespace {

using external::SizedHeader;
using sql::SqlCell;

template <class Number>
void put_bytes(std::string& to, const Number& number) {
    to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <class Number>
Number take_bytes(const std::byte*& from) {
    Number number{};
    std::memcpy(&number, from, sizeof number);
    from += sizeof number;
    return number;
}

// Its bytes, and an end that comes before all bytes: 0 0, where a byte 0 of the text is 0 255.
void put_ordered_text(std::string& to, std::string_view text) {
    for (const char c : text) {
        to += c;
        if (c == '\0') to += '\xff';
    }
    to.append(2, '\0');
}

std::uint64_t key_of(const SqlCell& cell) {
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) return query::KeyOf<std::int64_t>::key(*integer);
    return std::min(query::KeyOf<double>::key(std::get<double>(cell)), query::first_nan<double>());
}

SqlCell cell_at(const std::byte*& from) {
    switch (take_bytes<std::uint8_t>(from)) {
        case 1:
            return take_bytes<std::int64_t>(from);
        case 2:
            return take_bytes<double>(from);
        case 3: {
            const auto size = take_bytes<std::uint32_t>(from);
            return std::string_view(reinterpret_cast<const char*>(std::exchange(from, from + size)), size);
        }
        default:
            return {};
    }
}

std::string_view key_in(std::string_view record) {
    const auto header = SizedHeader::of(reinterpret_cast<const std::byte*>(record.data()));
    return record.substr(header.key_offset, header.key_bytes);
}

const sql::SqlComputed* computed_key(const sql::SqlQuery& query, const sql::SqlOrder& key) {
    const auto one = std::ranges::find(query.computed, key.steps[0].leaf, &sql::SqlComputed::leaf);
    return one == query.computed.end() ? nullptr : &*one;
}

// About the number of different keys in all rows. At most one for each row.
std::uint64_t groups_of(const sql::SqlQuery& query, const Table& table) try {
    constexpr std::size_t at_once = std::size_t{1} << 14U;
    Distinct groups(0.05);
    std::vector<std::uint64_t> hashes;
    for (std::size_t begin = 0; begin < table.rows(); begin += at_once) {
        const auto rows = sql::RowList(table.rows()).part(begin, std::min(at_once, table.rows() - begin));
        hashes.assign(rows.size(), 0);
        for (const auto& key : query.group_by) {
            const auto* const one = computed_key(query, key);
            const auto numbers =
                sql::computed(one ? one->steps : key.steps, sql::data_of(table), rows);  // also of texts
            for (std::size_t i = 0; i < rows.size(); ++i) {
                std::uint64_t value = numbers.are_integers ? static_cast<std::uint64_t>(numbers.integers[i])
                                                           : std::bit_cast<std::uint64_t>(numbers.doubles[i]);
                if (!numbers.valid[i]) value = 0x5851f42d4c957f2dU;
                hashes[i] = (std::rotl(hashes[i], 23) ^ value) * 0x9e3779b97f4a7c15U;
            }
        }
        groups.add(std::span<const std::uint64_t>(hashes));
    }
    return std::min(static_cast<std::uint64_t>(groups.count().upper), std::uint64_t{table.rows()});
} catch (const InvalidArgument&) {
    return table.rows();  // a key does not fit into 64 bits in a row that WHERE may exclude
}

ExternalSortOptions options_for(std::size_t memory, const std::string& temp, unsigned threads) {
    ExternalSortOptions options{.format = {.kind = RecordFormat::Kind::Sized}, .memory = memory};
    if (!temp.empty()) options.temp = {temp};
    options.engine = Engine::Cpu;
    options.threads = threads;
    return options;
}

}  // namespace

// A key of a group that is an expression is a computed column. Those that match patterns stay in memory.
bool can_spill(const sql::SqlQuery& query) {
    const auto has_pattern = [&](const sql::SqlOrder& key) {
        const auto* const one = computed_key(query, key);
        return one && one->pattern;
    };
    if (query.join || query.distinct) return false;
    return !query.groups() || (!query.group_by.empty() && std::ranges::none_of(query.group_by, has_pattern));
}

bool wants_few_rows(const sql::SqlQuery& query) {
    constexpr std::uint64_t few = std::uint64_t{1} << 13U;
    return sql::rows_wanted(query) <= few;
}

// The numbers were measured with 1.5 million groups and two threads (2026-11-27).
std::uint64_t bytes_of_group(const sql::SqlQuery& query) {
    std::uint64_t bytes = 70 + 40 * query.group_by.size();
    std::set<std::string> measured;
    for (const auto& one : query.aggregates) {
        if (one.argument.empty()) continue;
        if (measured.insert(one.argument[0].leaf).second) bytes += 120;
        if (one.what.kind >= QueryAggregate::Kind::Quantile) bytes += 50;
    }
    return bytes;
}

std::uint64_t bytes_to_answer(const sql::SqlQuery& query, const Table& table, std::uint64_t memory) {
    const auto a_row = 16 + 10 * query.computed.size() + 8 * query.aggregates.size();
    const auto rows = table.rows() * a_row, a_group = bytes_of_group(query);
    if (!query.groups()) return rows;
    return rows + a_group * (rows + a_group * table.rows() <= memory ? table.rows() : groups_of(query, table));
}

sql::SqlQuery rows_of_groups(const sql::SqlQuery& query) {
    sql::SqlQuery rows{.text = query.text, .sources = query.sources, .columns = query.columns, .where = query.where};
    for (const auto& one : query.computed) {
        if (!one.of_groups) rows.computed.push_back(one);
    }
    std::set<std::string> names;
    for (auto& column : rows.columns) {
        if (!column.source) continue;  // the name of an output
        column.leaf = column.name;
        if (names.insert(column.name).second)
            rows.outputs.push_back({.steps = {{.leaf = column.name}}, .name = column.name, .is_key = true});
    }
    for (auto key : query.group_by) {
        if (const auto* const one = computed_key(query, key)) key.steps = one->steps;
        rows.order_by.push_back(std::move(key));
    }
    return rows;
}

sql::SqlQuery part_of(sql::SqlQuery query) {
    for (const auto& by : query.order_by) query.outputs.push_back({.steps = by.steps, .is_key = true});
    if (wants_few_rows(query)) {
        query.limit = sql::rows_wanted(query);
    } else {
        query.order_by.clear();
        query.limit.reset();
    }
    query.offset = 0;
    return query;
}

OrderedRows::OrderedRows(const sql::SqlQuery& query, std::size_t memory, const std::string& temp, unsigned threads)
    : query_(query), limit_(sql::rows_wanted(query)) {
    if (wants_few_rows(query)) return;
    sorting_.emplace("query", options_for(memory, temp, threads), external::Devices(), external::Plans());
    sorting_->begin({.input_bytes = std::nullopt}, {-1, 0, "the rows"});
}

void OrderedRows::put_key(const SqlCell& cell, const sql::SqlOrder& by) {
    const bool has = cell.index() != 0;
    record_ += static_cast<char>(has == by.nulls_first ? 1 : 0);
    if (!has) return;
    const auto begin = record_.size();
    if (const auto* text = std::get_if<std::string_view>(&cell)) {
        put_ordered_text(record_, *text);
    } else {
        const auto key = key_of(cell);
        for (int shift = 56; shift >= 0; shift -= 8) record_ += static_cast<char>(key >> shift);
    }
    if (!by.descending) return;
    for (auto i = begin; i < record_.size(); ++i) record_[i] = static_cast<char>(~record_[i]);
}

void OrderedRows::put_cell(const SqlCell& cell) {
    record_ += static_cast<char>(cell.index());
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) put_bytes(record_, *integer);
    if (const auto* number = std::get_if<double>(&cell)) put_bytes(record_, *number);
    if (const auto* text = std::get_if<std::string_view>(&cell)) {
        put_bytes(record_, static_cast<std::uint32_t>(text->size()));
        record_ += *text;
    }
}

void OrderedRows::add(std::span<const SqlCell> row) {
    const auto outputs = query_.outputs.size();
    SizedHeader header;
    header.key_offset = sizeof header;
    record_.assign(sizeof header, '\0');
    for (std::size_t i = 0; i < query_.order_by.size(); ++i) put_key(row[outputs + i], query_.order_by[i]);
    const auto key_end = record_.size();
    for (const auto& cell : row.first(outputs)) put_cell(cell);
    if (record_.size() > std::numeric_limits<std::uint32_t>::max())
        throw InvalidArgument("ORDER BY takes rows of less than 4 GB");
    header.bytes = static_cast<std::uint32_t>(record_.size());
    header.key_bytes = static_cast<std::uint32_t>(key_end - sizeof header);
    std::memcpy(record_.data(), &header, sizeof header);
    sorting_ ? sorting_->filler().push(std::as_bytes(std::span(record_))) : keep();
}

// Rows that come later are behind those with an equal key.
void OrderedRows::keep() {
    const auto number = rows_++;
    if (is_full() || (bound_ && key_in(record_) >= *bound_)) return;
    best_.emplace_back(record_, number);
    constexpr std::uint64_t more = 1024;
    if (best_.size() >= 2 * limit_ + more) keep_best();
}

void OrderedRows::keep_best() {
    const auto last = best_.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(limit_, best_.size()));
    const auto before = [](const auto& a, const auto& b) {
        const auto order = key_in(a.first).compare(key_in(b.first));
        return order != 0 ? order < 0 : a.second < b.second;
    };
    std::ranges::partial_sort(best_, last, before);
    best_.erase(last, best_.end());
    if (!best_.empty() && best_.size() == limit_) bound_ = key_in(best_.back().first);
}

// The record of a row in order, or nothing at the end.
std::span<const std::byte> OrderedRows::next(std::uint64_t i) {
    if (sorting_) return sorting_->next();
    return i < best_.size() ? std::as_bytes(std::span(best_[i].first)) : std::span<const std::byte>();
}

void OrderedRows::give(const sql::TakeRow& take) {
    give_keyed([&](std::span<const SqlCell> row, bool /*is_new*/) { take(row); });
}

void OrderedRows::give_keyed(const TakeKeyed& take) {
    sorting_ ? sorting_->finish() : keep_best();
    std::vector<SqlCell> cells(query_.outputs.size());
    std::optional<std::string> before;
    auto left = query_.limit.value_or(std::numeric_limits<std::uint64_t>::max());
    for (std::uint64_t i = 0; left > 0; ++i) {
        const auto record = next(i);
        if (record.empty()) break;
        if (i < query_.offset) continue;
        --left;
        const auto key = key_in({reinterpret_cast<const char*>(record.data()), record.size()});
        const bool is_new = !before || *before != key;
        if (is_new) before = key;
        const auto* at = record.data() + sizeof(SizedHeader) + key.size();
        for (auto& cell : cells) cell = cell_at(at);
        take(cells, is_new);
    }
}

}  // namespace quadmill::detail::cli
