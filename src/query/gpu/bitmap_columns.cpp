#include "query/gpu/bitmap_columns.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "quadmill/error.hpp"
#include "query/gpu/notes.hpp"
#include "query_shaders.hpp"

namespace quadmill::detail::query {

BitmapColumns::BitmapColumns(GpuTables& tables, std::shared_ptr<Pool> pool)
    : tables_(tables), device_(tables.device()), programs_(tables.programs()), held_(std::move(pool)), pool_(*held_) {
    if (!pool_.all) pool_.all = bits_of(std::vector<std::uint32_t>(pool_.shape.words_in_use(), ~std::uint32_t{0}));
}

void BitmapColumns::add(const TableData& table, const RowPart& part, std::span<const std::size_t> columns) {
    for (const auto i : columns) {
        auto gpu = tables_.column(pool_, part, table.columns[i]);
        const auto valid = valid_words(*table.columns[i], part);
        if (valid.empty()) {
            gpu->valid = pool_.all;
        } else if (!gpu->valid) {
            gpu->valid = bits_of(valid);
        }
        columns_[i] = std::move(gpu);
    }
}

void BitmapColumns::send_again(std::span<const std::size_t> columns) {
    for (const auto i : columns) {
        auto& of = *column(i);
        if (!std::exchange(of.unread, false)) tables_.send(pool_, of);
    }
}

std::shared_ptr<GpuBits> BitmapColumns::make_bits() {
    auto target = pool_.bits->take([](const pass::Target& /*any*/) { return true; });
    if (!target) target.emplace(device_, gl::Format::R32ui, pool_.shape.words, pool_.shape.height);
    return std::make_shared<GpuBits>(std::move(*target), pool_.bits);
}

const std::shared_ptr<GpuColumn>& BitmapColumns::column(std::size_t i) const {
    return columns_.at(i);
}

const gl::Texture& BitmapColumns::texture(const Bits& bits) {
    return gpu_bits(bits).target().texture;
}

BitsPtr BitmapColumns::all_valid(std::span<const std::size_t> columns) {
    BitsPtr all = column(columns.front())->valid;
    for (const auto i : columns.subspan(1)) {
        const auto& valid = column(i)->valid;
        if (valid != all)
            all = all == pool_.all ? valid : valid == pool_.all ? all : combine(BoolOp::And, *all, *valid);
    }
    return all;
}

BitsPtr BitmapColumns::combine(BoolOp op, const Bits& a, const Bits& b) {
    const auto& program = programs_.get("query/combine.frag", shaders::query_combine_frag);
    auto bits = make_bits();
    const QueryNote note{.act = QueryNote::Act::Combine};
    pass::fill(device_, "combine", program, bits->target(), {&texture(a), &texture(b)}, {{"op", static_cast<int>(op)}},
               &note);
    return bits;
}

std::vector<std::uint32_t> BitmapColumns::words(const Bits& rows) {
    std::vector<std::uint32_t> out(pool_.shape.words_in_use());
    tables_.readback().request(device_, texture(rows));
    tables_.readback().copy_to(std::as_writable_bytes(std::span(out)), tables_.workers());
    const auto used = pool_.shape.rows % Shape::rows_a_word;
    if (used > 0 && !out.empty() && out.back() >> used != 0)
        throw GlError("the GPU selected rows behind the last one: its driver breaks a rule of OpenGL");
    return out;
}

std::vector<std::uint64_t> BitmapColumns::rows(const Bits& rows) {
    std::vector<std::uint64_t> out;
    const auto all = words(rows);
    for (std::size_t w = 0; w < all.size(); ++w) {
        for (auto word = all[w]; word != 0; word &= word - 1)
            out.push_back(w * Shape::rows_a_word + static_cast<std::size_t>(std::countr_zero(word)));
    }
    if (!numbers_ || out.empty()) return out;
    std::vector<std::uint32_t> numbers(product(numbers_.width(), numbers_.height()));
    tables_.readback().request(device_, numbers_);
    tables_.readback().copy_to(std::as_writable_bytes(std::span(numbers)), tables_.workers());
    for (auto& row : out) row = numbers[row];
    std::ranges::sort(out);
    return out;
}

BitsPtr BitmapColumns::bits_of(std::span<const std::uint32_t> words) {
    auto bits = make_bits();
    const auto& to = bits->target().texture;
    const auto in_line = static_cast<std::size_t>(pool_.shape.words);
    tables_.uploader().send(
        device_, to, tables_.workers(), [&](std::size_t first, std::size_t, std::span<std::byte> memory) {
            const auto from = std::as_bytes(words.subspan(std::min(first * in_line, words.size())));
            const auto n = std::min(from.size(), memory.size());
            std::copy_n(from.begin(), n, memory.begin());
            std::memset(memory.data() + n, 0, memory.size() - n);
            // Clears the bits of the last word that are beyond the last row.
            const auto used = pool_.shape.rows % Shape::rows_a_word, last = pool_.shape.rows / Shape::rows_a_word;
            if (used == 0 || last < first * in_line || last >= first * in_line + memory.size() / sizeof(std::uint32_t))
                return;
            std::uint32_t word = 0;
            auto* at = memory.data() + (last - first * in_line) * sizeof word;
            std::memcpy(&word, at, sizeof word);
            word &= (1U << used) - 1;
            std::memcpy(at, &word, sizeof word);
        });
    return bits;
}

std::shared_ptr<Columns> BitmapEngine::open(const std::shared_ptr<const TableData>& table,
                                            std::span<const std::size_t> columns) {
    return tables_.open(*table, max_rows_, [&](const RowPart& part, std::shared_ptr<GpuTables::Pool> pool) {
        auto opened = std::make_shared<BitmapColumns>(tables_, std::move(pool));
        opened->add(*table, part, columns);
        return opened;
    });
}

}  // namespace quadmill::detail::query
