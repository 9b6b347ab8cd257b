// A million transparent sprites in a vertex buffer. Each frame the library sorts them from back to front into an
// element buffer, in a program with its own loader and renderer. Live in a window, or as frames in a folder with the
// unsorted picture on the left and the sorted one on the right (--record DIR).
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

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
    std::string programs{};
    bool check = false, shell = false;
};

// Loads compiled shaders of an earlier run, if there are any. Returns their number.
std::size_t load_programs(quadmill::Context& context, const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator(file), {}};
    return bytes.empty() ? 0 : context.load_programs(std::as_bytes(std::span(bytes)));
}

void save_programs(const quadmill::Context& context, const std::string& path) {
    const auto bytes = context.save_programs();
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

show::Canvas frame(demo::Renderer& renderer, show::Size half, double turn) {
    show::Canvas both(2 * half.width, half.height);
    for (const auto sorting : {demo::Sorting::Off, demo::Sorting::On}) {
        renderer.draw(turn, sorting);
        auto picture = renderer.image().picture();
        const bool sorted = sorting == demo::Sorting::On;
        picture.text(14, 12, sorted ? "sorted from back to front" : "unsorted", show::Font(17, show::Weight::Bold),
                     show::white);
        both.paste(picture, sorted ? half.width : 0, 0);
    }
    return both;
}

void record(const Options& options, show::Size size) {
    const auto frames = options.pictures.frames;
    const show::Size half{size.width / 2, size.height};
    auto context = quadmill::Context::headless();
    context.make_current();
    const auto load = [&](const char* name) { return context.proc_address(name); };
    const auto begun = std::chrono::steady_clock::now();
    const auto loaded = options.programs.empty() ? 0 : load_programs(context, options.programs);
    demo::Renderer renderer(context, load, options.sprites.value_or(demo::usual_sprites), half, options.seed);
    renderer.set_shell(options.shell);
    int slices = 1;
    while (!renderer.prepare()) ++slices;
    const std::chrono::duration<double, std::milli> ready = std::chrono::steady_clock::now() - begun;
    std::printf("Ready after %.0f ms in %d slices, with %zu programs of an earlier run\n", ready.count(), slices,
                loaded);
    const auto said = show::record({.directory = options.pictures.record, .frames = frames}, [&](std::size_t i) {
        auto picture = frame(renderer, half, static_cast<double>(i) / static_cast<double>(frames));
        if (options.check && !renderer.order_holds()) throw std::runtime_error("the order is not from back to front");
        return picture;
    });
    if (!options.programs.empty()) save_programs(context, options.programs);
    std::printf("%s\nOf a sorted frame: %s\n", said.c_str(), renderer.words().c_str());
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
    app.add_option("--sprites", options.sprites,
                   "Number of sprites (default: a million; live on a CPU renderer a tenth of it)")
        ->check(CLI::Range(1, 1 << 24));
    app.add_option("--seed", options.seed, "Seed of their positions")->capture_default_str();
    app.add_flag("--shell", options.shell, "A shell of light: sprites between two distances shine")->needs("--record");
    app.add_option("--programs", options.programs, "File that keeps compiled shaders from run to run")
        ->needs("--record");
    app.add_flag("--check", options.check, "Read each recorded order back and check it")->needs("--record");
    return demo::run_program(app, argc, argv, [&] { run(options); });
}
