// `quadmill lu --batch`: many small matrices at once.
#pragma once

#include <cstddef>
#include <string>

namespace quadmill::detail::cli {

struct LuBatchCall {
    std::size_t n;
    std::string matrices, sides, output;  // files
    bool json, profile;
    int device;
};
void run_lu_batch(const LuBatchCall& call);

}  // namespace quadmill::detail::cli
