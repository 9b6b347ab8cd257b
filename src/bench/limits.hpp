// The limits of this machine's graphics pipeline, with which engines are compared.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quadmill/context.hpp"

namespace quadmill::detail::bench {

struct Limit {
    std::string name;  // "write RGBA32F", ...
    double value;      // median
    double low, high;  // min and max of the repetitions
    std::string unit;
};

struct LimitsRequest {
    int side = 2048;  // side length of the square textures
    int repeat = 7;
};

// Measures every limit on the context's device.
[[nodiscard]] std::vector<Limit> measure_limits(Context& context, const LimitsRequest& request);

// Only "depth test and occlusion count".
[[nodiscard]] Limit depth_limit(Context& context);

// The limit for inserts into sketches: "scatter points, adding to R32F" and the same to RGBA32F.
[[nodiscard]] std::vector<Limit> sketch_limits(Context& context);
// The limit for queries: keys per second, if each reads one texel in order and `fetches` random texels of a table with
// `texels` texels of four words, and writes a word.
[[nodiscard]] Limit gather_limit(Context& context, std::uint64_t texels, int fetches);
// The clock of busy shader units in GHz; nothing if shaders cannot read it.
[[nodiscard]] std::optional<Limit> clock_rate(const Context& context);
// Only "fetch RGBA32F".
[[nodiscard]] Limit fetch_limit(Context& context);

// Rates at which passes can write or blend. Each is measured on first use.
class FillLimits {
  public:
    explicit FillLimits(Context context) : context_(std::move(context)) {}
    // In Gtexel/s, for a texture format as named in PassEvent.
    [[nodiscard]] double rate(std::string_view format, PassEvent::Write write);
    // Min milliseconds for writing that many texels.
    [[nodiscard]] double min_ms(std::uint64_t texels, std::string_view format, PassEvent::Write write) {
        return static_cast<double>(texels) * 1e-6 / rate(format, write);
    }
    [[nodiscard]] const std::vector<Limit>& measured() const { return measured_; }

  private:
    Context context_;
    std::vector<Limit> measured_;
};

}  // namespace quadmill::detail::bench
