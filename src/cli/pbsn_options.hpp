// Options of Engine::Pbsn that verbs on files and on streams share.
#pragma once

#include <CLI/CLI.hpp>

#include "quadmill/sort.hpp"

namespace quadmill::detail::cli {

void add_pbsn_options(CLI::App& verb, PbsnOptions& options);
// Refuses them with another engine.
void check_pbsn_options(const CLI::App& verb, Engine engine);

}  // namespace quadmill::detail::cli
