// The counters of Msws on the GPU, in two levels like MultiLevel. High counters count modulo 2^32.
#pragma once

#include <cstdint>
#include <vector>

#include "gl/device.hpp"
#include "pass/programs.hpp"
#include "pass/target.hpp"
#include "pass/transfer.hpp"
#include "sketch/cpu_table.hpp"
#include "sketch/word_texels.hpp"

namespace quadmill::detail::sketch {

// Pre of every call: a session is open.
class DeviceLevels {
  public:
    DeviceLevels(gl::Device& device, cpu::Workers& workers, const Shape& shape);

    // Adds the blended counters to the table, or subtracts them. Waits for the GPU, which reports how many buckets want
    // high counters. The CPU assigns indices to those.
    void carry(const gl::Texture& pending, const Grid& pending_grid, Sign sign);
    void load(const MultiLevel& from);
    // Adds all counters to those of `to`.
    void add_to(CpuTable& to);

    // Two texels per bucket: counters of 8 bits, and the index of the high counters.
    [[nodiscard]] const gl::Texture& low() const { return low_.now.texture; }
    // Seven texels per bucket, in rows of 2^high_log2.
    [[nodiscard]] const gl::Texture& high() const { return high_.texture; }
    static constexpr int high_log2 = 13;
    [[nodiscard]] std::size_t bytes() const;

  private:
    void give_indices();
    void send_owners();
    [[nodiscard]] std::size_t high_texels() const { return owners_.size() * (MultiLevel::bucket / 4); }

    gl::Device& device_;
    cpu::Workers& workers_;
    std::size_t buckets_;
    Grid low_grid_;
    pass::PingPong low_;
    pass::Target high_, next_high_;      // next_high_ is made when the GPU first changes high counters
    std::vector<std::uint32_t> owners_;  // the low bucket of each high one
    gl::Texture owners_texture_;
    pass::Programs programs_;
    gl::Query wanted_;
    pass::Uploader uploader_;
    pass::ReadBack read_back_, high_back_;
};

}  // namespace quadmill::detail::sketch
