#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "quadmill/error.hpp"
#include "quadmill/sketch.hpp"

namespace quadmill {

template <class T>
struct HeavyHitters<T>::State {
    Frequencies<T> frequencies;
    Sketch<T> sketch;
};

template <class T>
HeavyHitters<T>::HeavyHitters(const FrequencyOptions& frequencies, const SketchOptions& sketch,
                              std::unique_ptr<WindowSorter> sorter)
    : state_(new State{Frequencies<T>(frequencies, std::move(sorter)), Sketch<T>(sketch)}) {}
template <class T>
HeavyHitters<T>::HeavyHitters(const Context& context, const FrequencyOptions& frequencies, const SketchOptions& sketch,
                              std::unique_ptr<WindowSorter> sorter)
    : state_(new State{Frequencies<T>(frequencies, std::move(sorter)), Sketch<T>(context, sketch)}) {}
template <class T>
HeavyHitters<T>::HeavyHitters(HeavyHitters&&) noexcept = default;
template <class T>
HeavyHitters<T>& HeavyHitters<T>::operator=(HeavyHitters&&) noexcept = default;
template <class T>
HeavyHitters<T>::~HeavyHitters() = default;

template <class T>
void HeavyHitters<T>::add(std::span<const T> values) {
    state_->sketch.insert(values);
    state_->frequencies.add(values);
}

template <class T>
std::uint64_t HeavyHitters<T>::n() const {
    return state_->frequencies.n();
}

template <class T>
TopCounts<T> HeavyHitters<T>::top(std::size_t k) const {
    if (k < 1) throw InvalidArgument("HeavyHitters::top: k must be at least 1, not 0");
    const auto& frequencies = state_->frequencies;
    TopCounts<T> found;
    found.items = frequencies.frequent(frequencies.eps());
    std::vector<T> values;
    for (const auto& item : found.items) values.push_back(item.value);
    const auto counts = state_->sketch.query(values);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        auto& count = found.items[i].count;
        count.upper = std::min(count.upper, counts[i].upper);
        count.estimate = count.lower + (count.upper - count.lower) / 2;
    }
    std::ranges::sort(found.items, [](const auto& a, const auto& b) {
        return a.count.estimate != b.count.estimate ? a.count.estimate > b.count.estimate : a.value < b.value;
    });
    // A key that is not a candidate occurs at most eps n times.
    found.others = static_cast<std::uint64_t>(frequencies.eps() * static_cast<double>(frequencies.n()));
    for (std::size_t i = k; i < found.items.size(); ++i)
        found.others = std::max(found.others, found.items[i].count.upper);
    if (found.items.size() > k) found.items.resize(k);
    return found;
}

template class HeavyHitters<std::uint32_t>;
template class HeavyHitters<std::uint64_t>;
template class HeavyHitters<float>;

}  // namespace quadmill
