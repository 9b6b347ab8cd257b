// The prefixes that are heavy, from counts of the prefixes of each length.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "quadmill/stream.hpp"
#include "stream/parts.hpp"

namespace quadmill::detail::stream {

// The error of each length. Heavy prefixes that are subtracted have at least (support - eps) n values each, so there
// are at most 2 / support of them.
[[nodiscard]] double each_eps(const HeavyPrefixOptions& options);
// Throws InvalidArgument for options out of range. Values have that many bits.
const HeavyPrefixOptions& checked(const HeavyPrefixOptions& options, unsigned bits);
// The options of a merged summary. Its errors hold for the support that both can be asked for.
[[nodiscard]] HeavyPrefixOptions of_both(const HeavyPrefixOptions& a, const HeavyPrefixOptions& b);
// Reads eps and the support.
void read_errors(Reader& from, HeavyPrefixOptions& options);

// A prefix of values from the first to the last one, and the bounds of their number.
template <class Value>
struct Counted {
    Value first, last;
    Bounds count;
};

// counts(i) gives the prefixes of length i, ascending. Starts with the longest prefixes. Subtracts from the count of
// each prefix the min counts of the heavy prefixes below it. A prefix that may still be heavy is reported. From then
// on it covers all prefixes below it.
template <class Value, class Counts>
std::vector<HeavyPrefix<Value>> heavy_of(const std::vector<int>& lengths, const Counts& counts, std::uint64_t min,
                                         HeavyRule rule) {
    std::vector<HeavyPrefix<Value>> out;
    std::vector<Counted<Value>> covered;  // heavy prefixes that no shorter one covers yet, ascending
    for (std::size_t i = lengths.size(); i-- > 0;) {
        std::vector<Counted<Value>> next;
        auto at = covered.begin();
        for (const Counted<Value>& one : counts(i)) {
            for (; at != covered.end() && at->first < one.first; ++at) next.push_back(*at);
            const auto from = at;
            Bounds off;
            for (; at != covered.end() && at->last <= one.last; ++at) {
                off.lower += at->count.lower;
                off.upper += at->count.upper;
            }
            const auto& count = one.count;
            if (count.upper < min + (rule == HeavyRule::Discounted ? off.lower : 0)) {
                next.insert(next.end(), from, at);
                continue;
            }
            const Bounds rest{saturating_sub(count.lower, off.upper), saturating_sub(count.upper, off.lower)};
            out.push_back(
                {one.first,
                 lengths[i],
                 count_of(count),
                 {rest.lower, std::clamp(saturating_sub(count.lower, off.lower), rest.lower, rest.upper), rest.upper}});
            next.push_back(one);
        }
        next.insert(next.end(), at, covered.end());
        covered = std::move(next);
    }
    return out;
}

}  // namespace quadmill::detail::stream
