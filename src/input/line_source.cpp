#include "input/line_source.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "input/line_keys.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::input {

LineSource::LineSource(const std::string& path, LineEnds ends, std::size_t longest, BeforeRead before_read,
                       std::size_t memory)
    : file_(path),
      ends_(ends),
      longest_(longest),
      before_read_(std::move(before_read)),
      block_(memory / 2),
      memory_(memory) {}

bool LineSource::read_more() {
    if (ended_) return false;
    if (to_ - at_ > longest_) {
        throw IoError(fmt::format("{}: line {} has more than the {} bytes that this memory allows; give more --memory",
                                  file_.name(), next_number_, longest_),
                      file_.path(), offset_ + at_);
    }
    std::memmove(memory_.data(), memory_.data() + at_, to_ - at_);
    offset_ += at_;
    to_ -= std::exchange(at_, 0);
    if (memory_.size() - to_ < block_) memory_.resize(2 * memory_.size());
    before_read_(file_.descriptor());
    const auto got = file_.read(std::as_writable_bytes(std::span(memory_)).subspan(to_, memory_.size() - to_ - 1));
    to_ += got;
    ended_ = got == 0;
    if (ended_ && to_ > 0 && memory_[to_ - 1] != ends_.end) memory_[to_++] = ends_.end;
    return to_ > 0;
}

std::optional<std::size_t> LineSource::find_end() const {
    const std::string_view text(memory_.data() + at_, to_ - at_);
    if (ends_.csv_separator) return csv_line_end(text, *ends_.csv_separator, ends_.end);
    const auto end = text.find(ends_.end, searched_);
    if (end == std::string_view::npos) return {};
    return end;
}

bool LineSource::next(std::vector<std::string_view>& lines, std::size_t bytes) {
    auto line = next();
    if (!line) return false;
    const auto begin = at_ - line->size();
    for (;;) {
        lines.push_back(*line);
        if (at_ - begin >= bytes) return true;
        searched_ = 0;
        const auto end = find_end();
        if (!end) return true;
        line = take_line(*end);
    }
}

std::optional<std::string_view> LineSource::next() {
    searched_ = 0;
    auto end = find_end();
    while (!end) {
        searched_ = to_ - at_;
        if (!read_more()) {
            if (to_ == at_) return {};
            throw IoError(fmt::format("{}: line {} has a quote that is not closed", file_.name(), next_number_),
                          file_.path(), offset_ + at_);
        }
        end = find_end();
    }
    return take_line(*end);
}

std::optional<std::string_view> LineSource::next_text() {
    std::string_view text;
    for (;;) {
        text = {memory_.data() + at_, to_ - at_};
        if (const auto end = text.rfind(ends_.end); end != text.npos) {
            text = text.substr(0, end + 1);
            break;
        }
        if (!read_more()) return {};
    }
    if (const auto quote = ends_.csv_separator ? text.find('"') : text.npos; quote != text.npos)
        text = text.substr(0, text.substr(0, quote).rfind(ends_.end) + 1);  // npos + 1 is 0
    if (text.empty()) return {};
    at_ += text.size();
    return text;
}

void LineSource::count(std::uint64_t lines) {
    next_number_ += lines;
    number_ = next_number_ - 1;
}

std::string_view LineSource::take_line(std::size_t end) {
    const std::string_view line(memory_.data() + at_, end + 1);
    at_ += line.size();
    number_ = next_number_++;
    if (ends_.csv_separator)
        next_number_ += static_cast<std::uint64_t>(std::count(line.begin(), line.end() - 1, ends_.end));
    return line;
}

}  // namespace quadmill::detail::input
