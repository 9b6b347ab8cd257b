#include "query/engines.hpp"

#include <cstring>
#include <utility>

#include "array/transfer.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "quadmill/error.hpp"
#include "query/cpu_engine.hpp"
#include "query/key.hpp"

namespace quadmill::detail::query {

namespace {

// Engines of the GPU that there are; Auto takes the first.
constexpr std::array<QueryEngine, 0> on_gpu{};

std::unique_ptr<Engine> make_on_gpu(QueryEngine which, gl::Device& /*device*/) {
    throw InvalidArgument(std::string("QueryProcessor: QueryEngine::") +
                          (which == QueryEngine::Depth ? "Depth" : "Bitmap") + " is not there yet");
}

bool is_texture(const TableData& table, std::size_t column) {
    return std::holds_alternative<HostTexture>(table.columns[column]->values);
}

}  // namespace

Engines::Engines(std::optional<Context> context, const QueryOptions& options)
    : context_(std::move(context)), options_(options) {
    const auto which = options.engine;
    if (which == QueryEngine::Auto || which == QueryEngine::Cpu) return;
    if (!context_) throw InvalidArgument("QueryProcessor: without a context, engine must be Auto or Cpu");
    const gl::Scope scope(*context_->device(), "QueryProcessor");
    static_cast<void>(get(which));
    scope.check();
}

Engine& Engines::get(QueryEngine which) {
    auto& engine = which == QueryEngine::Depth ? depth_ : which == QueryEngine::Bitmap ? bitmap_ : cpu_;
    if (!engine) {
        engine = which == QueryEngine::Cpu ? std::make_unique<CpuEngine>(options_.threads)
                                           : make_on_gpu(which, *context_->device());
    }
    return *engine;
}

bool Engines::has_room(QueryEngine which, const TableData& table, std::span<const std::size_t> columns) {
    constexpr std::size_t worth_asking = std::size_t{1} << 26U;
    const auto needed = get(which).bytes(table, columns);
    if (options_.gpu_memory > 0) return needed <= options_.gpu_memory;
    if (needed < worth_asking) return true;
    const auto free = gl::free_bytes(*context_->device());
    return !free || needed <= *free;
}

QueryEngine Engines::choose(const TableData& table, std::span<const std::size_t> columns, const Tuning& tuning) {
    const auto asked = options_.engine;
    if (asked == QueryEngine::Cpu) return asked;
    if (asked != QueryEngine::Auto) {
        if (has_room(asked, table, columns)) return asked;
        throw InvalidArgument("QueryProcessor: the columns take " + std::to_string(get(asked).bytes(table, columns)) +
                              " bytes of GPU memory, more than is free (QueryOptions::gpu_memory); use Auto or Cpu");
    }
    if (!context_ || on_gpu.empty()) return QueryEngine::Cpu;
    const bool textures = std::any_of(columns.begin(), columns.end(), [&](auto c) { return is_texture(table, c); });
    const bool large = table.rows >= tuning.gpu_rows && !context_->info().software;
    const auto which = *on_gpu.begin();
    return (textures || large) && has_room(which, table, columns) ? which : QueryEngine::Cpu;
}

namespace {

std::shared_ptr<const ColumnData> read(gl::Device& device, const ColumnData& column, std::size_t rows) {
    const auto& from = std::get<HostTexture>(column.values);
    const auto format = from.type == ColumnType::F32   ? gl::Format::R32f
                        : from.type == ColumnType::I32 ? gl::Format::R32i
                                                       : gl::Format::R32ui;
    const auto texture =
        gl::host_texture(device, from.id, {format}, "QueryProcessor", "the texture of column '" + column.name + "'");
    const auto texels = static_cast<std::size_t>(texture.width()) * static_cast<std::size_t>(texture.height());
    if (texels < rows)
        throw InvalidArgument("QueryProcessor: the texture of column '" + column.name + "' has " +
                              std::to_string(texels) + " texels, fewer than the table's " + std::to_string(rows) +
                              " rows");
    auto copy = std::make_shared<ColumnData>(column);
    const gl::LevelZeroAccess access(device, texture);
    array::ReadBack back;
    back.request(device, texture);
    const auto memory = back.wait();
    visit_type(from.type, [&]<class T>(const T* /*type*/) {
        std::vector<T> values(rows);
        if (rows > 0) std::memcpy(values.data(), memory.data(), rows * sizeof(T));
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
        copy->columns[column] = read(*context->device(), *table->columns[column], table->rows);
    }
    if (copy) return copy;
    return table;
}

}  // namespace quadmill::detail::query
