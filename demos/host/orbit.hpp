// A program's own renderer with a camera that orbits the scene, and its window. Each frame the library sorts what is
// drawn from back to front, without waiting.
#pragma once

#include <glm/mat3x3.hpp>
#include <memory>
#include <string>

#include "host/gl.hpp"
#include "quadmill/context.hpp"
#include "window/program.hpp"
#include "window/window.hpp"

namespace demo {

enum class Sorting { On, Off };

class OrbitRenderer {
  public:
    // Words for the picture without the library's work and with it.
    struct Labels {
        const char *off = "unsorted", *on = "sorted from back to front", *short_on = "sorted",
                   *help = "By the library, on the GPU (T)";
    };
    virtual ~OrbitRenderer() = default;
    [[nodiscard]] virtual Labels labels() const { return {}; }
    // Prepares a part of what the library needs and returns whether all is ready, so that the window stays responsive.
    virtual bool prepare() = 0;
    // `turn` is the camera's position on its orbit, from 0 to 1.
    virtual void draw(double turn, Sorting sorting) = 0;
    [[nodiscard]] virtual Image& image() = 0;
    // Times and results of the last frames, for the bar of controls.
    [[nodiscard]] virtual std::string words() = 0;
};

// A recorded frame: without the library's work on the left, with it on the right, each with a label.
[[nodiscard]] show::Canvas both_halves(OrbitRenderer& renderer, double turn);

// Records a turn as both_halves() of each frame, and prints where, and the renderer's words.
void record_turn(const Pictures& pictures, OrbitRenderer& renderer);

// A rotation about the vertical axis, then tilted towards the camera.
[[nodiscard]] glm::mat3 camera_at(double turn, float tilt);

// Space, the arrows and Home turn the camera, T turns the library's work on and off.
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
    // Used from now on.
    void show_renderer(OrbitRenderer* renderer);
    void redraw() { stale_ = true; }
    // Further controls in the first row.
    virtual void controls(Bar& /*bar*/) {}

  private:
    void toggle_sorting();
    void go_to(double turn);

    quadmill::Context context_;  // the window's own context, which the library adopts
    OrbitRenderer* renderer_ = nullptr;
    double turn_ = 0;
    Median session_us_;
    Sorting sorting_ = Sorting::On;
    bool turning_ = true, stale_ = true, ready_ = false;
};

}  // namespace demo
