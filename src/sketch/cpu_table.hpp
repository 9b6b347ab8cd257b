// The counters on the CPU: the CPU engine, with which all others are compared in tests.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "cpu/workers.hpp"
#include "sketch/shape.hpp"

namespace quadmill::detail::sketch {

// Low counters of 8 bits, and high counters for the buckets that need them (QSketch, section IV-A). A counter is the
// sum of both, so it does not matter when its bucket got high counters.
class MultiLevel {
  public:
    static constexpr std::size_t bucket = 28;
    static constexpr std::uint32_t first_index = 1024;  // smaller ones are reserved; 0: no high counters
    static constexpr std::uint8_t limit = 128;          // max value of a low counter
    struct Low {
        std::array<std::uint8_t, bucket> counters{};
        std::uint32_t index = 0;
    };
    using High = std::array<std::uint64_t, bucket>;

    explicit MultiLevel(std::size_t buckets) : low_(buckets) {}
    [[nodiscard]] std::uint64_t get(std::size_t cell) const;
    void add(std::size_t cell, std::uint64_t weight, Sign sign);
    [[nodiscard]] std::size_t bytes() const { return low_.size() * sizeof(Low) + high_.size() * sizeof(High); }
    [[nodiscard]] std::span<const Low> low() const { return low_; }
    [[nodiscard]] std::span<const High> high() const { return high_; }

  private:
    std::vector<Low> low_;
    std::vector<High> high_;
};

class CpuTable {
  public:
    explicit CpuTable(const Shape& shape);

    // No counter exceeds n, the sum of all weights including this batch, or falls below 0. If memory runs out, nothing
    // is added.
    void add(const Batch& batch, Sign sign, std::uint64_t n, cpu::Workers& workers);
    // The estimates of the keys.
    void query(const Batch& batch, std::span<SketchCount> counts, cpu::Workers& workers) const;
    void merge(const CpuTable& other, std::uint64_t n, cpu::Workers& workers);

    [[nodiscard]] std::uint64_t get(std::size_t cell) const;
    // The sum of all counters, modulo 2^64.
    [[nodiscard]] std::uint64_t sum() const;
    // Copies the counters of cells [first, first + to.size()), for Sf from the slim table. Pre: all fit into 32 bits.
    void copy_seen(std::size_t first, std::span<std::uint32_t> to) const;
    // Adds these to the cells from `first` on, or subtracts them, but not below 0. Pre: no counter exceeds the n given
    // to reserve().
    void add_cells(std::size_t first, std::span<const std::uint32_t> counters, Sign sign = Sign::Plus);
    void add_cells(std::size_t first, std::span<const std::uint64_t> counters);
    // Makes counters wide enough for a total weight of n.
    void reserve(std::uint64_t n);
    [[nodiscard]] std::size_t bytes() const;
    // Pre: the kind is Msws.
    [[nodiscard]] const MultiLevel& multi_level() const { return std::get<MultiLevel>(counters_); }

  private:
    template <class Counter>
    void add_all(std::size_t first, std::span<const Counter> counters, Sign sign);
    [[nodiscard]] std::uint64_t seen(std::size_t cell) const;

    const Shape* shape_;
    std::variant<std::vector<std::uint32_t>, std::vector<std::uint64_t>, MultiLevel> counters_;
};

}  // namespace quadmill::detail::sketch
