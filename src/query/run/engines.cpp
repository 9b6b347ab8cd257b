#include "query/run/engines.hpp"

#include <cstring>
#include <utility>

#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "pass/transfer.hpp"
#include "quadmill/error.hpp"
#include "query/cpu/cpu_engine.hpp"
#include "query/gpu/bitmap_columns.hpp"
#include "query/gpu/depth_engine.hpp"
#include "query/gpu/host_column.hpp"
#include "query/table/key.hpp"

namespace quadmill::detail::query {

namespace {

bool is_of_host(const TableData& table, std::size_t column) {
    return std::holds_alternative<HostObjects>(table.columns[column]->values);
}

}  // namespace

Engines::Engines(std::optional<Context> context, const QueryOptions& options)
    : context_(std::move(context)), options_(options) {
    const auto which = options.engine;
    if (options.paper.sums == SumPrecision::Float32 && which != QueryEngine::Depth)
        throw InvalidArgument("QueryProcessor: SumPrecision::Float32 is QueryEngine::Depth's; engine must be Depth");
    if (which == QueryEngine::Auto || which == QueryEngine::Cpu) return;
    if (!context_) throw InvalidArgument("QueryProcessor: without a context, engine must be Auto or Cpu");
    if (which == QueryEngine::Depth && !detail::Access::of(*context_)->features.exact_depths)
        throw InvalidArgument(
            "QueryProcessor: QueryEngine::Depth needs OpenGL 4.5, whose depths are exact; use Auto, Bitmap or Cpu");
    const gl::Scope scope(*detail::Access::of(*context_), "QueryProcessor");
    static_cast<void>(get(which));
    scope.check();
}

Engine& Engines::get(QueryEngine which) {
    if (which == QueryEngine::Cpu) {
        if (!cpu_) cpu_ = std::make_unique<CpuEngine>(options_.threads);
        return *cpu_;
    }
    if (gpu_) return *gpu_;
    auto& device = *detail::Access::of(*context_);
    if (which == QueryEngine::Depth) {
        gpu_ = std::make_unique<DepthEngine>(device, options_.threads, ~std::size_t{0}, options_.paper.sums);
    } else {
        gpu_ = std::make_unique<BitmapEngine>(device, options_.threads);
    }
    return *gpu_;
}

bool Engines::has_room(QueryEngine which, const std::vector<TableColumns>& tables) {
    auto& engine = get(which);
    if (options_.gpu_memory > 0) return engine.make_space(tables, options_.gpu_memory);
    if (engine.bytes(tables) < gl::worth_asking) return true;
    const auto free = gl::free_bytes(*detail::Access::of(*context_));
    return !free || engine.make_space(tables, engine.held() + *free);
}

QueryEngine Engines::choose(const std::vector<TableWork>& tables, const Tuning& tuning) {
    const auto named = options_.engine;
    if (named == QueryEngine::Cpu) return named;
    std::vector<TableColumns> asked;
    for (const auto& table : tables) asked.push_back(table.asked);
    if (named != QueryEngine::Auto) {
        if (has_room(named, asked)) return named;
        std::string rows;
        for (const auto& [table, columns] : asked) rows += (rows.empty() ? "" : " and ") + std::to_string(table.rows);
        throw InvalidArgument("QueryProcessor: the columns of " + rows + " rows take more GPU memory than " +
                              (options_.gpu_memory > 0
                                   ? "QueryOptions::gpu_memory, " + std::to_string(options_.gpu_memory) + " bytes"
                                   : "is free") +
                              "; use Auto or Cpu");
    }
    if (!context_) return QueryEngine::Cpu;
    const bool doubles = detail::Access::of(*context_)->features.doubles;
    bool worth_it = false;
    for (const auto& [of, work] : tables) {
        if (work.linear_columns > (doubles ? max_linear_columns_on_gpu : 0)) return QueryEngine::Cpu;
        worth_it =
            worth_it || of.table.rows >= (work.ranks ? tuning.gpu_rank_rows : tuning.gpu_rows) ||
            std::ranges::any_of(of.columns, [&data = of.table](auto column) { return is_of_host(data, column); });
    }
    return worth_it && has_room(QueryEngine::Bitmap, asked) ? QueryEngine::Bitmap : QueryEngine::Cpu;
}

namespace {

// Rows of an object of the application, in the layout of memory.
void read_words(gl::Device& device, const ColumnData& column, std::size_t rows, std::span<std::byte> to) {
    sort::CallerKeys keys(device);
    HostColumn source(device, keys, column, rows);
    pass::Target words;
    pass::ReadBack back;
    const auto bytes = static_cast<std::size_t>(key_bits(column.type)) / 8;
    for (std::size_t first = 0; first < rows; first += HostColumn::max_rows) {
        const auto count = std::min(HostColumn::max_rows, rows - first);
        back.request(device, source.draw(first, count, words));
        const auto memory = back.wait();
        if (!source.halves()) std::memcpy(to.data() + first * bytes, memory.data(), count * bytes);
        for (std::size_t i = 0; i < count && source.halves(); ++i) {
            std::uint32_t word = 0;
            std::memcpy(&word, memory.data() + i * sizeof word, sizeof word);
            const auto value = Half{static_cast<std::uint16_t>(word)}.value();
            std::memcpy(to.data() + (first + i) * sizeof value, &value, sizeof value);
        }
    }
}

void read_textures(gl::Device& device, const ColumnData& column, std::size_t rows, std::span<std::byte> to) {
    const auto bytes = static_cast<std::size_t>(key_bits(column.type)) / 8;
    for (const auto& source : textures_of(device, column, rows)) {
        if (source.first >= rows) break;
        const gl::PlainAccess access(device, source.texture);
        pass::ReadBack back;
        back.request(device, access.texture());
        const auto count = std::min(source.texels(), rows - source.first);
        std::memcpy(to.data() + source.first * bytes, back.wait().data(), count * bytes);
    }
}

std::shared_ptr<const ColumnData> read(gl::Device& device, const ColumnData& column, std::size_t rows) {
    auto copy = std::make_shared<ColumnData>(column);
    const bool whole = std::holds_alternative<std::vector<std::uint32_t>>(std::get<HostObjects>(column.values).of);
    visit_column_type(column.type, [&]<class T>(const T* /*type*/) {
        std::vector<T> values(rows);
        const auto memory = std::as_writable_bytes(std::span(values));
        whole ? read_textures(device, column, rows, memory) : read_words(device, column, rows, memory);
        copy->values = std::move(values);
    });
    return copy;
}

}  // namespace

std::shared_ptr<const TableData> in_memory(const std::optional<Context>& context,
                                           const std::shared_ptr<const TableData>& table,
                                           std::span<const std::size_t> columns) {
    std::shared_ptr<TableData> copy;
    for (const auto column : columns) {
        if (!is_of_host(*table, column)) continue;
        if (!context)
            throw InvalidArgument("QueryProcessor: column '" + table->infos[column].name +
                                  "' is an object of OpenGL, which a processor without a context cannot read");
        if (!copy) copy = std::make_shared<TableData>(*table);
        copy->columns[column] = read(*detail::Access::of(*context), *table->columns[column], table->rows);
    }
    if (copy) return copy;
    return table;
}

}  // namespace quadmill::detail::query
