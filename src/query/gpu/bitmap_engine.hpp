// QueryEngine::Bitmap: columns as keys in textures, four or two rows a texel; a fragment program reads 32 rows and
// writes their bits, so a condition costs reading its columns once. Aggregates fold 128 rows a fragment, then 16 partial
// results, until one is left; nothing but that one is read back.
// Source: bitmaps as what goes from operator to operator: Tsakalozos, Tsangaris, Delis, MDS'09, section 3.2; reduction:
// 'Query Processing on GPUs'.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gl/pass.hpp"
#include "pass/programs.hpp"
#include "pass/target.hpp"
#include "pass/transfer.hpp"
#include "query/plan/engine.hpp"

namespace quadmill::detail::query {

// How rows lie in textures; keys.glsl draws it.
struct Shape {
    int words = 0, height = 0;  // of a selection
    std::size_t rows = 0;

    static constexpr std::size_t rows_a_word = 32;
    // Rows that fit into textures of that size, where a word takes so many texels of a line.
    static std::size_t most_rows(int max_texture_size, int texels_a_word);
    // Pre: at most most_rows().
    static Shape of(std::size_t rows, int max_texture_size);
    [[nodiscard]] std::size_t words_in_use() const { return (rows + rows_a_word - 1) / rows_a_word; }
    bool operator==(const Shape&) const = default;
};

// What was used and can be again; of more than `most`, the rest goes.
template <class T>
class Spare {
  public:
    explicit Spare(std::size_t most) { kept_.reserve(most); }
    void give(T&& one) noexcept {
        if (kept_.size() < kept_.capacity()) kept_.push_back(std::move(one));
    }
    // The first for which `fits` holds.
    template <class Fits>
    [[nodiscard]] std::optional<T> take(Fits&& fits) {
        const auto found = std::find_if(kept_.begin(), kept_.end(), fits);
        if (found == kept_.end()) return {};
        std::optional<T> one(std::move(*found));
        kept_.erase(found);
        return one;
    }
    [[nodiscard]] const std::vector<T>& kept() const { return kept_; }
    void clear() { kept_.clear(); }

  private:
    std::vector<T> kept_;
};

// A selection on the GPU; its texture is for others afterwards.
class GpuBits final : public Bits {
  public:
    GpuBits(pass::Target target, std::shared_ptr<Spare<pass::Target>> home)
        : target_(std::move(target)), home_(std::move(home)) {}
    ~GpuBits() override { home_->give(std::move(target_)); }
    [[nodiscard]] const pass::Target& target() const { return target_; }

  private:
    pass::Target target_;
    std::shared_ptr<Spare<pass::Target>> home_;
};

// Consecutive rows of a table; `first` is a multiple of 32.
struct RowPart {
    std::size_t first = 0, rows = 0;
};

// Of those rows; empty: all are valid.
[[nodiscard]] std::span<const std::uint32_t> valid_words(const ColumnData& column, const RowPart& part);

// The textures of the host that the column is, and the row that each begins with. Throws InvalidArgument when one is no
// such texture, or there are too few texels.
struct RowsTexture {
    gl::Texture texture;
    std::size_t first = 0;
    [[nodiscard]] std::size_t texels() const {
        return static_cast<std::size_t>(texture.width()) * static_cast<std::size_t>(texture.height());
    }
};
[[nodiscard]] std::vector<RowsTexture> textures_of(gl::Device& device, const ColumnData& column, std::size_t rows);

// A column's keys. Their texture is for others afterwards: drivers take long to find memory for a new one, on an H100
// seven times as long as the upload.
struct GpuColumn {
    explicit GpuColumn(std::shared_ptr<Spare<gl::Texture>> spare) : home(std::move(spare)) {}
    GpuColumn(const GpuColumn&) = delete;
    GpuColumn& operator=(const GpuColumn&) = delete;
    ~GpuColumn() { home->give(std::move(keys)); }

    std::shared_ptr<Spare<gl::Texture>> home;
    gl::Texture keys;
    ColumnType type = ColumnType::F32;
    std::uint64_t least = 0, most = 0;
    BitsPtr valid;  // the rows that have a value
};

// What goes before a program that reads keys of that type.
[[nodiscard]] std::string keys_prelude(ColumnType type, int words);
[[nodiscard]] gl::Uniform key_uniform(std::string name, ColumnType type, Key key);
inline constexpr std::size_t most_linear_columns_on_gpu = gl::texture_units - 1;

// The key of +inf; of integers, the largest one.
[[nodiscard]] Key most_number(ColumnType type);
// Keys of signed numbers are too large by half of their range, and so is a sum of n of them.
void remove_bias(Sum& sum, ColumnType type, std::uint64_t n);

struct DepthSurface;

class BitmapEngine : public Engine {
  public:
    // Tables of more rows than `most_rows`, or than textures hold, are worked on in parts.
    BitmapEngine(gl::Device& device, unsigned threads, std::size_t most_rows = ~std::size_t{0});
    [[nodiscard]] std::shared_ptr<Columns> open(const std::shared_ptr<const TableData>& table,
                                                std::span<const std::size_t> columns) final;
    [[nodiscard]] std::size_t bytes(const TableData& table, std::span<const std::size_t> columns) const override;
    [[nodiscard]] bool make_room(const TableData& table, std::span<const std::size_t> columns,
                                 std::size_t limit) override;
    [[nodiscard]] std::size_t held() const override;

  protected:
    friend class BitmapColumns;
    // `widest`: texels of a word in the widest texture that the engine makes.
    BitmapEngine(gl::Device& device, unsigned threads, std::size_t most_rows, int widest);
    [[nodiscard]] virtual std::shared_ptr<Columns> open_part(const TableData& table, const RowPart& part,
                                                             std::span<const std::size_t> columns);
    // Of one table size.
    struct Pool {
        Shape shape;
        std::shared_ptr<Spare<pass::Target>> bits = std::make_shared<Spare<pass::Target>>(16);
        std::shared_ptr<Spare<gl::Texture>> keys = std::make_shared<Spare<gl::Texture>>(4);
        std::map<int, std::vector<pass::Target>> partial{};  // by width of the first, all sizes down to one texel
        BitsPtr all{};                                       // every row
        std::shared_ptr<DepthSurface> surface{};             // of the depth engine
        std::uint64_t used = 0;                              // when, for the last time
    };
    [[nodiscard]] std::shared_ptr<Pool> pool(std::size_t rows);
    // Bytes of what does not count as a column: of the rows of a part.
    [[nodiscard]] virtual std::size_t pool_bytes(std::size_t rows) const;
    void forget_dead_columns();
    void forget_old_pools();
    [[nodiscard]] std::size_t column_bytes(std::size_t rows, ColumnType type) const;
    [[nodiscard]] std::shared_ptr<GpuColumn> column(Pool& pool, const RowPart& part,
                                                    const std::shared_ptr<const ColumnData>& data);
    void upload(const ColumnData& data, const RowPart& part, const Shape& shape, GpuColumn& to);
    // What the host's textures hold now.
    void copy_from_host(const ColumnData& column, const RowPart& part, const Shape& shape, GpuColumn& to);

    gl::Device& device_;
    cpu::Workers workers_;
    std::array<pass::Uploader, 2> uploaders_;
    pass::ReadBack readback_;
    pass::Programs programs_;
    std::map<std::size_t, std::shared_ptr<Pool>> pools_;  // by rows
    struct Cached {
        std::weak_ptr<const ColumnData> data;
        std::shared_ptr<GpuColumn> column;
        std::uint64_t used = 0;
    };
    std::uint64_t clock_ = 0;                                              // of uses
    std::map<std::pair<const ColumnData*, std::size_t>, Cached> columns_;  // by the part's first row, too
    std::size_t most_rows_;
};

class BitmapColumns : public Columns {
  public:
    using Pool = BitmapEngine::Pool;
    BitmapColumns(BitmapEngine& engine, std::shared_ptr<Pool> pool);
    // `valid`: of these rows, as ColumnData has it.
    void add(std::size_t column, std::shared_ptr<GpuColumn> gpu, std::span<const std::uint32_t> valid);

    [[nodiscard]] BitsPtr leaf(const Leaf& leaf) override;
    [[nodiscard]] BitsPtr combine(BoolOp op, const Bits& a, const Bits& b) override;
    [[nodiscard]] std::uint64_t count(const Bits& rows) override;
    [[nodiscard]] std::pair<Key, Key> extremes(std::size_t column, const Bits& rows) override;
    [[nodiscard]] Key kth(std::size_t column, std::uint64_t k, const Bits& rows) override;
    [[nodiscard]] Sum sum(std::size_t column, const Bits& rows) override;
    [[nodiscard]] std::vector<std::uint64_t> rows(const Bits& rows) override;
    [[nodiscard]] BitsPtr bits_of(std::span<const std::uint32_t> words) override;
    [[nodiscard]] std::vector<std::uint32_t> words(const Bits& rows) override;

  protected:
    using Texel = std::array<std::uint32_t, 4>;

    [[nodiscard]] std::shared_ptr<GpuBits> make_bits();
    [[nodiscard]] const GpuColumn& column(std::size_t i) const;
    [[nodiscard]] static const gl::Texture& texture(const Bits& bits);
    [[nodiscard]] BitsPtr all_valid(std::span<const std::size_t> columns);
    [[nodiscard]] BitsPtr range(const Range& leaf);
    [[nodiscard]] BitsPtr member(const Member& leaf);
    [[nodiscard]] BitsPtr member_of_few(const GpuColumn& of, std::span<const Key> keys, bool negate);
    [[nodiscard]] BitsPtr member_of_table(const GpuColumn& of, std::span<const Key> keys, bool negate);
    [[nodiscard]] BitsPtr member_of_list(const GpuColumn& of, std::span<const Key> keys, bool negate);
    [[nodiscard]] gl::Texture send_list(gl::Format format, std::span<const std::byte> bytes);
    // By leaf.frag of that kind.
    [[nodiscard]] BitsPtr leaf_of(const GpuColumn& of, const char* name, const std::string& kind, bool negate,
                                  const gl::Texture* list, gl::Uniforms uniforms);
    [[nodiscard]] BitsPtr pair(const Pair& leaf);
    [[nodiscard]] BitsPtr formula(const Formula& leaf);
    // Draws over all of the target.
    void fill(const char* name, const gl::Program& program, const pass::Target& target,
              std::initializer_list<const gl::Texture*> inputs, gl::Uniforms uniforms = {});
    // Partial results of a column's rows, by the program partial.frag with that fold.
    [[nodiscard]] const gl::Program& partial_program(const GpuColumn& column, const char* fold);
    // The first of the targets that partial results shrink through.
    [[nodiscard]] std::vector<pass::Target>& partials(int width);
    // Folds the partial results in the first target to one, which is returned.
    [[nodiscard]] const gl::Texture& reduce(std::vector<pass::Target>& partials, const char* fold);
    [[nodiscard]] Texel read(const gl::Texture& texel);

    BitmapEngine& engine_;
    gl::Device& device_;
    pass::Programs& programs_;
    std::shared_ptr<Pool> held_;
    Pool& pool_;
    std::unordered_map<std::size_t, std::shared_ptr<GpuColumn>> columns_;
};

}  // namespace quadmill::detail::query
