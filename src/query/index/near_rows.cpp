#include <algorithm>
#include <bit>
#include <utility>

#include "gl/device.hpp"
#include "query/gpu/bit_list.hpp"
#include "query/index/cell_index.hpp"
#include "query_shaders.hpp"

namespace quadmill::detail::query {

namespace {

class Gatherer {
  public:
    Gatherer(BitmapColumns& from, const CellIndex& index, std::span<const KeyRange> ranges)
        : from_(from), tables_(from.tables()), count_(index.rows_near(ranges)), pool_(tables_.pool(room(count_))) {
        list_ = pass::Target(tables_.device(), gl::Format::R32ui, list_width,
                             static_cast<int>(room(count_) / std::size_t{list_width}));
        index.list_near(ranges, list_);
    }

    [[nodiscard]] std::shared_ptr<BitmapColumns> operator()(std::span<const std::size_t> on) {
        auto to = std::make_shared<BitmapColumns>(tables_, pool_);
        for (const auto& [i, column] : from_.columns()) {
            const bool indexed = std::ranges::find(on, i) != on.end();
            to->add(i, copy(*column, indexed, *to));
        }
        to->number_rows(std::move(list_.texture));
        return to;
    }

  private:
    // Tables of few sizes, so that textures are reused.
    [[nodiscard]] static std::size_t room(std::size_t rows) {
        return std::bit_ceil(std::max<std::size_t>(rows, list_width));
    }

    [[nodiscard]] std::shared_ptr<GpuColumn> copy(const GpuColumn& of, bool indexed, BitmapColumns& to) {
        auto made = std::make_shared<GpuColumn>(pool_->keys);
        made->type = of.type;
        made->min = of.min;
        made->max = of.max;
        const auto width = pool_->shape.words * texels_a_word(of.type);
        auto spare = pool_->keys->take([&](const gl::Texture& texture) { return texture.width() == width; });
        made->keys =
            spare ? std::move(*spare) : gl::Texture(tables_.device(), gl::Format::Rgba32ui, width, pool_->shape.height);
        const gl::Framebuffer target(tables_.device(), made->keys);
        const gl::QuadList whole(tables_.device(), {gl::rectangle(0, 0, width, pool_->shape.height)});
        draw("gather keys", define("WIDE_X", wide(of.type)), of.keys, target, whole);
        const bool nulls = of.valid != from_.all();
        if (!nulls && !indexed) {
            made->valid = to.all();
        } else {
            const auto bits = to.make_bits();
            draw("gather bits", nulls ? "#define VALID\n#define NULLS\n" : "#define VALID\n",
                 BitmapColumns::texture(*of.valid), bits->target().framebuffer, bits->target().whole);
            made->valid = bits;
        }
        return made;
    }

    void draw(const char* name, const std::string& defines, const gl::Texture& from, const gl::Framebuffer& target,
              const gl::QuadList& whole) {
        const auto& program = tables_.programs().get(
            "query/index_gather.frag", shaders::query_index_gather_frag,
            defines + keys_prelude(ColumnType::U32, from_.shape().words) + shaders::query_selection_glsl);
        gl::draw(tables_.device(), {.name = name,
                                    .program = &program,
                                    .inputs = {&list_.texture, &from},
                                    .uniforms = {{"words", pool_->shape.words}, {"count", static_cast<int>(count_)}},
                                    .target = &target,
                                    .quads = &whole});
    }

    BitmapColumns& from_;
    GpuTables& tables_;
    std::size_t count_;
    std::shared_ptr<GpuTables::Pool> pool_;
    pass::Target list_;
};

}  // namespace

std::shared_ptr<BitmapColumns> near_rows(BitmapColumns& columns, const CellIndex& index,
                                         std::span<const std::size_t> on, std::span<const KeyRange> ranges) {
    return Gatherer(columns, index, ranges)(on);
}

}  // namespace quadmill::detail::query
