#include "cli/pbsn_options.hpp"

#include "cli/refusals.hpp"
#include "input/words.hpp"

namespace quadmill::detail::cli {

void add_pbsn_options(CLI::App& verb, PbsnOptions& options) {
    verb.add_flag(
        "--no-early-stop", [&options](std::int64_t) { options.early_stop = EarlyStop::No; },
        "For pbsn: run all stages of the network");
    verb.add_option("--channels", options.channels,
                    "For pbsn and windows: each of the four channels of a texture sorts its own window (windows), or a "
                    "quarter of one window (split, the faster one); auto: split")
        ->transform(input::one_of(input::channels_words))
        ->default_str("auto");
    verb.add_option("--channel-merge", options.channel_merge,
                    "For pbsn: the CPU merges the four channels in one round, or in two rounds of two")
        ->transform(input::one_of(input::channel_merge_words))
        ->default_str("four");
}

void check_pbsn_options(const CLI::App& verb, Engine engine) {
    only_with(verb, {"--no-early-stop", "--channels", "--channel-merge"}, engine == Engine::Pbsn, "--engine pbsn");
}

}  // namespace quadmill::detail::cli
