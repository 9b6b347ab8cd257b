// The indexes of tables, found by the data of their columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "query/index/cell_index.hpp"

namespace quadmill::detail::query {

class Indexes final : public RowIndexes {
  public:
    // The indexes of an engine's tables; made when they are first asked for. `overhead` is
    // QueryOptions::index_overhead.
    [[nodiscard]] static Indexes& of(GpuTables& tables, std::optional<std::uint64_t> overhead = {});
    explicit Indexes(std::uint64_t overhead) : overhead_(overhead) {}
    // Indexes these columns, unless that is done. Pre: as for CellIndex; the table is not in parts.
    void add(BitmapColumns& columns, std::span<const std::size_t> on);
    // An indexed column that the condition does not name must be without NULLs, also in the calls below.
    [[nodiscard]] Counting count_later(const Clauses& clauses, const BitmapColumns& columns) override;
    [[nodiscard]] std::shared_ptr<BitmapColumns> near(const Clauses& clauses, BitmapColumns& columns) override;
    [[nodiscard]] std::optional<IndexUse> use(IndexUse::Does does, const Clauses& clauses,
                                              const BitmapColumns& columns) const override;
    [[nodiscard]] std::size_t bytes() const override;
    void forget_dead() override;

  private:
    struct Known {
        std::vector<std::weak_ptr<const ColumnData>> of;
        std::size_t rows;
        CellIndex index;
        [[nodiscard]] bool dead() const;
    };
    // An index and the ranges of its columns.
    struct Fit {
        Known* known = nullptr;
        std::vector<KeyRange> ranges{};
        std::uint64_t rows = 0;  // that are read
    };
    [[nodiscard]] std::optional<Fit> fit(IndexUse::Does does, const Clauses& clauses,
                                         const BitmapColumns& columns) const;
    std::uint64_t overhead_;  // in rows
    std::vector<std::unique_ptr<Known>> all_;
};

}  // namespace quadmill::detail::query
