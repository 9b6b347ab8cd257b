#include "stream/counted_state.hpp"

namespace quadmill {

using namespace detail::stream;  // NOLINT(google-build-using-namespace): this file is the front door of the room

template <class T>
Frequencies<T>::Frequencies(const FrequencyOptions& options, std::unique_ptr<WindowSorter> sorter)
    : Frequencies(std::make_unique<State>(rule_of<T>, options, std::move(sorter))) {}

template <class T>
void Frequencies<T>::add(T value) {
    state().intake.add_one(detail::cpu::KeyBits<T>::of(value));
}

template <class T>
void Frequencies<T>::add(std::span<const T> values, std::span<const std::uint64_t> weights) {
    state().add_weighted(values, weights);
}

template <class T>
std::vector<Frequent<T>> Frequencies<T>::frequent(double support) const {
    check_part("Frequencies::frequent", "support", support, eps());
    const std::lock_guard lock(state().mutex);
    return values_of<T>(frequent_in(state().settled().first(), min_count(support, n())));
}

template <class T>
Count Frequencies<T>::count(T value) const {
    if (KeyOf<T>::is_nan(value)) throw InvalidArgument("Frequencies::count: NaNs are counted by nans()");
    return state().count(KeyOf<T>::key(value));
}

template <class T>
void Frequencies<T>::merge(const Frequencies& other) {
    if (&other == this) return merge(Frequencies(State::load(state().intake.rule(), save(), cpu_window_sorter(1))));
    state().merge("Frequencies::merge", other.state(), std::max(eps(), other.eps()));
}

template <class T>
Frequencies<T> Frequencies<T>::load(std::span<const std::byte> bytes, std::unique_ptr<WindowSorter> sorter) {
    return Frequencies(State::load(rule_of<T>, bytes, std::move(sorter)));
}

QUADMILL_FOR_EACH_TYPE(Frequencies)

}  // namespace quadmill
