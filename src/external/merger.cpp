#include "external/merger.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "quadmill/error.hpp"

namespace quadmill::detail::external {

Merger::Merger(const Format& format, const std::vector<Input>& inputs, const MergePlan& plan, StageClock& reading,
               Tick tick)
    : format_(format),
      plan_(plan),
      memory_(inputs.size() * 2 * (plan.margin + plan.block)),
      tree_(inputs.size()),
      io_(files::BlockIo::Method::Auto, reading, std::move(tick)) {
    if (const auto& keys = format.fixed()) {
        record_bytes_ = keys->record_bytes();
        key_bytes_ = keys->key_bytes();
        makes_keys_ = !keys->is_verbatim();
        key_offset_ = makes_keys_ ? 0 : keys->offset();
        if (makes_keys_) keys_.resize(inputs.size() * key_bytes_);
    }
    auto* memory = memory_.data();
    for (const auto& [place, bytes] : inputs) {
        auto& run = runs_.emplace_back(Run{place, place.offset, place.offset + bytes, {}});
        for (auto& block : run.blocks) {
            block = memory;
            memory += plan.margin + plan.block;
        }
    }
    for (std::size_t i = 0; i < runs_.size(); ++i) read_next(i);
    for (std::size_t i = 0; i < runs_.size(); ++i) find_record(i);
    tree_[0] = runs_.size() == 1 ? head(0) : build(1);
}

// Begins to read into the block that is not the current one.
void Merger::read_next(std::size_t which) {
    auto& run = runs_[which];
    run.has_come = false;
    run.coming = static_cast<std::size_t>(std::min<std::uint64_t>(run.end - run.next, plan_.block));
    if (run.coming == 0) return;
    // The last page of a run is whole in its file.
    io_.read(run.place.file, {run.blocks[1 - run.current] + plan_.margin, files::page_up(run.coming)}, run.next, which);
    run.next += run.coming;
}

void Merger::wait_for(std::size_t which) {
    while (!runs_[which].has_come) {
        const auto done = io_.next();
        auto& run = runs_[done.tag];
        const auto at = run.next - run.coming + done.bytes;
        if (done.error != 0) fail_io("read", run.place, at, done.error);
        if (done.bytes < run.coming)
            throw IoError(run.place.name + " ends at byte " + std::to_string(at) + ", where there was more before",
                          run.place.path, at);
        run.has_come = true;
    }
}

// Puts what is left of the current block before the next one. False at the end of the run.
bool Merger::next_block(std::size_t which) {
    auto& run = runs_[which];
    if (run.coming == 0) return false;
    wait_for(which);
    auto* begin = run.blocks[1 - run.current] + plan_.margin;
    const auto left = static_cast<std::size_t>(run.to - run.at);
    if (left > 0) std::memcpy(begin - left, run.at, left);
    run.at = begin - left;
    run.to = begin + run.coming;
    run.current = 1 - run.current;
    read_next(which);
    return true;
}

// Looks at the record that begins at run.at.
void Merger::find_record(std::size_t which) {
    auto& run = runs_[which];
    run.length = 0;
    if (format_.fixed()) {
        while (static_cast<std::size_t>(run.to - run.at) < record_bytes_) {
            if (!next_block(which)) return;
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
    for (;;) {
        const auto left = static_cast<std::size_t>(run.to - run.at);
        if (const void* end = left > 0 ? std::memchr(run.at, static_cast<int>(end_of_line), left) : nullptr) {
            run.length = static_cast<std::size_t>(static_cast<const std::byte*>(end) - run.at) + 1;
            run.key = run.at;
            return;
        }
        if (!next_block(which)) return;
    }
}

Merger::Head Merger::head(std::size_t which) const {
    const auto& run = runs_[which];
    if (run.length == 0) return {std::numeric_limits<std::uint64_t>::max(), which};
    return {prefix_of(run.key, format_.fixed() ? key_bytes_ : run.length), which};
}

// Pre: their prefixes are equal.
bool Merger::comes_first(std::size_t a, std::size_t b) const {
    const auto &x = runs_[a], &y = runs_[b];
    if (x.length == 0 || y.length == 0) return x.length != 0 || (y.length == 0 && a < b);
    constexpr std::size_t seen = sizeof(Head::prefix);
    const auto bytes = format_.fixed() ? key_bytes_ : std::min(x.length, y.length);
    const int order = bytes > seen ? std::memcmp(x.key + seen, y.key + seen, bytes - seen) : 0;
    return order != 0 ? order < 0 : a < b;
}

bool Merger::wins(const Head& a, const Head& b) const {
    return a.prefix != b.prefix ? a.prefix < b.prefix : comes_first(a.run, b.run);
}

// The winner below a node, whose loser stays there. Node i has the nodes 2i and 2i + 1 below it, and leaf i is node
// i + runs.
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
        // No branch on the data: which one wins is a coin toss.
        const auto mask = std::uint64_t{0} - static_cast<std::uint64_t>(swaps);
        const Head change{(loser.prefix ^ winner.prefix) & mask, (loser.run ^ winner.run) & mask};
        loser.prefix ^= change.prefix;
        loser.run ^= change.run;
        winner.prefix ^= change.prefix;
        winner.run ^= change.run;
    }
    tree_[0] = winner;
}

std::size_t Merger::fill(std::span<std::byte> memory) {
    auto* out = memory.data();
    auto* const end = out + memory.size();
    for (;;) {
        const auto which = tree_[0].run;
        auto& run = runs_[which];
        if (rest_.empty()) {
            if (run.length == 0) break;
            rest_ = {run.at, run.length};
        }
        const auto part = std::min(rest_.size(), static_cast<std::size_t>(end - out));
        if (part > 0) std::memcpy(out, rest_.data(), part);
        out += part;
        rest_ = rest_.subspan(part);
        if (!rest_.empty() || part == 0) break;  // there is no more room
        run.at += run.length;
        __builtin_prefetch(run.at + 4 * run.length);
        find_record(which);
        replay(which);
    }
    return memory.size() - static_cast<std::size_t>(end - out);
}

}  // namespace quadmill::detail::external
