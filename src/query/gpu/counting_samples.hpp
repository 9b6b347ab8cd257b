// Counts by occlusion queries, which the CPU reads later.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gl/objects.hpp"
#include "query/gpu/gpu_tables.hpp"

namespace quadmill::detail::query {

// The sum of some queries and of a number that is known already.
class CountingSamples final : public Counting {
  public:
    // The queries are given to `home`, if there is one, when the count ends.
    explicit CountingSamples(std::vector<gl::Query> queries, std::uint64_t known = 0,
                             std::shared_ptr<Spare<gl::Query>> home = {})
        : queries_(std::move(queries)), known_(known), home_(std::move(home)) {}
    CountingSamples(const CountingSamples&) = delete;
    CountingSamples& operator=(const CountingSamples&) = delete;
    ~CountingSamples() override {
        if (!home_) return;
        for (auto& query : queries_) home_->give(std::move(query));
    }
    [[nodiscard]] bool ready() override {
        return std::ranges::all_of(queries_, [](const gl::Query& query) { return query.ready(); });
    }
    [[nodiscard]] std::uint64_t result() override {
        auto sum = known_;
        for (const auto& query : queries_) sum += query.result();
        return sum;
    }

  private:
    std::vector<gl::Query> queries_;
    std::uint64_t known_;
    std::shared_ptr<Spare<gl::Query>> home_;
};

}  // namespace quadmill::detail::query
