#include "query/run/engines.hpp"

#include <cstring>
#include <utility>

#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "pass/transfer.hpp"
#include "quadmill/error.hpp"
#include "query/cpu/cpu_engine.hpp"
#include "query/gpu/bitmap_engine.hpp"
#include "query/gpu/depth_engine.hpp"
#include "query/table/key.hpp"

namespace quadmill::detail::query {

namespace {

std::unique_ptr<Engine> make_on_gpu(QueryEngine which, gl::Device& device, unsigned threads) {
    if (which == QueryEngine::Depth) return std::make_unique<DepthEngine>(device, threads);
    return std::make_unique<BitmapEngine>(device, threads);
}

bool is_texture(const TableData& table, std::size_t column) {
    return std::holds_alternative<HostTextures>(table.columns[column]->values);
}

}  // namespace

Engines::Engines(std::optional<Context> context, const QueryOptions& options)
    : context_(std::move(context)), options_(options) {
    const auto which = options.engine;
    if (which == QueryEngine::Auto || which == QueryEngine::Cpu) return;
    if (!context_) throw InvalidArgument("QueryProcessor: without a context, engine must be Auto or Cpu");
    const gl::Scope scope(*detail::Access::of(*context_), "QueryProcessor");
    static_cast<void>(get(which));
    scope.check();
}

Engine& Engines::get(QueryEngine which) {
    auto& engine = which == QueryEngine::Depth ? depth_ : which == QueryEngine::Bitmap ? bitmap_ : cpu_;
    if (!engine) {
        engine = which == QueryEngine::Cpu ? std::make_unique<CpuEngine>(options_.threads)
                                           : make_on_gpu(which, *detail::Access::of(*context_), options_.threads);
    }
    return *engine;
}

bool Engines::has_room(QueryEngine which, const TableData& table, std::span<const std::size_t> columns) {
    auto& engine = get(which);
    if (options_.gpu_memory > 0) return engine.make_room(table, columns, options_.gpu_memory);
    constexpr std::size_t worth_asking = std::size_t{1} << 26U;
    if (engine.bytes(table, columns) < worth_asking) return true;
    const auto free = gl::free_bytes(*detail::Access::of(*context_));
    return !free || engine.make_room(table, columns, engine.held() + *free);
}

QueryEngine Engines::choose(const TableData& table, std::span<const std::size_t> columns, std::size_t linear_columns,
                            const Tuning& tuning) {
    const auto asked = options_.engine;
    if (asked == QueryEngine::Cpu) return asked;
    if (asked != QueryEngine::Auto) {
        if (has_room(asked, table, columns)) return asked;
        throw InvalidArgument(
            "QueryProcessor: the columns of " + std::to_string(table.rows) + " rows take more GPU memory than " +
            (options_.gpu_memory > 0 ? "QueryOptions::gpu_memory, " + std::to_string(options_.gpu_memory) + " bytes"
                                     : "is free") +
            "; use Auto or Cpu");
    }
    if (!context_) return QueryEngine::Cpu;
    const bool textures = std::any_of(columns.begin(), columns.end(), [&](auto c) { return is_texture(table, c); });
    const bool large = table.rows >= tuning.gpu_rows && !context_->info().software;
    const auto which = QueryEngine::Bitmap;
    const bool gpu = (textures || large) && linear_columns <= most_linear_columns_on_gpu;
    return gpu && has_room(which, table, columns) ? which : QueryEngine::Cpu;
}

namespace {

std::shared_ptr<const ColumnData> read(gl::Device& device, const ColumnData& column, std::size_t rows) {
    auto copy = std::make_shared<ColumnData>(column);
    visit_type(column.type, [&]<class T>(const T* /*type*/) {
        std::vector<T> values(rows);
        for (const auto& source : textures_of(device, column, rows)) {
            if (source.first >= rows) break;
            const gl::PlainAccess access(device, source.texture);
            pass::ReadBack back;
            back.request(device, access.texture());
            const auto memory = back.wait();
            const auto count = std::min(source.texels(), rows - source.first);
            std::memcpy(values.data() + source.first, memory.data(), count * sizeof(T));
        }
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
        if (!is_texture(*table, column)) continue;
        if (!context)
            throw InvalidArgument("QueryProcessor: column '" + table->infos[column].name +
                                  "' is a texture, which a processor without a context cannot read");
        if (!copy) copy = std::make_shared<TableData>(*table);
        copy->columns[column] = read(*detail::Access::of(*context), *table->columns[column], table->rows);
    }
    if (copy) return copy;
    return table;
}

}  // namespace quadmill::detail::query
