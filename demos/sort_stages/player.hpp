// Moves forward and back in one sort, or in two next to each other. No window.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "show/stage_view.hpp"
#include "window/playhead.hpp"

namespace demo {

// Its positions are from the input to the last step; for two sorts, those of the one with more passes.
class Player : public Playhead {
  public:
    // Pre: one sort or two.
    explicit Player(std::vector<show::Stages> sorts) : sorts_(std::move(sorts)) { set_places(leader().steps.size()); }

    // The current step of sort i. A race counts passes, which are what costs time.
    [[nodiscard]] std::size_t step_of(std::size_t i) const;
    [[nodiscard]] show::Canvas draw(show::Size size, show::Times times) const;
    // The position that a point of the picture means on a time line; -1 if it is not on one.
    [[nodiscard]] std::ptrdiff_t place_at(show::Size size, int x, int y) const;
    [[nodiscard]] std::string title() const;

  private:
    [[nodiscard]] std::size_t leader_index() const;
    [[nodiscard]] const show::Stages& leader() const { return sorts_[leader_index()]; }
    [[nodiscard]] show::Size part(show::Size whole) const {
        return {whole.width / static_cast<int>(sorts_.size()), whole.height};
    }

    std::vector<show::Stages> sorts_;
};

}  // namespace demo
