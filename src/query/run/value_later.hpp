// An aggregate that the CPU reads after the GPU has finished it.
#pragma once

#include <memory>

#include "query/gpu/bitmap_columns.hpp"
#include "query/run/measures.hpp"

namespace quadmill::detail::query {

class ValueLater {
  public:
    virtual ~ValueLater() = default;
    // Whether value() would return without waiting.
    [[nodiscard]] virtual bool ready() = 0;
    [[nodiscard]] virtual Value value() = 0;
};

[[nodiscard]] std::unique_ptr<ValueLater> value_now(Value value);
// Requests the measured values without waiting. Pre: a session is open.
[[nodiscard]] std::unique_ptr<ValueLater> read_later(gl::Device& device, const GpuMeasure& measured,
                                                     const Wanted& wanted, const Tables& tables);

}  // namespace quadmill::detail::query
