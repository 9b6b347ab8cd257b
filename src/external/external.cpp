#include "quadmill/external.hpp"

#include "external/sorting.hpp"

namespace quadmill {

SortStopped::~SortStopped() = default;

ExternalSortStats sort_file(const std::string& input, const std::string& output, const ExternalSortOptions& options,
                            const std::optional<Context>& context) {
    return detail::external::sort_between(input, output, options, context);
}

struct ExternalSorter::State {
    detail::external::Sorting sorting;
    bool finished = false;
};

ExternalSorter::ExternalSorter(const ExternalSortOptions& options, const std::optional<Context>& context)
    : state_(new State{{"ExternalSorter", options, context, {}}}) {
    state_->sorting.begin({.mean_line = 32}, {-1, 0, "what was pushed"});
}

ExternalSorter::ExternalSorter(ExternalSorter&&) noexcept = default;
ExternalSorter& ExternalSorter::operator=(ExternalSorter&&) noexcept = default;
ExternalSorter::~ExternalSorter() = default;

void ExternalSorter::push(std::span<const std::byte> bytes) {
    if (state_->finished) throw InvalidArgument("ExternalSorter::push: the first pull() has ended the input");
    state_->sorting.filler().push(bytes);
    state_->sorting.tick()();
}

std::size_t ExternalSorter::pull(std::span<std::byte> bytes) {
    auto& [sorting, finished] = *state_;
    if (!finished) {
        finished = true;
        sorting.finish();
    }
    const auto got = sorting.fill(bytes);
    sorting.tick()();
    return got;
}

ExternalSortStats ExternalSorter::stats() const {
    return state_->sorting.stats("");
}

std::size_t least_memory(const RecordFormat& format) {
    return detail::external::least_memory(detail::external::Format("least_memory", format));
}

}  // namespace quadmill
