// The command's words for what can be watched.
#pragma once

#include "input/words.hpp"
#include "show/stages.hpp"

namespace quadmill::detail::show {

inline const input::Words<Watched> watched_words{{"pbsn", Watched::Pbsn},
                                                 {"bitonic", Watched::BitonicSingle},
                                                 {"bitonic-four", Watched::BitonicFour},
                                                 {"merge", Watched::Merge}};

inline const input::Words<QueryEngine> watched_query_words{{"depth", QueryEngine::Depth},
                                                           {"bitmap", QueryEngine::Bitmap}};

// Options that select what is watched, the same in the command and in demos.
inline void add_watch_options(CLI::App& verb, Request& request) {
    verb.add_option("--engine", request.engine, "The engine (default: pbsn)")->transform(input::one_of(watched_words));
    verb.add_option("--n", request.n, "Number of keys, a power of two from 16 to 65,536")->capture_default_str();
    verb.add_option("--distribution", request.distribution, "Distribution of the keys (default: uniform)")
        ->transform(input::one_of(input::distribution_words));
    verb.add_option("--seed", request.seed, "Seed of the keys")->capture_default_str();
    verb.add_flag(
        "--early-stop", [&request](std::int64_t) { request.early_stop = EarlyStop::Yes; },
        "pbsn stops at the first stage that finds all in order");
    verb.add_flag(
        "--f16", [&request](std::int64_t) { request.type = KeyType::F16; }, "16-bit floats");
}

}  // namespace quadmill::detail::show
