// Gaussian splats, which captured scenes consist of: a hundred thousand coloured ellipsoids, drawn over one another
// from back to front. The library finds the order in each frame, from texture to texture. Live in a window, or as
// frames in a folder with the unsorted picture on the left and the sorted one on the right (--record DIR).
#include <memory>

#include "input/words.hpp"
#include "renderer.hpp"
#include "window/program.hpp"

namespace {

namespace show = quadmill::detail::show;

enum class Order { Quadmill, Cpu };

struct Options {
    std::size_t splats = 100000;
    std::uint32_t seed = 1;
    Order order = Order::Quadmill;
    demo::Pictures pictures{.frames = 24};
};

class SplatScene final : public demo::OrbitScene {
  public:
    SplatScene(quadmill::Context::GetProcAddress load, const Options& options)
        : OrbitScene(quadmill::Context::adopt(load)),
          renderer_(context(), load, options.splats, {640, 480}, options.seed) {
        show_renderer(&renderer_);
    }

  private:
    demo::SplatRenderer renderer_;
};

void record(const Options& options, show::Size size) {
    using Sorter = demo::SplatRenderer::Sorter;
    auto context = quadmill::Context::headless();
    context.make_current();
    demo::SplatRenderer renderer(
        context, [&](const char* name) { return context.proc_address(name); }, options.splats,
        {size.width / 2, size.height}, options.seed, options.order == Order::Cpu ? Sorter::Cpu : Sorter::Quadmill);
    demo::record_turn(options.pictures, renderer);
}

void run(const Options& options) {
    const auto size = options.pictures.parsed_size();
    if (options.pictures.recorded()) return record(options, size);
    demo::run_window({.name = "splats", .size = size},
                     [&](auto get_proc_address) { return std::make_unique<SplatScene>(get_proc_address, options); });
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Gaussian splats, sorted each frame by the graphics pipeline without read-back.", "splats"};
    Options options;
    demo::add_picture_options(app, options.pictures, "Number of frames of a turn around the knot");
    app.add_option("--splats", options.splats, "Number of splats")
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 22));
    app.add_option("--seed", options.seed, "Seed of the cloud")->capture_default_str();
    const quadmill::detail::input::Words<Order> orders{{"quadmill", Order::Quadmill}, {"cpu", Order::Cpu}};
    app.add_option("--order", options.order, "What finds the drawing order: quadmill, or cpu (reads depths back)")
        ->transform(quadmill::detail::input::one_of(orders))
        ->needs("--record");
    return demo::run_program(app, argc, argv, [&] { run(options); });
}
