// What a pass does to the keys of a sort, for observers. Engines put this gl::Note on passes that complete a step of
// their network or a level of merges.
#pragma once

#include "quadmill/sort.hpp"
#include "sort/bitonic/network.hpp"

namespace quadmill::detail::sort {

struct SortNote {
    enum class Act {
        Place,      // moves keys to where the steps expect them, compares none
        KeepLower,  // keeps the first of each pair of compared keys; another pass keeps the others
        KeepUpper,
        Exchange,  // keeps all keys, each at its new position
    };
    enum class Texels {
        Numbers,  // unsigned numbers that are ordered like the keys
        Keys,     // the keys themselves
    };
    enum class Step { GoesOn, Ends };
    Act act = Act::Place;
    Texels texels = Texels::Numbers;
    Step step = Step::Ends;             // Ends: the target has all keys
    const BitonicPass* made = nullptr;  // the comparisons, for Engine::Bitonic
};

}  // namespace quadmill::detail::sort
