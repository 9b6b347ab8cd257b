// Tables on the GPU: the columns that an engine keeps there, and reusable textures for tables of one size.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cpu/workers.hpp"
#include "gl/pass.hpp"
#include "pass/fold.hpp"
#include "pass/programs.hpp"
#include "pass/target.hpp"
#include "pass/transfer.hpp"
#include "query/gpu/depth_codes.hpp"
#include "query/gpu/key_list.hpp"
#include "query/gpu/key_textures.hpp"
#include "sort/caller_keys.hpp"

namespace quadmill::detail::sort {
class MergeSort;
}

namespace quadmill::detail::query {

// What an index does for a condition.
struct IndexUse {
    enum class Does { Count, FindRows } does;
    std::vector<std::string> columns{};  // of the index
    std::uint64_t rows = 0;              // that are read
};

// Indexes, which are made beforehand (src/query/index). They serve conditions that are an AND.
class RowIndexes {
  public:
    virtual ~RowIndexes() = default;
    // The count of a condition that has only ranges of indexed columns; empty if no index serves it.
    [[nodiscard]] virtual Counting count_later(const Clauses& clauses, const BitmapColumns& columns) = 0;
    // Copies of the few rows among which are all that satisfy a condition with ranges of indexed columns; null if no
    // index finds few.
    [[nodiscard]] virtual std::shared_ptr<BitmapColumns> near(const Clauses& clauses, BitmapColumns& columns) = 0;
    // Which of these two serves; nothing if neither does.
    [[nodiscard]] virtual std::optional<IndexUse> use(IndexUse::Does does, const Clauses& clauses,
                                                      const BitmapColumns& columns) const = 0;
    [[nodiscard]] virtual std::size_t bytes() const = 0;
    // Frees indexes of tables that no longer exist.
    virtual void forget_dead() = 0;
};

// Keeps up to `max` objects for reuse.
template <class T>
class Spare {
  public:
    explicit Spare(std::size_t max) { kept_.reserve(max); }
    void give(T&& one) noexcept {
        if (!closed_ && kept_.size() < kept_.capacity()) kept_.push_back(std::move(one));
    }
    // Takes the first object for which `fits` holds.
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
    // Objects given back after this are freed.
    void close() {
        closed_ = true;
        clear();
    }

  private:
    std::vector<T> kept_;
    bool closed_ = false;
};

// A selection on the GPU. Its texture is reused when it ends.
class GpuBits final : public Bits {
  public:
    GpuBits(pass::Target target, std::shared_ptr<Spare<pass::Target>> home)
        : target_(std::move(target)), home_(std::move(home)) {}
    ~GpuBits() override { home_->give(std::move(target_)); }
    [[nodiscard]] const pass::Target& target() const { return target_; }
    mutable std::optional<std::uint64_t> count{};  // number of rows, once known

  private:
    pass::Target target_;
    std::shared_ptr<Spare<pass::Target>> home_;
};

// Pre: the bitmap engine made the bits.
inline const GpuBits& gpu_bits(const Bits& bits) {
    return static_cast<const GpuBits&>(bits);
}

// Consecutive rows of a table. `first` is a multiple of 32.
struct RowPart {
    std::size_t first = 0, rows = 0;
};

// Bits of the rows that have a value; empty if all have.
[[nodiscard]] std::span<const std::uint32_t> valid_words(const ColumnData& column, const RowPart& part);
// Lines of a texture from `line` on: the part's rows as keys, in the layout of keys.glsl, with 0 beyond the last row.
// Pre: the values are in memory.
void write_keys(const ColumnData& data, const RowPart& part, const Shape& shape, std::size_t line,
                std::span<std::byte> memory);

// The application's whole textures that make up a column, and the first row of each. Throws InvalidArgument if one is
// not a whole texture of the column's type, or there are too few texels.
struct RowsTexture {
    gl::Texture texture;
    std::size_t first = 0;
    [[nodiscard]] std::size_t texels() const {
        return static_cast<std::size_t>(texture.width()) * static_cast<std::size_t>(texture.height());
    }
};
[[nodiscard]] std::vector<RowsTexture> textures_of(gl::Device& device, const ColumnData& column, std::size_t rows);

// A column's keys. Their texture is reused when the column ends: allocating a new one takes drivers long, on an H100
// seven times as long as the upload.
struct GpuColumn {
    explicit GpuColumn(std::shared_ptr<Spare<gl::Texture>> spare) : home(std::move(spare)) {}
    GpuColumn(const GpuColumn&) = delete;
    GpuColumn& operator=(const GpuColumn&) = delete;
    ~GpuColumn() {
        if (keys) home->give(std::move(keys));  // null if allocating it failed
    }

    std::shared_ptr<Spare<gl::Texture>> home;
    gl::Texture keys;
    ColumnType type = ColumnType::F32;
    std::uint64_t min = 0, max = 0;
    BitsPtr valid;       // the rows that have a value
    bool unread = true;  // since the last upload
    std::weak_ptr<const ColumnData> data{};
    RowPart part{};
    // The depths of the depth engine, made on first use.
    struct Depths {
        DepthPlanes planes;
        gl::Texture runs;  // of planes with runs
    };
    std::optional<Depths> depths{};
};

class GpuTables {
  public:
    GpuTables(gl::Device& device, unsigned threads);

    // Objects that tables of one size share.
    struct Pool {
        Pool() = default;
        Pool(const Pool&) = delete;
        Pool& operator=(const Pool&) = delete;
        // Columns and selections may outlive the pool.
        ~Pool() {
            bits->close();
            keys->close();
        }
        Shape shape;
        std::shared_ptr<Spare<pass::Target>> bits = std::make_shared<Spare<pass::Target>>(16);
        std::shared_ptr<Spare<gl::Texture>> keys = std::make_shared<Spare<gl::Texture>>(4);
        std::map<int, pass::Fold> folds{};  // by width
        BitsPtr all{};                      // every row
        std::uint64_t used = 0;             // time of the last use
    };

    // Opens a table in parts of at most that many rows, and calls `open_part(part, pool)` for each.
    using OpenPart = std::function<std::shared_ptr<GpuColumns>(const RowPart&, std::shared_ptr<Pool>)>;
    [[nodiscard]] std::shared_ptr<Columns> open(const TableData& table, std::size_t max_rows,
                                                const OpenPart& open_part);
    [[nodiscard]] std::shared_ptr<GpuColumn> column(Pool& pool, const RowPart& part,
                                                    const std::shared_ptr<const ColumnData>& data);
    // Uploads a column.
    void send(const Pool& pool, GpuColumn& column);

    // As in Engine, for parts of at most that many rows. It counts one selection per table size, which takes 1/32 of a
    // 32-bit column.
    [[nodiscard]] std::size_t bytes(const std::vector<TableColumns>& tables, std::size_t max_rows) const;
    [[nodiscard]] bool make_space(const std::vector<TableColumns>& tables, std::size_t max_rows, std::size_t limit);
    [[nodiscard]] std::size_t held() const;
    // The part sizes of those tables. Tables of one size share everything except columns.
    [[nodiscard]] static std::set<std::size_t> part_sizes(const std::vector<TableColumns>& tables,
                                                          std::size_t max_rows);

    // Max rows that textures hold, if a word takes that many texels of a line.
    [[nodiscard]] std::size_t max_rows(int texels_a_word) const;

    [[nodiscard]] gl::Device& device() const { return device_; }
    [[nodiscard]] pass::Programs& programs() { return programs_; }
    [[nodiscard]] pass::Uploader& uploader() { return uploaders_[0]; }
    [[nodiscard]] pass::ReadBack& readback() { return readback_; }
    [[nodiscard]] cpu::Workers& workers() { return workers_; }
    [[nodiscard]] sort::MergeSort& sorter();
    [[nodiscard]] KeyList& key_list() { return key_list_; }
    // The objects for tables of that many rows.
    [[nodiscard]] std::shared_ptr<Pool> pool(std::size_t rows);
    // Null before the first index.
    [[nodiscard]] std::shared_ptr<RowIndexes>& indexes() { return indexes_; }

  private:
    [[nodiscard]] static std::vector<RowPart> parts_of(const TableData& table, std::size_t max_rows);
    // Bytes of one selection of a part.
    [[nodiscard]] static std::size_t pool_bytes(std::size_t rows) { return rows / 8; }
    [[nodiscard]] std::size_t column_bytes(std::size_t rows, ColumnType type) const;
    void forget_dead_columns();
    void forget_old_pools();
    void upload(const ColumnData& data, const RowPart& part, const Shape& shape, GpuColumn& to);
    // Copies the current content of the application's object.
    void copy_from_host(const ColumnData& column, const RowPart& part, const Shape& shape, GpuColumn& to);
    void copy_textures(const ColumnData& column, const RowPart& part, const Shape& shape, GpuColumn& to);
    void copy_words(const ColumnData& column, const RowPart& part, const Shape& shape, GpuColumn& to);

    gl::Device& device_;
    cpu::Workers workers_;
    std::array<pass::Uploader, 2> uploaders_;
    pass::ReadBack readback_;
    pass::Programs programs_;
    std::shared_ptr<sort::MergeSort> sorter_;  // made on first use
    KeyList key_list_;
    std::shared_ptr<RowIndexes> indexes_;
    sort::CallerKeys host_keys_;
    pass::Target host_words_;
    std::map<std::size_t, std::shared_ptr<Pool>> pools_;  // by number of rows
    struct Cached {
        std::weak_ptr<const ColumnData> data;
        std::shared_ptr<GpuColumn> column;
        std::uint64_t used = 0;
    };
    std::uint64_t clock_ = 0;                                              // counts uses
    std::map<std::pair<const ColumnData*, std::size_t>, Cached> columns_;  // by data and the part's first row
};

class GpuEngine : public Engine {
  public:
    // Tables with more rows than `max_rows`, or than textures hold if a word takes that many texels of a line, are
    // processed in parts.
    GpuEngine(gl::Device& device, unsigned threads, std::size_t max_rows, int texels_a_word)
        : tables_(device, threads), max_rows_(std::min(max_rows, tables_.max_rows(texels_a_word))) {}
    [[nodiscard]] GpuTables& tables() { return tables_; }
    [[nodiscard]] std::size_t bytes(const std::vector<TableColumns>& tables) const override {
        return tables_.bytes(tables, max_rows_);
    }
    [[nodiscard]] bool make_space(const std::vector<TableColumns>& tables, std::size_t limit) override {
        return tables_.make_space(tables, max_rows_, limit);
    }
    [[nodiscard]] std::size_t held() const override { return tables_.held(); }

  protected:
    GpuTables tables_;
    std::size_t max_rows_;
};

}  // namespace quadmill::detail::query
