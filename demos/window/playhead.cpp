#include "window/playhead.hpp"

#include <algorithm>
#include <string>

namespace demo {

void Playhead::set_places(std::size_t places) {
    places_ = places;
    at_ = std::min(at_, places - 1);
}

void Playhead::go_to(std::ptrdiff_t place) {
    at_ = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(place, 0, static_cast<std::ptrdiff_t>(places_) - 1));
    pause();
}

void Playhead::play() {
    if (at_end()) at_ = 0;
    playing_ = true;
    waited_ = 0;
}

void Playhead::set_speed(double speed) {
    speed_ = std::clamp(speed, slowest, fastest);
}

void Playhead::tick(double seconds) {
    if (!playing_) return;
    waited_ += seconds * speed_;
    for (; waited_ >= 1 && !at_end(); --waited_) ++at_;
    if (at_end()) pause();
}

void Playhead::press(Key key) {
    switch (key) {
        case Key::Space:
            return playing_ ? pause() : play();
        case Key::Left:
            return move(-1);
        case Key::Right:
            return move(1);
        case Key::Home:
            return go_to(0);
        case Key::End:
            return go_to(static_cast<std::ptrdiff_t>(places_));
        case Key::Plus:
            return set_speed(speed_ * 1.5);
        case Key::Minus:
            return set_speed(speed_ / 1.5);
        default:
            return;
    }
}

void Playhead::bar(Bar& bar) {
    if (bar.button("|<", "To the start (Home)")) press(Key::Home);
    if (bar.button("<", "A step back (left arrow)")) press(Key::Left);
    if (bar.button(playing_ ? "Pause" : "Play ", "Play or pause (space)")) press(Key::Space);
    if (bar.button(">", "A step forward (right arrow)")) press(Key::Right);
    if (bar.button(">|", "To the end (End)")) press(Key::End);
    auto speed = static_cast<float>(speed_);
    if (bar.slide("Speed (+ and -)", speed, {slowest, fastest, "%.1f steps/s", 150, Bar::Scale::Logarithmic}))
        set_speed(speed);
    bar.text(std::to_string(at_) + " of " + std::to_string(places_ - 1));
}

}  // namespace demo
