// A sort on one page, for print.
#pragma once

#include <cstddef>
#include <vector>

#include "show/canvas.hpp"
#include "show/stages.hpp"

namespace quadmill::detail::show {

// The most interesting steps: all steps of the network's first or last stage, and the end of every other stage.
[[nodiscard]] std::vector<std::size_t> highlights(const Stages& stages);

// One tile per step: the four channels as in the texture, and all keys by index. The page is as high as needed.
[[nodiscard]] Canvas contact_sheet(const Stages& stages);

}  // namespace quadmill::detail::show
