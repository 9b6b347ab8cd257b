// Several contexts that work together: answers, errors, and what happens to the work of devices that fail.
#include "quadmill/device_group.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "quadmill/error.hpp"
#include "sort/group_windows.hpp"
#include "sort/window_batches.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

DeviceGroup pair_of_contexts() {
    return DeviceGroup({Context::headless(), Context::headless()});
}

std::uint64_t keys_of(const DeviceGroup& group) {
    std::uint64_t keys = 0;
    for (const auto& share : group.shares()) keys += share.keys;
    return keys;
}

// A device that fails when it is made, or at its begin() or finish() with this number, counted from 1.
struct Fault {
    enum class At { Never, Make, Begin, Finish } at = At::Never;
    int number = 1;
};

class Faulty : public WindowSorter {
  public:
    explicit Faulty(Fault fault) : fault_(fault), sorter_(cpu_window_sorter(2)) {
        if (fault.at == Fault::At::Make) throw GlError("lost while it was made");
    }
    void begin(Keys keys, std::size_t window) override {
        if (fault_.at == Fault::At::Begin && ++calls_ == fault_.number) throw GlError("lost in begin()");
        sorter_->begin(keys, window);
    }
    void finish() override {
        if (fault_.at == Fault::At::Finish && ++calls_ == fault_.number) {
            sorter_->finish();
            throw GlError("lost in finish()");
        }
        sorter_->finish();
    }
    [[nodiscard]] std::size_t depth() const override { return 2; }
    [[nodiscard]] std::size_t batch_bytes() const override { return 1000; }
    [[nodiscard]] Times times() const override { return sorter_->times(); }
    [[nodiscard]] std::string name() const override { return "faulty"; }

  private:
    Fault fault_;
    int calls_ = 0;
    std::unique_ptr<WindowSorter> sorter_;
};

struct FaultyGroup {
    explicit FaultyGroup(const std::vector<Fault>& faults) : state(std::make_shared<detail::sort::GroupState>()) {
        for (const auto fault : faults) {
            state->shares.push_back({"faulty", 0, 0, ""});
            makes.emplace_back([fault]() -> detail::sort::GroupWindows::Made {
                return {nullptr, std::make_unique<Faulty>(fault)};
            });
        }
    }
    [[nodiscard]] std::unique_ptr<detail::sort::GroupWindows> windows() const {
        return std::make_unique<detail::sort::GroupWindows>(state, makes, 2);
    }
    std::shared_ptr<detail::sort::GroupState> state;
    std::vector<detail::sort::GroupWindows::Make> makes;
};

}  // namespace

TEST_CASE("A group sorts arrays of every type, order, size and bit pattern") {
    const auto group = pair_of_contexts();
    std::uint64_t seed = 0, sorted = 0;
    for (const auto order : {Order::Ascending, Order::Descending}) {
        GroupSorter sorter(group, {.order = order});
        for (const auto type : types) {
            // One part; two parts, one of which is shorter.
            for (const std::size_t n : {0UL, 1UL, 5000UL, 600'001UL}) {
                CAPTURE(n);
                CAPTURE(static_cast<int>(type));
                ++seed;
                Batch batch(type, seed % 2 == 0 ? "any bits" : "few", n, whole, seed);
                const auto stats = sorter.sort(view(batch.keys));
                CHECK(stats.n == n);
                CHECK(stats.textures == (n < 2 ? 0 : n < 600'000 ? 1 : 2));
                if (n >= 2) sorted += n;
                sort_on_cpu(view(batch.before), order);
                REQUIRE(same(batch.keys, batch.before));
            }
        }
    }
    CHECK(keys_of(group) == sorted);
    for (const auto& share : group.shares()) {
        CHECK(share.batches > 0);
        CHECK(share.failure == "");
        CHECK(share.renderer == group.contexts()[0].info().renderer);
    }
}

TEST_CASE("Any number of parts is merged in the memory of the keys") {
    for (std::size_t devices = 3; devices <= 5; ++devices) {  // two rounds, and three
        CAPTURE(devices);
        std::vector<Context> contexts;
        for (std::size_t i = 0; i < devices; ++i) contexts.push_back(Context::headless());
        const DeviceGroup group(std::move(contexts));
        GroupSorter sorter(group);
        for (const auto type : {KeyType::F32, KeyType::U64}) {
            Batch batch(type, "any bits", 1'400'003, whole, devices);
            CHECK(sorter.sort(view(batch.keys)).textures == devices);
            sort_on_cpu(view(batch.before));
            CHECK(same(batch.keys, batch.before));
        }
    }
}

TEST_CASE("A group that ran out of memory for a merge sorts the next array") {
    GroupSorter sorter(pair_of_contexts());
    std::uint64_t key = 0;
    for (std::uint64_t seed = 1; seed < 3; ++seed) {
        Batch batch(KeyType::U64, "any bits", 600'001, whole, seed);
        CHECK(sorter.sort(view(batch.keys)).textures == 2);
        CHECK(same(batch.keys, batch.sorted));
        // None of the 2^61 keys is read: there is no memory for the work.
        CHECK_THROWS_AS(sorter.sort(std::span(&key, std::size_t{1} << 61U)), std::bad_alloc);
    }
}

TEST_CASE("A group has the requested devices; the same one twice means two contexts on it") {
    const std::array twice{0, 0};
    const auto group = DeviceGroup::headless(twice);
    CHECK(group.contexts().size() == 2);
    Batch batch(KeyType::U32, "uniform", 530'000, whole, 3);
    GroupSorter(group).sort(view(batch.keys));
    CHECK(same(batch.keys, batch.sorted));
    CHECK(!DeviceGroup::headless().contexts().empty());
    CHECK_THROWS_AS(DeviceGroup::headless(std::array{0, 99}), ContextError);
    CHECK_THROWS_AS(DeviceGroup::headless(std::array{-1}), InvalidArgument);
    CHECK_THROWS_AS(DeviceGroup({}), InvalidArgument);
}

TEST_CASE("Unsupported calls of a group are refused") {
    const auto group = pair_of_contexts();
    CHECK_THROWS_AS(GroupSorter(group, {.engine = Engine::Pbsn}), InvalidArgument);
    CHECK_THROWS_AS(GroupSorter(group, {.precision = Precision::Float32}), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(window_sorter(group, {.order = Order::Descending})), InvalidArgument);
    auto sorter = window_sorter(group, {.engine = Engine::Merge});
    CHECK_THROWS_AS(GroupSorter{group}, InvalidArgument);
    CHECK(sorter->depth() == 4);
    std::vector<float> keys(100);
    CHECK_THROWS_AS(sorter->begin(keys, 0), InvalidArgument);
    std::vector<std::vector<float>> batches(5, keys);
    for (std::size_t i = 0; i < 4; ++i) sorter->begin(batches[i], 10);
    CHECK_THROWS_AS(sorter->begin(batches[4], 10), InvalidArgument);
    for (std::size_t i = 0; i < 4; ++i) sorter->finish();
    sorter.reset();
    // If one device's sorter rejects a batch, that is an error of the batch, and the device continues.
    const auto by_pbsn = window_sorter(group, {.engine = Engine::Pbsn, .paper = {.pbsn = {.max_texels = 16}}});
    by_pbsn->begin(keys, 100);
    CHECK_THROWS_AS(by_pbsn->finish(), InvalidArgument);
    by_pbsn->begin(keys, 10);
    CHECK_NOTHROW(by_pbsn->finish());
    CHECK(group.shares()[0].failure == "");
}

TEST_CASE("The work of a failed device goes to the others, and its share reports the failure") {
    using enum Fault::At;
    for (const auto at : {Make, Begin, Finish}) {
        for (const int number : {1, 2, 7}) {
            if (at == Make && number > 1) continue;
            CAPTURE(static_cast<int>(at));
            CAPTURE(number);
            const FaultyGroup group({{at, number}, {}, {at, number + 1}});
            {
                const auto windows = group.windows();
                Pipeline pipeline(*windows);
                for (std::uint64_t seed = 0; seed < 60; ++seed)
                    pipeline.begin({types.at(seed % types.size()), "any bits", 1000 + seed, 100, seed});
                pipeline.finish_all();
                if (at == Make) CHECK(windows->depth() == 2);
            }
            const auto shares = group.state->shares;
            CHECK(shares[1].failure == "");
            CHECK(shares[0].batches + shares[1].batches + shares[2].batches == 60);
            if (at == Make) CHECK(shares[0].failure == "lost while it was made");
            // A failed device is not asked again. The others do all the work.
            const auto before = shares[1].batches;
            {
                const auto windows = group.windows();
                Pipeline pipeline(*windows);
                pipeline.begin({KeyType::F32, "any bits", 1000, 100, 1});
                pipeline.finish_all();
            }
            if (!shares[0].failure.empty() && !shares[2].failure.empty()) {
                CHECK(group.state->shares[1].batches == before + 1);
                CHECK(group.state->shares[0].batches == shares[0].batches);
            }
        }
    }
}

TEST_CASE("A group takes samples if each of its devices can, whichever is ready last") {
    class Sampling final : public Faulty {
      public:
        Sampling() : Faulty({}) {}
        [[nodiscard]] bool can_sample() const override { return true; }
    };
    FaultyGroup group({{}, {}});
    group.makes[0] = []() -> detail::sort::GroupWindows::Made {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return {nullptr, std::make_unique<Sampling>()};
    };
    {
        const auto windows = group.windows();
        CHECK(!windows->can_sample());
        std::vector<float> keys(100);
        CHECK_THROWS_AS(windows->begin_sample(keys, 100, 10), InvalidArgument);
    }
    group.makes[1] = group.makes[0];
    CHECK(group.windows()->can_sample());
}

TEST_CASE("When no device is left, each batch comes back complete with the reason") {
    using enum Fault::At;
    CHECK_THROWS_AS(static_cast<void>(FaultyGroup({{Make}, {Make}}).windows()), GlError);
    const FaultyGroup group({{Begin, 2}, {Finish, 1}});
    const auto windows = group.windows();
    std::vector<std::unique_ptr<Batch>> batches;
    int failed = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        if (batches.size() >= 4) {
            try {
                windows->finish();
            } catch (const GlError&) {
                ++failed;
            }
        }
        batches.push_back(std::make_unique<Batch>(KeyType::F32, "any bits", 1000, 100, seed));
        windows->begin(view(batches.back()->keys), 100);
    }
    for (int i = 0; i < 4; ++i) {
        try {
            windows->finish();
        } catch (const GlError&) {
            ++failed;
        }
    }
    CHECK(failed >= 10);
    for (const auto& batch : batches) {
        sort_windows_on_cpu(view(batch->keys), 100);
        CHECK(same(batch->keys, batch->sorted));  // no key was lost
    }
    for (const auto& share : group.state->shares) CHECK(share.failure.starts_with("lost in "));
    CHECK_THROWS_AS(static_cast<void>(group.windows()), GlError);
}
