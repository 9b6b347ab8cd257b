// The rivals of GPUTeraSort (SIGMOD'06, Fig. 6) and of the sort with blending (SIGMOD'05, Fig. 3): earlier bitonic
// sorts with fragment programs, rebuilt from the descriptions in these papers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "quadmill/context.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::bench {

enum class EarlySort {
    Purcell,  // Purcell et al. 2003: a pass over the whole screen per step, one key per texel, a long program
    Kipfer    // Kipfer et al. 2004: two keys per texel, and a short program
};

// Keeps programs, textures and staging memory for later calls.
class EarlySorter {
  public:
    EarlySorter(const Context& context, EarlySort which);
    EarlySorter(EarlySorter&&) noexcept;
    ~EarlySorter();

    // `index`, if not empty, receives the original index of each key. Throws InvalidArgument if keys do not have 32
    // bits, or do not fit into a texture.
    SortStats sort(Keys keys, std::span<std::uint32_t> index);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace quadmill::detail::bench
