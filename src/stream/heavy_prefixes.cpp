#include "stream/counted_state.hpp"

namespace quadmill {

using namespace detail::stream;  // NOLINT(google-build-using-namespace): this file is the front door of the room

template <class T>
HeavyPrefixes<T>::HeavyPrefixes(const HeavyPrefixOptions& options, std::unique_ptr<WindowSorter> sorter)
    : HeavyPrefixes(std::make_unique<State>(rule_of<T>, options, std::move(sorter))) {}

template <class T>
const HeavyPrefixOptions& HeavyPrefixes<T>::options() const {
    return state().options;
}

template <class T>
std::vector<HeavyPrefix<T>> HeavyPrefixes<T>::heavy(double support, HeavyRule rule) const {
    check_part("HeavyPrefixes::heavy", "support", support, options().support);
    const std::lock_guard lock(state().mutex);
    std::vector<HeavyPrefix<T>> out;
    for (const auto& one : state().settled().heavy(support, rule))
        out.push_back({static_cast<T>(one.value), one.length, one.count, one.discounted});
    return out;
}

template <class T>
void HeavyPrefixes<T>::merge(const HeavyPrefixes& other) {
    if (&other == this) return merge(HeavyPrefixes(State::load(state().intake.rule(), save(), cpu_window_sorter(1))));
    state().merge(other.state());
}

template <class T>
HeavyPrefixes<T> HeavyPrefixes<T>::load(std::span<const std::byte> bytes, std::unique_ptr<WindowSorter> sorter) {
    return HeavyPrefixes(State::load(rule_of<T>, bytes, std::move(sorter)));
}

template class HeavyPrefixes<std::uint32_t>;
template class HeavyPrefixes<std::uint64_t>;

}  // namespace quadmill
