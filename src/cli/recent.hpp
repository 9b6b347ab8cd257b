// Summaries of the last seconds: --sliding with a time.
#pragma once

#include "cli/stream_run.hpp"
#include "quadmill/concurrent.hpp"

namespace quadmill::detail::cli {

// Passes all values to a summary of the last seconds: by the time of arrival, or by the times in a column. Times of
// arrival are seconds since 1970, so that a saved summary is as old as it is.
void run_recent(StreamRun& run, const StreamOptions& stream, const SlidingChoice& sliding, const Summaries& how,
                StreamForm form);

}  // namespace quadmill::detail::cli
