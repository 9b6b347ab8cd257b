#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "cli/commands.hpp"
#include "cli/stream_run.hpp"

namespace quadmill::detail::cli {

namespace {

const input::Words<KeyType> prefix_types{{"u32", KeyType::U32}, {"u64", KeyType::U64}};

struct HhhCommand {
    StreamOptions stream{.reading = {.raw_type = KeyType::U32, .text_type = KeyType::U32}};
    SupportChoice support;
    std::string hierarchy;
    HeavyRule rule = HeavyRule::Discounted;

    void run();

  private:
    void pass() const;
    void read_hierarchy();
    [[nodiscard]] bool is_ipv6() const { return hierarchy == "ipv6"; }
    void check_resumed(const OneSummary& summary) const;

    std::vector<int> lengths_;
    Notation notation_ = Notation::Hexadecimal;
};

input::Fault parse_ipv6(std::string_view word, Ipv6& address) {
    return inet_pton(AF_INET6, std::string(word).c_str(), address.bytes.data()) == 1
               ? nullptr
               : "is not an IPv6 address such as 2001:db8::1";
}

// Converts "8,16,24" to ascending numbers.
std::vector<int> lengths_of(std::string_view list, int max) {
    std::vector<int> lengths;
    for (std::size_t at = 0; at <= list.size();) {
        const auto end = std::min(list.find(',', at), list.size());
        int length = -1;
        const auto fault = input::parse_number(list.substr(at, end - at), length);
        if (fault || length < (lengths.empty() ? 0 : lengths.back() + 1) || length > max) {
            throw CLI::ValidationError("--hierarchy", fmt::format("must be ipv4-bytes, ipv4-bits, ipv6 or ascending "
                                                                  "lengths of prefixes, from 0 to {}, such as 0,8,16; "
                                                                  "not '{}'",
                                                                  max, list));
        }
        lengths.push_back(length);
        at = end + 1;
    }
    return lengths;
}

void HhhCommand::read_hierarchy() {
    if (is_ipv6()) {
        lengths_ = {0, 16, 32, 48, 56, 64, 128};
        return;
    }
    if (hierarchy == "ipv4-bytes") {
        lengths_ = {0, 8, 16, 24, 32};
    } else if (hierarchy == "ipv4-bits") {
        lengths_.resize(33);
        std::iota(lengths_.begin(), lengths_.end(), 0);
    } else {
        lengths_ = lengths_of(hierarchy, stream.type() == KeyType::U32 ? 32 : 64);
        return;
    }
    if (stream.type() != KeyType::U32)
        throw CLI::ValidationError("--hierarchy", hierarchy + " goes with --type u32, which holds IPv4 addresses");
    notation_ = Notation::Ipv4;
}

void HhhCommand::check_resumed(const OneSummary& summary) const {
    auto has = summary.made_with().prefixes;
    check_resumed_eps(stream, support.eps(), has.eps);
    if (support.support < has.support) {
        throw CLI::ValidationError("--support", fmt::format("must be at least {}, that of the summary in '{}', not {}",
                                                            has.support, stream.resume, support.support));
    }
    if (lengths_ != has.lengths)
        throw CLI::ValidationError("--hierarchy", fmt::format("the summary in '{}' has prefixes of other lengths: {}",
                                                              stream.resume, fmt::join(has.lengths, ",")));
    if (is_ipv6()) return;
    check_resumed_plan(stream, summary, [&](std::size_t window) {
        has.window = window;
        return make_summary(SummaryKind::HeavyPrefixes, stream.type(), has);
    });
}

// IPv6 addresses are lines of text or the fields of a column.
void HhhCommand::pass() const {
    const auto kind = is_ipv6() ? SummaryKind::Ipv6Prefixes : SummaryKind::HeavyPrefixes;
    const auto type = stream.type();
    StreamRun run(stream, is_ipv6() ? 0 : cpu::bytes_of(type));
    const Question question{.support = support.support, .notation = notation_, .rule = rule};
    const HeavyPrefixOptions options{
        .eps = support.eps(), .support = support.support, .lengths = lengths_, .window = stream.window};
    const Summaries how{
        .make = [&](auto sorter) { return make_summary(kind, type, options, std::move(sorter)); },
        .load = [&](auto bytes, auto sorter) { return load_summary(kind, type, bytes, std::move(sorter)); },
        .check = [this](const OneSummary& some) { check_resumed(some); },
        .ask = [&](const OneSummary& some) { return some.answer(question); }};
    auto form = is_ipv6() ? StreamForm{input::parser_of<Ipv6, parse_ipv6>} : run.numbers();
    if (notation_ == Notation::Ipv4) form.parser = input::parser_of<std::uint32_t, input::parse_ipv4>;
    auto summary = run.resumed(how, is_ipv6() ? nullptr : run.sorter());
    if (is_ipv6()) run.use_cpu();
    run.run(how, *summary, form);
}

void HhhCommand::run() {
    support.check();
    const bool own_eps = support.given_eps || !stream.resumes();
    if (own_eps && support.eps() < 1e-6)
        throw CLI::ValidationError("--eps", "must be at least 1e-6; it is S / 10 by default");
    if (own_eps && 2 * support.eps() > support.support)
        throw CLI::ValidationError("--support", "must be at least twice --eps");
    if (is_ipv6()) {
        refuse_with(stream, "--hierarchy", {"--type", "--raw", "--window", "--engine"});
        stream.reading.form = input::Form::Text;
    }
    read_hierarchy();
    pass();
}

}  // namespace

void add_hhh_command(CLI::App& app) {
    auto command = std::make_shared<HhhCommand>();
    auto* verb = app.add_subcommand("hhh", "Prefixes of addresses that many values share (hierarchical heavy hitters)");
    verb->add_option("--hierarchy", command->hierarchy,
                     "ipv4-bytes: prefixes of 0, 8, 16, 24 and 32 bits; ipv4-bits: 0 to 32 bits; ipv6: 0, 16, 32, "
                     "48, 56, 64 and 128 bits of IPv6 addresses, which are text; or ascending lengths in bits, such as "
                     "0,16,48,64")
        ->required()
        ->type_name("ipv4-bytes|ipv4-bits|ipv6|LIST");
    add_all_prefixes_option(*verb, command->rule);
    add_support_options(*verb, command->support, "from 1e-6 to S / 2");
    add_stream_options(*verb, command->stream, prefix_types,
                       "Input is text, one number per line; with ipv4 hierarchies also addresses such as 10.0.0.1");
    add_column_options(*verb, command->stream);
    add_resume_options(*verb, command->stream);
    verb->footer(
        "A prefix is frequent if it has at least the fraction S of all values, not counting those under a longer "
        "reported prefix. lower, estimate and upper are bounds of that count. count has all values under the prefix.\n"
        "A prefix is written as 10.1.0.0/16 for ipv4 hierarchies and 2001:db8::/32 for ipv6. Otherwise it is written "
        "as 0x0a010000/16: all bits "
        "of the type, with zeros after the prefix, and its length.\n"
        "\n"
        "Examples:\n"
        "  quadmill hhh sources.u32 --support 0.01 --hierarchy ipv4-bytes\n"
        "  cut -d' ' -f1 access.log | quadmill hhh --text --support 0.05 --hierarchy ipv4-bits --json\n"
        "  quadmill hhh clients.csv --column address --support 0.05 --hierarchy ipv6\n"
        "  quadmill hhh ids.u64 --type u64 --support 0.1 --eps 0.001 --hierarchy 0,16,32,64");
    verb->callback([command] { command->run(); });
}

}  // namespace quadmill::detail::cli
