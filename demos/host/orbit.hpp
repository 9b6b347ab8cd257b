// A program's own renderer that a camera goes round, and its window: it draws what is sorted from back to front by the
// library each frame, and waits for nothing.
#pragma once

#include <glm/mat3x3.hpp>
#include <memory>
#include <string>

#include "host/gl.hpp"
#include "quadmill/context.hpp"
#include "window/window.hpp"

namespace demo {

enum class Sorting { On, Off };

class OrbitRenderer {
  public:
    virtual ~OrbitRenderer() = default;
    // Gets some more of what the library needs ready, and says whether all is, so that a window goes on meanwhile.
    virtual bool prepare() = 0;
    // `turn`: of the camera's way round, from 0 to 1.
    virtual void draw(double turn, Sorting sorting) = 0;
    [[nodiscard]] virtual Image& image() = 0;
    // What the last frames took and found; for the bar of controls.
    [[nodiscard]] virtual std::string words() = 0;
};

// A rotation about the vertical axis, then tilted towards the camera.
[[nodiscard]] glm::mat3 camera_at(double turn, float tilt);

// Space, the arrows and Home turn it, T turns sorting on and off.
class OrbitScene : public Scene {
  public:
    [[nodiscard]] std::string title() const override;
    [[nodiscard]] bool moving() const override { return turning_ || !ready_; }
    void tick(double seconds) override;
    void press(Key key) override;
    void bar(Bar& bar) override;
    [[nodiscard]] std::optional<Picture> draw(show::Size size) override;

  protected:
    explicit OrbitScene(const quadmill::Context& context) : context_(context) {}
    [[nodiscard]] const quadmill::Context& context() const { return context_; }
    // From now on.
    void show_renderer(OrbitRenderer* renderer);
    void redraw() { stale_ = true; }
    // More controls in the first row.
    virtual void controls(Bar& /*bar*/) {}

  private:
    void toggle_sorting();
    void go_to(double turn);

    quadmill::Context context_;  // the window's own: the library is a guest here
    OrbitRenderer* renderer_ = nullptr;
    double turn_ = 0;
    Median session_us_;
    Sorting sorting_ = Sorting::On;
    bool turning_ = true, stale_ = true, ready_ = false;
};

}  // namespace demo
