#include "cli/stream_run.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <deque>
#include <exception>
#include <limits>
#include <utility>

#include "cli/passes.hpp"
#include "cli/pbsn_options.hpp"
#include "cli/tuned.hpp"
#include "input/checks.hpp"
#include "quadmill/error.hpp"
#include "sort/choose.hpp"
#include "stream/bytes.hpp"

namespace quadmill::detail::cli {

void refuse_inputs_or_partial(const std::string& option, const std::string& output,
                              const std::vector<std::string>& inputs) {
    input::refuse_inputs(option, output, inputs);
    input::refuse_inputs(option, output + partial_suffix, inputs);
}

void commit_part(files::OutputFile& file, const std::string& path) {
    if (!file.would_replace()) return file.commit();
    file.commit(partial_suffix);
    fmt::print(stderr, "quadmill: '{}' is as it was, for only a part of the stream was read: that is in '{}{}'\n", path,
               path, partial_suffix);
}

void refuse_saved(const std::string& file, std::span<const std::byte> bytes, const InvalidArgument& error) {
    constexpr std::string_view hint = "; saved_summary() tells which";
    auto words = without_function(error);
    if (!words.ends_with(hint)) refuse_file(file, error);
    words.resize(words.size() - hint.size());
    throw InvalidArgument(
        fmt::format("{}: {}: {}", files::input_name(file), words, full_name_of(saved_summary(bytes))));
}

namespace {

// Windows and levels in saved bytes; 0 if a kind has none.
struct SavedPlan {
    std::uint64_t window = 0, levels = 0;
};

SavedPlan plan_of(const AnySummary& summary) {
    using Kind = SavedSummary::Kind;
    const auto saved = summary.save();
    stream::Reader from("saved_plan", saved);
    SavedPlan plan;
    static_cast<void>(from.f64());  // eps
    switch (from.header().kind) {
        case Kind::HeavyPrefixes:
            static_cast<void>(from.f64());  // support
            break;
        case Kind::Quantiles:
        case Kind::TailQuantiles:  // the tail stands there
        case Kind::CorrelatedSums:
            plan.levels = from.u64();
            break;
        default:
            break;
    }
    plan.window = from.u64();
    return plan;
}

}  // namespace

void check_resumed_plan(const StreamOptions& options, const AnySummary& resumed,
                        const std::function<std::unique_ptr<OneSummary>(std::size_t)>& make) {
    const auto given = [&](const char* option) {
        return options.verb->get_option_no_throw(option) != nullptr && options.verb->count(option) > 0;
    };
    if (!given("--window") && !given("--n")) return;
    const auto has = plan_of(resumed);
    const auto wanted = plan_of(*make(given("--window") ? options.window : has.window));
    if (wanted.window != has.window)
        refuse_resumed(options, "--window", "has windows of " + std::to_string(has.window) + " values");
    if (given("--n") && wanted.levels != has.levels)
        refuse_resumed(options, "--n", "was made for another number of values");
}

SaveFile::SaveFile(const std::string& path, Format format) : path_(path) {
    if (path.empty()) return;
    if (takes_standard_output() && format == Format::JsonLine)
        throw CLI::ValidationError("--save", "- is standard output, where --json writes; name a file");
    refuse_terminal("--save", file_.emplace(path));
}

void SaveFile::save(const AnySummary& summary) {
    if (!file_) return;
    file_->write(summary.save());
    file_->commit();
}

void SaveFile::save_part(const AnySummary& summary, Partial partial) {
    if (!file_ || partial == Partial::Replaces) return save(summary);
    file_->write(summary.save());
    commit_part(*file_, path_);
}

void SaveFile::save_now(const AnySummary& summary) const {
    files::OutputFile file(path_);
    file.write(summary.save());
    file.commit();
}

Progress::Progress() : line_(isatty(STDERR_FILENO) == 1 ? Line::Hidden : Line::Impossible) {}

void Progress::show(std::uint64_t values) {
    show_line(fmt::format("{} values, {:.0f} a second", values, static_cast<double>(values) / time_.ms() * 1e3));
}

void Progress::show_line(const std::string& line) {
    constexpr double min_ms = 200;
    const double now = time_.ms();
    if (line_ == Line::Impossible || now - shown_ms_ < min_ms) return;
    fmt::print(stderr, "\r\x1b[K{}", line);
    shown_ms_ = now;
    line_ = Line::Shown;
}

void Progress::hide() {
    if (line_ != Line::Shown) return;
    fmt::print(stderr, "\r\x1b[K");
    line_ = Line::Hidden;
}

StreamRun::StreamRun(const StreamOptions& options, std::size_t record_bytes)
    : options_(options),
      shares_(ranks_.shares_of(options.inputs, options.reading.form == input::Form::Text ? 0 : record_bytes)),
      every_((options.every.values + ranks_.size() - 1) / ranks_.size()),
      save_(ranks_.is_first() ? options.save : "", options.format) {
    input_.emplace(shares_.front());
    output_.must_be_open();
    input::refuse_inputs("FILE", "-", options.inputs);
    if (!options.save.empty()) refuse_inputs_or_partial("--save", options.save, options.inputs);
    if (save_.takes_standard_output() && (options.every.values > 0 || options.every.seconds > 0))
        throw CLI::ValidationError("--save", "- is standard output, which has the answers of --every; name a file");
    if (options.reading.form != input::Form::Text) {
        for (const auto* option : {"--header", "--skip-bad"}) {
            if (options.verb->count(option) > 0) throw CLI::ValidationError(option, "goes with --text or --column");
        }
    }
    if (!options.column.which.empty() && ranks_.are_several())
        throw CLI::ValidationError("--column", "does not go with mpirun: the shares of a file have no header");
    for (const auto& [option, is_given] :
         {std::pair{"--every", options.every.seconds > 0}, std::pair{"--save-every", options.save_every.seconds > 0},
          std::pair{"--resume", !options.resume.empty()}}) {
        if (is_given && ranks_.are_several())
            throw CLI::ValidationError(option, "does not go with mpirun, unless --every is a number of values");
    }
    if (options.save_every.seconds > 0 && save_.takes_standard_output())
        throw CLI::ValidationError("--save-every", "goes with --save FILE");
    check_pbsn_options(*options.verb, options.engine);
    if (options.device.several() && options.engine == Engine::Cpu)
        throw CLI::ValidationError("--device", "several devices do not go with --engine cpu, which needs none");
    if (options.device.several() && ranks_.are_several())
        throw CLI::ValidationError("--device", "does not go with mpirun: each rank takes its own device");
}

input::Reading StreamRun::reading() const {
    auto reading = options_.reading;
    if (!options_.column.which.empty() && options_.verb->count("--header") == 0)
        reading.lines.header = options_.no_header ? 0 : 1;
    if (shares_[share_].begin > 0) {
        reading.lines.header = 0;
        if (reading.form == input::Form::Unsaid) reading.form = input::Form::Raw;  // the first share was checked
    }
    return reading;
}

bool StreamRun::next_share() {
    if (share_ + 1 == shares_.size() || input_->interrupted()) return false;
    input_.emplace(shares_[++share_]);
    return true;
}

// Opening a context takes as long as the CPU needs for many million values. A pipe may be endless.
bool StreamRun::worth_a_context() const {
    constexpr std::uint64_t bytes_of_a_line = 8;
    constexpr std::size_t usual_window = 1024;
    const auto size = input_->file().size().value_or(std::uint64_t{1} << 50U);
    const auto raw_bytes = cpu::bytes_of(options_.type());
    const auto values = size / (options_.reading.form == input::Form::Text ? bytes_of_a_line : raw_bytes);
    const sort::SortWork work{.n = values, .window = usual_window, .batch = true, .type = options_.type()};
    if (!sort::gpu_may_win_with_startup(work, ranks_.threads(options_.threads))) return false;
    const auto tuned = tuned_before_context(ranks_.device(options_.device.one()), options_.threads);
    return !tuned || sort::choose(tuned->sort, work) != Engine::Cpu;
}

std::unique_ptr<WindowSorter> StreamRun::sorter_on_several() {
    group_ = options_.device.group();
    const auto engine = options_.engine == Engine::Auto ? Engine::Merge : options_.engine;
    auto sorter =
        window_sorter(*group_, {.engine = engine, .threads = options_.threads, .paper = {.pbsn = options_.pbsn}});
    engine_ = sorter->name();
    time_ = {};
    return sorter;
}

std::unique_ptr<WindowSorter> StreamRun::sorter() {
    if (options_.device.several()) return sorter_on_several();
    auto engine = options_.engine;
    if (engine == Engine::Auto && !worth_a_context()) engine = Engine::Cpu;
    std::unique_ptr<WindowSorter> sorter;
    if (engine != Engine::Cpu) {
        try {
            context_ = Context::headless({.device = ranks_.device(options_.device.one())});
            SortOptions how{
                .engine = engine, .threads = ranks_.threads(options_.threads), .paper = {.pbsn = options_.pbsn}};
            if (engine == Engine::Auto) {
                if (const auto tuned = tuned_for(context_->info(), options_.threads)) how.crossings = tuned->sort;
            }
            sorter = window_sorter(*context_, how);
            // One session for the whole stream: closing one after each batch would wait until the GPU is idle.
            session_.emplace(*context_);
            if (options_.profile && engine == Engine::Pbsn) profiler_.emplace(*context_);
        } catch (const ContextError&) {
            if (engine != Engine::Auto) throw;
        }
    }
    if (!sorter) sorter = cpu_window_sorter(ranks_.threads(options_.threads));
    engine_ = sorter->name();
    time_ = {};
    return sorter;
}

std::optional<files::Bytes> StreamRun::saved_bytes() const {
    if (!options_.resumes()) return {};
    return files::read_file(options_.resume);
}

std::unique_ptr<OneSummary> StreamRun::resumed(const Summaries& how, std::unique_ptr<WindowSorter> sorter) const {
    return resumed([&](SavedBytes bytes) { return how.load(bytes, std::move(sorter)); },
                   [&] { return how.make(std::move(sorter)); }, [&](const auto& summary) { how.check(*summary); });
}

StreamForm StreamRun::numbers() const {
    const auto type = options_.type();
    return {options_.reading.parser(), input::RawRecords{input::word_for(input::type_words, type) + " value", type}};
}

void StreamRun::take_parts(const input::Records& records, const input::Records& second, const Add& add) {
    for (std::size_t first = 0; first < records.size();) {
        const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(records.size() - first, until_answer()));
        Taken added{};
        try {
            added = add(records.part(first, part), second.part(first, part));
        } catch (const InvalidArgument& error) {  // such as too large a sum of weights
            throw input::BadInput(without_function(error));
        }
        const auto& [taken, fault] = added;
        count(taken);
        if (!fault.empty()) throw input::BadInput(fault);
        if (answer_is_due()) static_cast<void>(answer(Mine::GoesOn));
        first += part;
    }
    save_if_due();
}

void StreamRun::read(const StreamForm& form, const Add& add) {
    if (!options_.column.which.empty()) return read_column(form, add);
    const auto take = [&](const input::Records& records) { take_parts(records, {}, add); };
    auto how = reading();
    if (form.raw) return input::read_stream(*input_, how, *form.raw, form.parser, skipped_, take);
    // A monitor of names goes on after a blank line. Other values have none.
    if (form.parser.is_text) how.lines.blank = input::LineOptions::Blank::Empty;
    input::read_text(*input_, form.parser, how.lines, skipped_, take);
}

void StreamRun::read_column(const StreamForm& form, const Add& add) {
    input::RecordBuffer records(form.parser.bytes), second(sizeof(std::uint64_t));
    std::deque<std::string> texts;  // in records
    const auto parse = [&](std::string_view field, std::string_view second_field) -> input::FieldFault {
        if (form.parser.is_text) field = texts.emplace_back(field);
        if (const auto fault = form.parser.parse(field, records.next())) return {fault};
        if (form.second) {
            if (const auto fault = form.second(second_field, second.next())) return {fault, true};
            second.keep();
        }
        records.keep();
        return {};
    };
    const auto deliver = [&] {
        take_parts(records.records(), second.records(), add);
        records.clear();
        second.clear();
        texts.clear();
    };
    auto column = options_.column;
    column.is_text = form.parser.is_text;
    input::read_column(*input_, column, reading().lines, skipped_, parse, deliver);
}

void StreamRun::save_if_due() {
    const double now = time_.ms();
    if (options_.save_every.seconds == 0 || count_ == saved_count_ ||
        now - saved_ms_ < options_.save_every.seconds * 1e3)
        return;
    save_.save_now(*summary_);
    saved_ms_ = now;
    saved_count_ = count_;
}

int StreamRun::work_in_silence() {
    if (answers_by_arrival() && answer_is_due()) static_cast<void>(answer(Mine::GoesOn));
    save_if_due();
    auto next = std::numeric_limits<double>::infinity();
    if (answers_by_arrival()) next = answered_ms_ + options_.every.seconds * 1e3;
    if (options_.save_every.seconds > 0 && count_ != saved_count_)
        next = std::min(next, saved_ms_ + options_.save_every.seconds * 1e3);
    constexpr double longest = 1e9;  // of a wait, so that it is an int
    if (std::isinf(next)) return -1;
    return static_cast<int>(std::clamp(std::ceil(next - time_.ms()), 0.0, longest));
}

void StreamRun::run(const Summaries& how, OneSummary& summary, StreamForm form) {
    if (!options_.weight.empty()) form.second = input::parser_of<std::uint64_t, parse_weight>.parse;
    run(how, summary, form, [&](const input::Records& values, const input::Records& weights) {
        form.second ? summary.add(values, weights) : summary.add(values);
        return Taken{values.size()};
    });
}

void StreamRun::run(const Summaries& how, const AnySummary& summary, const StreamForm& form, const Add& add) {
    how_ = &how;
    summary_ = &summary;
    if (!summary.goes_with_ranks() && ranks_.are_several())
        throw CLI::ValidationError("--sliding", "is about the last values of one stream, not of several ranks'");
    std::exception_ptr failure;  // of an output, which must not be taken for one of the input
    const auto in_silence = [&] {
        try {
            return work_in_silence();
        } catch (...) {
            failure = std::current_exception();
            input_->stop();
            return 0;
        }
    };
    try {
        do {
            input_->while_waiting(in_silence);
            read(form, add);
        } while (next_share());
    } catch (const input::BadInput& error) {
        if (count_ == 0 && !ranks_.are_several()) throw;
        fault_ = error.what();
    }
    if (failure) std::rethrow_exception(failure);
    input_->release_interrupt();
    if (!ranks_.are_several() && fault_.empty() && !input_->interrupted()) input::refuse_all_bad(skipped_, count_);
    finish();
}

std::optional<Part> StreamRun::answer(Mine mine) {
    answered_ms_ = time_.ms();
    if (!ranks_.are_several()) {
        mine == Mine::GoesOn ? print_if_possible() : print(*summary_);
        return {};
    }
    const auto load = [this](SavedBytes bytes) { return how_->part(bytes); };
    for (;;) {
        auto all = ranks_.merged(load(summary_->save()), load);
        all_count_ = ranks_.sum(count_);
        all_skipped_ = ranks_.sum(skipped_.lines);
        const bool last = ranks_.sum(mine == Mine::GoesOn ? 1 : 0) == 0;
        if (last) input::refuse_all_bad({.lines = all_skipped_, .first = skipped_.first}, all_count_);
        if (all && answered_at_ != progressed()) print(*all->summary);
        if (last || mine == Mine::GoesOn) return all;
    }
}

void StreamRun::finish() {
    std::exception_ptr failure;
    const auto attempt = [&](const auto& work) {
        try {
            work();
        } catch (...) {
            if (!failure) failure = std::current_exception();
        }
    };
    std::optional<Part> all;
    attempt([&] {
        if (ranks_.are_several() || answered_at_ != progressed()) all = answer(Mine::HasEnded);
    });
    progress_.hide();
    if (failure && ranks_.are_several()) std::rethrow_exception(failure);  // ends the job
    const bool whole = ranks_.sum(fault_.empty() && !input_->interrupted() ? 0 : 1) == 0;
    if (ranks_.is_first()) {
        const AnySummary& saved = all ? *all->summary : *summary_;
        attempt([&] {
            const auto partial = options_.save_every.seconds > 0 ? Partial::Replaces : options_.partial;
            whole ? save_.save(saved) : save_.save_part(saved, partial);
        });
    }
    if (failure) std::rethrow_exception(failure);
    if (options_.profile && ranks_.is_first()) print_profile(summary_->times());
    end();
}

void StreamRun::answer_before(double time) {
    if (options_.every.seconds == 0) return;
    const auto interval = std::floor(time / options_.every.seconds);
    if (interval_ && interval > *interval_) static_cast<void>(answer(Mine::GoesOn));
    interval_ = std::max(interval_.value_or(interval), interval);
}

bool StreamRun::answer_is_due() {
    if (answers_by_arrival()) return time_.ms() - answered_ms_ >= options_.every.seconds * 1e3;
    return every_ > 0 && count_ % every_ == 0;
}

std::uint64_t StreamRun::until_answer() {
    const bool last = every_ == 0 || input_->interrupted();
    return last ? std::numeric_limits<std::uint64_t>::max() : every_ - count_ % every_;
}

void StreamRun::count(std::size_t values) {
    count_ += values;
    progress_.show(count_);
}

void StreamRun::print_if_possible() {
    try {
        print(*summary_);
    } catch (const InvalidArgument& error) {
        progress_.hide();
        fmt::print(stderr, "quadmill: no answer after {} values: {}\n", count_, without_function(error));
    }
}

void StreamRun::print(const AnySummary& summary) {
    const auto bytes = summary.bytes();  // before the answer, which may need more
    const auto nans = summary.nans();
    auto answer = summary.answer(how_->ask);
    progress_.hide();
    if (save_.takes_standard_output()) return;
    Json tail{{"bytes", bytes}, {"engine", engine_}};
    const double rate = static_cast<double>(progressed().first) / time_.ms() * 1e3;
    constexpr double slow = 10;
    if (rate > 0) tail["values_per_s"] = rate < slow ? Json(std::round(rate * 1e3) / 1e3) : Json(std::llround(rate));
    tail["nans"] = nans;
    tail.update(answer.tail);
    if (options_.reading.lines.bad == input::LineOptions::Bad::Skip) tail["skipped"] = progressed().second;
    if (skipped_.empty > 0) tail["empty"] = skipped_.empty;
    if (group_) {
        const auto shares = group_->shares();
        tail["devices"] = options_.format == Format::Table ? Json(shares.size()) : Json(shares_json(shares));
    }
    answer.tail = std::move(tail);
    auto text = to_text(answer, options_.format);
    if (answered_at_ && options_.format == Format::Table) text.insert(0, "\n");
    write(std::as_bytes(std::span(text)));
    answered_at_ = progressed();
}

// So that a signal is noticed even while nobody reads the output.
void StreamRun::write(std::span<const std::byte> text) {
    while (!text.empty()) {
        input_->interrupt().wait_for_room(STDOUT_FILENO);
        const auto part = text.first(std::min<std::size_t>(text.size(), PIPE_BUF));
        output_.write(part);
        text = text.subspan(part.size());
    }
}

std::string StreamRun::share_words() const {
    return ranks_.are_several() ? fmt::format(" of the share of rank {}", ranks_.rank()) : "";
}

void StreamRun::end() {
    input::note_skipped("quadmill", skipped_);
    if (group_) warn_of_failures(group_->shares());
    if (!fault_.empty() && !ranks_.are_several())
        fmt::print(stderr, "quadmill: {}; the answer is about the values before\n", fault_);
    if (!fault_.empty() && ranks_.are_several())
        fmt::print(stderr,
                   "quadmill: {}; of the share of rank {} the answer is about the {} values before, in all about {}\n",
                   fault_, ranks_.rank(), count_, all_count_);
    int status = fault_.empty() ? 0 : input::BadInput::status;
    if (input_->interrupted()) status = input_->interrupt().status();
    status = ranks_.worst(status);
    if (status != 0) throw CLI::RuntimeError(status);
}

void StreamRun::print_profile(const StreamTimes& times) {
    const double total = time_.ms();
    fmt::print(stderr, "{:<10} {:>12} {:>8}\n", "part", "ms", "% of all");
    const std::array rows{std::pair{"upload", times.upload},
                          std::pair{"sort", times.sort},
                          std::pair{"read back", times.readback},
                          std::pair{"sample", times.sample},
                          std::pair{"merge", times.merge},
                          std::pair{"compress", times.compress},
                          std::pair{"all", total}};
    for (const auto& [name, ms] : rows) fmt::print(stderr, "{:<10} {:>12.3f} {:>8.1f}\n", name, ms, 100 * ms / total);
    if (!profiler_) return;
    const auto passes = profiler_->rows();
    profiler_.reset();  // the clock rate is measured with passes, too
    print_blending(*context_, passes, {.keys = count_});
}

}  // namespace quadmill::detail::cli
