// Common parts of the verbs on sketches.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cli/answer.hpp"
#include "cli/passes.hpp"
#include "files/files.hpp"
#include "input/stream_input.hpp"
#include "input/words.hpp"
#include "quadmill/sketch.hpp"

namespace quadmill::detail::cli {

void add_sketch_build(CLI::App& sketch);
void add_sketch_query(CLI::App& sketch);
void add_sketch_top(CLI::App& sketch);

// The engine and its options.
struct Machine {
    SketchEngine engine = SketchEngine::Auto;
    unsigned threads = 0;
    int device = -1;
    bool profile = false;

    // A context, or none for the CPU. Auto opens one for large files.
    [[nodiscard]] std::optional<Context> context(const std::string& file) const;
};
void add_machine_options(CLI::App& verb, Machine& machine);

// Adds options for the format of keys.
void add_key_options(CLI::App& verb, input::Reading& reading);
// Adds table options that `build` and `top` share.
void add_sketch_options(CLI::App& verb, SketchOptions& options);

// Rejects those options if they would be ignored.
void check_sketch_options(const CLI::App& verb, const SketchOptions& options);
void check_key_options(const CLI::App& verb, SketchKeys keys);

// The passes of a verb, for --profile.
class Profile {
  public:
    Profile(const Machine& machine, std::optional<Context>& context) : context_(context) {
        if (machine.profile && context_) profiler_.emplace(*context_);
    }
    void print() {
        if (!profiler_) return;
        const auto rows = profiler_->rows();
        profiler_.reset();
        print_passes(*context_, rows);
    }

  private:
    std::optional<Context>& context_;
    std::optional<PassProfiler> profiler_;
};

// Keys per batch of a file; for text, a piece of the file.
inline constexpr std::size_t batch_keys = std::size_t{1} << 21;

// Passes all keys of a file, or of a share of it, to `take`, in spans of up to batch_keys (except for text).
template <class T, class Take>
void read_keys(const auto& file, input::Reading reading, SketchKeys type, const Take& take) {
    if (reading.form != input::Form::Text &&
        (reading.lines.header > 0 || reading.lines.bad == input::LineOptions::Bad::Skip))
        throw CLI::ValidationError("--header, --skip-bad", "are about lines; they go with --text");
    input::StreamInput input(file);
    input::Skipped skipped;
    std::uint64_t count = 0;
    if constexpr (std::is_same_v<T, std::string_view>) {
        input::read_text(input, input::text_parser, reading.lines, skipped, [&](const input::Records& some) {
            count += some.size();
            take(some.as<T>());
        });
    } else {
        std::vector<T> keys;
        const auto gather = [&](const input::Records& some) {
            count += some.size();
            keys.insert(keys.end(), some.as<T>().begin(), some.as<T>().end());
            if (keys.size() < batch_keys) return;
            take(std::span<const T>(keys));
            keys.clear();
        };
        reading.given_type = KeyType::U32;  // text has the type of --type and is rounded to it
        const auto key_type = Keys(std::span<T>()).type();
        input::read_stream(input, reading, {input::word_for(input::sketch_keys_words, type) + " key", key_type},
                           input::number_parser(key_type), skipped, gather);
        if (!input.interrupted()) take(std::span<const T>(keys));
    }
    if (input.interrupted()) throw CLI::RuntimeError(input.interrupt().status());
    input::refuse_all_bad(skipped, count);
    input::note_skipped("quadmill sketch", skipped);
}

// Calls work.template operator()<T>() for the type of the keys.
template <class Work>
void visit_keys(SketchKeys keys, const Work& work) {
    switch (keys) {
        case SketchKeys::U32:
            return work.template operator()<std::uint32_t>();
        case SketchKeys::U64:
            return work.template operator()<std::uint64_t>();
        case SketchKeys::F32:
            return work.template operator()<float>();
        case SketchKeys::Text:
            return work.template operator()<std::string_view>();
    }
}

void write_sketch(files::OutputFile& file, std::span<const std::byte> bytes);
// Facts about a saved sketch. Throws InvalidArgument with the name of the file.
[[nodiscard]] SavedSketch saved(const std::string& file, const files::Bytes& content);
// The facts that need no query.
[[nodiscard]] Json facts(const SavedSketch& saved);
void print_facts(const Json& facts, Format format);

template <class T>
Json json_of_key(const T& key) {
    if constexpr (std::is_same_v<T, std::string_view>) {
        return std::string(key);
    } else {
        return cli::json_of(key);  // qualified: not another file's function
    }
}

template <class T, class Count>
Json json_row(const T& key, const Count& count) {
    return {{"key", json_of_key(key)}, {"estimate", count.estimate}, {"upper", count.upper}, {"lower", count.lower}};
}

inline const std::string row_head = fmt::format("{:>12} {:>12} {:>12}  {}\n", "estimate", "lower", "upper", "key");

template <class T, class Count>
std::string table_row(const T& key, const Count& count) {
    std::string word;
    if constexpr (std::is_same_v<T, std::string_view>) {
        word = key;
    } else {
        word = input::format_number(key);
    }
    return fmt::format("{:>12} {:>12} {:>12}  {}\n", count.estimate, count.lower, count.upper, word);
}

}  // namespace quadmill::detail::cli
