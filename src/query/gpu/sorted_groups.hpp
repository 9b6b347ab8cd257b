// GROUP BY on the GPU, for any number of groups. The list of selected rows is sorted by the group columns, which are
// packed into words of 32 bits, beginning with the least significant word. A group begins where a value differs from
// the previous one. Sums and extremes of a group come from a few nodes of a tree of partial results over the whole
// list, so long and short groups take the same passes. For k-th values, the rows of each group are also sorted by
// value; their indices are then known. Source: grouping by sorting, Graefe, Query Evaluation Techniques for Large
// Databases, 1993, section 4.2.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "query/gpu/bit_list.hpp"
#include "query/gpu/bitmap_columns.hpp"
#include "query/run/measures.hpp"

namespace quadmill::detail::query {

// The rows of a group have the same values in some columns; NaNs are one value, and NULL is one.
class SortedGroups final : public Measures {
  public:
    // Groups the selected rows. There are no groups if lists of that many rows or groups do not fit: see fits(). Pre:
    // all columns are in table 0, and the columns outlive this object.
    SortedGroups(BitmapColumns& columns, const std::vector<ColumnPlace>& by, std::span<const Wanted> wanted,
                 const Bits& rows);
    [[nodiscard]] bool fits() const { return fits_; }
    [[nodiscard]] std::size_t size() const { return groups_.size(); }
    // Goes to a group. They are in the order of their values, with NULLs first.
    void go_to(std::size_t group) { now_ = group; }

    // The group's values in the group columns, and its measures.
    [[nodiscard]] std::vector<Value> values(const TableData& table) const;
    [[nodiscard]] std::uint64_t rows() override { return groups_[now_].rows; }
    [[nodiscard]] std::uint64_t count(const ColumnPlace& place) override { return measured(place).count; }
    [[nodiscard]] Sum sum(const ColumnPlace& place) override { return measured(place).sum; }
    [[nodiscard]] std::pair<Key, Key> extremes(const ColumnPlace& place) override { return measured(place).extremes; }
    [[nodiscard]] Key kth(const ColumnPlace& place, std::uint64_t k) override;

  private:
    using TargetPtr = std::shared_ptr<const pass::Target>;
    // Measures of a column.
    struct Measured {
        std::uint64_t count = 0;  // number of values that are not NULL
        Sum sum{};
        std::pair<Key, Key> extremes{};
    };
    struct Group {
        std::vector<std::optional<Key>> by{};  // nothing for NULL
        std::uint64_t rows = 0;
        std::vector<Measured> measures{};
    };
    struct Measure {
        std::size_t column = 0;
        bool sum = false, extremes = false;
    };
    // The k-th values of a measure's column, by group.
    struct Ranks {
        std::size_t measure = 0;
        std::vector<std::optional<std::uint64_t>> k{};
        std::vector<Key> keys{};
    };
    // A group's result for a column.
    struct KeyTexel {
        std::uint32_t low, high, valid, position;
        [[nodiscard]] Key key() const { return low | Key{high} << 32U; }
    };
    // A column's bits in the words that are sorted. With `valid`, the bit that says whether there is a value.
    struct Digit {
        std::size_t column;
        Key min;
        int from, bits;
        bool valid;
        std::size_t word;
        int to;
    };

    [[nodiscard]] std::vector<Digit> digits_of(std::span<const std::size_t> columns) const;
    // The list sorted by those columns, the first column being the most significant.
    [[nodiscard]] TargetPtr sorted(std::span<const std::size_t> columns);
    void find_starts();
    void read_labels();
    [[nodiscard]] std::size_t measure_of(const ColumnPlace& place) const;
    [[nodiscard]] const Measured& measured(const ColumnPlace& place) const {
        return groups_[now_].measures[measure_of(place)];
    }
    void measure(const Measure& wanted);
    // The k-th smallest keys of a measure's column, k counted from 0, one for each group that has a k.
    [[nodiscard]] std::vector<Key> keys_of(std::size_t measure, std::span<const std::optional<std::uint64_t>> k);
    // One texel per group.
    [[nodiscard]] std::vector<MeasuredTexel> folded(const GpuColumn& of, const pass::FoldRule& rule);
    // The keys of the rows at those indices of a list.
    [[nodiscard]] std::vector<KeyTexel> keys_at(const TargetPtr& list, std::size_t column, const gl::Texture& positions,
                                                std::size_t count);

    // Whether a list of that many entries fits into a texture, and the driver has memory for rows and groups.
    [[nodiscard]] bool has_room(std::size_t entries) const;
    [[nodiscard]] pass::Target make_list(gl::Format format, std::size_t entries) const;
    [[nodiscard]] const gl::Program& program(const char* name, const char* fragment, const GpuColumn& of,
                                             const std::string& before = {}, const std::string& defines = {});
    // Draws the first entries of a list.
    void draw(const char* name, const gl::Program& program, const pass::Target& to, std::size_t entries,
              std::initializer_list<const gl::Texture*> inputs, gl::Uniforms uniforms);
    template <class Texel>
    [[nodiscard]] std::vector<Texel> read(const gl::Texture& list, std::size_t entries);

    BitmapColumns& columns_;
    GpuTables& tables_;
    gl::Device& device_;
    pass::Programs& programs_;
    pass::QuadLists quads_;
    BitList bits_;
    std::vector<std::size_t> by_{};
    std::vector<Measure> measures_{};
    std::vector<Group> groups_{};
    std::vector<Ranks> ranks_{};
    std::size_t now_ = 0;
    bool fits_ = true;
    std::size_t rows_ = 0;
    TargetPtr list_, grouped_;  // the rows in table order, and sorted by group
    TargetPtr by_value_;        // sorted by a column within each group
    std::optional<std::size_t> sorted_by_{};
    pass::Target starts_;        // starts of groups in by_value_
    std::uint64_t largest_ = 0;  // max rows of a group
};

}  // namespace quadmill::detail::query
