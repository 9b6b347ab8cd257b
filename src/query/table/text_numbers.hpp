// Texts of rows as numbers of distinct texts, found by hash. Only a table's dictionary is sorted.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quadmill/table.hpp"

namespace quadmill::detail::query {

// Distinct texts in order of first appearance, and the number of each row's text.
class TextNumbers {
  public:
    TextNumbers() = default;
    // A copy shares the texts, and puts further ones elsewhere.
    TextNumbers(const TextNumbers& other)
        : rows_(other.rows_),
          texts_(other.texts_),
          hashes_(other.hashes_),
          slots_(other.slots_),
          memory_(other.memory_) {}
    TextNumbers(TextNumbers&&) noexcept = default;
    TextNumbers& operator=(const TextNumbers& other) { return *this = TextNumbers(other); }
    TextNumbers& operator=(TextNumbers&&) noexcept = default;
    ~TextNumbers() = default;

    void add(std::string_view text);
    // Rows that have no text get number 0.
    void add_empty(std::size_t rows) { rows_.resize(rows_.size() + rows); }
    void cut(std::size_t rows) { rows_.resize(rows); }

    [[nodiscard]] const std::vector<std::uint32_t>& rows() const { return rows_; }
    [[nodiscard]] const std::vector<std::string_view>& texts() const { return texts_; }
    [[nodiscard]] std::string_view text(std::size_t row) const { return texts_[rows_[row]]; }

  private:
    [[nodiscard]] std::string_view copied(std::string_view text);
    void make_space();

    std::vector<std::uint32_t> rows_{};
    std::vector<std::string_view> texts_{};
    std::vector<std::uint64_t> hashes_{};  // by number
    std::vector<std::uint32_t> slots_{};   // number + 1; 0: free. The size is a power of two
    std::vector<std::shared_ptr<char[]>> memory_{};
    std::size_t left_ = 0;  // bytes of the last block
    char* next_ = nullptr;
};

// A column of text in parts, one after the other. A row is NULL if its element of `valid` is false; empty: none is.
struct NumberedTexts {
    std::string name;
    std::vector<TextNumbers> parts;
    std::vector<bool> valid;
};
// Adds the columns to a table without text columns, which no other Table shares.
void add_texts(Table& table, std::span<NumberedTexts> columns);

}  // namespace quadmill::detail::query
