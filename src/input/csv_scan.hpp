// Splits plain CSV text into fields, 64 bytes at a time. Anything odd is left to CsvParser.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "input/csv_rows.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace quadmill::detail::input {

// Bit i is set if byte i of the 64 is that character.
[[nodiscard]] inline std::uint64_t mask_of(const char* bytes, char character) {
    std::uint64_t mask = 0;
#ifdef __SSE2__
    const auto wanted = _mm_set1_epi8(character);
    for (std::size_t i = 4; i-- > 0;) {
        __m128i some;
        std::memcpy(&some, bytes + 16 * i, sizeof some);
        mask = mask << 16U | static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(some, wanted)));
    }
#else
    for (int i = 63; i >= 0; --i) mask = mask << 1U | (bytes[i] == character ? 1U : 0U);
#endif
    return mask;
}

// Bit i is the parity of bits 0 to i.
[[nodiscard]] inline std::uint64_t prefix_parity(std::uint64_t bits) {
    for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
    return bits;
}

// Adds the rows of a text that begins and ends with whole rows.
class CsvScanner {
  public:
    CsvScanner(CsvRows& rows, std::string_view text, char delimiter)
        : rows_(rows), text_(text), delimiter_(delimiter) {}

    // False if the text is not plain: a quote within a field, a CR that ends a line, an open quote at the end.
    [[nodiscard]] bool run() {
        std::uint64_t inside = 0;  // all ones within quotes
        for (base_ = 0; base_ < text_.size(); base_ += 64) {
            const char* bytes = text_.data() + base_;
            char rest[64] = {};
            if (text_.size() - base_ < 64) {
                std::memcpy(rest, bytes, text_.size() - base_);
                bytes = rest;
            }
            quotes_ = mask_of(bytes, '"');
            const auto quoted = quotes_ == 0 ? inside : prefix_parity(quotes_) ^ inside;
            inside = (quoted >> 63U) != 0 ? ~std::uint64_t{0} : 0;
            if (const auto returns = mask_of(bytes, '\r') & ~quoted; returns != 0 && !before_line_feeds(returns))
                return false;
            const auto ends = mask_of(bytes, '\n') & ~quoted;
            for (auto found = (mask_of(bytes, delimiter_) & ~quoted) | ends; found != 0; found &= found - 1) {
                const auto bit = static_cast<std::size_t>(std::countr_zero(found));
                if (!field_to(base_ + bit, ((ends >> bit) & 1U) != 0)) return false;
            }
            has_quote_ = has_quote_ || (quotes_ != 0 && begin_ < base_ + 64 && has_quote(base_ + 64));
        }
        if (inside != 0) return false;
        quotes_ = 0;
        return begin_ == text_.size() ? rows_.at_row_end() : field_to(text_.size(), true);
    }

  private:
    [[nodiscard]] bool before_line_feeds(std::uint64_t returns) const {
        for (; returns != 0; returns &= returns - 1) {
            const auto next = base_ + static_cast<std::size_t>(std::countr_zero(returns)) + 1;
            if (next >= text_.size() || text_[next] != '\n') return false;
        }
        return true;
    }

    [[nodiscard]] bool field_to(std::size_t at, bool ends_row) {
        auto end = at;
        if (ends_row && end > begin_ && text_[end - 1] == '\r') --end;
        const std::string_view field(text_.data() + begin_, end - begin_);
        if (has_quote_ || (quotes_ != 0 && has_quote(at))) {
            if (!take_quoted(field)) return false;
        } else if (!(ends_row && field.empty() && rows_.at_row_end())) {
            rows_.plain_field(field);
        }
        has_quote_ = false;
        begin_ = at + 1 < text_.size() ? at + 1 : text_.size();
        if (ends_row) rows_.line_end();
        return true;
    }
    // Whether this block has a quote in the field, which ends there.
    [[nodiscard]] bool has_quote(std::size_t end) const {
        const auto from = begin_ > base_ ? begin_ - base_ : 0, size = end - base_ - from;
        return size > 0 && (quotes_ >> from) << (64 - size) != 0;
    }
    [[nodiscard]] bool take_quoted(std::string_view field) {
        if (field.size() < 2 || field.front() != '"' || field.back() != '"') return false;
        auto inner = field.substr(1, field.size() - 2);
        if (inner.find('"') != std::string_view::npos) {
            unescaped_.clear();
            for (std::size_t i = 0; i < inner.size(); ++i) {
                if (inner[i] == '"' && (++i == inner.size() || inner[i] != '"')) return false;
                unescaped_ += inner[i];
            }
            inner = unescaped_;
        }
        rows_.field(inner);
        return true;
    }

    CsvRows& rows_;
    std::string_view text_;
    char delimiter_;
    std::size_t base_ = 0, begin_ = 0;  // of the block and of the field
    std::uint64_t quotes_ = 0;
    bool has_quote_ = false;  // whether an earlier block has a quote in the field
    std::string unescaped_{};
};

}  // namespace quadmill::detail::input
