// A sort on one page, for print.
#pragma once

#include <cstddef>
#include <vector>

#include "show/canvas.hpp"
#include "show/stages.hpp"

namespace quadmill::detail::show {

// The steps that tell most: all of the network's first stage or last stage, and the end of every other stage.
[[nodiscard]] std::vector<std::size_t> highlights(const Stages& stages);

// A tile each: the four channels as they lie in the texture, and all keys by index. As high as it takes.
[[nodiscard]] Canvas contact_sheet(const Stages& stages);

}  // namespace quadmill::detail::show
