// Queries as loops on CPU threads over columns in memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "cpu/workers.hpp"
#include "query/plan/engine.hpp"

namespace quadmill::detail::query {

// Only one thread at a time may use the engine and the tables that it has opened.
class CpuEngine : public Engine {
  public:
    // 0 threads: as many as the machine has.
    explicit CpuEngine(unsigned threads = 0) : workers_(std::make_shared<cpu::Workers>(threads)) {}

    // Throws InvalidArgument if one of `columns` is a texture.
    [[nodiscard]] std::shared_ptr<Columns> open(const std::shared_ptr<const TableData>& table,
                                                std::span<const std::size_t> columns) override;
    [[nodiscard]] std::size_t bytes(const std::vector<TableColumns>& /*tables*/) const override { return 0; }
    [[nodiscard]] bool make_space(const std::vector<TableColumns>& /*tables*/, std::size_t /*limit*/) override {
        return true;
    }
    [[nodiscard]] std::size_t held() const override { return 0; }

  private:
    std::shared_ptr<cpu::Workers> workers_;
};

}  // namespace quadmill::detail::query
