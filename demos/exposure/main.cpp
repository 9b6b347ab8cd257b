// Automatic exposure: a generated scene of high dynamic range, exposed by its median and 99th percentile in each frame,
// with its histogram. The library finds them, from texture to texture. Live in a window, or as frames in a folder with
// a fixed exposure on the left and the automatic one on the right (--record DIR).
#include <memory>

#include "input/words.hpp"
#include "renderer.hpp"
#include "window/program.hpp"

namespace {

namespace show = quadmill::detail::show;
using By = demo::ExposureRenderer::By;

struct Options {
    By by = By::Quadmill;
    demo::Pictures pictures{.frames = 24};
};

class ExposureScene final : public demo::OrbitScene {
  public:
    ExposureScene(quadmill::Context::GetProcAddress load, const Options& /*options*/)
        : OrbitScene(quadmill::Context::adopt(load)), renderer_(context(), load, {640, 480}) {
        show_renderer(&renderer_);
    }

  private:
    demo::ExposureRenderer renderer_;
};

void record(const Options& options, show::Size size) {
    auto context = quadmill::Context::headless();
    context.make_current();
    demo::ExposureRenderer renderer(
        context, [&](const char* name) { return context.proc_address(name); }, {size.width / 2, size.height},
        options.by);
    demo::record_turn(options.pictures, renderer);
}

void run(const Options& options) {
    const auto size = options.pictures.parsed_size();
    if (options.pictures.recorded()) return record(options, size);
    demo::run_window({.name = "exposure", .size = size},
                     [&](auto get_proc_address) { return std::make_unique<ExposureScene>(get_proc_address, options); });
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Automatic exposure of a scene, by percentiles that stay on the GPU.", "exposure"};
    Options options;
    demo::add_picture_options(app, options.pictures, "Number of frames of a turn in the hall");
    const quadmill::detail::input::Words<By> ways{{"quadmill", By::Quadmill}, {"cpu", By::Cpu}};
    app.add_option("--percentiles", options.by, "What finds the percentiles: quadmill, or cpu (reads the frame back)")
        ->transform(quadmill::detail::input::one_of(ways))
        ->needs("--record");
    return demo::run_program(app, argc, argv, [&] { run(options); });
}
