#include <utility>

#include "stream/summary_state.hpp"

namespace quadmill {

StreamSummary::StreamSummary(std::unique_ptr<detail::stream::SummaryState> state) : state_(std::move(state)) {}
StreamSummary::StreamSummary(StreamSummary&&) noexcept = default;
StreamSummary& StreamSummary::operator=(StreamSummary&&) noexcept = default;
StreamSummary::~StreamSummary() = default;

std::uint64_t StreamSummary::n() const {
    return state_->n();
}

std::uint64_t StreamSummary::nans() const {
    return state_->nans();
}

std::vector<std::byte> StreamSummary::save() const {
    return state_->save();
}

std::size_t StreamSummary::bytes() const {
    return state_->bytes();
}

std::size_t StreamSummary::summary_bytes() const {
    return state_->summary_bytes();
}

StreamTimes StreamSummary::times() const {
    return state_->times();
}

}  // namespace quadmill
