// The bytes of a saved sketch: docs/sketch-format.md.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "quadmill/sketch.hpp"
#include "sketch/cpu_table.hpp"

namespace quadmill::detail::sketch {

[[nodiscard]] int words_of(SketchKeys keys);

[[nodiscard]] std::vector<std::byte> save(const SavedSketch& head, const Shape& shape, const CpuTable& table);

// Checks all of the bytes. Counters may have any value. Messages begin with `function`.
[[nodiscard]] SavedSketch read_head(const char* function, std::span<const std::byte> bytes);
// Pre: the shape matches the head, and the table is empty.
void load(std::span<const std::byte> bytes, const SavedSketch& head, const Shape& shape, CpuTable& table);

}  // namespace quadmill::detail::sketch
