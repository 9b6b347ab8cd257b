// A position among some steps, which plays by itself or is moved.
#pragma once

#include <cstddef>

#include "window/window.hpp"

namespace demo {

class Playhead {
  public:
    [[nodiscard]] std::size_t places() const { return places_; }
    // Stays at its position if that still exists, otherwise goes to the end. Pre: at least one position.
    void set_places(std::size_t places);
    [[nodiscard]] std::size_t at() const { return at_; }
    [[nodiscard]] bool at_end() const { return at_ + 1 == places_; }
    // Positions beyond either end mean that end. Pauses.
    void go_to(std::ptrdiff_t place);
    void move(std::ptrdiff_t by) { go_to(static_cast<std::ptrdiff_t>(at_) + by); }

    [[nodiscard]] bool playing() const { return playing_; }
    // Starts again from the beginning if it is at the end.
    void play();
    void pause() { playing_ = false; }
    // Steps per second.
    static constexpr double slowest = 0.5, fastest = 120;
    void set_speed(double speed);
    void tick(double seconds);

    // Space, the arrows, Home, End, + and -.
    void press(Key key);
    // Buttons for the same actions, a slider for the speed, and the position as text.
    void bar(Bar& bar);

  private:
    std::size_t places_ = 1, at_ = 0;
    bool playing_ = false;
    double speed_ = 8, waited_ = 0;
};

}  // namespace demo
