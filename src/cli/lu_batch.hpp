// `quadmill lu --batch`: many small matrices together.
#pragma once

#include <cstddef>
#include <string>

#include "files/files.hpp"

namespace quadmill::detail::cli {

struct LuBatchCall {
    std::size_t n;
    std::string matrices, sides, output;  // file names
    bool json, profile;
    int device;
};
void run_lu_batch(const LuBatchCall& call);

// Rejects an output that is also an input; the same for the orders of rows and columns, which are written next to it.
void refuse_lu_inputs(const std::string& output, const std::string& matrix, const std::string& sides);
// Rejects two outputs that are the same file.
void must_differ(const files::OutputFile& content, const files::OutputFile& order);

}  // namespace quadmill::detail::cli
