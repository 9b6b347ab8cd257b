#include "quadmill/external.hpp"

#include <utility>

#include "external/sorting.hpp"

namespace quadmill {

SortStopped::~SortStopped() = default;

ExternalSortStats sort_file(const std::string& input, const std::string& output, const ExternalSortOptions& options,
                            const std::optional<Context>& context) {
    return detail::external::sort_between(input, output, options, context);
}

ExternalSortStats sort_file(const std::string& input, const std::string& output, const ExternalSortOptions& options,
                            const DeviceGroup& group) {
    return detail::external::sort_between(input, output, options, group);
}

struct ExternalSorter::State {
    State(const ExternalSortOptions& options, detail::external::Devices devices)
        : sorting("ExternalSorter", options, std::move(devices), {}) {
        sorting.begin({.mean_line = 32}, {-1, 0, "what was pushed"});
    }

    detail::external::Sorting sorting;
    bool finished = false;
};

ExternalSorter::ExternalSorter(const ExternalSortOptions& options, const std::optional<Context>& context)
    : state_(std::make_unique<State>(options, context)) {}

ExternalSorter::ExternalSorter(const ExternalSortOptions& options, const DeviceGroup& group)
    : state_(std::make_unique<State>(options, group)) {}

ExternalSorter::ExternalSorter(ExternalSorter&&) noexcept = default;
ExternalSorter& ExternalSorter::operator=(ExternalSorter&&) noexcept = default;
ExternalSorter::~ExternalSorter() = default;

void ExternalSorter::push(std::span<const std::byte> bytes) {
    if (state_->finished) throw InvalidArgument("ExternalSorter::push: the first pull() has ended the input");
    state_->sorting.filler().push(bytes);
    state_->sorting.tick()();
}

std::size_t ExternalSorter::pull(std::span<std::byte> bytes) {
    auto& sorting = state_->sorting;
    if (!state_->finished) {
        state_->finished = true;
        sorting.finish();
    }
    const auto got = sorting.fill(bytes);
    sorting.tick()();
    return got;
}

ExternalSortStats ExternalSorter::stats() const {
    return state_->sorting.stats("");
}

std::size_t min_memory(const RecordFormat& format) {
    return detail::external::min_memory(detail::external::Format("min_memory", format));
}

}  // namespace quadmill
