// Arrays of keys that are sorted separately, and their positions in a texture. Each begins with a new pair of blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

namespace quadmill::detail::sort {

// Consecutive segments of the same length. The last one may be shorter.
struct EqualSegments {
    std::size_t count, size, last_size;

    [[nodiscard]] std::size_t size_of(std::size_t segment) const { return segment + 1 < count ? size : last_size; }

    // Like Segments::for_each_piece, for segments that begin `places` positions apart. Pre: size <= places.
    template <class F>
    void for_each_piece(std::size_t positions, std::size_t first, std::size_t number, F&& f) const {
        for (const auto end = first + number; first < end;) {
            const auto segment = first / positions, skipped = first % positions;
            const auto next = std::min(end, first - skipped + positions);
            const auto keys = segment < count ? size_of(segment) : 0;
            const auto piece = std::min(keys - std::min(keys, skipped), next - first);
            f(first, piece > 0 ? segment * size + skipped : 0, piece, next - first - piece);
            first = next;
        }
    }
};

class Segments {
  public:
    // `pair_keys` is the number of keys in a pair of blocks.
    explicit Segments(std::size_t pair_keys) : pair_keys_(pair_keys) {}
    void add(std::size_t first_key, std::size_t keys);
    // Cuts `n` keys into segments of `window` keys. The last one may be shorter.
    void add_windows(std::size_t n, std::size_t window);

    struct Segment {
        std::size_t first_key, keys, first_pair;
    };
    [[nodiscard]] const std::vector<Segment>& all() const { return all_; }
    [[nodiscard]] std::size_t pairs() const { return pairs_; }
    [[nodiscard]] std::size_t longest_pairs() const { return longest_pairs_; }

    // All segments, if their lengths are equal.
    [[nodiscard]] std::optional<EqualSegments> equal() const {
        if (!equal_ || all_.empty()) return {};
        return EqualSegments{all_.size(), all_.front().keys, all_.back().keys};
    }

    [[nodiscard]] std::vector<Segment>::const_iterator of_pair(std::size_t pair) const {
        return std::prev(std::upper_bound(all_.begin(), all_.end(), pair,
                                          [](std::size_t p, const Segment& s) { return p < s.first_pair; }));
    }

    // Goes through positions [first, first + count), counted in keys in the texture, and calls f(place, key, size,
    // padding): from position `place` on there are `size` keys, beginning with key number `key`, then `padding`
    // positions without a key.
    template <class F>
    void for_each_piece(std::size_t first, std::size_t count, F&& f) const {
        const auto end = first + count;
        for (auto segment = of_pair(first / pair_keys_); first < end; ++segment) {
            const auto begin = segment->first_pair * pair_keys_;
            const auto next = segment + 1 == all_.end() ? end : std::min(end, segment[1].first_pair * pair_keys_);
            const auto skipped = std::min(first - begin, segment->keys);
            const auto size = std::min(segment->keys - skipped, next - first);
            f(first, segment->first_key + skipped, size, next - first - size);
            first = next;
        }
    }

  private:
    std::size_t pair_keys_, pairs_ = 0, longest_pairs_ = 0;
    std::vector<Segment> all_;
    bool equal_ = true;
};

}  // namespace quadmill::detail::sort
