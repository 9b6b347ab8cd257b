#include "window/window.hpp"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

namespace demo {

namespace {

constexpr int bar_height = 64;  // two rows of controls at 96 dots per inch; the picture is below
constexpr show::Size min{640, 480 + bar_height};

// GLFW's last message.
std::string& glfw_words() {
    static std::string words;
    return words;
}

struct Glfw {
    Glfw() {
        glfwSetErrorCallback([](int, const char* words) { glfw_words() = words; });
        if (!glfwInit()) throw NoWindow(glfw_words());
    }
    Glfw(const Glfw&) = delete;
    Glfw& operator=(const Glfw&) = delete;
    ~Glfw() { glfwTerminate(); }
};

struct Destroy {
    void operator()(GLFWwindow* window) const { glfwDestroyWindow(window); }
};
using Handle = std::unique_ptr<GLFWwindow, Destroy>;

Handle open(const WindowOptions& options) {
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 4);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 5);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    Handle window(glfwCreateWindow(options.size.width, options.size.height, options.name.c_str(), nullptr, nullptr));
    if (!window) throw NoWindow(glfw_words());
    glfwMakeContextCurrent(window.get());
    glfwSwapInterval(1);  // no tearing
    return window;
}

float scale_of(GLFWwindow* window) {
    float scale = 1;
    glfwGetWindowContentScale(window, &scale, nullptr);
    return scale;
}

Key key_of(int key) {
    switch (key) {
        case GLFW_KEY_LEFT:
            return Key::Left;
        case GLFW_KEY_RIGHT:
            return Key::Right;
        case GLFW_KEY_HOME:
            return Key::Home;
        case GLFW_KEY_END:
            return Key::End;
        case GLFW_KEY_EQUAL:
        case GLFW_KEY_KP_ADD:
            return Key::Plus;
        case GLFW_KEY_MINUS:
        case GLFW_KEY_KP_SUBTRACT:
            return Key::Minus;
        default:
            return key == GLFW_KEY_SPACE || (key >= GLFW_KEY_A && key <= GLFW_KEY_Z) ? Key{key} : Key::None;
    }
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
        ImGui_ImplGlfw_InitForOpenGL(window, true);  // keeps the existing callbacks
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

class GuiBar final : public Bar {
  public:
    explicit GuiBar(float scale) : scale_(scale) {}

    bool button(const std::string& words, const std::string& help) override {
        return explained(help, [&] { return ImGui::Button(words.c_str()); });
    }
    bool check(const std::string& words, const std::string& help, bool& on) override {
        return explained(help, [&] { return ImGui::Checkbox(words.c_str(), &on); });
    }
    bool choose(const std::string& help, std::size_t& chosen, std::span<const std::string> among,
                float width) override {
        ImGui::SetNextItemWidth(width * scale_);
        bool changed = false;
        explained(help, [&] {
            if (!ImGui::BeginCombo(("##" + help).c_str(), among[chosen].c_str())) return false;
            for (std::size_t i = 0; i < among.size(); ++i) {
                if (!ImGui::Selectable(among[i].c_str(), i == chosen)) continue;
                changed = i != chosen;
                chosen = i;
            }
            ImGui::EndCombo();
            return true;
        });
        return changed;
    }
    bool slide(const std::string& help, float& value, const Slider& slider) override {
        ImGui::SetNextItemWidth(slider.width * scale_);
        const auto flags = slider.scale == Scale::Logarithmic ? ImGuiSliderFlags_Logarithmic : ImGuiSliderFlags_None;
        return explained(help, [&] {
            return ImGui::SliderFloat(("##" + help).c_str(), &value, slider.low, slider.high, slider.format,
                                      flags | ImGuiSliderFlags_AlwaysClamp);
        });
    }
    void text(const std::string& words) override {
        place();
        ImGui::AlignTextToFramePadding();
        ImGui::TextUnformatted(words.c_str());
    }
    void next_row() override { first_ = true; }

  private:
    void place() {
        if (!std::exchange(first_, false)) ImGui::SameLine();
    }
    template <class Control>
    bool explained(const std::string& help, const Control& control) {
        place();
        const bool used = control();
        if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", help.c_str());
        return used;
    }

    float scale_;
    bool first_ = true;  // in the row
};

class Window {
  public:
    Window(const WindowOptions& options, const MakeScene& make)
        : name_(options.name),
          window_(open(options)),
          scale_(scale_of(window_.get())),
          scene_(make(glfwGetProcAddress)) {
        glfwSetWindowSizeLimits(window_.get(), min.width, min.height, GLFW_DONT_CARE, GLFW_DONT_CARE);
        glfwSetWindowUserPointer(window_.get(), this);
        // Keys wait for the next frame: no exception may pass through GLFW.
        glfwSetKeyCallback(window_.get(), [](GLFWwindow* window, int key, int, int action, int) {
            if (action != GLFW_RELEASE) self(window).keys_.push_back(key);
        });
        // The position of the mouse when its button was pressed or released, which a frame may process late.
        glfwSetCursorPosCallback(window_.get(), [](GLFWwindow* window, double x, double y) {
            self(window).cursor_ = {static_cast<float>(x), static_cast<float>(y)};
        });
        glfwSetMouseButtonCallback(window_.get(), [](GLFWwindow* window, int button, int action, int) {
            if (button != GLFW_MOUSE_BUTTON_LEFT) return;
            auto& place = action == GLFW_PRESS ? self(window).pressed_ : self(window).released_;
            place = self(window).cursor_;
        });
        gui_.emplace(window_.get(), scale_);
        glGenTextures(1, &canvas_);
    }

    void run() {
        for (double last = glfwGetTime(); !glfwWindowShouldClose(window_.get());) {
            if (scene_->moving()) {
                glfwPollEvents();
            } else {
                glfwWaitEventsTimeout(0.05);
            }
            for (const auto key : std::exchange(keys_, {})) press(key);
            const double now = glfwGetTime();
            scene_->tick(std::min(now - std::exchange(last, now), 0.25));
            frame();
        }
    }

  private:
    static Window& self(GLFWwindow* window) { return *static_cast<Window*>(glfwGetWindowUserPointer(window)); }

    void press(int key) {
        if (ImGui::GetIO().WantTextInput) return;
        if (key == GLFW_KEY_ESCAPE) return glfwSetWindowShouldClose(window_.get(), GLFW_TRUE);
        if (key == GLFW_KEY_S) save_ = true;
        if (const auto known = key_of(key); known != Key::None) scene_->press(known);
    }

    void frame() {
        int width = 0, height = 0;
        glfwGetFramebufferSize(window_.get(), &width, &height);
        if (width == 0 || height == 0) return;  // minimized
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
        if (const auto title = name_ + ": " + scene_->title(); title != title_)
            glfwSetWindowTitle(window_.get(), (title_ = title).c_str());
    }

    // Window coordinates may be larger than pixels.
    [[nodiscard]] float bar_bottom() const { return bar_height * scale_ / ImGui::GetIO().DisplayFramebufferScale.x; }

    void bar() {
        ImGui::SetNextWindowPos({0, 0});
        ImGui::SetNextWindowSize({ImGui::GetIO().DisplaySize.x, bar_bottom()});
        ImGui::Begin("bar", nullptr,
                     ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav |
                         ImGuiWindowFlags_NoSavedSettings);
        GuiBar controls(scale_);
        scene_->bar(controls);
        ImGui::End();
    }

    void picture(show::Size window) {
        const auto wanted = scene_->min_size();
        const int top = static_cast<int>(bar_height * scale_);
        const show::Size size{std::max(window.width, wanted.width), std::max(window.height - top, wanted.height)};
        const ImVec2 corner{0, bar_bottom()}, end = ImGui::GetIO().DisplaySize;
        scene_->mouse(size, mouse(size, corner));
        if (const auto picture = scene_->draw(size)) {
            const auto* own = std::get_if<OwnTexture>(&*picture);
            shown_ = own ? own->id : canvas_;
            flipped_ = own != nullptr;
            if (const auto* canvas = std::get_if<show::Canvas>(&*picture)) upload(*canvas);
        }
        const float first = flipped_ ? 1.0F : 0.0F;
        ImGui::GetBackgroundDrawList()->AddImage(reinterpret_cast<ImTextureID>(static_cast<std::uintptr_t>(shown_)),
                                                 corner, end, {0, first}, {1, 1 - first});
    }

    // A press that began on the picture continues wherever the mouse is.
    Mouse mouse(show::Size size, ImVec2 corner) {
        const auto& io = ImGui::GetIO();
        using Button = Mouse::Button;
        const auto before = held_;
        if (!io.MouseDown[0]) {
            held_ = Button::Up;
        } else if (held_ == Button::Pressed) {
            held_ = Button::Held;
        } else if (ImGui::IsMouseClicked(0) && !io.WantCaptureMouse) {
            held_ = Button::Pressed;
        }
        const bool released = held_ == Button::Up && before != Button::Up;
        const auto at = held_ == Button::Pressed ? pressed_ : released ? released_ : io.MousePos;
        const auto pixel = [](float from, float low, float end, int pixels) {
            return static_cast<int>(std::clamp((from - low) / (end - low) * static_cast<float>(pixels), -1e6F, 1e6F));
        };
        return {pixel(at.x, corner.x, io.DisplaySize.x, size.width),
                pixel(at.y, corner.y, io.DisplaySize.y, size.height), held_};
    }

    void upload(const show::Canvas& picture) const {
        glBindTexture(GL_TEXTURE_2D, canvas_);
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
        show::write_png(show::from_lowest_row(pixels, size.width, size.height), name_ + ".png");
        std::fprintf(stderr, "%s: wrote %s.png\n", name_.c_str(), name_.c_str());
    }

    std::string name_;
    Glfw glfw_;
    Handle window_;
    float scale_;
    std::unique_ptr<Scene> scene_;
    std::optional<Gui> gui_;
    std::vector<int> keys_;
    GLuint canvas_ = 0, shown_ = 0;
    bool flipped_ = false, save_ = false;
    Mouse::Button held_ = Mouse::Button::Up;
    ImVec2 cursor_, pressed_, released_;
    std::string title_;
};

}  // namespace

void run_window(const WindowOptions& options, const MakeScene& make) {
    Window(options, make).run();
}

}  // namespace demo
