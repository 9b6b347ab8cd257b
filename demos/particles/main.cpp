// A million transparent sprites, sorted from back to front each frame by the library, texture to texture, in a program
// that has its own loader and renderer: live in a window, or as frames in a folder, unsorted on the left, sorted on the
// right (--record DIR).
#include <cstdio>
#include <optional>
#include <stdexcept>

#include "renderer.hpp"
#include "scene.hpp"
#include "show/film.hpp"
#include "window/program.hpp"

namespace {

namespace show = quadmill::detail::show;

struct Options {
    std::optional<std::size_t> sprites;
    std::uint32_t seed = 1;
    demo::Pictures pictures{.frames = 24};
    bool check = false;
};

show::Canvas frame(demo::Renderer& renderer, show::Size half, double turn, demo::FrameTimes& sum) {
    show::Canvas both(2 * half.width, half.height);
    for (const auto sorting : {demo::Sorting::Off, demo::Sorting::On}) {
        const auto times = renderer.draw(turn, sorting);
        auto picture = renderer.picture();
        const bool sorted = sorting == demo::Sorting::On;
        picture.text(14, 12, sorted ? "sorted from back to front" : "unsorted", show::Font(17, show::Weight::Bold),
                     show::white);
        both.paste(picture, sorted ? half.width : 0, 0);
        sum.distances += times.distances;
        sum.sort += times.sort;
        if (sorted) sum.draw += times.draw;
    }
    return both;
}

void record(const Options& options, show::Size size) {
    const auto frames = options.pictures.frames;
    const show::Size half{size.width / 2, size.height};
    auto context = quadmill::Context::headless();
    context.make_current();
    const auto load = [&](const char* name) { return context.proc_address(name); };
    demo::Renderer renderer(context, load, options.sprites.value_or(demo::usual_sprites), half, options.seed);
    demo::FrameTimes sum;
    const auto said = show::record({.directory = options.pictures.record, .frames = frames}, [&](std::size_t i) {
        auto picture = frame(renderer, half, static_cast<double>(i) / static_cast<double>(frames), sum);
        if (options.check && !renderer.order_holds()) throw std::runtime_error("the order is not from back to front");
        return picture;
    });
    const auto n = static_cast<double>(frames);
    std::printf("%s\nOf a sorted frame: distances %.2f ms, sort %.2f ms, draw %.2f ms\n", said.c_str(),
                sum.distances / n / 2, sum.sort / n, sum.draw / n);
}

void run(const Options& options) {
    const auto size = options.pictures.parsed_size();
    if (options.pictures.recorded()) return record(options, size);
    demo::run_window({.name = "particles", .size = size}, [&](auto get_proc_address) {
        return demo::make_particles_scene(get_proc_address, options.sprites, options.seed);
    });
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Transparent sprites, sorted each frame by the graphics pipeline without read-back.", "particles"};
    Options options;
    demo::add_picture_options(app, options.pictures, "Of a turn round the spiral");
    app.add_option("--sprites", options.sprites, "How many (default: a million; live on a CPU renderer a tenth of it)")
        ->check(CLI::Range(1, 1 << 24));
    app.add_option("--seed", options.seed, "Of their places")->capture_default_str();
    app.add_flag("--check", options.check, "Read each recorded order back and check it")->needs("--record");
    return demo::run_program(app, argc, argv, [&] { run(options); });
}
