// What a pass does to the keys of a sort, for observers: engines put such a gl::Note on passes that complete a step of
// their network or a level of merges.
#pragma once

#include "quadmill/sort.hpp"
#include "sort/bitonic/network.hpp"

namespace quadmill::detail::sort {

struct SortNote {
    enum class Act {
        Place,      // puts keys where the steps find them, and compares none
        KeepLower,  // of the keys that are compared, keeps the ones that come first; another pass keeps the others
        KeepUpper,
        Exchange,  // keeps all, each at its new place
    };
    enum class Texels {
        Numbers,  // unsigned ones, in the order of the keys
        Keys,     // the keys themselves
    };
    enum class Step { GoesOn, Ends };
    Act act = Act::Place;
    Texels texels = Texels::Numbers;
    Step step = Step::Ends;             // then the target has all keys
    const BitonicPass* made = nullptr;  // the comparisons of Engine::Bitonic
};

}  // namespace quadmill::detail::sort
