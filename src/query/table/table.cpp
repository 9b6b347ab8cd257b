#include "query/table/table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "cpu/trim.hpp"
#include "quadmill/error.hpp"
#include "query/table/key.hpp"
#include "query/table/order.hpp"
#include "query/table/text_numbers.hpp"

namespace quadmill {
namespace {

using detail::query::ColumnData;
using detail::query::HostObjects;
using detail::query::KeyOf;
using detail::query::TableData;
using Dictionary = TableData::Dictionary;

void require_fits(const TableData& table, const char* function, const std::string& name, std::size_t rows) {
    if (name.empty()) throw InvalidArgument(std::string(function) + ": a column must have a name");
    if (table.places.contains(name))
        throw InvalidArgument(std::string(function) + ": the table has a column '" + name + "' already");
    if (!table.columns.empty() && table.rows != rows)
        throw InvalidArgument(std::string(function) + ": column '" + name + "' must have as many rows as the table, " +
                              std::to_string(table.rows) + ", not " + std::to_string(rows));
}

// Checked, with one bit per row. Empty if all are true.
std::vector<std::uint32_t> packed(const std::string& name, const std::vector<bool>& valid, std::size_t rows) {
    if (!valid.empty() && valid.size() != rows)
        throw InvalidArgument("Table::add: `valid` of column '" + name +
                              "' must have as many entries as there are values, " + std::to_string(rows) + ", not " +
                              std::to_string(valid.size()));
    if (std::find(valid.begin(), valid.end(), false) == valid.end()) return {};
    std::vector<std::uint32_t> words((rows + 31) / 32);
    for (std::size_t i = 0; i < rows; ++i) words[i / 32] |= std::uint32_t{valid[i]} << (i % 32);
    return words;
}

template <class T>
std::shared_ptr<const ColumnData> column_of(std::string name, ColumnType type, std::vector<T> values,
                                            std::vector<std::uint32_t> valid) {
    auto column = std::make_shared<ColumnData>();
    column->name = std::move(name);
    column->type = type;
    column->valid = std::move(valid);
    auto min = KeyOf<T>::max;
    decltype(min) max = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (has_value(*column, i)) {
            const auto key = KeyOf<T>::key(values[i]);
            min = std::min(min, key);
            max = std::max(max, key);
        } else {
            values[i] = T{};
        }
    }
    if (min > max) min = max = KeyOf<T>::key(T{});  // the column is empty
    column->min = min;
    column->max = max;
    column->values = std::move(values);
    return column;
}

// Adds a column to this table.
void append(TableData& table, const std::shared_ptr<const ColumnData>& column, std::size_t rows) {
    decltype(table.infos)::value_type info{.name = column->name, .type = column->type};
    const auto make_room = [](auto& in) {
        if (in.size() == in.capacity()) in.reserve(2 * in.size() + 1);
    };
    make_room(table.infos);
    make_room(table.columns);
    table.places.emplace(column->name, table.columns.size());  // if this or a line above throws, nothing is changed
    table.infos.push_back(std::move(info));
    table.columns.push_back(column);
    table.rows = rows;
}

// Adds a column to a table that may be shared; copies of it are not changed. If it is not shared, it is not copied:
// otherwise adding many columns would take quadratic time.
void append(std::shared_ptr<const TableData>& data, const std::shared_ptr<const ColumnData>& column, std::size_t rows) {
    auto own = data.use_count() == 1 ? std::const_pointer_cast<TableData>(data) : std::make_shared<TableData>(*data);
    append(*own, column, rows);
    data = std::move(own);
}

template <class T>
void append_values(std::shared_ptr<const TableData>& data, std::string name, ColumnType type, std::vector<T> values,
                   const std::vector<bool>& valid) {
    const auto rows = values.size();
    require_fits(*data, "Table::add", name, rows);
    auto bits = packed(name, valid, rows);
    append(data, column_of(std::move(name), type, std::move(values), std::move(bits)), rows);
}

void require_texture(const char* function, const std::string& name, std::span<const std::uint32_t> textures,
                     ColumnType type) {
    if (textures.empty() || std::ranges::find(textures, 0U) != textures.end())
        throw InvalidArgument(std::string(function) + ": column '" + name + "' must be a texture, not " +
                              (textures.empty() ? "none" : "number 0"));
    if (type != ColumnType::F32 && type != ColumnType::I32 && type != ColumnType::U32)
        throw InvalidArgument(std::string(function) + ": column '" + name + "' must be of type F32, I32 or U32, not " +
                              (type == ColumnType::F64   ? "F64"
                               : type == ColumnType::I64 ? "I64"
                                                         : "Text"));
}

std::shared_ptr<const ColumnData> host_column(std::string name, ColumnType type, HostObjects objects) {
    auto column = std::make_shared<ColumnData>();
    column->name = std::move(name);
    column->type = type;
    column->values = std::move(objects);
    if (detail::query::key_bits(type) == 32) column->max = std::numeric_limits<std::uint32_t>::max();
    return column;
}

// A plan needs the number of rows before the GPU knows it.
void refuse_counted(const char* function, const std::string& name, const std::optional<CountInBuffer>& counted) {
    if (!counted) return;
    throw InvalidArgument(std::string(function) + ": column '" + name +
                          "' must have a number of rows that the CPU knows; only sorts take it from a buffer");
}

// Makes `all` the table's dictionary. Pre: it has all texts of the current one.
void take_dictionary(TableData& table, const std::vector<std::string_view>& all) {
    if (all.size() == table.dictionary->size()) return;
    const auto moved = detail::query::places_in(*table.dictionary, all);
    for (auto& column : table.columns) {
        if (column->type != ColumnType::Text) continue;
        auto codes = std::get<std::vector<std::uint32_t>>(column->values);
        for (std::size_t i = 0; i < codes.size(); ++i) {
            if (has_value(*column, i)) codes[i] = moved[codes[i]];
        }
        column = column_of(column->name, ColumnType::Text, std::move(codes), column->valid);
    }
    table.dictionary = std::make_shared<const Dictionary>(all.begin(), all.end());
}

}  // namespace

Table::Table() : data_(std::make_shared<TableData>()) {}

#define QUADMILL_ADD_COLUMN(T, TYPE)                                                                 \
    Table& Table::add(std::string name, std::vector<T> values, std::vector<bool> valid) {            \
        append_values(data_, std::move(name), ColumnType::TYPE, std::move(values), valid);           \
        return *this;                                                                                \
    }                                                                                                \
    Table& Table::add(std::string name, std::span<const T> values, std::vector<bool> valid) {        \
        return add(std::move(name), std::vector<T>(values.begin(), values.end()), std::move(valid)); \
    }
QUADMILL_ADD_COLUMN(float, F32)
QUADMILL_ADD_COLUMN(double, F64)
QUADMILL_ADD_COLUMN(std::int32_t, I32)
QUADMILL_ADD_COLUMN(std::uint32_t, U32)
QUADMILL_ADD_COLUMN(std::int64_t, I64)

Table& Table::add(std::string name, const std::vector<std::string>& values, std::vector<bool> valid) {
    const auto rows = values.size();
    require_fits(*data_, "Table::add", name, rows);
    auto bits = packed(name, valid, rows);
    std::unordered_map<std::string_view, std::uint32_t> numbers;  // in order of first appearance
    std::vector<std::uint32_t> codes(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        if (!bits.empty() && !((bits[i / 32] >> (i % 32)) & 1U)) continue;
        codes[i] = numbers.try_emplace(values[i], static_cast<std::uint32_t>(numbers.size())).first->second;
    }
    auto table = *data_;
    std::vector<std::string_view> all(table.dictionary->begin(), table.dictionary->end());
    for (const auto& [text, number] : numbers) all.push_back(text);
    detail::query::sort_unique(all);
    std::vector<std::uint32_t> place_of(std::max<std::size_t>(numbers.size(), 1));
    for (const auto& [text, number] : numbers)
        place_of[number] = static_cast<std::uint32_t>(std::ranges::lower_bound(all, text) - all.begin());
    for (auto& code : codes) code = place_of[code];
    take_dictionary(table, all);
    append(table, column_of(std::move(name), ColumnType::Text, std::move(codes), std::move(bits)), rows);
    data_ = std::make_shared<TableData>(std::move(table));
    return *this;
}

Table& Table::add_texture(std::string name, std::uint32_t texture, ColumnType type, std::size_t rows) {
    return add_textures(std::move(name), {texture}, type, rows);
}

Table& Table::add_textures(std::string name, std::vector<std::uint32_t> textures, ColumnType type, std::size_t rows) {
    constexpr const char* function = "Table::add_texture";
    require_fits(*data_, function, name, rows);
    require_texture(function, name, textures, type);
    append(data_, host_column(std::move(name), type, {std::move(textures)}), rows);
    return *this;
}

Table& Table::add_texture(std::string name, const TextureRegion& texels, ColumnType type, int channel) {
    refuse_counted("Table::add_texture", name, texels.counted);
    const bool sized = texels.width > 0 && texels.height > 0;
    if (!texels.count && !sized)
        throw InvalidArgument("Table::add_texture: column '" + name +
                              "' must say how many rows it has: set count, or width and height");
    const auto all = static_cast<std::size_t>(texels.width) * static_cast<std::size_t>(texels.height);
    const auto rows = texels.count.value_or(all);
    require_texture("Table::add_texture", name, {&texels.texture, 1}, type);
    require_fits(*data_, "Table::add_texture", name, rows);
    append(data_, host_column(std::move(name), type, {detail::query::HostTexels{texels, channel}}), rows);
    return *this;
}

Table& Table::add_buffer(std::string name, const BufferKeys& values, std::size_t rows) {
    constexpr const char* function = "Table::add_buffer";
    refuse_counted(function, name, values.counted);
    require_fits(*data_, function, name, rows);
    if (values.buffer == 0)
        throw InvalidArgument(std::string(function) + ": column '" + name + "' must be a buffer, not number 0");
    if (values.type == KeyType::U64) {
        throw InvalidArgument(std::string(function) + ": column '" + name +
                              "' cannot be of U64, which no column is; I64 has the same order up to 2^63 - 1");
    }
    const auto type = values.type == KeyType::F64   ? ColumnType::F64
                      : values.type == KeyType::I32 ? ColumnType::I32
                      : values.type == KeyType::U32 ? ColumnType::U32
                      : values.type == KeyType::I64 ? ColumnType::I64
                                                    : ColumnType::F32;
    append(data_, host_column(std::move(name), type, {values}), rows);
    return *this;
}

std::size_t Table::rows() const noexcept {
    return data_->rows;
}

const std::vector<ColumnInfo>& Table::columns() const noexcept {
    return data_->infos;
}

}  // namespace quadmill

namespace quadmill::detail::query {

namespace {

template <class Word>
std::uint64_t word_at(const char* bytes) {
    Word word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

// Texts of at most 7 bytes have an even hash of their own, others an odd one.
std::uint64_t hash_of(std::string_view text) {
    const auto* const from = text.data();
    const auto size = text.size();
    if (size >= 8) {
        std::uint64_t hash = size;
        const auto mix = [&](std::uint64_t word) {
            hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
            hash ^= hash >> 32U;
        };
        for (std::size_t at = 0; at + 8 < size; at += 8) mix(word_at<std::uint64_t>(from + at));
        mix(word_at<std::uint64_t>(from + size - 8));
        return hash * 0x9e3779b97f4a7c15U | 1U;
    }
    // The bytes, some of them twice at the same place, and the size.
    std::uint64_t hash = std::uint64_t{size} << 56U;
    if (size >= 4) {
        hash |= word_at<std::uint32_t>(from) | word_at<std::uint32_t>(from + size - 4) << (8 * (size - 4));
    } else if (size > 0) {
        for (const auto at : {std::size_t{0}, size / 2, size - 1}) hash |= word_at<std::uint8_t>(from + at) << (8 * at);
    }
    // Each step can be undone in 63 bits.
    constexpr auto bits = ~std::uint64_t{0} >> 1U;
    hash = hash * 0x9e3779b97f4a7c15U & bits;
    hash = (hash ^ hash >> 32U) * 0xd6e8feb86659fd93U & bits;
    return (hash ^ hash >> 32U) << 1U;
}

// A distinct text, with its first bytes as a number that has their order.
struct Entry {
    std::uint64_t prefix;
    std::string_view text;
    std::uint32_t* rank;  // receives its index in the dictionary
    bool operator<(const Entry& other) const {
        return prefix != other.prefix ? prefix < other.prefix : text < other.text;
    }
};

std::uint64_t prefix_of(std::string_view text) {
    std::uint64_t prefix = 0;
    for (std::size_t i = 0; i < 8; ++i)
        prefix = prefix << 8U | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
    return prefix;
}

}  // namespace

void TextMemory::add_block(std::size_t bytes) {
    constexpr std::size_t min = std::size_t{1} << 10U, max = std::size_t{1} << 16U;
    size_ = std::max(std::clamp(2 * size_, min, max), bytes);
    blocks_.push_back(std::make_shared_for_overwrite<char[]>(size_));
    next_ = blocks_.back().get();
    left_ = size_;
}

std::uint32_t TextNumbers::number(std::string_view text, std::uint64_t hash) {
    if (2 * texts_.size() >= slots_.size()) make_space();
    const bool is_short = hash % 2 == 0;
    for (auto slot = slot_of(hash); slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
        if (((slots_[slot] ^ hash) & upper) != 0) continue;
        const auto number = static_cast<std::uint32_t>(slots_[slot]) - 1;
        if (hashes_[number] == hash && (is_short || texts_[number] == text)) return number;
    }
    put(hash, texts_.size());
    return append(text, hash);
}

std::uint32_t TextNumbers::append(std::string_view text, std::uint64_t hash) {
    hashes_.push_back(hash);
    auto* const to = memory_.space(text.size());
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    texts_.emplace_back(to, text.size());
    return static_cast<std::uint32_t>(texts_.size() - 1);
}

// If the first texts differ, equal ones are only looked for by SharedTexts.
void TextNumbers::add(std::string_view text) {
    constexpr std::size_t first = 1024, most = std::size_t{1} << 20U;
    const auto hash = hash_of(text);
    rows_.push_back(differ_ && texts_.size() < most ? append(text, hash) : number(text, hash));
    if (texts_.size() == first && rows_.size() < first + first / 8) differ_ = true;
}

// Pre: the text has no slot, and one is free.
void TextNumbers::put(std::uint64_t hash, std::size_t number) {
    auto slot = slot_of(hash);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = (hash & upper) | (number + 1);
}

void TextNumbers::make_space() {
    slots_.assign(std::max<std::size_t>(64, std::bit_ceil(2 * texts_.size() + 1)), 0);
    for (std::size_t number = 0; number < texts_.size(); ++number) put(hashes_[number], number);
}

void SharedTexts::take(TextNumbers& part) {
    const auto n = part.texts_.size();
    if (n == 0) return;
    // Share by share: the numbers of its texts, after those of the shares before it.
    std::array<std::size_t, std::tuple_size_v<decltype(shares_)> + 1> ends{};
    for (const auto hash : part.hashes_) ++ends[share_of(hash) + 1];
    for (std::size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
    std::vector<std::uint32_t> order(n), to(n);
    for (std::size_t i = 0; i < n; ++i) order[ends[share_of(part.hashes_[i])]++] = static_cast<std::uint32_t>(i);
    std::size_t begin = 0;
    for (std::size_t k = 0; k < shares_.size(); begin = ends[k++]) {
        if (begin == ends[k]) continue;
        auto& share = shares_[k];
        const std::lock_guard lock(share.mutex);
        const auto& slots = share.texts.slots_;
        for (auto i = begin; i < ends[k]; ++i) {
            constexpr std::size_t ahead = 8;
            const auto slot_at = [&](std::size_t at) {
                return &slots[share.texts.slot_of(part.hashes_[order[std::min(at, ends[k] - 1)]])];
            };
            if (!slots.empty()) {
                __builtin_prefetch(slot_at(i + 2 * ahead));
                const auto number = static_cast<std::uint32_t>(*slot_at(i + ahead));
                if (number > 0) __builtin_prefetch(&share.texts.hashes_[number - 1]);
            }
            const auto number = share.texts.number(part.texts_[order[i]], part.hashes_[order[i]]);
            if (number >> share_bits != 0) throw InvalidArgument("a table has at most 2^32 different texts");
            to[order[i]] = static_cast<std::uint32_t>(k << share_bits) | number;
        }
    }
    for (auto& number : part.rows_) number = to[number];
    auto rows = std::move(part.rows_);
    part = {};
    part.rows_ = std::move(rows);
}

namespace {

// Sorts pieces, then merges neighbours.
void sort(std::vector<Entry>& all, const cpu::Workers& workers) {
    constexpr std::size_t pieces = 8;
    const auto cut = [&](std::size_t i) {
        return all.begin() + static_cast<std::ptrdiff_t>(all.size() * std::min(i, pieces) / pieces);
    };
    workers.for_each(pieces, [&](std::size_t i) { std::sort(cut(i), cut(i + 1)); });
    for (std::size_t n = 1; n < pieces; n *= 2)
        workers.for_each(pieces / (2 * n), [&](std::size_t i) {
            std::inplace_merge(cut(2 * i * n), cut((2 * i + 1) * n), cut((2 * i + 2) * n));
        });
}

}  // namespace

std::size_t SharedTexts::size() const {
    std::size_t texts = 0;
    for (const auto& share : shares_) texts += share.texts.texts_.size();
    return texts;
}

Dictionary SharedTexts::dictionary(const cpu::Workers& workers) {
    std::vector<Entry> all;
    for (auto& share : shares_) {
        share.texts.hashes_ = std::vector<std::uint64_t>();  // gives the memory back
        share.texts.slots_ = std::vector<std::uint64_t>();
    }
    constexpr std::size_t many = std::size_t{1} << 16U;
    if (size() >= many) cpu::trim_memory();
    all.reserve(size());
    for (auto& share : shares_) {
        const auto& texts = share.texts.texts_;
        share.ranks.resize(texts.size());
        for (std::size_t i = 0; i < texts.size(); ++i) all.push_back({prefix_of(texts[i]), texts[i], &share.ranks[i]});
    }
    sort(all, workers);
    Dictionary sorted;
    sorted.reserve(all.size());
    for (const auto& entry : all) {
        *entry.rank = static_cast<std::uint32_t>(sorted.size());
        sorted.emplace_back(entry.text);
    }
    return sorted;
}

// The first character has the sign and the number of digits. Digits of a negative integer are subtracted from 9.
std::string ordered_text(Integer integer) {
    auto text = text_of(integer);
    const bool minus = integer < 0;
    std::string order(
        1, static_cast<char>(minus ? '@' - static_cast<int>(text.size()) : '@' + static_cast<int>(text.size())));
    if (!minus) return order + text;
    for (const char digit : std::string_view(text).substr(1)) order += static_cast<char>('0' + '9' - digit);
    return order + text;
}

std::string_view digits_of(std::string_view ordered) {
    const auto minus = static_cast<std::size_t>('@' - ordered.front());
    return ordered.substr(ordered.front() > '@' ? 1 : minus);
}

// While the parts of a column are copied, freed memory returns to the system each time after this many rows.
constexpr std::size_t trimmed_rows = std::size_t{1} << 19U;

void add_texts(Table& table, std::span<NumberedTexts> columns, SharedTexts& texts, const cpu::Workers& workers) {
    const auto data = std::const_pointer_cast<TableData>(detail::Access::of(table));
    for (auto& column : columns)
        workers.for_each(column.parts.size(), [&](std::size_t i) { texts.take(column.parts[i]); });
    data->dictionary = std::make_shared<const Dictionary>(texts.dictionary(workers));
    for (auto& [name, parts, valid] : columns) {
        std::vector<std::uint32_t> codes;
        std::size_t rows = 0;
        for (const auto& part : parts) rows += part.rows().size();
        codes.reserve(rows);
        for (std::size_t next = trimmed_rows; auto& part : parts) {
            for (const auto number : part.rows()) codes.push_back(texts.index(number));
            part = {};
            if (codes.size() < next) continue;
            cpu::trim_memory();
            next += trimmed_rows;
        }
        require_fits(*data, "Table::add", name, rows);
        auto bits = packed(name, valid, rows);
        append(*data, column_of(name, ColumnType::Text, std::move(codes), std::move(bits)), rows);
    }
}

}  // namespace quadmill::detail::query
