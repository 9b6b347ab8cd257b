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

// Queries in flight, which are given back to `home`, if there is one.
struct Samples {
    Samples(std::vector<gl::Query> counting, std::shared_ptr<Spare<gl::Query>> spare)
        : queries(std::move(counting)), home(std::move(spare)) {}
    Samples(const Samples&) = delete;
    Samples& operator=(const Samples&) = delete;
    ~Samples() {
        if (!home) return;
        for (auto& query : queries) home->give(std::move(query));
    }

    std::vector<gl::Query> queries;
    std::shared_ptr<Spare<gl::Query>> home;
};

// The sum of some queries and of a number that the CPU knows.
[[nodiscard]] inline Counting counting_samples(std::vector<gl::Query> queries, std::uint64_t counted = 0,
                                               std::shared_ptr<Spare<gl::Query>> home = {}) {
    const auto held = std::make_shared<Samples>(std::move(queries), std::move(home));
    return {.result =
                [held, counted] {
                    auto sum = counted;
                    for (const auto& query : held->queries) sum += query.result();
                    return sum;
                },
            .ready =
                [held] { return std::ranges::all_of(held->queries, [](const auto& query) { return query.ready(); }); }};
}

}  // namespace quadmill::detail::query
