// Options of Engine::Pbsn, as far as verbs on files and on streams have the same.
#pragma once

#include <CLI/CLI.hpp>

#include "quadmill/sort.hpp"

namespace quadmill::detail::cli {

void add_pbsn_options(CLI::App& verb, PbsnOptions& options);
// Refuses them beside another engine.
void check_pbsn_options(const CLI::App& verb, Engine engine);

}  // namespace quadmill::detail::cli
