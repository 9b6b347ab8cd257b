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
    double value;      // the median
    double low, high;  // over the repetitions
    std::string unit;
};

struct LimitsRequest {
    int side = 2048;  // of the square textures
    int repeat = 7;
};

// Measures every limit on the context's device.
[[nodiscard]] std::vector<Limit> measure_limits(Context& context, const LimitsRequest& request);

// "depth test and occlusion count" alone.
[[nodiscard]] Limit depth_limit(Context& context);

// The limit of inserts into sketches: "scatter points, adding to R32F" and the same to RGBA32F.
[[nodiscard]] std::vector<Limit> sketch_limits(Context& context);
// The limit of queries: keys a second that each read a texel in order and that many random texels in a table of
// `texels` texels of four words, and write a word.
[[nodiscard]] Limit gather_limit(Context& context, std::uint64_t texels, int fetches);
// The clock of the busy shader units in GHz; none if shaders cannot read it.
[[nodiscard]] std::optional<Limit> clock_rate(const Context& context);
// "fetch RGBA32F" alone.
[[nodiscard]] Limit fetch_limit(Context& context);

// How fast passes can write or blend, measured when first asked for.
class FillLimits {
  public:
    explicit FillLimits(Context context) : context_(std::move(context)) {}
    // In Gtexel/s, of a texture format as PassEvent names it.
    [[nodiscard]] double rate(std::string_view format, PassEvent::Write write);
    // The min milliseconds for writing that many texels.
    [[nodiscard]] double least_ms(std::uint64_t texels, std::string_view format, PassEvent::Write write) {
        return static_cast<double>(texels) * 1e-6 / rate(format, write);
    }
    [[nodiscard]] const std::vector<Limit>& measured() const { return measured_; }

  private:
    Context context_;
    std::vector<Limit> measured_;
};

}  // namespace quadmill::detail::bench
