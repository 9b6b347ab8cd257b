// Common parts of the verbs that sort files larger than memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/devices.hpp"
#include "files/files.hpp"
#include "quadmill/external.hpp"

namespace quadmill::detail::cli {

class Progress;

[[nodiscard]] std::uint64_t whole_megabytes(std::uint64_t bytes);
// The memory that --memory leaves to a sort of such records. The program itself needs some, and so do its buffers:
// buffers_of(memory) bytes. Throws CLI::ValidationError.
[[nodiscard]] std::size_t memory_for(
    const RecordFormat& records, std::uint64_t memory,
    const std::function<std::uint64_t(std::uint64_t memory)>& buffers_of = [](auto) { return 0; });
// The message for a system that does not give so much.
[[nodiscard]] std::string out_of_memory(std::uint64_t memory);
[[nodiscard]] double megabytes_a_second(std::uint64_t bytes, double seconds);
[[nodiscard]] std::string progress_line(const ExternalProgress& p);
// Shows the progress on a terminal. Stops if the sort was interrupted.
[[nodiscard]] Proceed show_and_proceed(Progress& progress, const ExternalProgress& p, bool is_interrupted);
// Makes the output and commits it after `work`. An empty name is no output. `stopped` is the exit status after a
// signal. What the system refuses is told in terms of --memory.
void with_output(const std::string& output, std::uint64_t memory, const std::function<int()>& stopped,
                 const std::function<void(files::OutputFile* out)>& work);
// The context that sorts keys; nothing for the CPU.
[[nodiscard]] std::optional<Context> external_context(const std::string& verb, Engine engine, RunMerge merge,
                                                      std::uint64_t memory, const Devices& devices);

}  // namespace quadmill::detail::cli
