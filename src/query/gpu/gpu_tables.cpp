#include "query/gpu/gpu_tables.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "quadmill/error.hpp"
#include "query/gpu/host_column.hpp"
#include "query/gpu/parted_columns.hpp"
#include "query/table/key.hpp"
#include "query_shaders.hpp"
#include "sort/merge/merge_sort.hpp"

namespace quadmill::detail::query {

GpuTables::GpuTables(gl::Device& device, unsigned threads)
    : device_(device), workers_(threads), programs_(device), key_list_(device, programs_), host_keys_(device) {}

std::size_t GpuTables::max_rows(int texels_a_word) const {
    const auto& info = device_.info;
    return Shape::max_rows(std::min({info.max_texture_size, info.max_viewport_width, info.max_viewport_height}),
                           texels_a_word);
}

std::shared_ptr<GpuTables::Pool> GpuTables::pool(std::size_t rows) {
    auto& pool = pools_[rows];
    if (!pool) {
        pool = std::make_shared<Pool>();
        pool->shape = Shape::of(rows, device_.info.max_texture_size);
    }
    pool->used = ++clock_;
    return pool;
}

std::size_t GpuTables::column_bytes(std::size_t rows, ColumnType type) const {
    const auto shape = Shape::of(rows, device_.info.max_texture_size);
    return product(shape.words * texels_a_word(type), shape.height) * 16;
}

std::size_t GpuTables::held() const {
    std::size_t bytes = indexes_ ? indexes_->bytes() : 0;
    for (const auto& [key, known] : columns_) bytes += known.column->keys.bytes();
    for (const auto& [rows, pool] : pools_) {
        bytes += pool_bytes(rows);
        for (const auto& texture : pool->keys->kept()) bytes += texture.bytes();
    }
    return bytes;
}

void GpuTables::forget_dead_columns() {
    std::erase_if(columns_, [](const auto& entry) { return entry.second.data.expired(); });
    if (indexes_) indexes_->forget_dead();
}

// Keeps a few pools that are not used now, for the next table of the same size.
void GpuTables::forget_old_pools() {
    constexpr std::size_t kept = 2;
    std::vector<std::pair<std::uint64_t, std::size_t>> unused;
    for (const auto& [rows, pool] : pools_) {
        if (pool.use_count() == 1) unused.emplace_back(pool->used, rows);
    }
    std::ranges::sort(unused);
    for (std::size_t i = 0; i + kept < unused.size(); ++i) pools_.erase(unused[i].second);
}

std::vector<RowPart> GpuTables::parts_of(const TableData& table, std::size_t max_rows) {
    std::vector<RowPart> parts;
    for (std::size_t first = 0; first == 0 || first < table.rows; first += max_rows)
        parts.push_back({first, std::min(max_rows, table.rows - first)});
    return parts;
}

std::set<std::size_t> GpuTables::part_sizes(const std::vector<TableColumns>& tables, std::size_t max_rows) {
    std::set<std::size_t> sizes;
    for (const auto& asked : tables) {
        for (const auto& part : parts_of(asked.table, max_rows)) sizes.insert(part.rows);
    }
    return sizes;
}

std::size_t GpuTables::bytes(const std::vector<TableColumns>& tables, std::size_t max_rows) const {
    std::size_t bytes = 0;
    for (const auto rows : part_sizes(tables, max_rows)) bytes += pools_.contains(rows) ? 0 : pool_bytes(rows);
    std::set<std::pair<const ColumnData*, std::size_t>> counted;  // a table may be joined with itself
    for (const auto& [table, columns] : tables) {
        for (const auto& part : parts_of(table, max_rows)) {
            for (const auto i : columns) {
                const auto& data = table.columns[i];
                const std::pair key(data.get(), part.first);
                const auto known = columns_.find(key);
                const bool there = known != columns_.end() && !known->second.data.expired();
                if (!there && counted.insert(key).second) bytes += column_bytes(part.rows, data->type);
            }
        }
    }
    return bytes;
}

bool GpuTables::make_space(const std::vector<TableColumns>& tables, std::size_t max_rows, std::size_t limit) {
    forget_dead_columns();
    const auto needed = bytes(tables, max_rows);
    const auto fits = [&] { return held() + needed <= limit; };
    if (fits()) return true;
    const auto sizes = part_sizes(tables, max_rows);
    std::erase_if(pools_,
                  [&](const auto& entry) { return !sizes.contains(entry.first) && entry.second.use_count() == 1; });
    const auto drop_spare = [&] {
        for (auto& [rows, pool] : pools_) {
            pool->keys->clear();
            pool->bits->clear();
        }
    };
    drop_spare();
    std::set<const ColumnData*> asked;
    for (const auto& [table, columns] : tables) {
        for (const auto i : columns) asked.insert(table.columns[i].get());
    }
    std::vector<std::pair<std::uint64_t, std::pair<const ColumnData*, std::size_t>>> unused;
    for (const auto& [key, known] : columns_) {
        if (known.column.use_count() == 1 && !asked.contains(key.first)) unused.emplace_back(known.used, key);
    }
    std::ranges::sort(unused);
    for (std::size_t i = 0; i < unused.size() && !fits(); ++i) {
        columns_.erase(unused[i].second);
        drop_spare();
    }
    return fits();
}

// Some lines at a time, so that little memory is needed.
void GpuTables::upload(const ColumnData& data, const RowPart& part, const Shape& shape, GpuColumn& to) {
    constexpr std::size_t bytes = std::size_t{32} << 20U;  // two buffers are in flight
    const auto lines = static_cast<std::size_t>(shape.height);
    const auto at_once = std::max<std::size_t>(bytes * lines / to.keys.bytes(), 1);
    for (std::size_t first = 0, i = 0; first < lines; first += at_once, ++i) {
        uploaders_.at(i % 2).send(device_, to.keys, {first, std::min(at_once, lines - first)}, workers_,
                                  [&](std::size_t line, std::size_t /*lines*/, std::span<std::byte> memory) {
                                      write_keys(data, part, shape, line, memory);
                                  });
    }
}

std::vector<RowsTexture> textures_of(gl::Device& device, const ColumnData& column, std::size_t rows) {
    constexpr const char* function = "QueryProcessor";
    const auto what = "the texture of column '" + column.name + "'";
    std::vector<RowsTexture> all;
    std::size_t first = 0;
    for (const auto id : std::get<std::vector<std::uint32_t>>(std::get<HostObjects>(column.values).of)) {
        if (first % Shape::rows_a_word != 0)
            throw InvalidArgument(std::string(function) + ": " + what +
                                  " before the next one must have a multiple of " + std::to_string(Shape::rows_a_word) +
                                  " texels, not " + std::to_string(all.back().texels()));
        all.push_back({gl::host_texture(device, id, {host_format(column.type)}, function, what), first});
        first += all.back().texels();
    }
    if (first < rows)
        throw InvalidArgument(std::string(function) + ": " + what + " has " + std::to_string(first) +
                              " texels, fewer than the " + std::to_string(rows) + " rows of the table so far");
    return all;
}

void GpuTables::copy_from_host(const ColumnData& column, const RowPart& part, const Shape& shape, GpuColumn& to) {
    const bool whole = std::holds_alternative<std::vector<std::uint32_t>>(std::get<HostObjects>(column.values).of);
    whole ? copy_textures(column, part, shape, to) : copy_words(column, part, shape, to);
}

// Uploads some lines at a time.
void GpuTables::copy_words(const ColumnData& column, const RowPart& part, const Shape& shape, GpuColumn& to) {
    HostColumn source(device_, host_keys_, column, part.first + part.rows);
    const auto& program =
        programs_.get("query/to_keys.frag", shaders::query_to_keys_frag,
                      std::string("#define SAMPLER usampler2D\n#define TEXEL uvec4\n#define LINEAR\n") +
                          (source.halves() ? "#define HALVES\n" : "") + define("TYPE", number_of(column.type)) +
                          keys_prelude(column.type, shape.words));
    const gl::Framebuffer target(device_, to.keys);
    const auto line = product(shape.words, static_cast<int>(Shape::rows_a_word));
    const auto lines = static_cast<int>(std::max<std::size_t>(HostColumn::max_rows / line, 1));
    for (int from = 0; from < shape.height; from += lines) {
        const int end = std::min(from + lines, shape.height);
        const auto first = static_cast<std::size_t>(from) * line;
        const auto rows = std::min(static_cast<std::size_t>(end) * line, part.rows) - std::min(first, part.rows);
        if (rows == 0) break;
        const auto& words = source.draw(part.first + first, rows, host_words_);
        const gl::QuadList quads(device_, {gl::rectangle(0, from, to.keys.width(), end)});
        draw(device_, {.name = "column from words",
                       .program = &program,
                       .inputs = {&words},
                       .uniforms = {{"offset", -static_cast<int>(first)},
                                    {"rows", static_cast<int>(part.rows)},
                                    {"source_rows", static_cast<int>(rows)}},
                       .target = &target,
                       .quads = &quads});
    }
}

void GpuTables::copy_textures(const ColumnData& column, const RowPart& part, const Shape& shape, GpuColumn& to) {
    const char* kind = column.type == ColumnType::F32   ? "#define SAMPLER sampler2D\n#define TEXEL vec4\n"
                       : column.type == ColumnType::I32 ? "#define SAMPLER isampler2D\n#define TEXEL ivec4\n"
                                                        : "#define SAMPLER usampler2D\n#define TEXEL uvec4\n";
    const auto& program =
        programs_.get("query/to_keys.frag", shaders::query_to_keys_frag,
                      kind + define("TYPE", number_of(column.type)) + keys_prelude(column.type, shape.words));
    const gl::Framebuffer target(device_, to.keys);
    const gl::QuadList quads(device_, {gl::rectangle(0, 0, to.keys.width(), to.keys.height())});
    for (const auto& source : textures_of(device_, column, part.first + part.rows)) {
        if (source.first >= part.first + part.rows || source.first + source.texels() <= part.first) continue;
        const gl::PlainAccess access(device_, source.texture);
        const auto offset = static_cast<std::ptrdiff_t>(part.first) - static_cast<std::ptrdiff_t>(source.first);
        draw(device_, {.name = "column from texture",
                       .program = &program,
                       .inputs = {&access.texture()},
                       .uniforms = {{"offset", static_cast<int>(offset)},
                                    {"rows", static_cast<int>(shape.rows)},
                                    {"source_rows", static_cast<int>(source.texels())}},
                       .target = &target,
                       .quads = &quads,
                       .first = 0,
                       .count = 1});
    }
}

std::shared_ptr<GpuColumn> GpuTables::column(Pool& pool, const RowPart& part,
                                             const std::shared_ptr<const ColumnData>& data) {
    const bool host = std::holds_alternative<HostObjects>(data->values);
    const std::pair key(data.get(), part.first);
    const auto known = columns_.find(key);
    if (known != columns_.end()) {
        known->second.used = clock_;
        if (host) copy_from_host(*data, part, pool.shape, *known->second.column);  // the content may have changed
        return known->second.column;
    }
    auto made = std::make_shared<GpuColumn>(pool.keys);
    made->type = data->type;
    made->data = data;
    made->part = part;
    made->min = data->min;
    made->max = std::min(data->max, wide(data->type) ? ~Key{0} : Key{0xffffffffU});
    const auto width = pool.shape.words * texels_a_word(data->type);
    auto spare = pool.keys->take([&](const gl::Texture& texture) { return texture.width() == width; });
    made->keys = spare ? std::move(*spare) : gl::Texture(device_, gl::Format::Rgba32ui, width, pool.shape.height);
    send(pool, *made);
    columns_[key] = {.data = data, .column = made, .used = clock_};
    return made;
}

void GpuTables::send(const Pool& pool, GpuColumn& column) {
    const auto data = column.data.lock();
    if (std::holds_alternative<HostObjects>(data->values)) {
        copy_from_host(*data, column.part, pool.shape, column);
    } else {
        upload(*data, column.part, pool.shape, column);
    }
}

std::shared_ptr<Columns> GpuTables::open(const TableData& table, std::size_t max_rows, const OpenPart& open_part) {
    forget_dead_columns();
    forget_old_pools();
    std::vector<PartedColumns::Part> parts;
    for (const auto& part : parts_of(table, max_rows)) parts.push_back({part.rows, open_part(part, pool(part.rows))});
    if (parts.size() == 1) return std::move(parts.front().columns);
    return std::make_shared<PartedColumns>(std::move(parts));
}

sort::MergeSort& GpuTables::sorter() {
    if (!sorter_) sorter_ = std::make_shared<sort::MergeSort>(device_, workers_);
    return *sorter_;
}

std::span<const std::uint32_t> valid_words(const ColumnData& column, const RowPart& part) {
    const std::span all(column.valid);
    if (all.empty()) return all;
    return all.subspan(part.first / Shape::rows_a_word, (part.rows + Shape::rows_a_word - 1) / Shape::rows_a_word);
}

}  // namespace quadmill::detail::query
