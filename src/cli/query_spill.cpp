#include "cli/query_spill.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "external/records.hpp"
#include "quadmill/error.hpp"
#include "query/table/cells.hpp"

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

ExternalSortOptions options_for(std::size_t memory, const std::string& temp, unsigned threads) {
    ExternalSortOptions options{.format = {.kind = RecordFormat::Kind::Sized}, .memory = memory};
    if (!temp.empty()) options.temp = {temp};
    options.engine = Engine::Cpu;
    options.threads = threads;
    return options;
}

}  // namespace

bool can_spill(const sql::SqlQuery& query) {
    return !query.order_by.empty() && !query.join && !query.groups() && !query.distinct;
}

sql::SqlQuery unordered(sql::SqlQuery query) {
    for (auto& by : std::exchange(query.order_by, {}))
        query.outputs.push_back({.steps = std::move(by.steps), .is_key = true});
    query.limit.reset();
    query.offset = 0;
    return query;
}

SpilledRows::SpilledRows(const sql::SqlQuery& query, std::size_t memory, const std::string& temp, unsigned threads)
    : query_(query), sorting_("query", options_for(memory, temp, threads), {}, {}) {
    sorting_.begin({.input_bytes = std::nullopt}, {-1, 0, "the rows"});
}

void SpilledRows::put_key(const SqlCell& cell, const sql::SqlOrder& by) {
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

void SpilledRows::put_cell(const SqlCell& cell) {
    record_ += static_cast<char>(cell.index());
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) put_bytes(record_, *integer);
    if (const auto* number = std::get_if<double>(&cell)) put_bytes(record_, *number);
    if (const auto* text = std::get_if<std::string_view>(&cell)) {
        put_bytes(record_, static_cast<std::uint32_t>(text->size()));
        record_ += *text;
    }
}

void SpilledRows::add(std::span<const SqlCell> row) {
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
    sorting_.filler().push(std::as_bytes(std::span(record_)));
}

void SpilledRows::give(const sql::TakeRow& take) {
    sorting_.finish();
    std::vector<SqlCell> cells(query_.outputs.size());
    auto left = query_.limit.value_or(std::numeric_limits<std::uint64_t>::max());
    for (std::uint64_t i = 0; left > 0; ++i) {
        const auto record = sorting_.next();
        if (record.empty()) break;
        if (i < query_.offset) continue;
        --left;
        const auto header = SizedHeader::of(record.data());
        const auto* at = record.data() + header.key_offset + header.key_bytes;
        for (auto& cell : cells) cell = cell_at(at);
        take(cells);
    }
}

}  // namespace quadmill::detail::cli
