// Saved bytes that are damaged, truncated or forged give an error, never a crash. Whatever loads must not crash later.
#include "stream/bytes.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>

#include "quadmill/concurrent.hpp"
#include "quadmill/error.hpp"
#include "quadmill/names.hpp"
#include "quadmill/stream.hpp"
#include "stream/correlated_summary.hpp"
#include "stream/orders.hpp"
#include "stream/quantile_summary.hpp"
#include "stream/sliding_window.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

using Bytes = std::vector<std::byte>;

// Loads the bytes and uses their content in every way. Throws InvalidArgument if they are rejected.
using Use = std::function<void(const Bytes&)>;

struct Saved {
    const char* name;
    Bytes bytes;
    Use use;
};

const std::vector<float> floats = [] {
    const auto values = stream("heavy tail", 3'000, 4);
    return std::vector<float>(values.begin(), values.end());
}();

std::vector<Saved> one_of_each() {
    std::vector<Saved> all;
    Quantiles<float> quantiles({.eps = 0.05, .window = 64});
    quantiles.add(floats);
    all.push_back({"quantiles", quantiles.save(), [](const Bytes& bytes) {
                       auto loaded = Quantiles<float>::load(bytes);
                       auto other = Quantiles<float>::load(bytes);
                       loaded.add(floats);
                       loaded.merge(other);
                       static_cast<void>(loaded.quantiles(std::array{0.0, 0.3, 1.0}));
                       static_cast<void>(loaded.histogram(7));
                       static_cast<void>(loaded.cdf(3));
                       static_cast<void>(loaded.save());
                   }});
    Quantiles<float> tail({.eps = 0.1, .window = 64, .tail = Tail::High, .moments = Moments::Kept});
    tail.add(floats);
    all.push_back({"tail", tail.save(), all.back().use});
    Frequencies<float> frequencies({.eps = 0.01, .window = 64});
    frequencies.add(floats);
    all.push_back({"frequencies", frequencies.save(), [](const Bytes& bytes) {
                       auto loaded = Frequencies<float>::load(bytes);
                       auto other = Frequencies<float>::load(bytes);
                       loaded.add(floats);
                       loaded.merge(other);
                       static_cast<void>(loaded.frequent(0.5));
                       static_cast<void>(loaded.count(1));
                       static_cast<void>(loaded.save());
                   }});
    Frequencies<std::string> names({.eps = 0.01});
    Distinct distinct(0.2), few(0.2);
    for (const float v : floats) names.add(std::to_string(v));
    distinct.add(std::span<const float>(floats));
    few.add(std::span<const float>(floats).first(5));
    all.push_back({"names", names.save(), [](const Bytes& bytes) {
                       auto loaded = Frequencies<std::string>::load(bytes);
                       loaded.add("1.000000", 3);
                       loaded.merge(Frequencies<std::string>::load(bytes));
                       static_cast<void>(loaded.frequent(0.5));
                       static_cast<void>(loaded.top(3));
                       static_cast<void>(loaded.save());
                   }});
    HeavyPrefixes<Ipv6> addresses({.eps = 0.02, .support = 0.1, .lengths = {0, 12, 128}});
    for (std::size_t i = 0; i < floats.size(); ++i)
        addresses.add(std::array{Ipv6{{0x20, static_cast<std::uint8_t>(i % 20), 0, static_cast<std::uint8_t>(i)}}});
    all.push_back({"ipv6 prefixes", addresses.save(), [](const Bytes& bytes) {
                       auto loaded = HeavyPrefixes<Ipv6>::load(bytes);
                       loaded.add(std::array{Ipv6{}});
                       loaded.merge(HeavyPrefixes<Ipv6>::load(bytes));
                       static_cast<void>(loaded.heavy(1));
                       static_cast<void>(loaded.heavy(loaded.options().support, HeavyRule::All));
                       static_cast<void>(loaded.save());
                   }});
    const auto use_distinct = [](const Bytes& bytes) {
        auto loaded = Distinct::load(bytes);
        loaded.add(std::span<const float>(floats));
        loaded.merge(Distinct::load(bytes));
        static_cast<void>(loaded.count());
        static_cast<void>(loaded.save());
    };
    all.push_back({"distinct", distinct.save(), use_distinct});
    all.push_back({"distinct, few", few.save(), use_distinct});
    for (const auto& options :
         {SlidingOptions{.eps = 0.2, .window = 2'000},
          SlidingOptions{.eps = 0.2, .window = 2'000, .widths = Widths::Variable},
          SlidingOptions{.eps = 0.2, .window = 2'000, .paper = {.raw = RawValues::Never}},
          SlidingOptions{
              .eps = 0.2, .window = 2'000, .paper = {.raw = RawValues::Never, .blocks = SlidingBlocks::Sorted}}}) {
        SlidingQuantiles<float> sliding(options);
        sliding.add(floats);
        all.push_back({"sliding quantiles", sliding.save(), [](const Bytes& bytes) {
                           auto loaded = SlidingQuantiles<float>::load(bytes);
                           for (int i = 0; i < 3; ++i) {
                               if (loaded.n() > 0) {
                                   static_cast<void>(loaded.quantile(0.5));
                                   const bool any = loaded.options().widths == Widths::Variable;
                                   if (any)
                                       static_cast<void>(
                                           loaded.quantile(0.5, std::min<std::uint64_t>(loaded.options().window, 700)));
                                   static_cast<void>(loaded.summary().quantile(0.1));
                               }
                               loaded.add(floats);
                           }
                           static_cast<void>(loaded.save());
                       }});
        SlidingFrequencies<float> counts(options);
        counts.add(floats);
        all.push_back({"sliding frequencies", counts.save(), [](const Bytes& bytes) {
                           auto loaded = SlidingFrequencies<float>::load(bytes);
                           for (int i = 0; i < 3; ++i) {
                               static_cast<void>(loaded.frequent(0.5));
                               static_cast<void>(loaded.summary().frequent(0.6));
                               loaded.add(floats);
                           }
                           static_cast<void>(loaded.save());
                       }});
    }
    Grouped<Quantiles<float>> groups([] { return Quantiles<float>({.eps = 0.05, .window = 64}); });
    Recent<Quantiles<float>> recent(
        10, [] { return Quantiles<float>({.eps = 0.05, .window = 64}); }, 4);
    for (std::size_t i = 0; i < floats.size(); ++i) {
        groups.add(std::to_string(i % 5), floats[i]);
        recent.add(static_cast<double>(i) / 200, floats[i]);
    }
    all.push_back({"groups", groups.save(), [](const Bytes& bytes) {
                       auto loaded = Grouped<Quantiles<float>>::load(bytes);
                       loaded.add("3", 5.0F);
                       loaded.add("new", 5.0F);
                       loaded.merge(Grouped<Quantiles<float>>::load(bytes));
                       static_cast<void>(loaded.groups().at("new").quantile(0.5));
                       static_cast<void>(loaded.save());
                   }});
    all.push_back({"last seconds", recent.save(), [](const Bytes& bytes) {
                       auto loaded = Recent<Quantiles<float>>::load(bytes);
                       loaded.add(loaded.latest().value_or(0), 5.0F);
                       static_cast<void>(loaded.summary(*loaded.latest()).n());
                       static_cast<void>(loaded.save());
                   }});
    HeavyPrefixes<std::uint32_t> prefixes({.eps = 0.02, .support = 0.1, .lengths = {0, 8, 31, 32}, .window = 64});
    std::mt19937 random(5);
    for (int i = 0; i < 5000; ++i) prefixes.add(static_cast<std::uint32_t>(random()) >> (random() % 32));
    all.push_back({"heavy prefixes", prefixes.save(), [](const Bytes& bytes) {
                       auto loaded = HeavyPrefixes<std::uint32_t>::load(bytes);
                       auto other = HeavyPrefixes<std::uint32_t>::load(bytes);
                       loaded.merge(other);
                       static_cast<void>(loaded.heavy(1));
                       static_cast<void>(loaded.heavy(0.5, HeavyRule::All));
                       static_cast<void>(loaded.heavy(loaded.options().support));
                       static_cast<void>(loaded.save());
                   }});
    CorrelatedSums<float> sums({.eps = 0.05, .window = 64});
    sums.add(floats, std::vector<double>(floats.begin(), floats.end()));
    all.push_back({"correlated sums", sums.save(), [](const Bytes& bytes) {
                       auto loaded = CorrelatedSums<float>::load(bytes);
                       auto other = CorrelatedSums<float>::load(bytes);
                       loaded.merge(other);
                       for (const auto kind : {Aggregate::Kind::Quantile, Aggregate::Kind::Min, Aggregate::Kind::Max,
                                               Aggregate::Kind::Average, Aggregate::Kind::Sum, Aggregate::Kind::Count})
                           static_cast<void>(loaded.sum({kind, 0.3}));
                       static_cast<void>(loaded.save());
                   }});
    return all;
}

// With a corrected checksum, so that the rest is tested.
Bytes sealed(Bytes bytes) {
    bytes.resize(bytes.size() - 4);
    auto crc = ~0U;
    for (const auto b : bytes) {
        crc ^= static_cast<unsigned>(b);
        for (int bit = 0; bit < 8; ++bit) crc = (crc & 1U) != 0 ? 0xedb88320U ^ (crc >> 1U) : crc >> 1U;
    }
    for (unsigned i = 0; i < 4; ++i) bytes.push_back(static_cast<std::byte>(~crc >> (8 * i)));
    return bytes;
}

bool refused(const Use& use, const Bytes& bytes) {
    try {
        use(bytes);
        return false;
    } catch (const InvalidArgument&) {
        return true;
    }
}

}  // namespace

TEST_CASE("Damaged bytes are refused: every byte, every length") {
    for (const auto& [name, bytes, use] : one_of_each()) {
        const auto& summary = name;
        CAPTURE(summary);
        CHECK(!refused(use, bytes));
        CHECK(sealed(bytes) == bytes);  // the checksum is the CRC-32 of zlib and PNG
        bool all = true;
        for (std::size_t i = 0; i < bytes.size(); i += 1 + i / 64) {
            auto damaged = bytes;
            damaged[i] ^= static_cast<std::byte>(1U << (i % 8));
            all = all && refused(use, damaged);
            all = all && refused(use, Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(i)));
        }
        CHECK(all);
        auto longer = bytes;
        longer.push_back(std::byte{0});
        CHECK(refused(use, longer));
    }
}

TEST_CASE("Forged bytes with a right checksum are refused or usable") {
    const auto number = [](const char* name, int usual) {
        const char* wanted = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
        return wanted != nullptr ? std::stoi(wanted) : usual;
    };
    const int rounds = number("QUADMILL_FUZZ_ROUNDS", 400);
    std::mt19937_64 random(static_cast<std::uint64_t>(number("QUADMILL_FUZZ_SEED", 2005)));
    int refusals = 0, uses = 0;
    for (const auto& [name, bytes, use] : one_of_each()) {
        const auto& summary = name;
        CAPTURE(summary);
        for (int round = 0; round < rounds; ++round) {
            auto damaged = bytes;
            const auto body = bytes.size() - 12;
            for (auto times = 1 + random() % 3; times > 0; --times) {
                const auto at = 8 + random() % (round % 2 == 0 ? std::min<std::size_t>(body, 96) : body);
                switch (random() % 4) {
                    case 0:
                        damaged[at] = static_cast<std::byte>(random());
                        break;
                    case 1:
                        damaged[at] ^= static_cast<std::byte>(1U << (random() % 8));
                        break;
                    case 2:  // a large whole number
                        for (std::size_t i = 0; i < 8 && at + i < damaged.size() - 4; ++i)
                            damaged[at + i] = std::byte{0xff};
                        break;
                    default:  // a number from another position
                        for (std::size_t i = 0; i < 8 && at + i < damaged.size() - 4; ++i)
                            damaged[at + i] = bytes[8 + (random() % body / 8 * 8 + i) % body];
                }
            }
            if (round % 7 == 0) damaged.resize(12 + random() % body);
            ++(refused(use, sealed(damaged)) ? refusals : uses);
        }
    }
    CHECK(refusals > 1000);
    CHECK(uses > 10);
    MESSAGE(refusals << " refused, " << uses << " used");
}

TEST_CASE("A chain of blocks that does not follow from their number is refused") {
    using namespace quadmill::detail::stream;  // NOLINT(google-build-using-namespace)
    const SlidingPlan plan({.eps = 0.2, .window = 20'000}, SlidingPlan::Levels::All);
    std::vector<float> values(static_cast<std::size_t>(plan.block), 1.0F);
    const auto block = QuantileSummary::of(window_of(values), 0);
    const auto bytes = [&](std::size_t id, std::uint64_t blocks) {
        Writer to({Kind::SlidingQuantiles, KeyType::F32});
        to.u64(blocks);
        for (std::uint64_t i = 0; i < blocks; ++i) block.write(to);
        ExponentialHistogram<QuantileSummary> chain(plan.chain());
        chain.add(block, id);
        chain.write(to);
        return to.take();
    };
    const auto read = [&](const Bytes& saved) {
        Reader from("test", saved);
        static_cast<void>(SlidingWindow<QuantileSummary>::read(from, plan));
    };
    read(bytes(1, 1));
    CHECK_THROWS_WITH_AS(read(bytes(2, 1)), doctest::Contains("the chain of blocks"), InvalidArgument);
    CHECK_THROWS_WITH_AS(read(bytes(60, 1)), doctest::Contains("the chain of blocks"), InvalidArgument);
    CHECK_THROWS_AS(read(bytes(1, 0)), InvalidArgument);
}

TEST_CASE("Keys that no value of the type has are refused") {
    using namespace quadmill::detail::stream;  // NOLINT(google-build-using-namespace)
    const auto infinity = KeyOf<Half>::greatest();
    for (const Key key : {Key{0}, infinity, infinity + 1, Key{0xffff}, Key{0x10000}, ~Key{0}}) {
        CAPTURE(key);
        Writer to({Kind::CorrelatedSums, KeyType::F16});
        const std::array pairs{CorrelatedSummary::Pair{key, 1}};
        CorrelatedSummary(pairs, 0).write(to);
        to.u64(0);
        const auto bytes = to.take();
        Reader from("test", bytes);
        if (key <= infinity) {
            CHECK(CorrelatedSummary::read(from).entries().front().key == key);
        } else {
            CHECK_THROWS_AS(static_cast<void>(CorrelatedSummary::read(from)), InvalidArgument);
        }
    }
}

TEST_CASE("Bytes of another kind, type or version, and no bytes") {
    const auto all = one_of_each();
    CHECK_THROWS_WITH_AS(static_cast<void>(saved_summary(Bytes{})), doctest::Contains("not a saved quadmill summary"),
                         InvalidArgument);
    CHECK_THROWS_WITH_AS(static_cast<void>(saved_summary(Bytes(100, std::byte{'x'}))),
                         doctest::Contains("not a saved quadmill summary"), InvalidArgument);
    CHECK_THROWS_WITH_AS(static_cast<void>(Frequencies<float>::load(all[0].bytes)), doctest::Contains("another kind"),
                         InvalidArgument);
    CHECK_THROWS_WITH_AS(static_cast<void>(Quantiles<double>::load(all[0].bytes)), doctest::Contains("another type"),
                         InvalidArgument);
    auto newer = all[0].bytes;
    for (const int version : {1, 3}) {
        newer[4] = static_cast<std::byte>(version);
        const auto words = "version " + std::to_string(version) + " of the format, and this program reads version 2";
        CHECK_THROWS_WITH_AS(static_cast<void>(saved_summary(sealed(newer))), doctest::Contains(words.c_str()),
                             InvalidArgument);
    }
    CHECK(saved_summary(all.back().bytes).kind == SavedSummary::Kind::CorrelatedSums);
}
