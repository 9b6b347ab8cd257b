// Lines as records of a sort, and sorted lines as streams of text.
#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "external/blocks.hpp"
#include "external/records.hpp"
#include "input/line_keys.hpp"
#include "input/line_source.hpp"

namespace quadmill::detail::cli {

[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

// Where a record has its key.
enum class KeyIs { InLine, BeforeLine };

// A line and its key as a record.
struct LineRecord {
    std::string_view line, key;
    KeyIs where;

    [[nodiscard]] bool is_apart() const { return where == KeyIs::BeforeLine; }
    [[nodiscard]] std::size_t bytes() const {
        return sizeof(external::SizedHeader) + line.size() + (is_apart() ? key.size() : 0);
    }
    void write(void* memory) const {
        using external::SizedHeader;
        const auto offset = sizeof(SizedHeader) + (is_apart() ? 0 : static_cast<std::size_t>(key.data() - line.data()));
        const SizedHeader header{static_cast<std::uint32_t>(bytes()), static_cast<std::uint32_t>(offset),
                                 static_cast<std::uint32_t>(key.size())};
        auto* to = static_cast<char*>(memory);
        std::memcpy(to, &header, sizeof header);
        if (is_apart() && !key.empty()) std::memcpy(to + sizeof header, key.data(), key.size());
        std::memcpy(to + bytes() - line.size(), line.data(), line.size());
    }
};
[[nodiscard]] inline LineRecord record_of(std::string_view line, input::KeyMaker& keys, KeyIs where) {
    return {line, keys(line.substr(0, line.size() - 1)), where};
}

// Text before a stream.
class AfterHeader final : public external::Stream {
  public:
    AfterHeader(std::string_view header, Stream& rest) : header_(header), rest_(rest) {}
    [[nodiscard]] std::size_t fill(std::span<std::byte> memory) override;

  private:
    std::string_view header_;
    Stream& rest_;
};

// A stream's lines without their keys.
class Lines : public external::Stream {
  public:
    [[nodiscard]] std::size_t fill(std::span<std::byte> memory) override;
    // Number of bytes so far.
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  protected:
    // The next line with its end. Valid until the next call.
    virtual std::optional<std::string_view> next() = 0;

  private:
    std::string_view rest_;
    std::uint64_t bytes_ = 0;
};

// Whether a line has another key than the line before it.
class Different {
  public:
    bool operator()(std::string_view key) {
        if (key_ && *key_ == key) return false;
        key_ = key;
        return true;
    }

  private:
    std::optional<std::string> key_;
};

class SortedLines final : public Lines {
  public:
    SortedLines(external::RecordStream& records, KeyIs key, bool unique)
        : records_(records), key_(key), unique_(unique) {}

  private:
    std::optional<std::string_view> next() override;

    external::RecordStream& records_;
    KeyIs key_;
    bool unique_;
    Different is_different_;
};

// Merges sources in order. Equal keys are in the order of the sources.
class MergedLines final : public Lines {
  public:
    MergedLines(std::vector<std::unique_ptr<input::LineSource>> sources, input::KeyMaker keys, bool unique);

  private:
    struct Head {
        std::string key, line;
    };
    // Whether the first source's line comes later.
    struct Later {
        const std::vector<Head>& heads;
        bool operator()(std::size_t a, std::size_t b) const;
    };
    void advance(std::size_t which);
    std::optional<std::string_view> next() override;

    std::vector<std::unique_ptr<input::LineSource>> sources_;
    input::KeyMaker keys_;
    bool unique_;
    std::vector<Head> heads_;
    std::priority_queue<std::size_t, std::vector<std::size_t>, Later> queue_{Later{heads_}};
    std::optional<std::size_t> given_;
    Different is_different_;
};

}  // namespace quadmill::detail::cli
