// Wide keys of many forms, and their order by std::stable_sort, independent of src/external.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "external/wide_sort.hpp"

namespace quadmill::test {

// Forms of keys: any bytes; few letters, so that long prefixes are equal; all equal; equal except for the last byte;
// equal in the first 8 bytes; in order; in reverse order; bytes 0 and 1, so that zeros after an end look like bytes.
inline const std::vector<std::string>& key_forms() {
    static const std::vector<std::string> forms{"any",        "letters", "equal",    "last byte",
                                                "equal in 8", "sorted",  "reversed", "zeros and ones"};
    return forms;
}

inline std::vector<std::string> make_keys(const std::string& form, std::size_t n, std::size_t shortest,
                                          std::size_t longest, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::string> keys(n);
    for (auto& key : keys) {
        key.resize(shortest + (longest > shortest ? random() % (longest - shortest + 1) : 0));
        for (std::size_t i = 0; i < key.size(); ++i) {
            if (form == "letters") {
                key[i] = static_cast<char>('a' + random() % 2);
            } else if (form == "zeros and ones") {
                key[i] = static_cast<char>(random() % 4 == 0);
            } else if (form == "equal" || (form == "equal in 8" && i < 8) ||
                       (form == "last byte" && i + 1 < key.size())) {
                key[i] = 'k';
            } else {
                key[i] = static_cast<char>(random());
            }
        }
    }
    if (form == "sorted") std::sort(keys.begin(), keys.end());
    if (form == "reversed") std::sort(keys.rbegin(), keys.rend());
    return keys;
}

// The indices of keys in order. std::string compares bytes as unsigned, with the shorter string first.
inline std::vector<std::uint32_t> stable_order(const std::vector<std::string>& keys) {
    std::vector<std::uint32_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
    return order;
}

// Sorts keys of one length, which are `gap` bytes apart, and checks the order.
inline detail::external::WideStats expect_order(detail::external::WideSorter& sorter,
                                                const std::vector<std::string>& keys, std::size_t length,
                                                std::size_t gap) {
    // Memory of exactly the needed size, so that a sanitizer finds reads after the last key.
    const auto stride = length + gap, n = keys.size();
    std::vector<std::byte> bytes(n == 0 ? 0 : (n - 1) * stride + length, std::byte{0xee});
    for (std::size_t i = 0; i < n && length > 0; ++i) std::memcpy(bytes.data() + i * stride, keys[i].data(), length);
    std::vector<std::uint32_t> order(n, 0xeeeeeeeeU);
    const auto stats = sorter.argsort({.bytes = bytes, .stride = stride, .length = length}, order);
    REQUIRE(stats.n == n);
    REQUIRE(order == stable_order(keys));
    return stats;
}

// The same for keys of any lengths.
inline detail::external::WideStats expect_order(detail::external::WideSorter& sorter,
                                                const std::vector<std::string>& keys) {
    std::vector<std::byte> bytes;
    std::vector<std::uint64_t> offsets{0};
    for (const auto& key : keys) {
        for (const auto c : key) bytes.push_back(static_cast<std::byte>(c));
        offsets.push_back(bytes.size());
    }
    std::vector<std::uint32_t> order(keys.size(), 0xeeeeeeeeU);
    const auto stats = sorter.argsort({.bytes = bytes, .offsets = offsets}, order);
    REQUIRE(order == stable_order(keys));
    return stats;
}

}  // namespace quadmill::test
