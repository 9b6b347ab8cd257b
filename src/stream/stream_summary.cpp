#include <utility>

#include "stream/summary_state.hpp"

namespace quadmill {

StreamSummary::StreamSummary(std::unique_ptr<detail::stream::SummaryState> state) : state_(std::move(state)) {}
StreamSummary::StreamSummary(StreamSummary&&) noexcept = default;
StreamSummary& StreamSummary::operator=(StreamSummary&&) noexcept = default;
StreamSummary::~StreamSummary() = default;

void StreamSummary::add_values(const void* values, std::size_t size) {
    auto& state = state_as<detail::stream::WindowedState>();
    state.add({values, size, state.intake.rule().width});
}

double StreamSummary::eps() const {
    return state_->eps();
}

std::uint64_t StreamSummary::n() const {
    return state_->n();
}

std::uint64_t StreamSummary::nans() const {
    return state_->nans();
}

std::vector<std::byte> StreamSummary::save() const {
    const std::lock_guard lock(state_->mutex);
    return state_->save();
}

std::size_t StreamSummary::bytes() const {
    const std::lock_guard lock(state_->mutex);
    return state_->bytes();
}

std::size_t StreamSummary::summary_bytes() const {
    const std::lock_guard lock(state_->mutex);
    return state_->summary_bytes();
}

StreamTimes StreamSummary::times() const {
    const std::lock_guard lock(state_->mutex);
    return state_->times();
}

}  // namespace quadmill
