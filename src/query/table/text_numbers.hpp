// Texts of rows: as numbers of distinct texts, found by hash, or, if they are only printed, as they are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/workers.hpp"
#include "quadmill/table.hpp"
#include "query/plan/formula.hpp"

namespace quadmill::detail::query {

// Memory of texts. A copy shares the texts, and puts further ones elsewhere.
class TextMemory {
  public:
    TextMemory() = default;
    TextMemory(const TextMemory& other) : blocks_(other.blocks_) {}
    TextMemory(TextMemory&&) noexcept = default;
    TextMemory& operator=(const TextMemory& other) { return *this = TextMemory(other); }
    TextMemory& operator=(TextMemory&&) noexcept = default;
    ~TextMemory() = default;

    [[nodiscard]] char* space(std::size_t bytes) {
        if (bytes > left_) add_block(bytes);
        left_ -= bytes;
        next_ += bytes;
        return next_ - bytes;
    }

  private:
    void add_block(std::size_t bytes);

    std::vector<std::shared_ptr<char[]>> blocks_{};
    std::size_t left_ = 0, size_ = 0;  // bytes of the last block
    char* next_ = nullptr;
};

// Texts in order of first appearance, distinct unless nearly all differ, and the number of each row's text.
class TextNumbers {
  public:
    void add(std::string_view text);
    // The number of a text with that hash.
    [[nodiscard]] std::uint32_t number(std::string_view text, std::uint64_t hash);
    void expect(std::size_t rows) { rows_.reserve(rows); }
    // Rows that have no text get number 0.
    void add_empty(std::size_t rows) { rows_.resize(rows_.size() + rows); }
    void cut(std::size_t rows) { rows_.resize(rows); }

    [[nodiscard]] const std::vector<std::uint32_t>& rows() const { return rows_; }
    [[nodiscard]] std::string_view text(std::size_t row) const { return texts_[rows_[row]]; }

  private:
    friend class SharedTexts;
    static constexpr std::uint64_t upper = 0xffffffff00000000U;
    [[nodiscard]] std::size_t slot_of(std::uint64_t hash) const { return hash >> 1U & (slots_.size() - 1); }
    void put(std::uint64_t hash, std::size_t number);
    [[nodiscard]] std::uint32_t append(std::string_view text, std::uint64_t hash);
    void make_space();

    bool differ_ = false;  // whether nearly all texts differ; then equal ones have several numbers
    std::vector<std::uint32_t> rows_{};
    std::vector<std::string_view> texts_{};
    std::vector<std::uint64_t> hashes_{};  // by number
    // The upper half of the hash, then number + 1; 0: free. The size is a power of two.
    std::vector<std::uint64_t> slots_{};
    TextMemory memory_{};
};

// The distinct texts of many parts, which threads add at the same time. Texts are spread over shares by their hash.
class SharedTexts {
  public:
    // Renumbers a part's rows by these texts, and forgets its own. Does nothing to a part without texts.
    void take(TextNumbers& part);
    // The number of distinct texts. Pre: no thread adds some.
    [[nodiscard]] std::size_t size() const;
    // Sorts the texts. Pre: no part is taken later.
    [[nodiscard]] std::vector<std::string> dictionary(const cpu::Workers& workers);
    // Bytes that dictionary() takes for a text of usual length, next to what there is.
    static constexpr std::size_t dictionary_bytes = 112;
    // The index in the dictionary of a row's number.
    [[nodiscard]] std::uint32_t index(std::uint32_t number) const {
        const auto& ranks = shares_[number >> share_bits].ranks;
        return ranks.empty() ? 0 : ranks[number & ((1U << share_bits) - 1)];
    }

  private:
    static constexpr unsigned share_bits = 26;  // of a number in its share
    struct Share {
        std::mutex mutex{};
        TextNumbers texts{};
        std::vector<std::uint32_t> ranks{};  // by number
    };
    static std::size_t share_of(std::uint64_t hash) { return hash >> 58U; }
    std::array<Share, 64> shares_{};
};

// Texts that are only printed. A row is an integer: the text's address, and its length in the lower 16 bits. The length
// of a long text stands before it.
class PrintedTexts {
  public:
    void add(std::string_view text) {
        const bool is_long = text.size() >= longest;
        auto* to = memory_.space(text.size() + (is_long ? sizeof(std::size_t) : 0));
        if (is_long) {
            const auto size = text.size();
            std::memcpy(to, &size, sizeof size);
            to += sizeof size;
        }
        if (!text.empty()) std::memcpy(to, text.data(), text.size());
        const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(to));
        rows_.push_back(static_cast<std::int64_t>(address << 16U | (is_long ? longest : text.size())));
    }
    void expect(std::size_t rows) { rows_.reserve(rows); }
    void add_empty(std::size_t rows) { rows_.resize(rows_.size() + rows); }
    void cut(std::size_t rows) { rows_.resize(rows); }
    [[nodiscard]] std::vector<std::int64_t>& rows() { return rows_; }
    [[nodiscard]] const TextMemory& memory() const { return memory_; }
    [[nodiscard]] static std::string_view text(std::int64_t row) {
        const auto bits = static_cast<std::uint64_t>(row);
        // NOLINTNEXTLINE(performance-no-int-to-ptr): a row is an address and a length
        const auto* const from = reinterpret_cast<const char*>(static_cast<std::uintptr_t>(bits >> 16U));
        auto size = static_cast<std::size_t>(bits & longest);
        if (size == longest) std::memcpy(&size, from - sizeof size, sizeof size);
        return {from, size};
    }

  private:
    static constexpr std::size_t longest = 0xffff;
    static_assert(sizeof(void*) == 8 && sizeof(std::size_t) == 8, "addresses have 48 bits");
    std::vector<std::int64_t> rows_{};
    TextMemory memory_{};
};

// Integers beyond 64 bits are texts, which begin with what orders them by value and end with the digits.
[[nodiscard]] std::string ordered_text(Integer integer);
[[nodiscard]] std::string_view digits_of(std::string_view ordered);

// A column of text in parts, one after the other. A row is NULL if its element of `valid` is false; empty: none is.
struct NumberedTexts {
    std::string name;
    std::vector<TextNumbers> parts;
    std::vector<bool> valid;
};
// Adds the columns to a table without text columns, which no other Table shares. `texts` took some of the parts, and
// takes the others.
void add_texts(Table& table, std::span<NumberedTexts> columns, SharedTexts& texts, const cpu::Workers& workers);

}  // namespace quadmill::detail::query
