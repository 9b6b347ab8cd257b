// The window of a demo: a bar of controls, and a picture below it. GLFW and Dear ImGui are hidden behind this header,
// so that a demo's own code is the same if they are missing (no_window.cpp).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>

#include "quadmill/context.hpp"
#include "show/png.hpp"

namespace demo {

namespace show = quadmill::detail::show;

// Letters are upper case: Key{'T'}.
enum class Key : int { None = 0, Space = ' ', Plus = '+', Minus = '-', Left = 256, Right, Home, End };

// In pixels of the picture; also beyond its sides while a button is down.
struct Mouse {
    int x = 0, y = 0;  // position of a press or release, if there was one just now
    enum class Button { Up, Pressed, Held } button = Button::Up;  // Pressed: just now, on the picture
};

// Controls, from left to right. Each returns whether it was used, and shows a help text when the mouse is over it.
// Widths are in pixels at 96 per inch.
class Bar {
  public:
    virtual ~Bar() = default;
    virtual bool button(const std::string& words, const std::string& help) = 0;
    virtual bool check(const std::string& words, const std::string& help, bool& on) = 0;
    virtual bool choose(const std::string& help, std::size_t& chosen, std::span<const std::string> among,
                        float width) = 0;
    enum class Scale { Linear, Logarithmic };
    struct Slider {
        float low, high;
        const char* format;  // of the value, as for printf
        float width;
        Scale scale = Scale::Linear;
    };
    virtual bool slide(const std::string& help, float& value, const Slider& slider) = 0;
    virtual void text(const std::string& words) = 0;
    virtual void next_row() = 0;
};

// A texture of the demo itself. Its first row is the lowest.
struct OwnTexture {
    unsigned id = 0;
};
using Picture = std::variant<show::Canvas, OwnTexture>;

// The content of a demo's window. All calls are on one thread, with the window's OpenGL context current. A call that
// draws must leave framebuffer 0 bound.
class Scene {
  public:
    virtual ~Scene() = default;
    // The window's title, after the name of the program.
    [[nodiscard]] virtual std::string title() const = 0;
    // Whether frames follow one another as fast as the display shows them; otherwise they wait for keys and the mouse.
    [[nodiscard]] virtual bool moving() const = 0;
    virtual void tick(double /*seconds*/) {}
    virtual void press(Key key) = 0;
    virtual void bar(Bar& bar) = 0;
    // The min size of the picture. A smaller window shows it scaled down.
    [[nodiscard]] virtual show::Size min_size() const { return {640, 480}; }
    virtual void mouse(show::Size /*picture*/, const Mouse& /*mouse*/) {}
    // Nothing: unchanged.
    [[nodiscard]] virtual std::optional<Picture> draw(show::Size size) = 0;
};

struct WindowOptions {
    std::string name;  // of the program
    show::Size size;   // of the window including the bar
};
using MakeScene = std::function<std::unique_ptr<Scene>(quadmill::Context::GetProcAddress)>;

// The message says why, and what to do.
struct NoWindow : std::runtime_error {
    explicit NoWindow(const std::string& why)
        : std::runtime_error("no window (" + why + "); --record DIR draws the frames without a display") {}
};

// Shows the scene until the window is closed or Escape is pressed. S writes the picture to NAME.png. `make` is called
// with the window's context current. Throws NoWindow.
void run_window(const WindowOptions& options, const MakeScene& make);

}  // namespace demo
