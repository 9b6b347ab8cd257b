// `quadmill lu --batch`: many small matrices at once.
#pragma once

#include <cstddef>
#include <string>

#include "files/files.hpp"

namespace quadmill::detail::cli {

struct LuBatchCall {
    std::size_t n;
    std::string matrices, sides, output;  // files
    bool json, profile;
    int device;
};
void run_lu_batch(const LuBatchCall& call);

// Refuses an output, or one of the orders of rows and columns next to it, that is an input.
void refuse_lu_inputs(const std::string& output, const std::string& matrix, const std::string& sides);
// Refuses two outputs that are one file.
void must_differ(const files::OutputFile& content, const files::OutputFile& order);

}  // namespace quadmill::detail::cli
