// The window of a demo: a bar of controls, and a picture below it. GLFW and Dear ImGui stay behind this header, so that
// a demo's own code is the same where they are missing (no_window.cpp).
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

// Letters are their capitals: Key{'T'}.
enum class Key : int { None = 0, Space = ' ', Plus = '+', Minus = '-', Left = 256, Right, Home, End };

// In pixels of the picture, also beyond its sides while a button is down.
struct Mouse {
    int x = 0, y = 0;  // where it was pressed or released, if that was just now
    enum class Button { Up, Pressed, Held } button = Button::Up;  // Pressed: just now, and over the picture
};

// Controls, from left to right. Each says whether it was used, and explains itself when the mouse is over it; widths
// are in pixels of 96 an inch.
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
        const char* format;  // of the value, as printf has it
        float width;
        Scale scale = Scale::Linear;
    };
    virtual bool slide(const std::string& help, float& value, const Slider& slider) = 0;
    virtual void text(const std::string& words) = 0;
    virtual void next_row() = 0;
};

// A texture of the demo's own, its first row the lowest.
struct OwnTexture {
    unsigned id = 0;
};
using Picture = std::variant<show::Canvas, OwnTexture>;

// What a demo shows. All calls are on one thread, with the window's OpenGL context current; one that draws there leaves
// framebuffer 0 bound.
class Scene {
  public:
    virtual ~Scene() = default;
    // The window's title, after the name of the program.
    [[nodiscard]] virtual std::string title() const = 0;
    // Whether frames follow one another as fast as the display takes them; otherwise they wait for keys and the mouse.
    [[nodiscard]] virtual bool moving() const = 0;
    virtual void tick(double /*seconds*/) {}
    virtual void press(Key key) = 0;
    virtual void bar(Bar& bar) = 0;
    // The picture is never smaller; a window that is shows it smaller.
    [[nodiscard]] virtual show::Size least() const { return {640, 480}; }
    virtual void mouse(show::Size /*picture*/, const Mouse& /*mouse*/) {}
    // Nothing: as it was.
    [[nodiscard]] virtual std::optional<Picture> draw(show::Size size) = 0;
};

struct WindowOptions {
    std::string name;  // of the program
    show::Size size;   // of the window, the bar included
};
using MakeScene = std::function<std::unique_ptr<Scene>(quadmill::Context::GetProcAddress)>;

// Says why, and what to do.
struct NoWindow : std::runtime_error {
    explicit NoWindow(const std::string& why)
        : std::runtime_error("no window (" + why + "); --record DIR draws the frames without a display") {}
};

// Shows the scene until the window is closed, or Escape is pressed; S writes what it shows to NAME.png. `make` is
// called with the window's context current. Throws NoWindow.
void run_window(const WindowOptions& options, const MakeScene& make);

}  // namespace demo
