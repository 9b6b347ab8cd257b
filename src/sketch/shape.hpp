// What defines a sketch, independent of where its counters are: their number, and which of them a key has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "quadmill/sketch.hpp"

namespace quadmill::detail::sketch {

// The largest value of a 32-bit counter.
inline constexpr std::uint64_t max_32 = 0xffffffffU;

[[noreturn]] void refuse(const char* function, const std::string& rule);

inline constexpr int max_depth = 16;

// A key as the two words that are hashed. Keys of 32 bits only have a low word.
struct Key {
    std::uint32_t low = 0, high = 0;
    bool operator==(const Key&) const = default;
};
[[nodiscard]] Key key_of(std::uint32_t value);
[[nodiscard]] Key key_of(std::uint64_t value);
[[nodiscard]] Key key_of(float value);
[[nodiscard]] Key key_of(std::string_view bytes);

// The key mixed by a bijection, so that keys with a pattern are hashed like random ones.
[[nodiscard]] Key mixed(Key key, int words);

// A hash function of the strongly universal family of Dietzfelbinger: the high word of
// (factors[0] * low + factors[1] * high + offset) mod 2^64.
struct HashFunction {
    std::array<std::uint64_t, 2> factors;
    std::uint64_t offset;
    [[nodiscard]] std::uint32_t operator()(Key key) const {
        return static_cast<std::uint32_t>((factors[0] * key.low + factors[1] * key.high + offset) >> 32U);
    }
};

// Positions in a bucket: those of the bits that are set in QSketch's hash mask.
using Positions = std::array<std::uint8_t, max_depth>;

class Shape {
  public:
    static constexpr std::uint32_t masks = 1024;  // the paper's H

    // Throws InvalidArgument; its message begins with `function`.
    Shape(const SketchOptions& options, int key_words, const char* function);

    [[nodiscard]] const SketchOptions& options() const { return options_; }
    [[nodiscard]] SketchKind kind() const { return options_.kind; }
    [[nodiscard]] int depth() const { return options_.depth; }
    [[nodiscard]] int key_words() const { return key_words_; }
    // Counters per bucket; for Sf, of the slim table. 0 if there are rows instead of buckets.
    [[nodiscard]] int bucket() const { return bucket_; }
    // Counters per row, or number of buckets. Odd, so that the 2^10 masks are not tied to certain buckets.
    [[nodiscard]] std::uint32_t columns() const { return columns_; }
    // Number of counters that a query reads; and of all counters. For Sf, each of the former is the max of fat() of the
    // latter.
    [[nodiscard]] std::size_t seen_cells() const;
    [[nodiscard]] std::size_t cells() const { return seen_cells() * static_cast<std::size_t>(fat()); }
    [[nodiscard]] int fat() const { return options_.kind == SketchKind::Sf ? options_.fat : 1; }
    // Whether two tables can be added.
    [[nodiscard]] bool same_as(const Shape& other) const;
    // The error that an estimate exceeds with a probability of at most e^-depth.
    [[nodiscard]] std::uint64_t error(std::uint64_t n) const;

    [[nodiscard]] std::span<const HashFunction> functions() const { return functions_; }
    [[nodiscard]] std::span<const Positions> mask_table() const { return mask_table_; }

    // Finds the cells of a key; for Sf the fat ones.
    void find(Key key, std::span<std::size_t> cells) const {
        const auto hashed = mixed(key, key_words_);
        if (bucket_ == 0) {
            for (std::size_t row = 0; row < cells.size(); ++row)
                cells[row] = row * columns_ + functions_[row](hashed) % columns_;
            return;
        }
        const auto hash = functions_[0](hashed);
        const auto first = static_cast<std::size_t>(hash % columns_) * static_cast<std::size_t>(bucket_);
        const auto& positions = mask_table_[hash % masks];
        for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = first + positions[i];
        if (const auto z = static_cast<std::uint32_t>(fat()); z > 1) {
            for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = cells[i] * z + functions_[i + 1](hashed) % z;
        }
    }

  private:
    SketchOptions options_;
    int key_words_, bucket_ = 0;
    std::uint32_t columns_ = 0;
    std::vector<HashFunction> functions_;  // one per row; or for bucket and mask, and for Sf one per fat counter
    std::vector<Positions> mask_table_;
};

// The keys of a call, in the caller's form.
struct Batch {
    std::size_t size = 0;
    void (*copy)(const void* keys, std::size_t first, std::span<Key> to) = nullptr;
    const void* keys = nullptr;
    std::span<const std::uint32_t> weights{};  // empty: each key counts once

    void get(std::size_t first, std::span<Key> to) const { copy(keys, first, to); }
    [[nodiscard]] std::uint32_t weight(std::size_t i) const { return weights.empty() ? 1 : weights[i]; }
    // The sum of the weights of keys [first, first + count).
    [[nodiscard]] std::uint64_t weight(std::size_t first, std::size_t count) const;
};

enum class Sign { Plus, Minus };

}  // namespace quadmill::detail::sketch
