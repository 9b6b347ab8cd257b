// What --profile prints about passes.
#pragma once

#include <vector>

#include "quadmill/context.hpp"

namespace quadmill::cli {

// On standard error: a table, and the limits of the device that it is measured by. Pre: nobody observes the context.
void print_passes(Context& context, const std::vector<PassProfiler::Row>& rows);

}  // namespace quadmill::cli
