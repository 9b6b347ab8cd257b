#include "query/gpu/depth_engine.hpp"


#include "gl/device.hpp"

namespace quadmill::detail::query {

namespace {

std::vector<gl::Quad> quads_over(const Shape& shape) {
    const auto width = shape.words * static_cast<int>(Shape::rows_a_word);
    const auto full = static_cast<int>(shape.rows / static_cast<std::size_t>(width));
    const auto rest = static_cast<int>(shape.rows % static_cast<std::size_t>(width));
    std::vector<gl::Quad> quads;
    if (full > 0) quads.push_back(gl::rectangle(0, 0, width, full));
    if (rest > 0) quads.push_back(gl::rectangle(0, full, rest, full + 1));
    if (quads.empty()) quads.push_back(gl::rectangle(0, 0, 0, 0));
    return quads;
}

}  // namespace

DepthBuffers::DepthBuffers(gl::Device& device, const Shape& shape)
    : texture(device, gl::Format::Depth32fStencil8, shape.words * static_cast<int>(Shape::rows_a_word), shape.height),
      target(device, gl::Framebuffer::NoColor{}, texture),
      rows(device, quads_over(shape)) {}

std::size_t DepthEngine::buffer_bytes(std::size_t rows) {
    constexpr std::size_t a_pixel = 8;
    return rows * a_pixel;
}

std::shared_ptr<DepthBuffers> DepthEngine::buffers(const std::shared_ptr<Pool>& pool) {
    std::erase_if(buffers_, [](const auto& entry) { return entry.second.pool.expired(); });
    auto& [of, buffers] = buffers_[pool->shape.rows];
    if (!buffers) buffers = std::make_shared<DepthBuffers>(tables_.device(), pool->shape);
    of = pool;
    return buffers;
}

std::shared_ptr<Columns> DepthEngine::open(const std::shared_ptr<const TableData>& table,
                                           std::span<const std::size_t> columns) {
    return tables_.open(*table, max_rows_, [&](const RowPart& part, const std::shared_ptr<Pool>& pool) {
        auto opened = std::make_shared<DepthColumns>(*this, pool, buffers(pool));
        opened->add(*table, part, columns);
        return opened;
    });
}

std::size_t DepthEngine::buffer_bytes(const std::set<std::size_t>& sizes) const {
    std::size_t bytes = 0;
    for (const auto rows : sizes) bytes += buffers_.contains(rows) ? 0 : buffer_bytes(rows);
    return bytes;
}

std::size_t DepthEngine::bytes(const std::vector<TableColumns>& tables) const {
    return GpuEngine::bytes(tables) + buffer_bytes(GpuTables::part_sizes(tables, max_rows_));
}

std::size_t DepthEngine::held() const {
    auto bytes = GpuEngine::held();
    for (const auto& [rows, kept] : buffers_) bytes += buffer_bytes(rows);
    return bytes;
}

bool DepthEngine::make_space(const std::vector<TableColumns>& tables, std::size_t limit) {
    if (held() + bytes(tables) <= limit) return true;
    const auto sizes = GpuTables::part_sizes(tables, max_rows_);
    std::erase_if(buffers_, [&](const auto& entry) {
        return !sizes.contains(entry.first) && entry.second.buffers.use_count() == 1;
    });
    const auto of_buffers = held() - tables_.held() + buffer_bytes(sizes);
    return of_buffers <= limit && GpuEngine::make_space(tables, limit - of_buffers);
}

}  // namespace quadmill::detail::query
