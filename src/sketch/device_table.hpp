// The counters on the GPU: inserts by blending points or by sorting, queries with texture reads.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "gl/device.hpp"
#include "gl/pass.hpp"
#include "pass/programs.hpp"
#include "pass/target.hpp"
#include "pass/transfer.hpp"
#include "sketch/cpu_table.hpp"
#include "sketch/device_levels.hpp"
#include "sketch/run_counter.hpp"
#include "sketch/shape.hpp"

namespace quadmill::detail::sketch {

// The layout of keys in textures, and whether they are floats, whose bits shaders must normalize.
struct KeyTexels {
    gl::Format format = gl::Format::R32ui;
    bool floats = false;
};

// Keys, and their weights if there are any, in textures.
struct KeyTextures {
    const gl::Texture* keys = nullptr;
    const gl::Texture* weights = nullptr;
    std::size_t first = 0, count = 0;
    std::uint64_t weight = 0;  // total weight; without weights, the number of keys
};

// The table holds counters of 32 bits in integer texels, four per texel. Integers cannot be blended, so points are
// blended into a table of floats, `pending`. It is carried over to the integers before any of its counters can exceed
// what a float holds exactly. For Sf this is the slim table, which the CPU makes. Pre of every call: a session is open;
// no counter exceeds 2^32 - 1.
class DeviceTable {
  public:
    // The reason why the GPU cannot hold such a table, or an engine cannot fill it. Nothing if it can.
    [[nodiscard]] static std::optional<std::string> refusal(const gl::Device& device, const Shape& shape,
                                                            SketchEngine engine);

    DeviceTable(gl::Device& device, cpu::Workers& workers, const Shape& shape, KeyTexels texels);

    // Adds keys. Keys with weights, which are at most 2^24 each, are always added with BlendCounters.
    void add(const Batch& batch, Sign sign, SketchEngine engine);
    // Adds keys [0, count) of a texture.
    void add(const gl::Texture& keys, std::size_t count, Sign sign, SketchEngine engine);
    // Adds a whole table. Not for Msws.
    void add(DeviceTable& other);
    void load(const CpuTable& from);
    void add_to(CpuTable& to);
    // Sort if it is faster for that many keys; otherwise the given form.
    [[nodiscard]] SketchEngine quicker(SketchEngine than, std::size_t keys) const;
    // Carries over all blended counters to the table.
    void carry();
    [[nodiscard]] bool is_carried() const { return !pending_ || pending_->weight == 0; }

    void query(const Batch& batch, std::span<SketchCount> counts);
    // The estimates of keys [0, count), in rows of the target's width.
    void query(const gl::Texture& keys, std::size_t count, const gl::Framebuffer& estimates);

    [[nodiscard]] std::size_t bytes() const;
    // Whether the last packed batch overflowed and was added in another way.
    [[nodiscard]] bool packed_ran_over() const { return skip_packed_ > 0; }

    // Max keys per batch. Tests make it small.
    [[nodiscard]] std::size_t& slice_keys() { return slice_keys_; }
    // The tools of SketchEngine::Sort.
    RunCounter& runs();

    static constexpr std::uint64_t exact = std::uint64_t{1} << 24U;  // floats represent all integers up to it
    static constexpr std::uint64_t packed_exact = (1U << 12U) - 1;   // likewise for two counters in a float

  private:
    // Counters that were blended, or counted in halves by Sort, and are not in the table yet.
    struct Pending {
        SketchEngine form;
        Grid grid;
        pass::Target target;
        Sign sign = Sign::Plus;
        std::uint64_t weight = 0;  // max value of a counter
        pass::Target spare{};      // for Sort, from the second batch on
    };
    // Keys in flight to the GPU.
    struct Lane {
        pass::Uploader keys_uploader, weights_uploader;
        gl::Texture keys, weights;
    };
    enum class Checked { Right, RanOver };

    [[nodiscard]] std::string key_prelude(bool weighted) const;
    [[nodiscard]] gl::Uniforms key_uniforms(const gl::Texture& keys, std::size_t first) const;
    [[nodiscard]] gl::Uniforms table_uniforms() const;
    KeyTextures upload(const Batch& batch, std::size_t first, std::size_t count);
    void add_slice(const KeyTextures& keys, Sign sign, SketchEngine engine);
    void add_slices(const KeyTextures& keys, Sign sign, SketchEngine engine);
    [[nodiscard]] std::size_t next_slice(const Batch& batch, std::size_t first) const;
    Pending& make_pending(SketchEngine form);     // its content is undefined
    Pending& cleared_pending(SketchEngine form);  // the existing one, or a new one that is cleared
    void blend(const KeyTextures& keys, Sign sign, SketchEngine form);
    void blend_packed(const KeyTextures& keys, Sign sign);
    void draw_points(const KeyTextures& keys, const Pending& onto);
    [[nodiscard]] Checked check(const Pending& packed, std::uint64_t increments);
    void sort(const KeyTextures& keys, Sign sign);
    bool load_halves(const CpuTable& from);
    bool sort_in_halves(bool there_are, const KeyTextures& keys, Sign sign);
    void send_masks();
    void carry_to_table();
    // Draws a new table from the old one.
    void renew(gl::Pass pass);

    gl::Device& device_;
    cpu::Workers& workers_;
    const Shape& shape_;
    KeyTexels texels_;
    std::string hash_prelude_;
    pass::Programs programs_;
    gl::Points points_;
    gl::Texture positions_, masks_;  // for each mask: the positions of its bits, and the bits themselves
    Grid grid_;
    pass::Target table_, next_;           // next_ is made when the GPU first changes the table
    bool is_empty_ = true;                // whether the table is empty; blended counters are separate
    std::optional<DeviceLevels> levels_;  // used by Msws instead of the table
    std::optional<Pending> pending_;
    std::array<Lane, 2> lanes_;
    std::size_t lane_ = 0;
    std::optional<RunCounter> runs_;
    pass::Target estimates_;
    struct {
        int width = 0;
        std::size_t count = 0;
        gl::QuadList quads{};
    } asked_;                           // of the last query
    std::array<pass::Target, 4> sums_;  // for check(); each is a 16th as wide and high as the previous one
    pass::ReadBack read_back_;
    std::size_t slice_keys_;
    // If a batch overflows, it has a few keys that occur often, which is cheap for Sort.
    SketchEngine instead_of_packed_;
    int skip_packed_ = 0;  // number of batches to skip, after one overflowed
};

}  // namespace quadmill::detail::sketch
