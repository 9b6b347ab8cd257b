// quadmill gensort and quadmill valsort: make and check records of the sort benchmark.
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "bench/sort_records.hpp"
#include "cli/commands.hpp"
#include "files/files.hpp"
#include "input/checks.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {
namespace {

using namespace detail::bench;  // NOLINT(google-build-using-namespace)

struct Gensort {
    bool ascii = false, skewed = false;
    std::uint64_t first = 0, count = 0;
    std::string output;
    void run() const;
};

void Gensort::run() const {
    const RecordForm form{ascii ? RecordKind::Ascii : RecordKind::Binary,
                          skewed ? KeySpread::Skewed : KeySpread::Uniform};
    files::OutputFile out(output);
    out.must_be_open();
    if (!ascii && out.is_terminal())
        throw CLI::ValidationError("FILE", "standard output is a terminal; name a file, or use -a");
    make_file(out, form, first, count);
    out.commit();
}

struct Valsort {
    std::string input = "-";
    bool json = false;
    void run() const;
};

void Valsort::run() const {
    files::InputFile in(input);
    const auto found = check_file(in);
    if (json) {
        const nlohmann::ordered_json out{
            {"records", found.records},
            {"checksum", to_hexadecimal(found.checksum)},
            {"in_order", found.unordered == 0},
            {"duplicate_keys", found.duplicates},
            {"unordered", found.unordered},
            {"first_unordered", found.first_unordered ? nlohmann::ordered_json(*found.first_unordered) : nullptr}};
        fmt::print("{}\n", out.dump());
    } else {
        fmt::print("Records: {}\nChecksum: {}\nDuplicate keys: {}\n", found.records, to_hexadecimal(found.checksum),
                   found.duplicates);
        if (found.unordered == 0) fmt::print("SUCCESS - all records are in order\n");
    }
    if (found.unordered > 0)
        throw Error(
            fmt::format("{} is not in order: {} of {} records have a key below the one before, the first is "
                        "record {} (from 0)",
                        in.name(), found.unordered, found.records, *found.first_unordered));
}

}  // namespace

void add_gensort_command(CLI::App& app) {
    auto command = std::make_shared<Gensort>();
    auto* verb = app.add_subcommand("gensort", "Make records of the sort benchmark: 100 bytes each, with a key of 10");
    verb->add_flag("-a,--ascii", command->ascii, "Printable records, one per line (default: random bytes)");
    verb->add_flag("-s,--skewed", command->skewed, "Many keys have the same beginning");
    verb->add_option("-b,--begin", command->first, "Index of the first record, to make a file in parts")
        ->check(input::shown_number(0, std::uint64_t{1} << 62U))
        ->type_name("START")
        ->capture_default_str();
    verb->add_option("N", command->count, "Number of records")
        ->required()
        ->check(input::count_up_to(std::uint64_t{1} << 50U));
    verb->add_option("FILE", command->output, "Output; - is standard output. Appears only when complete")->required();
    verb->footer(
        "Examples:\n"
        "  quadmill gensort 1000000 records.dat\n"
        "  quadmill gensort -a 1000000 lines.txt");
    verb->callback([command] { command->run(); });
}

void add_valsort_command(CLI::App& app) {
    auto command = std::make_shared<Valsort>();
    auto* verb = app.add_subcommand(
        "valsort", "Check that sort benchmark records are sorted; print their number, duplicate keys and checksum");
    verb->add_option("FILE", command->input, "Input; - is standard input")->capture_default_str();
    verb->add_flag("--json", command->json, "One JSON object on standard output");
    verb->footer(
        "Examples:\n"
        "  quadmill valsort sorted.dat\n"
        "  quadmill valsort sorted.dat --json");
    verb->callback([command] { command->run(); });
}

}  // namespace quadmill::detail::cli
