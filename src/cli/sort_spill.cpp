#include "cli/sort_spill.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "cli/external_run.hpp"
#include "cli/stream_run.hpp"
#include "cpu/keys.hpp"
#include "external/sorting.hpp"
#include "files/files.hpp"
#include "input/npy.hpp"
#include "input/stream_input.hpp"
#include "input/text.hpp"
#include "quadmill/error.hpp"
#include "quadmill/external.hpp"

namespace quadmill::detail::cli {

namespace {

FieldType field_for(KeyType type) {
    switch (type) {
        case KeyType::F16:
            return FieldType::F16;
        case KeyType::F64:
            return FieldType::F64;
        case KeyType::I32:
            return FieldType::I32;
        case KeyType::U32:
            return FieldType::U32;
        case KeyType::I64:
            return FieldType::I64;
        case KeyType::U64:
            return FieldType::U64;
        case KeyType::F32:
            break;
    }
    return FieldType::F32;
}

// A header, then sorted values, raw or as text.
class SortedNumbers final : public external::Stream {
  public:
    SortedNumbers(std::string header, external::Stream& sorted, input::Form form, KeyType type)
        : text_(std::move(header)), sorted_(sorted), form_(form), keys_(8192 * cpu::bytes_of(type)), type_(type) {}

    [[nodiscard]] std::size_t fill(std::span<std::byte> memory) override {
        std::size_t filled = 0;
        for (;;) {
            const auto part = std::min(text_.size() - at_, memory.size() - filled);
            if (part > 0) std::memcpy(memory.data() + filled, text_.data() + at_, part);
            at_ += part;
            filled += part;
            if (filled == memory.size()) return filled;
            if (form_ != input::Form::Text) return filled + sorted_.fill(memory.subspan(filled));
            const auto got = sorted_.fill(keys_);
            if (got == 0) return filled;
            text_ = input::format_lines(cpu::keys_of(type_, keys_.data(), got / cpu::bytes_of(type_)));
            at_ = 0;
        }
    }

  private:
    std::string text_;
    std::size_t at_ = 0;
    external::Stream& sorted_;
    input::Form form_;
    std::vector<std::byte> keys_;
    KeyType type_;
};

class NumberSorter {
  public:
    NumberSorter(const SpillRun& run, input::StreamInput& input) : run_(run), input_(input) {}

    void sort(files::OutputFile& out) {
        external::Sorting sorting("sort", options(), {}, {});
        sorting.begin({.input_bytes = std::nullopt}, {-1, 0, input_.file().name()});
        read(sorting);
        if (is_text()) {  // printed by the threads that merge
            sorting.shape(
                [this](external::RecordStream& sorted) {
                    return std::make_unique<SortedNumbers>("", sorted, input::Form::Text, type_);
                },
                external::EqualKeys::Apart);
        }
        sorting.finish();
        const auto count = sorting.stats("").records;
        const std::array<std::uint64_t, 1> shape{count};
        const bool is_npy = !is_text() && input::is_npy_name(run_.output);
        SortedNumbers sorted(is_npy ? input::made_npy_header(type_, shape) : "", sorting,
                             is_text() ? input::Form::Raw : run_.reading.form, type_);
        sorting.write(sorted, out);
        progress_.hide();
        if (run_.stats) print(sorting.stats(""));
    }

  private:
    [[nodiscard]] bool is_text() const { return run_.reading.form == input::Form::Text; }
    [[nodiscard]] ExternalSortOptions options() {
        constexpr std::size_t buffers = std::size_t{4} << 20U;  // of the input and the output
        const RecordFormat records{.bytes = cpu::bytes_of(type_),
                                   .key = {{.type = field_for(type_), .order = run_.order}}};
        return {.format = records,
                .memory = memory_for(records, run_.memory, [](auto) { return buffers; }),
                .temp = run_.temp,
                .engine = Engine::Cpu,
                .threads = run_.threads,
                .paper = {},
                .progress = [this](const auto& p) { return show_and_proceed(progress_, p, input_.interrupted()); }};
    }
    void read(external::Sorting& sorting) {
        std::uint64_t count = 0;
        input::Skipped skipped;
        const input::RawRecords raw{input::word_for(input::type_words, type_) + " value", type_};
        input::read_stream(input_, run_.reading, raw, run_.reading.parser(), skipped, [&](const input::Records& keys) {
            count += keys.size();
            sorting.filler().push(keys.bytes());
            sorting.tick()();
        });
        if (input_.interrupted()) throw SortStopped("the sort was stopped");
        input::refuse_all_bad(skipped, count);
        input::note_skipped("quadmill sort", skipped);
    }
    static void print(const ExternalSortStats& s) {
        const nlohmann::ordered_json out{{"n", s.records},
                                         {"engine", "cpu"},
                                         {"runs", s.runs},
                                         {"merge_passes", s.merge_passes},
                                         {"seconds", s.seconds},
                                         {"runs_seconds", s.runs_seconds},
                                         {"merge_seconds", s.merge_seconds},
                                         {"peak_bytes", s.peak_bytes}};
        fmt::print(stderr, "{}\n", out.dump());
    }

    const SpillRun& run_;
    KeyType type_ = run_.reading.type();
    input::StreamInput& input_;
    Progress progress_;
};

}  // namespace

void sort_by_spilling(const SpillRun& run) {
    input::StreamInput input(run.input);  // before threads start, which inherit the signals that it blocks
    with_output(
        run.output, run.memory, [&] { return input.interrupt().status(); },
        [&](files::OutputFile* out) { NumberSorter(run, input).sort(*out); });
}

}  // namespace quadmill::detail::cli
