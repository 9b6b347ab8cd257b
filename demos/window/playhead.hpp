// A place among some steps, which plays on by itself or goes to and fro.
#pragma once

#include <cstddef>

#include "window/window.hpp"

namespace demo {

class Playhead {
  public:
    [[nodiscard]] std::size_t places() const { return places_; }
    // Stays where it is if there is such a place still, otherwise goes to the end. Pre: one at least.
    void set_places(std::size_t places);
    [[nodiscard]] std::size_t at() const { return at_; }
    [[nodiscard]] bool at_end() const { return at_ + 1 == places_; }
    // Beyond either end is that end. Pauses.
    void go_to(std::ptrdiff_t place);
    void move(std::ptrdiff_t by) { go_to(static_cast<std::ptrdiff_t>(at_) + by); }

    [[nodiscard]] bool playing() const { return playing_; }
    // From the start again when it is at the end.
    void play();
    void pause() { playing_ = false; }
    // Steps a second.
    static constexpr double slowest = 0.5, fastest = 120;
    void set_speed(double speed);
    void tick(double seconds);

    // Space, the arrows, Home, End, + and -.
    void press(Key key);
    // The same as controls, and which of the places it is.
    void bar(Bar& bar);

  private:
    std::size_t places_ = 1, at_ = 0;
    bool playing_ = false;
    double speed_ = 8, waited_ = 0;
};

}  // namespace demo
