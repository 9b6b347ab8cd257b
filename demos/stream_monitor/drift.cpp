#include "drift.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace demo {

namespace {

constexpr std::array<float, 5> always{8, 15, 22, 35, 60};  // milliseconds, fixed times of some answers

}  // namespace

void Drift::move_on() {
    const double turn = 2 * std::numbers::pi * static_cast<double>(made_) / cycle_;
    median_ = static_cast<float>(20 * std::exp(0.6 * std::sin(turn)));
    slow_ = static_cast<float>(0.02 + 0.2 * std::pow(std::fmax(std::sin(2 * turn + 1), 0), 4));
    std::array<double, always.size() + 1> shares{};
    shares[0] = 1;
    for (std::size_t i = 0; i < always.size(); ++i)
        shares.at(i + 1) =
            0.06 * std::pow(std::sin(turn * (1 + 0.5 * static_cast<double>(i % 3)) + 1.9 * static_cast<double>(i)), 2);
    kind_ = std::discrete_distribution<int>(shares.begin(), shares.end());
}

void Drift::make(std::span<float> values) {
    constexpr std::uint64_t often = 1024;
    constexpr float tail = 6, spread = 0.45F;
    std::uniform_real_distribution<float> chance(0, 1);
    for (auto& value : values) {
        if (made_ % often == 0) move_on();
        ++made_;
        const int kind = kind_(random_);
        const float body = median_ * std::exp(spread * normal_(random_));
        value = kind > 0 ? always.at(static_cast<std::size_t>(kind) - 1) : chance(random_) < slow_ ? tail * body : body;
    }
}

}  // namespace demo
