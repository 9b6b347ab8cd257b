#include "scene.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "renderer.hpp"

namespace demo {

namespace {

// The middle of the last times, as single ones jump about.
class Median {
  public:
    void add(double ms) { last_[next_++ % last_.size()] = ms; }
    [[nodiscard]] double ms() const {
        auto known =
            std::vector(last_.begin(), last_.begin() + static_cast<std::ptrdiff_t>(std::min(next_, last_.size())));
        if (known.empty()) return 0;
        const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
        std::ranges::nth_element(known, middle);
        return *middle;
    }

  private:
    std::array<double, 31> last_{};
    std::size_t next_ = 0;
};

struct Times {
    Median distances, sort, draw, session;
};

class ParticlesScene final : public Scene {
  public:
    ParticlesScene(quadmill::Context::GetProcAddress load, std::optional<std::size_t> wanted, std::uint32_t seed)
        : context_(quadmill::Context::adopt(load)), load_(load), seed_(seed) {
        const auto sprites = wanted.value_or(context_.info().software ? usual_sprites / 10 : usual_sprites);
        for (const std::size_t count : {1000U, 10000U, 100000U, 1000000U, 4000000U}) counts_.push_back(count);
        if (std::ranges::find(counts_, sprites) == counts_.end()) counts_.push_back(sprites);
        std::ranges::sort(counts_);
        for (const auto count : counts_) names_.push_back(show::with_commas(count) + " sprites");
        make(sprites, {640, 480});
    }

    [[nodiscard]] std::string title() const override {
        return std::string(sorting_ == Sorting::On ? "sorted" : "unsorted") + (turning_ ? ", turning" : ", paused");
    }
    [[nodiscard]] bool moving() const override { return turning_; }
    void tick(double seconds) override {
        constexpr double turns_a_second = 0.05;
        if (!turning_) return;
        turn_ = std::fmod(turn_ + seconds * turns_a_second, 1.0);
        stale_ = true;
    }

    void press(Key key) override {
        constexpr double step = 1.0 / 48;
        if (key == toggle) return toggle_sorting();
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
            case Key::Plus:
                return choose(std::min(count() + 1, counts_.size() - 1));
            case Key::Minus:
                return choose(count() > 0 ? count() - 1 : 0);
            default:
                return;
        }
    }

    void bar(Bar& bar) override {
        if (bar.button(turning_ ? "Pause" : "Turn ", "Pause or turn (space; the arrows turn a little, Home goes back)"))
            press(Key::Space);
        bool sorted = sorting_ == Sorting::On;
        if (bar.check("sorted from back to front", "By the library, texture to texture (T)", sorted)) toggle_sorting();
        auto chosen = count();
        if (bar.choose("How many (+ and -)", chosen, names_, 150)) choose(chosen);
        bar.next_row();
        bar.text(words());
    }

    [[nodiscard]] std::optional<Picture> draw(show::Size size) override {
        if (size.width != renderer_->size().width || size.height != renderer_->size().height) {
            renderer_->resize(size);
            stale_ = true;
        }
        if (!std::exchange(stale_, false)) return {};
        times_.session.add(renderer_->empty_session());
        const auto times = renderer_->draw(turn_, sorting_);
        times_.distances.add(times.distances);
        times_.sort.add(times.sort);
        times_.draw.add(times.draw);
        glBindFramebuffer(GL_FRAMEBUFFER, 0);
        return OwnTexture{renderer_->image()};
    }

  private:
    static constexpr Key toggle{'T'};

    void toggle_sorting() {
        sorting_ = sorting_ == Sorting::On ? Sorting::Off : Sorting::On;
        times_ = {};
        stale_ = true;
    }
    [[nodiscard]] std::size_t count() const {
        return static_cast<std::size_t>(std::ranges::find(counts_, renderer_->sprites()) - counts_.begin());
    }
    void choose(std::size_t i) {
        if (i != count()) make(counts_[i], renderer_->size());
    }
    void make(std::size_t sprites, show::Size size) {
        renderer_.reset();  // its memory first
        renderer_.emplace(context_, load_, sprites, size, seed_);
        times_ = {};
        stale_ = true;
    }
    void go_to(double turn) {
        turning_ = false;
        turn_ = turn - std::floor(turn);
        stale_ = true;
    }

    [[nodiscard]] std::string words() const {
        std::array<char, 200> line{};
        std::snprintf(line.data(), line.size(),
                      "distances %.2f ms, sort %.2f ms, draw %.2f ms; the library's care for the host's state: %.1f us",
                      times_.distances.ms(), times_.sort.ms(), times_.draw.ms(), 1000 * times_.session.ms());
        return line.data();
    }

    quadmill::Context context_;  // the window's own: the library is a guest here
    Renderer::Load load_;
    std::uint32_t seed_;
    std::vector<std::size_t> counts_;
    std::vector<std::string> names_;
    std::optional<Renderer> renderer_;
    Times times_;
    double turn_ = 0;
    Sorting sorting_ = Sorting::On;
    bool turning_ = true, stale_ = true;
};

}  // namespace

std::unique_ptr<Scene> make_particles_scene(quadmill::Context::GetProcAddress get_proc_address,
                                            std::optional<std::size_t> sprites, std::uint32_t seed) {
    return std::make_unique<ParticlesScene>(get_proc_address, sprites, seed);
}

}  // namespace demo
