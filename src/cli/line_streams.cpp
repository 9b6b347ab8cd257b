#include "cli/line_streams.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "external/wide_keys.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

using external::SizedHeader;

std::size_t AfterHeader::fill(std::span<std::byte> memory) {
    const auto part = std::min(header_.size(), memory.size());
    if (part > 0) std::memcpy(memory.data(), header_.data(), part);
    header_.remove_prefix(part);
    return part + (part < memory.size() ? rest_.fill(memory.subspan(part)) : 0);
}

std::size_t Lines::fill(std::span<std::byte> memory) {
    std::size_t filled = 0;
    for (;;) {
        const auto part = std::min(rest_.size(), memory.size() - filled);
        bytes_ += part;
        if (part > 0) std::memcpy(memory.data() + filled, rest_.data(), part);
        filled += part;
        rest_.remove_prefix(part);
        if (filled == memory.size()) return filled;
        const auto line = next();
        if (!line) return filled;
        rest_ = *line;
    }
}

std::optional<std::string_view> SortedLines::next() {
    for (;;) {
        const auto record = records_.next();
        if (record.empty()) return {};
        const auto header = SizedHeader::of(record.data());
        const auto* text = reinterpret_cast<const char*>(record.data());
        if (unique_ && !is_different_({text + header.key_offset, header.key_bytes})) continue;
        const auto begin = key_ == KeyIs::InLine ? sizeof header : sizeof header + header.key_bytes;
        return std::string_view(text + begin, header.bytes - begin);
    }
}

MergedLines::MergedLines(std::vector<std::unique_ptr<input::LineSource>> sources, input::KeyMaker keys, bool unique)
    : sources_(std::move(sources)), keys_(std::move(keys)), unique_(unique), heads_(sources_.size()) {
    for (std::size_t i = 0; i < sources_.size(); ++i) advance(i);
}

bool MergedLines::Later::operator()(std::size_t a, std::size_t b) const {
    const int order = external::compare(bytes_of(heads[a].key), bytes_of(heads[b].key), 0);
    return order != 0 ? order > 0 : a > b;
}

void MergedLines::advance(std::size_t which) {
    auto& source = *sources_[which];
    const auto line = source.next();
    if (!line) return;
    auto& head = heads_[which];
    const auto key = keys_(line->substr(0, line->size() - 1));
    if (source.number() > 1 && external::compare(bytes_of(head.key), bytes_of(key), 0) > 0) {
        throw InvalidArgument(
            fmt::format("{}: line {} is out of order, so this file cannot be merged; without -m it "
                        "is sorted",
                        source.name(), source.number()));
    }
    head.key = key;
    head.line = *line;
    queue_.push(which);
}

std::optional<std::string_view> MergedLines::next() {
    for (;;) {
        if (given_) advance(*std::exchange(given_, std::nullopt));
        if (queue_.empty()) return {};
        given_ = queue_.top();
        queue_.pop();
        if (!unique_ || is_different_(heads_[*given_].key)) return heads_[*given_].line;
    }
}

}  // namespace quadmill::detail::cli
