// Options of Engine::Pbsn that are common to verbs on files and on streams.
#pragma once

#include <CLI/CLI.hpp>

#include "quadmill/sort.hpp"

namespace quadmill::detail::cli {

void add_pbsn_options(CLI::App& verb, PbsnOptions& options);
// Rejects them with another engine.
void check_pbsn_options(const CLI::App& verb, Engine engine);

}  // namespace quadmill::detail::cli
