#include <fmt/core.h>

#include <memory>
#include <optional>
#include <string>

#include "cli/refusals.hpp"
#include "cli/sketch_verbs.hpp"
#include "cli/stream_run.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

struct SketchQuery {
    std::string sketch, keys = "-";
    input::Reading reading;
    Machine machine;
    Format format = Format::Table;

    void run(const CLI::App& verb);

  private:
    template <class T>
    void run_as(const files::Bytes& content, SketchKeys type);
    template <class T>
    [[nodiscard]] Sketch<T> load(const files::Bytes& content, const std::optional<Context>& context) const;
};

// Errors from here are about the sketch or its engine. Errors about keys are reported elsewhere.
template <class T>
Sketch<T> SketchQuery::load(const files::Bytes& content, const std::optional<Context>& context) const {
    try {
        return context ? Sketch<T>::load(*context, content.span(), machine.engine, machine.threads)
                       : Sketch<T>::load(content.span(), machine.threads);
    } catch (const InvalidArgument& error) {
        refuse_file(sketch, error);
    }
}

template <class T>
void SketchQuery::run_as(const files::Bytes& content, SketchKeys type) {
    auto context = machine.context(keys);
    const auto counts = load<T>(content, context);
    Profile profile(machine, context);
    files::OutputFile out("-");
    const auto write = [&](const std::string& text) { out.write(std::as_bytes(std::span(text))); };
    std::string text = format == Format::JsonLine ? "[" : row_head;  // rejected keys have no answer
    bool is_first = true;
    read_keys<T>(keys, reading, type, [&](std::span<const T> some) {
        const auto found = counts.query(some);
        for (std::size_t i = 0; i < some.size(); ++i) {
            text += format == Format::JsonLine ? (is_first ? "" : ",") + dumped(json_row(some[i], found[i]))
                                               : table_row(some[i], found[i]);
            is_first = false;
        }
        write(text);
        text.clear();
    });
    if (format == Format::JsonLine) text += "]\n";
    write(text);
    profile.print();
}

void SketchQuery::run(const CLI::App& verb) {
    if (sketch == "-" && keys == "-")
        throw CLI::ValidationError("KEYS", "must be a file if the sketch is standard input");
    input::refuse_inputs("KEYS", "-", {sketch, keys});
    const auto content = files::read_file(sketch);
    const auto head = saved(sketch, content);
    check_key_options(verb, head.keys);
    if (head.keys == SketchKeys::Text) reading.form = input::Form::Text;
    visit_keys(head.keys, [&]<class T>() { run_as<T>(content, head.keys); });
}

}  // namespace

void add_sketch_query(CLI::App& sketch) {
    auto command = std::make_shared<SketchQuery>();
    auto* verb = sketch.add_subcommand("query", "Print the counts of keys, from a sketch");
    verb->add_option("SKETCH", command->sketch, "A saved sketch")->required();
    verb->add_option("KEYS", command->keys, "Keys of the sketch's type; - is standard input")->capture_default_str();
    add_key_options(*verb, command->reading);
    add_machine_options(*verb, command->machine);
    add_json_option(*verb, command->format);
    verb->footer(
        "The estimate is never below the true count. The true count is below `lower` with a probability of at most "
        "e^-depth.\n"
        "\n"
        "Examples:\n"
        "  echo 443 | quadmill sketch query ports.sketch --text\n"
        "  quadmill sketch query ports.sketch keys.u32 --json");
    verb->callback([command, verb] { command->run(*verb); });
}

}  // namespace quadmill::detail::cli
