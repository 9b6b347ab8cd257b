// The inside of a HeavyPrefixes, for values of that width.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stream/counted_state.hpp"

namespace quadmill::detail::stream {

template <class Bits>
struct HeavyPrefixesState final : CountedState<Bits> {
    HeavyPrefixesState(const KeyRule<Bits>& rule, const HeavyPrefixOptions& wanted,
                       std::unique_ptr<WindowSorter> sorter);
    static std::unique_ptr<HeavyPrefixesState> load(const KeyRule<Bits>& rule, std::span<const std::byte> bytes,
                                                    std::unique_ptr<WindowSorter> sorter);
    [[nodiscard]] std::vector<std::byte> save() override;
    void merge(HeavyPrefixesState& other);

    HeavyPrefixOptions options;
};

}  // namespace quadmill::detail::stream
