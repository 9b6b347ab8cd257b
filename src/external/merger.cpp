#include "external/merger.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "quadmill/error.hpp"

namespace quadmill::detail::external {

Merger::Merger(const Format& format, const std::vector<Input>& inputs, const MergePlan& plan, StageClock& reading,
               Tick tick)
    : format_(format),
      reader_(inputs, plan.margin, plan.block, reading, std::move(tick)),
      runs_(reader_.runs()),
      tree_(inputs.size()) {
    begin();
}

Merger::Merger(const Format& format, const std::vector<Input>& inputs, std::size_t margin, std::span<std::byte> memory,
               Transfers& io)
    : format_(format), reader_(inputs, margin, memory, io), runs_(reader_.runs()), tree_(inputs.size()) {
    begin();
}

void Merger::begin() {
    if (const auto& keys = format_.fixed()) {
        record_bytes_ = keys->record_bytes();
        key_bytes_ = keys->key_bytes();
        makes_keys_ = !keys->is_verbatim();
        key_offset_ = makes_keys_ ? 0 : keys->offset();
        if (makes_keys_) keys_.resize(runs_.size() * key_bytes_);
    }
    std::vector<Head> heads;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        find_record(i);
        heads.push_back(head(i));
    }
    tree_[0] = runs_.size() == 1 ? heads[0] : build(1, heads);
}

// Finds the end and the key of the record that begins at run.at.
void Merger::find_record(std::size_t which) {
    auto& run = runs_[which];
    before_ = {run.key, run.key_bytes};
    run.length = 0;
    if (format_.kind() == RecordFormat::Kind::Sized) return find_sized(which);
    if (format_.kind() == RecordFormat::Kind::Lines) return find_line(which);
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
}

// The block after the next one may be read into the memory of the key before.
bool Merger::next_block(std::size_t which) {
    if (before_.data() != kept_.data()) {
        const auto bytes = before_.size();
        kept_.assign(before_.begin(), before_.end());
        kept_.resize(bytes + RunReader::readable);
        before_ = std::span(kept_).first(bytes);
    }
    return reader_.next_block(which);
}

void Merger::find_line(std::size_t which) {
    auto& run = runs_[which];
    for (;;) {
        const auto left = static_cast<std::size_t>(run.to - run.at);
        if (const void* end = left > 0 ? std::memchr(run.at, static_cast<int>(end_of_line), left) : nullptr) {
            run.length = static_cast<std::size_t>(static_cast<const std::byte*>(end) - run.at) + 1;
            run.key = run.at;
            run.key_bytes = run.length;
            return;
        }
        if (!next_block(which)) return;
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
        if (!next_block(which)) return;
    }
}

namespace {

using Key = std::span<const std::byte>;

constexpr auto none = std::numeric_limits<std::size_t>::max();
constexpr std::size_t word_bytes = 6;

// A word of a key as a number with the same order. Zeros follow the key's end.
std::uint64_t word_at(Key key, std::size_t which) {
    constexpr std::size_t read = sizeof(std::uint64_t);
    const auto from = std::min(which * word_bytes, key.size()), left = std::min(key.size() - from, word_bytes);
    static_assert(read - 1 <= RunReader::readable && std::endian::native == std::endian::little);
    std::uint64_t word = 0;
    if (left > 0) std::memcpy(&word, key.data() + from, read);
    return left > 0 ? __builtin_bswap64(word) >> 8 * (read - left) << 8 * (word_bytes - left) : 0;
}

// The first word from `which` on in which keys differ, if zeros follow each.
std::size_t first_difference(Key a, Key b, std::size_t which) {
    for (const auto bytes = std::max(a.size(), b.size()); which * word_bytes < bytes; ++which) {
        if (word_at(a, which) != word_at(b, which)) return which;
    }
    return none;
}

// How a key differs from one that is not after it (Conner's offset-value codes, 1977): the number of the first word in
// which they differ, turned, above that word. 0 if there is none. If keys have different codes from the same key, the
// one with the greater code comes later, and has the same code from the other one. Words from the last number on have
// one code.
constexpr std::size_t turned_first = 0xffff, last_word = turned_first - 1;
constexpr unsigned code_shift = 8 * word_bytes;
std::uint64_t code_of(Key key, std::size_t difference) {
    if (difference == none) return 0;
    const auto which = std::min(difference, last_word);
    return std::uint64_t{turned_first - which} << code_shift | (which < last_word ? word_at(key, which) : 0);
}
// The first word in which keys with this code may differ.
std::size_t word_after(std::uint64_t code) {
    return std::min<std::size_t>(turned_first - (code >> code_shift) + 1, last_word);
}

}  // namespace

Merger::Head Merger::head(std::size_t which) const {
    const auto& run = runs_[which];
    if (run.length == 0) return {std::numeric_limits<std::uint64_t>::max(), which};
    if (format_.fixed()) return {prefix_of(run.key, key_bytes_), which};
    const Key key(run.key, run.key_bytes);
    return {code_of(key, first_difference(before_, key, 0)), which};
}

// Pre: the two numbers are equal. Of keys with several lengths the later one gets its code from the other one.
bool Merger::comes_first(Head& a, Head& b) const {
    const auto &x = runs_[a.run], &y = runs_[b.run];
    if (x.length == 0 || y.length == 0) return x.length != 0 || (y.length == 0 && a.run < b.run);
    if (format_.fixed()) {
        constexpr std::size_t seen = sizeof(Head::number);
        const int order = key_bytes_ > seen ? std::memcmp(x.key + seen, y.key + seen, key_bytes_ - seen) : 0;
        return order != 0 ? order < 0 : a.run < b.run;
    }
    if (a.number == 0) return shorter_comes_first(a.run, b.run);
    const Key first(x.key, x.key_bytes), second(y.key, y.key_bytes);
    const auto difference = first_difference(first, second, word_after(a.number));
    const bool before = difference == none ? shorter_comes_first(a.run, b.run)
                                           : word_at(first, difference) < word_at(second, difference);
    (before ? b : a).number = code_of(before ? second : first, difference);
    return before;
}

bool Merger::shorter_comes_first(std::size_t a, std::size_t b) const {
    return runs_[a].key_bytes != runs_[b].key_bytes ? runs_[a].key_bytes < runs_[b].key_bytes : a < b;
}

// Returns the winner below a node; the loser stays in the node. Node i has the children 2i and 2i + 1. Leaf i is node i
// + runs.
Merger::Head Merger::build(std::size_t node, std::span<const Head> heads) {
    if (node >= runs_.size()) return heads[node - runs_.size()];
    auto a = build(2 * node, heads), b = build(2 * node + 1, heads);
    const bool first = a.number != b.number ? a.number < b.number : comes_first(a, b);
    tree_[node] = first ? b : a;
    return first ? a : b;
}

void Merger::replay(std::size_t which) {
    auto winner = head(which);
    for (auto node = (which + runs_.size()) / 2; node > 0; node /= 2) {
        auto& loser = tree_[node];
        bool swaps = loser.number < winner.number;
        if (loser.number == winner.number) [[unlikely]]
            swaps = comes_first(loser, winner);
        // No branch on the data: the winner is random.
        const auto mask = std::uint64_t{0} - static_cast<std::uint64_t>(swaps);
        const Head change{(loser.number ^ winner.number) & mask, (loser.run ^ winner.run) & mask};
        loser.number ^= change.number;
        loser.run ^= change.run;
        winner.number ^= change.number;
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
