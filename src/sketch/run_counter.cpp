#include "sketch/run_counter.hpp"

#include <utility>

#include "sketch_shaders.hpp"

namespace quadmill::detail::sketch {

namespace {

// Units (as log2) whose positions are compared together, and whose starts are searched together.
constexpr int inner_log2 = 2, outer_log2 = 9;

}  // namespace

RunCounter::Starts::Starts(gl::Device& device, int units, int group_log2)
    : log2(group_log2),
      grid(Grid::of((static_cast<std::size_t>(units) >> static_cast<unsigned>(group_log2)) + 2)),
      positions(device, gl::Format::R32ui, grid.width(), grid.height) {}

RunCounter::RunCounter(gl::Device& device, cpu::Workers& workers, const Shape& shape, std::string hash_prelude,
                       const gl::Texture& masks)
    : device_(device),
      shape_(shape),
      hash_prelude_(std::move(hash_prelude)),
      masks_(masks),
      programs_(device),
      merge_(device, workers),
      outer_starts_(device, units(), outer_log2),
      starts_(device, units(), inner_log2),
      samples_(device, gl::Query::Kind::Samples),
      ranked_from_(std::uint32_t{1} << (shape.bucket() == 8 ? 24U : 22U)) {}

// Number of buckets, or for rows, of groups of four counters.
int RunCounter::units() const {
    return static_cast<int>(shape_.bucket() == 0 ? (shape_.cells() + 3) / 4 : shape_.columns());
}

// codes.glsl with its constants; it needs hash.glsl before it.
std::string RunCounter::codes_prelude() const {
    std::string text;
    if (const auto columns = shape_.columns(); shape_.bucket() != 0 && columns > ranked_from_) {
        const auto hashes = std::uint64_t{1} << 32U;
        text += "#define RANKED\n#define QUOTIENTS " + std::to_string(hashes / columns) + "u\n#define LONGER " +
                std::to_string(hashes % columns) + "u\n";
    }
    return text + shaders::sketch_codes_glsl;
}

void RunCounter::sort(const Batch& batch) {
    const auto positions = batch.count * (shape_.bucket() == 0 ? static_cast<std::size_t>(shape_.depth()) : 1);
    positions_ = static_cast<int>(positions);
    const auto prelude = hash_prelude_ + batch.key_prelude + codes_prelude();
    const auto sorted = merge_.sort_drawn(
        {KeyType::U32, Order::Ascending, false}, positions, [&](const pass::Target& on, std::size_t rows) {
            const auto width = on.texture.width();
            const gl::QuadList quads(device_, {gl::rectangle(0, 0, width, static_cast<int>(rows))});
            auto uniforms = batch.key_uniforms;
            uniforms.set("count", positions_).set("target_width", width);
            draw(device_, {.name = "places of keys",
                           .program = &programs_.get("sketch/codes.frag", shaders::sketch_codes_frag, prelude),
                           .inputs = {&batch.keys, nullptr, &masks_},
                           .uniforms = std::move(uniforms),
                           .target = &on.framebuffer,
                           .quads = &quads});
        });
    put_in_order(sorted);
    find(outer_starts_, nullptr);
    find(starts_, &outer_starts_);
}

void RunCounter::put_in_order(const sort::MergeSort::SortedKeys& sorted) {
    codes_grid_ = Grid::of((static_cast<std::size_t>(positions_) + 3) / 4);
    if (!codes_.is(gl::Format::Rgba32ui, codes_grid_.width(), codes_grid_.height))
        codes_ = pass::Target(device_, gl::Format::Rgba32ui, codes_grid_.width(), codes_grid_.height);
    auto uniforms = sorted.uniforms;
    uniforms.set("count", positions_).set("codes_log2", codes_grid_.width_log2);
    pass::fill(device_, "places in order",
               programs_.get("sketch/codes_in_order.frag", shaders::sketch_codes_in_order_frag, sorted.prelude), codes_,
               {sorted.keys}, std::move(uniforms));
}

void RunCounter::find(const Starts& starts, const Starts* outer) {
    gl::Uniforms uniforms{{"codes_log2", codes_grid_.width_log2},
                          {"count", positions_},
                          {"units", units()},
                          {"group_log2", starts.log2},
                          {"starts_log2", starts.grid.width_log2}};
    if (outer) uniforms.set("outer_log2", outer->log2).set("outer_starts_log2", outer->grid.width_log2);
    const auto prelude =
        std::string(outer ? "#define WITHIN\n" : "") + hash_prelude_ + codes_prelude() + shaders::sketch_runs_glsl;
    pass::fill(device_, "starts of groups",
               programs_.get("sketch/group_starts.frag", shaders::sketch_group_starts_frag, prelude), starts.positions,
               {&codes_.texture, nullptr, &masks_, outer ? &outer->positions.texture : nullptr}, std::move(uniforms));
}

gl::Pass RunCounter::counting(const char* form, const Grid& grid, int texels) {
    const auto prelude = form + hash_prelude_ + codes_prelude() + shaders::sketch_runs_glsl;
    return {.name = "count runs",
            .program = &programs_.get("sketch/count_runs.frag", shaders::sketch_count_runs_frag, prelude),
            .inputs = {&codes_.texture, nullptr, &masks_, &starts_.positions.texture},
            .uniforms = {{"codes_log2", codes_grid_.width_log2},
                         {"table_texels", texels},
                         {"table_log2", grid.width_log2},
                         {"group_log2", starts_.log2},
                         {"starts_log2", starts_.grid.width_log2}}};
}

gl::Pass RunCounter::onto(const gl::Texture& table, const Grid& grid, int table_texels, Sign sign) {
    auto pass = counting("", grid, table_texels);
    pass.inputs[1] = &table;
    pass.uniforms.set("removes", sign == Sign::Minus ? 1 : 0);
    return pass;
}

bool RunCounter::count_halves(const pass::Target& halves, const Grid& grid, const gl::Texture* from, Sign sign) {
    auto pass = counting(from ? "#define HALVES\n#define ONTO\n" : "#define HALVES\n", grid, units());
    pass.inputs[1] = from;
    if (from) pass.uniforms.set("removes", sign == Sign::Minus ? 1 : 0);
    pass.target = &halves.framebuffer;
    pass.quads = &halves.whole;
    pass.count_samples = &samples_;
    draw(device_, pass);
    return samples_.result() == static_cast<std::uint64_t>(grid.width()) * static_cast<std::uint64_t>(grid.height);
}

}  // namespace quadmill::detail::sketch
