#include "external/merger.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "quadmill/error.hpp"

namespace quadmill::detail::external {

Merger::Merger(const Format& format, const std::vector<Input>& inputs, const MergePlan& plan, StageClock& reading,
               Tick tick)
    : format_(format),
      reader_(inputs, plan.margin, plan.block, reading, std::move(tick)),
      runs_(reader_.runs()),
      tree_(inputs.size()) {
    if (const auto& keys = format.fixed()) {
        record_bytes_ = keys->record_bytes();
        key_bytes_ = keys->key_bytes();
        makes_keys_ = !keys->is_verbatim();
        key_offset_ = makes_keys_ ? 0 : keys->offset();
        if (makes_keys_) keys_.resize(inputs.size() * key_bytes_);
    }
    for (std::size_t i = 0; i < runs_.size(); ++i) find_record(i);
    tree_[0] = runs_.size() == 1 ? head(0) : build(1);
}

// Finds the end and the key of the record that begins at run.at.
void Merger::find_record(std::size_t which) {
    auto& run = runs_[which];
    run.length = 0;
    if (format_.fixed()) {
        while (static_cast<std::size_t>(run.to - run.at) < record_bytes_) {
            if (!reader_.next_block(which)) return;
        }
        run.length = record_bytes_;
        run.key = run.at + key_offset_;
        if (makes_keys_) {
            auto* key = keys_.data() + which * key_bytes_;
            format_.fixed()->make(run.at, key);
            run.key = key;
        }
        return;
    }
    if (format_.kind() == RecordFormat::Kind::Sized) return find_sized(which);
    for (;;) {
        const auto left = static_cast<std::size_t>(run.to - run.at);
        if (const void* end = left > 0 ? std::memchr(run.at, static_cast<int>(end_of_line), left) : nullptr) {
            run.length = static_cast<std::size_t>(static_cast<const std::byte*>(end) - run.at) + 1;
            run.key = run.at;
            run.key_bytes = run.length;
            return;
        }
        if (!reader_.next_block(which)) return;
    }
}

void Merger::find_sized(std::size_t which) {
    auto& run = runs_[which];
    for (;;) {
        const auto left = static_cast<std::size_t>(run.to - run.at);
        const auto header = left >= sizeof(SizedHeader) ? SizedHeader::of(run.at) : SizedHeader{};
        if (header.bytes > 0 && header.bytes <= left) {
            run.length = header.bytes;
            run.key = run.at + header.key_offset;
            run.key_bytes = header.key_bytes;
            return;
        }
        if (!reader_.next_block(which)) return;
    }
}

Merger::Head Merger::head(std::size_t which) const {
    const auto& run = runs_[which];
    if (run.length == 0) return {std::numeric_limits<std::uint64_t>::max(), which};
    return {prefix_of(run.key, format_.fixed() ? key_bytes_ : run.key_bytes), which};
}

// Pre: the two prefixes are equal.
bool Merger::comes_first(std::size_t a, std::size_t b) const {
    const auto &x = runs_[a], &y = runs_[b];
    if (x.length == 0 || y.length == 0) return x.length != 0 || (y.length == 0 && a < b);
    constexpr std::size_t seen = sizeof(Head::prefix);
    const auto bytes = format_.fixed() ? key_bytes_ : std::min(x.key_bytes, y.key_bytes);
    const int order = bytes > seen ? std::memcmp(x.key + seen, y.key + seen, bytes - seen) : 0;
    if (order != 0) return order < 0;
    if (!format_.fixed() && x.key_bytes != y.key_bytes) return x.key_bytes < y.key_bytes;
    return a < b;
}

bool Merger::wins(const Head& a, const Head& b) const {
    return a.prefix != b.prefix ? a.prefix < b.prefix : comes_first(a.run, b.run);
}

// Returns the winner below a node; the loser stays in the node. Node i has the children 2i and 2i + 1. Leaf i is node i
// + runs.
Merger::Head Merger::build(std::size_t node) {
    if (node >= runs_.size()) return head(node - runs_.size());
    const auto a = build(2 * node), b = build(2 * node + 1);
    const bool first = wins(a, b);
    tree_[node] = first ? b : a;
    return first ? a : b;
}

void Merger::replay(std::size_t which) {
    auto winner = head(which);
    for (auto node = (which + runs_.size()) / 2; node > 0; node /= 2) {
        auto& loser = tree_[node];
        bool swaps = loser.prefix < winner.prefix;
        if (loser.prefix == winner.prefix) [[unlikely]]
            swaps = comes_first(loser.run, winner.run);
        // No branch on the data: the winner is random.
        const auto mask = std::uint64_t{0} - static_cast<std::uint64_t>(swaps);
        const Head change{(loser.prefix ^ winner.prefix) & mask, (loser.run ^ winner.run) & mask};
        loser.prefix ^= change.prefix;
        loser.run ^= change.run;
        winner.prefix ^= change.prefix;
        winner.run ^= change.run;
    }
    tree_[0] = winner;
}

void Merger::drop_winner() {
    const auto which = tree_[0].run;
    auto& run = runs_[which];
    run.at += run.length;
    __builtin_prefetch(run.at + 4 * run.length);
    find_record(which);
    replay(which);
}

std::span<const std::byte> Merger::next() {
    if (given_) drop_winner();
    const auto& run = runs_[tree_[0].run];
    given_ = run.length > 0;
    return {run.at, run.length};
}

std::size_t Merger::fill(std::span<std::byte> memory) {
    auto* out = memory.data();
    auto* const end = out + memory.size();
    for (;;) {
        if (rest_.empty()) rest_ = next();
        const auto part = std::min(rest_.size(), static_cast<std::size_t>(end - out));
        if (part == 0) break;  // the end, or there is no room left
        std::memcpy(out, rest_.data(), part);
        out += part;
        rest_ = rest_.subspan(part);
    }
    return memory.size() - static_cast<std::size_t>(end - out);
}

}  // namespace quadmill::detail::external
