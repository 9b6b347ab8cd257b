#include "host/orbit.hpp"

#include <glad/gl.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <glm/gtc/matrix_transform.hpp>
#include <numbers>
#include <utility>

#include "show/film.hpp"

namespace demo {

namespace {

// The library's overhead per call: microseconds to save and restore all state in an empty session.
double empty_session_us(const quadmill::Context& context) {
    const auto begun = std::chrono::steady_clock::now();
    { const quadmill::Session session(context); }
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun).count();
}

}  // namespace

show::Canvas both_halves(OrbitRenderer& renderer, double turn) {
    const auto half = [&](Sorting sorting, const char* label) {
        renderer.draw(turn, sorting);
        auto picture = renderer.image().picture();
        picture.text(14, 12, label, show::Font(17, show::Weight::Bold), show::white);
        return picture;
    };
    const auto left = half(Sorting::Off, renderer.labels().off), right = half(Sorting::On, renderer.labels().on);
    show::Canvas both(left.width() + right.width(), left.height());
    both.paste(left, 0, 0);
    both.paste(right, left.width(), 0);
    return both;
}

void record_turn(const Pictures& pictures, OrbitRenderer& renderer) {
    const auto said = show::record({.directory = pictures.record, .frames = pictures.frames}, [&](std::size_t i) {
        return both_halves(renderer, static_cast<double>(i) / static_cast<double>(pictures.frames));
    });
    std::printf("%s\nOf a frame: %s\n", said.c_str(), renderer.words().c_str());
}

glm::mat3 camera_at(double turn, float tilt) {
    const auto angle = static_cast<float>(2 * std::numbers::pi * turn);
    const auto turned = glm::rotate(glm::mat4(1), -angle, glm::vec3(0, 1, 0));
    return glm::mat3(glm::rotate(glm::mat4(1), tilt, glm::vec3(1, 0, 0)) * turned);
}

std::string OrbitScene::title() const {
    if (!ready_) return "getting ready";
    return std::string(sorting_ == Sorting::On ? renderer_->labels().short_on : renderer_->labels().off) +
           (turning_ ? ", turning" : ", paused");
}

void OrbitScene::tick(double seconds) {
    constexpr double turns_a_second = 0.05;
    if (!turning_) return;
    turn_ = std::fmod(turn_ + seconds * turns_a_second, 1.0);
    stale_ = true;
}

void OrbitScene::press(Key key) {
    constexpr double step = 1.0 / 48;
    if (key == Key{'T'}) return toggle_sorting();
    switch (key) {
        case Key::Space:
            turning_ = !turning_;
            return;
        case Key::Home:
            return go_to(0);
        case Key::Left:
            return go_to(turn_ - step);
        case Key::Right:
            return go_to(turn_ + step);
        default:
            return;
    }
}

void OrbitScene::bar(Bar& bar) {
    if (bar.button(turning_ ? "Pause" : "Turn ", "Pause or turn (space; the arrows turn a little, Home goes back)"))
        press(Key::Space);
    bool sorted = sorting_ == Sorting::On;
    if (bar.check(renderer_->labels().on, renderer_->labels().help, sorted)) toggle_sorting();
    controls(bar);
    bar.next_row();
    std::array<char, 80> care{};
    std::snprintf(care.data(), care.size(), "; the library's care for the host's state: %.1f us", session_us_.value());
    bar.text(renderer_->words() + care.data());
}

std::optional<Picture> OrbitScene::draw(show::Size size) {
    auto& image = renderer_->image();
    if (size.width != image.size().width || size.height != image.size().height) {
        image.resize(size);
        stale_ = true;
    }
    if (!ready_) {
        ready_ = renderer_->prepare();
        show::Canvas picture(size.width, size.height);
        picture.text(14, 12, "getting ready ...", show::Font(17));
        return picture;
    }
    if (!std::exchange(stale_, false)) return {};
    session_us_.add(empty_session_us(context_));
    renderer_->draw(turn_, sorting_);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    return OwnTexture{image.id()};
}

void OrbitScene::show_renderer(OrbitRenderer* renderer) {
    renderer_ = renderer;
    ready_ = false;
    stale_ = true;
}

void OrbitScene::toggle_sorting() {
    sorting_ = sorting_ == Sorting::On ? Sorting::Off : Sorting::On;
    stale_ = true;
}

void OrbitScene::go_to(double turn) {
    turning_ = false;
    turn_ = turn - std::floor(turn);
    stale_ = true;
}

}  // namespace demo
