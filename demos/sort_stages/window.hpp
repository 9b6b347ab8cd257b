// The window around a player.
#pragma once

#include <vector>

#include "player.hpp"

namespace demo {

struct WindowOptions {
    std::vector<show::Request> sorts;  // one, or two for a race
    show::Size size{1280, 864};
    show::Times times = show::Times::Shown;
};

// Until the window is closed. Returns the exit status: 1, with one line on standard error, when there can be no window.
int run_window(const WindowOptions& options);

}  // namespace demo
