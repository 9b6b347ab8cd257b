#include "window.hpp"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "bench/inputs.hpp"
#include "quadmill/context.hpp"

namespace demo {

namespace {

constexpr int bar_height = 64;  // at 96 dots an inch; the picture is below
constexpr show::Size least{640, 480};

// What GLFW said last.
std::string& glfw_words() {
    static std::string words;
    return words;
}

struct NoWindow : std::runtime_error {
    NoWindow() : std::runtime_error(glfw_words()) {}
};

struct Glfw {
    Glfw() {
        glfwSetErrorCallback([](int, const char* words) { glfw_words() = words; });
        if (!glfwInit()) throw NoWindow();
    }
    Glfw(const Glfw&) = delete;
    Glfw& operator=(const Glfw&) = delete;
    ~Glfw() { glfwTerminate(); }
};

struct Destroy {
    void operator()(GLFWwindow* window) const { glfwDestroyWindow(window); }
};
using Handle = std::unique_ptr<GLFWwindow, Destroy>;

Handle open(show::Size size) {
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 4);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 5);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    Handle window(glfwCreateWindow(size.width, size.height, "sort_stages", nullptr, nullptr));
    if (!window) throw NoWindow();
    glfwSetWindowSizeLimits(window.get(), least.width, least.height + bar_height, GLFW_DONT_CARE, GLFW_DONT_CARE);
    glfwMakeContextCurrent(window.get());
    glfwSwapInterval(1);  // no tearing
    return window;
}

struct Gui {
    Gui(GLFWwindow* window, float scale) {
        ImGui::CreateContext();
        auto& io = ImGui::GetIO();
        io.IniFilename = nullptr;
        if (std::filesystem::exists(QUADMILL_FONT)) io.Fonts->AddFontFromFileTTF(QUADMILL_FONT, 13 * scale);
        ImGui::StyleColorsLight();
        ImGui::GetStyle().FrameBorderSize = 1;
        ImGui::GetStyle().ScaleAllSizes(scale);
        ImGui_ImplGlfw_InitForOpenGL(window, true);  // keeps the callbacks that are there
        ImGui_ImplOpenGL3_Init("#version 450");
    }
    Gui(const Gui&) = delete;
    Gui& operator=(const Gui&) = delete;
    ~Gui() {
        ImGui_ImplOpenGL3_Shutdown();
        ImGui_ImplGlfw_Shutdown();
        ImGui::DestroyContext();
    }
};

constexpr std::array<const char*, 8> distributions{"uniform",  "gauss",  "zipf", "sorted",
                                                   "reversed", "nearly", "dup",  "equal"};

// A choice among words; whether it was made anew.
template <class Words>
bool choose(const char* id, const char* help, int& chosen, const Words& words, float width) {
    ImGui::SetNextItemWidth(width);
    bool changed = false;
    if (ImGui::BeginCombo(id, words(chosen).c_str())) {
        for (int i = 0; !words(i).empty(); ++i) {
            if (!ImGui::Selectable(words(i).c_str(), i == chosen)) continue;
            changed = i != chosen;
            chosen = i;
        }
        ImGui::EndCombo();
    }
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", help);
    ImGui::SameLine();
    return changed;
}

std::string engine_word(int i) {
    return i < static_cast<int>(show::watched_engines) ? show::name_of(static_cast<show::Watched>(i)) : "";
}

class Window {
  public:
    explicit Window(const WindowOptions& options)
        : options_(options),
          window_(open(options.size)),
          context_(quadmill::Context::adopt(glfwGetProcAddress)),
          player_(sort()) {
        glfwSetWindowUserPointer(window_.get(), this);
        glfwSetKeyCallback(window_.get(), [](GLFWwindow* window, int key, int, int action, int) {
            if (action != GLFW_RELEASE) static_cast<Window*>(glfwGetWindowUserPointer(window))->pressed(key);
        });
        float scale = 1;
        glfwGetWindowContentScale(window_.get(), &scale, nullptr);
        scale_ = scale;
        gui_.emplace(window_.get(), scale_);
        glGenTextures(1, &texture_);
    }

    void run() {
        for (double last = glfwGetTime(); !glfwWindowShouldClose(window_.get());) {
            if (player_.playing()) {
                glfwPollEvents();
            } else {
                glfwWaitEventsTimeout(0.05);
            }
            const double now = glfwGetTime();
            player_.tick(std::min(now - std::exchange(last, now), 0.25));
            frame();
        }
    }

  private:
    std::vector<show::Stages> sort() {
        std::vector<show::Stages> sorts;
        for (const auto& request : options_.sorts) sorts.push_back(show::watch(context_, request));
        return sorts;
    }

    void pressed(int key) {
        switch (key) {
            case GLFW_KEY_SPACE:
                return player_.playing() ? player_.pause() : player_.play();
            case GLFW_KEY_LEFT:
                return player_.move(-1);
            case GLFW_KEY_RIGHT:
                return player_.move(1);
            case GLFW_KEY_HOME:
                return player_.go_to(0);
            case GLFW_KEY_END:
                return player_.go_to(static_cast<std::ptrdiff_t>(player_.places()));
            case GLFW_KEY_EQUAL:
            case GLFW_KEY_KP_ADD:
                return player_.set_speed(player_.speed() * 1.5);
            case GLFW_KEY_MINUS:
            case GLFW_KEY_KP_SUBTRACT:
                return player_.set_speed(player_.speed() / 1.5);
            case GLFW_KEY_S:
                save_ = true;
                return;
            case GLFW_KEY_ESCAPE:
                return glfwSetWindowShouldClose(window_.get(), GLFW_TRUE);
            default:
                return;
        }
    }

    void frame() {
        int width = 0, height = 0;
        glfwGetFramebufferSize(window_.get(), &width, &height);
        if (width == 0 || height == 0) return;  // iconified
        ImGui_ImplOpenGL3_NewFrame();
        ImGui_ImplGlfw_NewFrame();
        ImGui::NewFrame();
        bar();
        picture({width, height});
        ImGui::Render();
        glViewport(0, 0, width, height);
        glClearColor(1, 1, 1, 1);
        glClear(GL_COLOR_BUFFER_BIT);
        ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
        if (std::exchange(save_, false)) save({width, height});
        glfwSwapBuffers(window_.get());
        if (const auto title = "sort_stages: " + player_.title(); title != title_)
            glfwSetWindowTitle(window_.get(), (title_ = title).c_str());
    }

    void bar() {
        const auto& io = ImGui::GetIO();
        ImGui::SetNextWindowPos({0, 0});
        ImGui::SetNextWindowSize({io.DisplaySize.x, bar_height * bar_scale()});
        ImGui::Begin("bar", nullptr,
                     ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav |
                         ImGuiWindowFlags_NoSavedSettings);
        buttons();
        if (choices()) {
            player_ = Player(sort());
            drawn_ = {};
        }
        ImGui::End();
    }

    void buttons() {
        const auto button = [](const char* words, const char* help) {
            const bool clicked = ImGui::Button(words);
            if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", help);
            ImGui::SameLine();
            return clicked;
        };
        if (button("|<", "To the input (Home)")) pressed(GLFW_KEY_HOME);
        if (button("<", "A step back (left arrow)")) pressed(GLFW_KEY_LEFT);
        if (button(player_.playing() ? "Pause" : "Play ", "Play or pause (space)")) pressed(GLFW_KEY_SPACE);
        if (button(">", "A step forward (right arrow)")) pressed(GLFW_KEY_RIGHT);
        if (button(">|", "To the end (End)")) pressed(GLFW_KEY_END);
        auto speed = static_cast<float>(player_.speed());
        ImGui::SetNextItemWidth(150 * scale_);
        if (ImGui::SliderFloat("##speed", &speed, Player::slowest, Player::fastest, "%.1f steps/s",
                               ImGuiSliderFlags_Logarithmic)) {
            player_.set_speed(speed);
        }
        ImGui::SameLine();
        ImGui::Text("%zu of %zu", player_.at(), player_.places() - 1);
    }

    // Whether anything is to be sorted anew.
    bool choices() {
        auto request = options_.sorts[0];
        int engine = static_cast<int>(request.engine), size = 0, distribution = static_cast<int>(request.distribution);
        int race = options_.sorts.size() == 2 ? 1 + static_cast<int>(options_.sorts[1].engine) : 0;
        while (show::Request::least_keys << static_cast<unsigned>(size) < request.n) ++size;
        bool early = request.early_stop == quadmill::EarlyStop::Yes, half = request.type == quadmill::KeyType::F16;
        const auto keys_of = [](int i) { return show::Request::least_keys << static_cast<unsigned>(i); };

        bool anew = choose("##engine", "What sorts", engine, engine_word, 130 * scale_);
        anew |= choose(
            "##n", "Keys", size,
            [&](int i) { return keys_of(i) <= show::Request::most_keys ? show::with_commas(keys_of(i)) : ""; },
            72 * scale_);
        anew |= choose(
            "##distribution", "How they are distributed", distribution,
            [](int i) {
                return std::string(static_cast<std::size_t>(i) < distributions.size()
                                       ? distributions.at(static_cast<std::size_t>(i))
                                       : "");
            },
            86 * scale_);
        anew |= ImGui::Checkbox("early stop", &early);
        ImGui::SameLine();
        anew |= ImGui::Checkbox("16 bits", &half);
        ImGui::SameLine();
        anew |= choose(
            "##race", "A second engine beside it, at the same number of passes", race,
            [](int i) {
                return i == 0 ? "no race" : engine_word(i - 1).empty() ? "" : "against " + engine_word(i - 1);
            },
            120 * scale_);
        if (!anew) return false;
        request.engine = static_cast<show::Watched>(engine);
        request.n = keys_of(size);
        request.distribution = static_cast<quadmill::detail::bench::Distribution>(distribution);
        request.early_stop = early ? quadmill::EarlyStop::Yes : quadmill::EarlyStop::No;
        request.type = half ? quadmill::KeyType::F16 : quadmill::KeyType::F32;
        options_.sorts = {request};
        if (race > 0) {
            request.engine = static_cast<show::Watched>(race - 1);
            options_.sorts.push_back(request);
        }
        return true;
    }

    // Window coordinates may be larger than pixels.
    [[nodiscard]] float bar_scale() const { return scale_ / ImGui::GetIO().DisplayFramebufferScale.x; }

    void picture(show::Size window) {
        const int top = static_cast<int>(bar_height * scale_);
        const int narrowest = least.width * static_cast<int>(options_.sorts.size());
        const show::Size size{std::max(window.width, narrowest), std::max(window.height - top, least.height)};
        const auto& io = ImGui::GetIO();
        const ImVec2 corner{0, bar_height * bar_scale()};
        drag(size, (io.MousePos.x - corner.x) / io.DisplaySize.x * static_cast<float>(size.width),
             (io.MousePos.y - corner.y) / (io.DisplaySize.y - corner.y) * static_cast<float>(size.height));
        const Drawn now{player_.at(), size.width, size.height};
        if (std::exchange(drawn_, now) != now) upload(player_.draw(size, options_.times));
        ImGui::GetBackgroundDrawList()->AddImage(reinterpret_cast<ImTextureID>(static_cast<std::uintptr_t>(texture_)),
                                                 corner, io.DisplaySize);
    }

    // A drag that began on the time line goes on wherever the mouse is.
    void drag(show::Size size, float x, float y) {
        const auto& io = ImGui::GetIO();
        if (!io.MouseDown[0]) drag_row_ = -1;
        if (ImGui::IsMouseClicked(0) && !io.WantCaptureMouse &&
            player_.place_at(size, static_cast<int>(x), static_cast<int>(y)) >= 0) {
            drag_row_ = static_cast<int>(y);
        }
        if (drag_row_ < 0) return;
        const auto place = player_.place_at(size, static_cast<int>(x), drag_row_);
        if (place >= 0 && static_cast<std::size_t>(place) != player_.at()) player_.go_to(place);
    }

    void upload(const show::Canvas& picture) const {
        glBindTexture(GL_TEXTURE_2D, texture_);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
        glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, picture.width(), picture.height(), 0, GL_RGB, GL_UNSIGNED_BYTE,
                     picture.pixels().data());
        glBindTexture(GL_TEXTURE_2D, 0);
    }

    void save(show::Size size) const {
        std::vector<show::Color> pixels(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height));
        glPixelStorei(GL_PACK_ALIGNMENT, 1);
        glReadPixels(0, 0, size.width, size.height, GL_RGB, GL_UNSIGNED_BYTE, pixels.data());
        show::Canvas picture(size.width, size.height);
        for (int y = 0; y < size.height; ++y) {
            for (int x = 0; x < size.width; ++x)
                picture.set(x, size.height - 1 - y, pixels[static_cast<std::size_t>(y * size.width + x)]);
        }
        show::write_png(picture, "sort_stages.png");
        std::fputs("sort_stages: wrote sort_stages.png\n", stderr);
    }

    struct Drawn {
        std::size_t place;
        int width, height;
        bool operator==(const Drawn&) const = default;
    };

    WindowOptions options_;
    Glfw glfw_;
    Handle window_;
    quadmill::Context context_;  // the window's own: the library is a guest here
    Player player_;
    float scale_ = 1;
    std::optional<Gui> gui_;
    GLuint texture_ = 0;
    std::optional<Drawn> drawn_;
    int drag_row_ = -1;  // of the picture, while the time line is dragged
    bool save_ = false;
    std::string title_;
};

}  // namespace

int run_window(const WindowOptions& options) {
    try {
        Window(options).run();
        return 0;
    } catch (const NoWindow& error) {
        std::fprintf(stderr, "sort_stages: no window (%s); --record DIR draws the frames without a display\n",
                     error.what());
        return 1;
    }
}

}  // namespace demo
