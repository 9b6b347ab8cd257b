#include "scene.hpp"

#include <algorithm>
#include <vector>

#include "renderer.hpp"

namespace demo {

namespace {

class ParticlesScene final : public OrbitScene {
  public:
    ParticlesScene(quadmill::Context::GetProcAddress load, std::optional<std::size_t> wanted, std::uint32_t seed)
        : OrbitScene(quadmill::Context::adopt(load)), load_(load), seed_(seed) {
        const auto sprites = wanted.value_or(context().info().software ? usual_sprites / 10 : usual_sprites);
        for (const std::size_t count : {1000U, 10000U, 100000U, 1000000U, 4000000U}) counts_.push_back(count);
        if (std::ranges::find(counts_, sprites) == counts_.end()) counts_.push_back(sprites);
        std::ranges::sort(counts_);
        for (const auto count : counts_) names_.push_back(show::with_commas(count) + " sprites");
        make(sprites, {640, 480});
    }

    void press(Key key) override {
        if (key == Key{'L'}) return toggle_shell();
        if (key == Key::Plus) return choose(std::min(count() + 1, counts_.size() - 1));
        if (key == Key::Minus) return choose(count() > 0 ? count() - 1 : 0);
        OrbitScene::press(key);
    }

  private:
    void controls(Bar& bar) override {
        bool on = renderer_->shell();
        if (bar.check("shell of light", "Those between two distances shine, and are counted (L)", on)) toggle_shell();
        auto chosen = count();
        if (bar.choose("How many (+ and -)", chosen, names_, 150)) choose(chosen);
    }
    void toggle_shell() {
        renderer_->set_shell(!renderer_->shell());
        redraw();
    }
    [[nodiscard]] std::size_t count() const {
        return static_cast<std::size_t>(std::ranges::find(counts_, renderer_->sprites()) - counts_.begin());
    }
    void choose(std::size_t i) {
        if (i != count()) make(counts_[i], renderer_->image().size());
    }
    void make(std::size_t sprites, show::Size size) {
        const bool shell = renderer_ && renderer_->shell();
        renderer_.reset();  // frees its memory first
        renderer_.emplace(context(), load_, sprites, size, seed_);
        renderer_->set_shell(shell);
        show_renderer(&*renderer_);
    }

    Load load_;
    std::uint32_t seed_;
    std::vector<std::size_t> counts_;
    std::vector<std::string> names_;
    std::optional<Renderer> renderer_;
};

}  // namespace

std::unique_ptr<Scene> make_particles_scene(quadmill::Context::GetProcAddress get_proc_address,
                                            std::optional<std::size_t> sprites, std::uint32_t seed) {
    return std::make_unique<ParticlesScene>(get_proc_address, sprites, seed);
}

}  // namespace demo
