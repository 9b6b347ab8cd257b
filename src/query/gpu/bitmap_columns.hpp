// Columns as keys in textures, four or two rows per texel. A fragment program reads 32 rows and writes their bits, so a
// condition reads its columns once. For aggregates, a fragment folds 128 rows, then 16 partial results at a time, until
// one is left, and only that is read back. For a k-th value, samples are read back. Sources: Tsakalozos, Tsangaris,
// Delis, MDS'09, section 3.2 (bitmaps that one operator passes to the next); 'Query Processing on GPUs' (reduction).
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "quadmill/plan.hpp"
#include "query/gpu/gpu_tables.hpp"
#include "query/gpu/leaf_programs.hpp"
#include "query/plan/key_range.hpp"

namespace quadmill::detail::query {

// A texel with partial results, as in fold.glsl.
using MeasuredTexel = std::array<std::uint32_t, 4>;

// An aggregate of a column on the GPU, as texels. It is valid until the next one is measured.
struct GpuMeasure {
    const gl::Texture* value;  // two keys of extremes, a k-th key, or a sum; unused for a count
    const gl::Texture* count;  // number of values that were aggregated
};

// The texel that was requested; waits for it.
[[nodiscard]] MeasuredTexel texel_of(pass::ReadBack& back);
// The value of a texel.
[[nodiscard]] Sum sum_of_texel(const MeasuredTexel& texel, ColumnType type, std::uint64_t n);
[[nodiscard]] inline std::pair<Key, Key> extremes_of_texel(const MeasuredTexel& texel) {
    return {texel[0] | Key{texel[1]} << 32U, texel[2] | Key{texel[3]} << 32U};
}
[[nodiscard]] inline Key key_of_texel(const MeasuredTexel& texel) {
    return extremes_of_texel(texel).first;
}

class ConditionProgram;

class BitmapColumns final : public GpuColumns {
  public:
    using Pool = GpuTables::Pool;
    BitmapColumns(GpuTables& tables, std::shared_ptr<Pool> pool);
    // Columns of the pool's rows.
    void add(const TableData& table, const RowPart& part, std::span<const std::size_t> columns);
    void add(std::size_t i, std::shared_ptr<GpuColumn> column) { columns_[i] = std::move(column); }
    // For a table with a selection of another one's rows: their numbers there, which rows() returns. The texture is
    // R32UI, row after row.
    void number_rows(gl::Texture numbers) { numbers_ = std::move(numbers); }

    [[nodiscard]] BitsPtr leaf(const Leaf& leaf) override;
    [[nodiscard]] BitsPtr combine(BoolOp op, const Bits& a, const Bits& b) override;
    [[nodiscard]] std::uint64_t count(const Bits& rows) override;
    [[nodiscard]] std::pair<Key, Key> extremes(std::size_t column, const Bits& rows) override;
    [[nodiscard]] Key kth(std::size_t column, std::uint64_t k, const Bits& rows) override;
    [[nodiscard]] Sum sum(std::size_t column, const Bits& rows) override;
    [[nodiscard]] std::vector<std::uint64_t> rows(const Bits& rows) override;
    [[nodiscard]] BitsPtr bits_of(std::span<const std::uint32_t> words) override;
    [[nodiscard]] std::vector<std::uint32_t> words(const Bits& rows) override;

    [[nodiscard]] BitsPtr conjunction(const Clauses& clauses) override;
    [[nodiscard]] std::uint64_t count_conjunction(const Clauses& clauses) override;

    [[nodiscard]] Counting count_later(const Bits& rows) override;
    [[nodiscard]] Counting count_conjunction_later(const Clauses& clauses) override;
    // Measures an aggregate of that column without waiting. `rows` are the rows that have a value. Counts have no
    // column.
    [[nodiscard]] GpuMeasure measure(const QueryAggregate& what, std::size_t column, const Bits& rows);
    // Counts the selected rows whose keys are in each bin, without waiting: texel (0, i) has the counts of bins 4 i to
    // 4 i + 3. It is valid until the next histogram. Pre: 1 to 8,192 bins.
    [[nodiscard]] const gl::Texture& histogram(std::size_t column, std::span<const KeyRange> bins, const Bits& rows);
    void send_again(std::span<const std::size_t> columns) override;
    // The count of the condition by an index; empty if there is none for it.
    [[nodiscard]] Counting count_by_index(const Clauses& clauses);
    // As in RowIndexes.
    [[nodiscard]] std::shared_ptr<BitmapColumns> near(const Clauses& clauses);
    [[nodiscard]] BitmapColumns* textures() override { return this; }

    [[nodiscard]] GpuTables& tables() { return tables_; }

    // For an engine that leaves a part of its work to this one.
    [[nodiscard]] const std::shared_ptr<GpuColumn>& column(std::size_t i) const;
    [[nodiscard]] const auto& columns() const { return columns_; }
    [[nodiscard]] std::shared_ptr<GpuBits> make_bits();
    [[nodiscard]] static const gl::Texture& texture(const Bits& bits);
    // Rows in which no column is NULL.
    [[nodiscard]] BitsPtr all_valid(std::span<const std::size_t> columns);
    [[nodiscard]] const BitsPtr& all() const { return pool_.all; }
    [[nodiscard]] const Shape& shape() const { return pool_.shape; }
    // A list in the layout of leaf.frag: 1024 entries per line.
    [[nodiscard]] gl::Texture send_list(gl::Format format, std::span<const std::byte> bytes);

  private:
    [[nodiscard]] BitsPtr selected(const ConditionProgram& by);
    [[nodiscard]] BitsPtr bits(const Range& leaf);
    [[nodiscard]] BitsPtr bits(const Member& leaf);
    [[nodiscard]] BitsPtr bits(const Pair& leaf);
    [[nodiscard]] BitsPtr bits(const Linear& leaf) { return bits(formula_of(leaf)); }
    [[nodiscard]] BitsPtr bits(const Formula& leaf);
    [[nodiscard]] BitsPtr bits(const IsNull& leaf);
    [[nodiscard]] BitsPtr bits(const Always& leaf);
    [[nodiscard]] BitsPtr member_of_few(const GpuColumn& of, std::span<const Key> keys, bool negate);
    [[nodiscard]] BitsPtr member_of_table(const GpuColumn& of, std::span<const Key> keys, bool negate);
    [[nodiscard]] BitsPtr member_of_list(const GpuColumn& of, std::span<const Key> keys, bool negate);
    // Runs leaf.frag, compiled for that kind of leaf.
    [[nodiscard]] BitsPtr leaf_of(const GpuColumn& of, const char* name, const std::string& kind, bool negate,
                                  const gl::Texture* list, gl::Uniforms uniforms, gl::Note note);
    // The program partial.frag, which makes partial results of a column's rows.
    [[nodiscard]] const gl::Program& partial_program(const GpuColumn& column, const pass::FoldRule& rule);
    // Words per count and per partial result.
    static constexpr int words_a_count = 16, words_a_partial = 4;
    [[nodiscard]] const pass::Fold& partials(int words_a_fragment);
    [[nodiscard]] const gl::Texture& fold(const char* name, const GpuColumn& of, const Bits& rows,
                                          const pass::FoldRule& rule);
    [[nodiscard]] const gl::Texture& fold_sum(const GpuColumn& of, const Bits& rows);
    // The k-th key, two bits per round, of rows whose keys are between the two given ones. start(prefix, target) writes
    // the texel that choose_digit.frag begins with.
    using Start = std::function<void(Key prefix, const pass::Target& to)>;
    [[nodiscard]] const gl::Texture& find_kth(const GpuColumn& of, const Bits& rows, Key min, Key max,
                                              const Start& start);
    // Numbers of rows with keys below the range, and in it.
    struct Around {
        std::uint64_t below, within;
    };
    [[nodiscard]] Around around(const GpuColumn& of, const Bits& rows, Key low, Key high);
    [[nodiscard]] Key kth_by_digits(const GpuColumn& of, const Bits& rows, Key min, Key max, std::uint64_t k);
    [[nodiscard]] MeasuredTexel read(const gl::Texture& texel);
    [[nodiscard]] const gl::Texture& fold_count(const Bits& rows);

    GpuTables& tables_;
    gl::Device& device_;
    pass::Programs& programs_;
    std::shared_ptr<Pool> held_;
    Pool& pool_;
    std::unordered_map<std::size_t, std::shared_ptr<GpuColumn>> columns_;
    gl::Texture numbers_;
    pass::PingPong kth_;              // what is known of the k-th key so far
    std::optional<pass::Fold> bins_;  // of the last histogram
};

class BitmapEngine final : public GpuEngine {
  public:
    BitmapEngine(gl::Device& device, unsigned threads, std::size_t max_rows = ~std::size_t{0})
        : GpuEngine(device, threads, max_rows, texels_a_word(ColumnType::F64)) {}
    [[nodiscard]] std::shared_ptr<Columns> open(const std::shared_ptr<const TableData>& table,
                                                std::span<const std::size_t> columns) override;
};

}  // namespace quadmill::detail::query
