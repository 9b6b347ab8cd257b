// A table that textures of one size cannot hold. It is cut into parts of consecutive rows, each a table of its own for
// the engine.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "query/plan/engine.hpp"

namespace quadmill::detail::query {

class PartedColumns final : public GpuColumns {
  public:
    struct Part {
        std::size_t rows;  // a multiple of 32 except for the last part
        std::shared_ptr<GpuColumns> columns;
    };
    explicit PartedColumns(std::vector<Part> parts) : parts_(std::move(parts)) {}

    [[nodiscard]] BitsPtr leaf(const Leaf& leaf) override;
    [[nodiscard]] BitsPtr combine(BoolOp op, const Bits& a, const Bits& b) override;
    [[nodiscard]] std::uint64_t count(const Bits& rows) override;
    [[nodiscard]] std::pair<Key, Key> extremes(std::size_t column, const Bits& rows) override;
    // The k-th key lies between the smallest and the largest of the parts' keys at the same rank fraction, which are
    // close together if the parts are similar. A bisection between them leaves fewer rows, and the search is repeated
    // among them.
    [[nodiscard]] Key kth(std::size_t column, std::uint64_t k, const Bits& rows) override;
    [[nodiscard]] Sum sum(std::size_t column, const Bits& rows) override;
    [[nodiscard]] std::vector<std::uint64_t> rows(const Bits& rows) override;
    [[nodiscard]] BitsPtr bits_of(std::span<const std::uint32_t> words) override;
    [[nodiscard]] std::vector<std::uint32_t> words(const Bits& rows) override;
    [[nodiscard]] BitsPtr conjunction(const Clauses& clauses) override;
    [[nodiscard]] Counting count_later(const Bits& rows) override;
    [[nodiscard]] Counting count_conjunction_later(const Clauses& clauses) override;
    void send_again(std::span<const std::size_t> columns) override;

  private:
    // Collects the bits that `make(columns, i)` returns for each part i.
    template <class Make>
    [[nodiscard]] BitsPtr each(Make&& make);
    // The sum of the counts that `count(columns, i)` returns for each part i.
    template <class Count>
    [[nodiscard]] Counting counting(const Count& count);
    // The parts with selected rows, and their number of rows.
    struct Used {
        std::size_t part;
        std::uint64_t count;
    };
    [[nodiscard]] std::vector<Used> used(const Bits& rows);
    [[nodiscard]] std::pair<Key, Key> around_kth(std::size_t column, std::uint64_t k, const Bits& rows);

    std::vector<Part> parts_;
};

}  // namespace quadmill::detail::query
