// Goes to and fro in one sort, or in two side by side; no window.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "show/stage_view.hpp"

namespace demo {

namespace show = quadmill::detail::show;

class Player {
  public:
    // Pre: one or two.
    explicit Player(std::vector<show::Stages> sorts) : sorts_(std::move(sorts)) {}

    // Places, from the input to the last step; of two sorts, those of the one with more passes.
    [[nodiscard]] std::size_t places() const { return leader().steps.size(); }
    [[nodiscard]] std::size_t at() const { return at_; }
    [[nodiscard]] bool at_end() const { return at_ + 1 == places(); }
    // Beyond either end is that end. Pauses.
    void go_to(std::ptrdiff_t place);
    void move(std::ptrdiff_t by) { go_to(static_cast<std::ptrdiff_t>(at_) + by); }

    [[nodiscard]] bool playing() const { return playing_; }
    // From the start again when it is at the end.
    void play();
    void pause() { playing_ = false; }
    // Steps a second.
    static constexpr double slowest = 0.5, fastest = 120;
    [[nodiscard]] double speed() const { return speed_; }
    void set_speed(double speed);
    void tick(double seconds);

    // The step that sort i is in. A race goes by passes, which are what costs.
    [[nodiscard]] std::size_t step_of(std::size_t i) const;
    [[nodiscard]] show::Canvas draw(show::Size size, show::Times times) const;
    // Where a point of that picture is on a time line, the place that it means; else -1.
    [[nodiscard]] std::ptrdiff_t place_at(show::Size size, int x, int y) const;
    [[nodiscard]] std::string title() const;

  private:
    [[nodiscard]] std::size_t leader_index() const;
    [[nodiscard]] const show::Stages& leader() const { return sorts_[leader_index()]; }
    [[nodiscard]] show::Size part(show::Size whole) const {
        return {whole.width / static_cast<int>(sorts_.size()), whole.height};
    }

    std::vector<show::Stages> sorts_;
    std::size_t at_ = 0;
    bool playing_ = false;
    double speed_ = 8, waited_ = 0;
};

}  // namespace demo
