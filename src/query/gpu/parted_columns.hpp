// A table that textures of one size cannot hold, in parts of consecutive rows, each a table of its own to the engine.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "query/plan/engine.hpp"

namespace quadmill::detail::query {

class PartedColumns final : public Columns {
  public:
    struct Part {
        std::size_t rows;  // except for the last part, a multiple of 32
        std::shared_ptr<Columns> columns;
    };
    explicit PartedColumns(std::vector<Part> parts) : parts_(std::move(parts)) {}

    [[nodiscard]] BitsPtr leaf(const Leaf& leaf) override;
    [[nodiscard]] BitsPtr combine(BoolOp op, const Bits& a, const Bits& b) override;
    [[nodiscard]] std::uint64_t count(const Bits& rows) override;
    [[nodiscard]] std::pair<Key, Key> extremes(std::size_t column, const Bits& rows) override;
    // It is between the smallest and the largest of the parts' keys at the same share of rows, which are close together
    // if the parts are similar; a bisection follows, then the same among the rest.
    [[nodiscard]] Key kth(std::size_t column, std::uint64_t k, const Bits& rows) override;
    [[nodiscard]] Sum sum(std::size_t column, const Bits& rows) override;
    [[nodiscard]] std::vector<std::uint64_t> rows(const Bits& rows) override;
    [[nodiscard]] BitsPtr bits_of(std::span<const std::uint32_t> words) override;
    [[nodiscard]] std::vector<std::uint32_t> words(const Bits& rows) override;
    [[nodiscard]] BitsPtr conjunction(const Clauses& clauses) override;
    [[nodiscard]] std::optional<std::uint64_t> count_conjunction(const Clauses& clauses) override;
    [[nodiscard]] std::unique_ptr<Counting> count_later(const Bits& rows) override;
    [[nodiscard]] std::unique_ptr<Counting> count_conjunction_later(const Clauses& clauses) override;
    void send_again(std::span<const std::size_t> columns) override;

  private:
    // Bits that `make(columns, i)` returns for part i; nullptr when it does.
    template <class Make>
    [[nodiscard]] BitsPtr each(Make&& make);
    // The parts of which some rows are selected, and how many.
    struct Used {
        std::size_t part;
        std::uint64_t count;
    };
    [[nodiscard]] std::vector<Used> used(const Bits& rows);
    [[nodiscard]] std::pair<Key, Key> around_kth(std::size_t column, std::uint64_t k, const Bits& rows);

    std::vector<Part> parts_;
};

}  // namespace quadmill::detail::query
