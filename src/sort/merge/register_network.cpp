#include "sort/merge/register_network.hpp"

namespace quadmill::detail::sort {

Comparators odd_even_merge_sort(int n) {
    Comparators network;
    for (int run = 1; run < n; run *= 2) {
        for (int distance = run; distance >= 1; distance /= 2) {
            for (int first = distance % run; first + distance < n; first += 2 * distance) {
                for (int i = first; i < first + distance && i + distance < n; ++i) {
                    // Compares only within one pair of runs.
                    if (i / (2 * run) == (i + distance) / (2 * run)) network.emplace_back(i, i + distance);
                }
            }
        }
    }
    return network;
}

Comparators bitonic_merge(int n) {
    Comparators network;
    for (int distance = n / 2; distance >= 1; distance /= 2) {
        for (int i = 0; i < n; ++i) {
            if ((i & distance) == 0) network.emplace_back(i, i + distance);
        }
    }
    return network;
}

Comparators turned_round(Comparators network) {
    for (auto& [low, high] : network) std::swap(low, high);
    return network;
}

std::string as_macro(const std::string& name, const Comparators& network, const std::string& exchange) {
    std::string text = "#define " + name + "(v)";
    for (const auto& [low, high] : network)
        text += " " + exchange + "(v[" + std::to_string(low) + "], v[" + std::to_string(high) + "])";
    return text + "\n";
}

}  // namespace quadmill::detail::sort
