// The monitor in a window.
#pragma once

#include <memory>

#include "feed.hpp"
#include "quadmill/sort.hpp"
#include "show/monitor.hpp"
#include "window/window.hpp"

namespace demo {

struct Watching {
    show::MonitorOptions monitor;
    quadmill::Engine engine = quadmill::Engine::Auto;
    double speed = 0;  // max values per second
    enum class Times { Hidden, Shown } times = Times::Shown;
    static constexpr double slowest = 1e3, fastest = 1e8;
};

// The feed outlives the scene. Pre: the context is current. tick() throws errors of the stream, and Interrupted after
// Ctrl-C.
struct Interrupted {};
[[nodiscard]] std::unique_ptr<Scene> make_monitor_scene(quadmill::Context::GetProcAddress get_proc_address, Feed& feed,
                                                        const Watching& watching);

}  // namespace demo
