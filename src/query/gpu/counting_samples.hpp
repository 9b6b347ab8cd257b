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

// The sum of some queries and of a number that is known already. The queries are given to `home`, if there is one, when
// the count ends.
[[nodiscard]] inline Counting counting_samples(std::vector<gl::Query> queries, std::uint64_t known = 0,
                                               const std::shared_ptr<Spare<gl::Query>>& home = {}) {
    const std::shared_ptr<std::vector<gl::Query>> held(new std::vector(std::move(queries)),
                                                       [home](std::vector<gl::Query>* ended) {
                                                           for (std::size_t i = 0; home && i < ended->size(); ++i)
                                                               home->give(std::move((*ended)[i]));
                                                           delete ended;
                                                       });
    return {.result =
                [held, known] {
                    auto sum = known;
                    for (const auto& query : *held) sum += query.result();
                    return sum;
                },
            .ready = [held] { return std::ranges::all_of(*held, [](const auto& query) { return query.ready(); }); }};
}

}  // namespace quadmill::detail::query
