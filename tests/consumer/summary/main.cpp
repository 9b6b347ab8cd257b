#include <quadmill/sort.hpp>
#include <quadmill/stream.hpp>
#include <vector>

int main() {
    std::vector<float> values(100000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    quadmill::Quantiles<float> first, second({}, quadmill::cpu_window_sorter());
    first.add(values);
    second.add(values);
    first.merge(quadmill::Quantiles<float>::load(second.save()));
    const auto median = first.quantile(0.5);
    return first.n() == 200000 && median.value > 49800 && median.value < 50200 ? 0 : 1;
}
