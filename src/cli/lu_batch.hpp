// `quadmill lu --batch`: many small matrices at once.
#pragma once

#include <cstddef>
#include <string>

namespace quadmill::cli {

struct LuBatchCall {
    std::size_t n;
    std::string matrices, sides, output;  // files
    bool json, profile;
    int device;
};
void run_lu_batch(const LuBatchCall& call);

}  // namespace quadmill::cli
