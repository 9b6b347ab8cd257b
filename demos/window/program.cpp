#include "window/program.hpp"

#include <cstdio>
#include <exception>

#include "input/standard_files.hpp"
#include "quadmill/error.hpp"

namespace demo {

namespace {
constexpr int failed = 1, wrong_call = 2;
}

void add_picture_options(CLI::App& app, Pictures& pictures, const std::string& about_frames) {
    app.add_option("--size", pictures.size, "Size of the frames, or of the window")->capture_default_str();
    app.add_option("--record", pictures.record, "Write frames to this folder as PNG, without a window or display");
    auto* frames = app.add_option("--frames", pictures.frames, about_frames)->check(CLI::Range(1, 10000));
    if (pictures.frames > 0) frames->capture_default_str();
}

int run_program(CLI::App& app, int argc, char** argv, const std::function<void()>& work) {
    const auto say = [&](const char* what, int status) {
        std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), what);
        return status;
    };
    quadmill::detail::input::open_standard_files();
    try {
        app.parse(argc, argv);
        work();
    } catch (const CLI::RuntimeError& stop) {
        return stop.get_exit_code();  // everything has been printed
    } catch (const CLI::ParseError& error) {
        if (app.exit(error) != 0) return wrong_call;
    } catch (const quadmill::InvalidArgument& error) {
        return say(error.what(), wrong_call);
    } catch (const std::exception& error) {
        return say(error.what(), failed);
    }
    return quadmill::detail::input::standard_output_is_written()
               ? 0
               : say("cannot write standard output to its end", failed);
}

}  // namespace demo
