#include "gl/egl.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <quadmill_glad/egl.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

namespace {
constexpr const char* install_hint =
    "On Debian or Ubuntu: apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri (Mesa renders on the CPU where there is "
    "no GPU); with an NVIDIA driver also libopengl0.";

bool has_word(const char* list, std::string_view word) {
    for (std::string_view rest = list ? list : ""; !rest.empty();) {
        const auto end = std::min(rest.find(' '), rest.size());
        if (rest.substr(0, end) == word) return true;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}
const char* name_of(OpenGl api) {
    switch (api) {
        case OpenGl::Desktop45:
            return "OpenGL 4.5";
        case OpenGl::Desktop41:
            return "OpenGL 4.1";
        case OpenGl::Desktop33:
            return "OpenGL 3.3";
        case OpenGl::Es3:
            return "OpenGL ES 3.0";
        default:
            return "OpenGL 3.3 or OpenGL ES 3.0, or later,";
    }
}
}  // namespace

OpenGl api_from_environment() {
    const char* const text = std::getenv("QUADMILL_API");
    const std::string_view word(text ? text : "");
    if (word.empty()) return OpenGl::Best;
    for (const auto& [name, api] : api_words) {
        if (word == name) return api;
    }
    throw InvalidArgument("QUADMILL_API must be gl45, gl41, gl33 or es3, not '" + std::string(word) + "'");
}

// The functions used, loaded from libEGL.so.1. Each context holds the table, so there is no global state.
struct EglApi {
    EglApi();
    template <class Function>
    void load(Function& function, const char* name) {
        void* symbol = dlsym(library, name);
        if (!symbol && get_proc_address) std::memcpy(&symbol, std::array{get_proc_address(name)}.data(), sizeof symbol);
        std::memcpy(&function, &symbol, sizeof symbol);
    }

    void* library = nullptr;
    const char* client_extensions = nullptr;
    PFNEGLGETPROCADDRESSPROC get_proc_address = nullptr;
    PFNEGLQUERYSTRINGPROC query_string = nullptr;
    PFNEGLGETDISPLAYPROC get_display = nullptr;
    PFNEGLGETPLATFORMDISPLAYEXTPROC get_platform_display = nullptr;
    PFNEGLQUERYDEVICESEXTPROC query_devices = nullptr;
    PFNEGLQUERYDEVICESTRINGEXTPROC query_device_string = nullptr;
    PFNEGLINITIALIZEPROC initialize = nullptr;
    PFNEGLBINDAPIPROC bind_api = nullptr;
    PFNEGLQUERYAPIPROC query_api = nullptr;
    PFNEGLCHOOSECONFIGPROC choose_config = nullptr;
    PFNEGLCREATECONTEXTPROC create_context = nullptr;
    PFNEGLDESTROYCONTEXTPROC destroy_context = nullptr;
    PFNEGLCREATEPBUFFERSURFACEPROC create_pbuffer = nullptr;
    PFNEGLDESTROYSURFACEPROC destroy_surface = nullptr;
    PFNEGLMAKECURRENTPROC make_current = nullptr;
    PFNEGLGETCURRENTDISPLAYPROC current_display = nullptr;
    PFNEGLGETCURRENTSURFACEPROC current_surface = nullptr;
    PFNEGLGETCURRENTCONTEXTPROC current_context = nullptr;
    PFNEGLGETERRORPROC get_error = nullptr;
};

EglApi::EglApi() {
    // The library is never closed: drivers leave threads and exit handlers behind.
    library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char* why = dlerror();
        throw ContextError(std::string("no EGL on this machine: ") + (why ? why : "libEGL.so.1 not found") + ". " +
                           install_hint);
    }
    load(get_proc_address, "eglGetProcAddress");
    load(query_string, "eglQueryString");
    load(get_display, "eglGetDisplay");
    load(initialize, "eglInitialize");
    load(bind_api, "eglBindAPI");
    load(query_api, "eglQueryAPI");
    load(choose_config, "eglChooseConfig");
    load(create_context, "eglCreateContext");
    load(destroy_context, "eglDestroyContext");
    load(create_pbuffer, "eglCreatePbufferSurface");
    load(destroy_surface, "eglDestroySurface");
    load(make_current, "eglMakeCurrent");
    load(current_display, "eglGetCurrentDisplay");
    load(current_surface, "eglGetCurrentSurface");
    load(current_context, "eglGetCurrentContext");
    load(get_error, "eglGetError");
    if (!get_proc_address || !query_string || !get_display || !initialize || !make_current || !create_context) {
        throw ContextError(std::string("libEGL.so.1 lacks core EGL functions. ") + install_hint);
    }
    client_extensions = query_string(EGL_NO_DISPLAY, EGL_EXTENSIONS);
    if (has_word(client_extensions, "EGL_EXT_platform_base")) load(get_platform_display, "eglGetPlatformDisplayEXT");
    if (has_word(client_extensions, "EGL_EXT_device_enumeration") || has_word(client_extensions, "EGL_EXT_device_base"))
        load(query_devices, "eglQueryDevicesEXT");
    if (has_word(client_extensions, "EGL_EXT_device_query") || has_word(client_extensions, "EGL_EXT_device_base"))
        load(query_device_string, "eglQueryDeviceStringEXT");
}

namespace {

std::vector<EGLDeviceEXT> list_devices(const EglApi& egl) {
    EGLint count = 0;
    if (!egl.query_devices || !egl.query_devices(0, nullptr, &count) || count <= 0) return {};
    std::vector<EGLDeviceEXT> devices(static_cast<std::size_t>(count));
    if (!egl.query_devices(count, devices.data(), &count)) return {};
    devices.resize(static_cast<std::size_t>(std::max(count, 0)));
    return devices;
}

std::string device_name(const EglApi& egl, EGLDeviceEXT device) {
    if (!egl.query_device_string) return "unnamed";
    const char* extensions = egl.query_device_string(device, EGL_EXTENSIONS);
    std::string name;
    const auto add = [&](const char* extension, EGLint what) {
        const char* word = has_word(extensions, extension) ? egl.query_device_string(device, what) : nullptr;
        if (word && !name.empty()) name += ' ';
        if (word) name += word;
    };
    constexpr EGLint vendor = 0x3053, renderer = 0x335F, drm_file = 0x3233;
    add("EGL_EXT_device_query_name", vendor);
    add("EGL_EXT_device_query_name", renderer);
    add("EGL_EXT_device_drm", drm_file);
    if (name.empty() && has_word(extensions, "EGL_MESA_device_software")) name = "software rasterizer";
    if (name.empty() && has_word(extensions, "EGL_NV_device_cuda")) name = "NVIDIA";
    return name.empty() ? "unnamed" : name;
}

// Restores the thread's client API: the program may use OpenGL ES.
class ApiGuard {
  public:
    explicit ApiGuard(const EglApi& egl) : egl_(egl), api_(egl.query_api()) {}
    ApiGuard(const ApiGuard&) = delete;
    ApiGuard& operator=(const ApiGuard&) = delete;
    ~ApiGuard() { egl_.bind_api(api_); }

  private:
    const EglApi& egl_;
    EGLenum api_;
};

std::optional<int> wanted_device(const HeadlessOptions& options) {
    if (options.device >= 0) return options.device;
    if (options.device < -1) {
        throw InvalidArgument("Context::headless: device must be -1 (any) or an index from 0, not " +
                              std::to_string(options.device));
    }
    const char* text = std::getenv("QUADMILL_DEVICE");
    if (!text || !*text) return std::nullopt;
    int index = -1;
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), index);
    if (error != std::errc() || *end || index < 0) {
        throw InvalidArgument(std::string("Context::headless: QUADMILL_DEVICE must be a device index from 0, not '") +
                              text + "'; `quadmill info` lists the devices");
    }
    return index;
}

void check_index(int index, const std::vector<EGLDeviceEXT>& devices) {
    if (static_cast<std::size_t>(index) < devices.size()) return;
    throw ContextError("EGL has " + std::to_string(devices.size()) + (devices.size() == 1 ? " device" : " devices") +
                       ", so there is no device " + std::to_string(index) + "; `quadmill info` lists them" +
                       (devices.empty() ? std::string(". ") + install_hint : std::string()));
}

}  // namespace

std::vector<DeviceInfo> egl_devices() {
    const EglApi egl;
    std::vector<DeviceInfo> result;
    for (EGLDeviceEXT device : list_devices(egl)) {
        result.push_back({static_cast<int>(result.size()), device_name(egl, device)});
    }
    return result;
}

bool has_hardware() {
    try {
        const EglApi egl;
        const auto devices = list_devices(egl);
        return egl.query_device_string && std::any_of(devices.begin(), devices.end(), [&](EGLDeviceEXT device) {
                   return !has_word(egl.query_device_string(device, EGL_EXTENSIONS), "EGL_MESA_device_software");
               });
    } catch (const ContextError&) {
        return false;
    }
}

namespace {
std::atomic<bool> used{false}, used_before_fork{false};

bool has_driver() {
    const auto is_driver = [](dl_phdr_info* library, std::size_t, void*) {
        const std::string_view name(library->dlpi_name ? library->dlpi_name : "");
        return static_cast<int>(name.ends_with("_dri.so") || name.find("/libgallium") != std::string_view::npos ||
                                name.find("/libnvidia-eglcore") != std::string_view::npos ||
                                name.find("/libnvidia-glcore") != std::string_view::npos);
    };
    return dl_iterate_phdr(is_driver, nullptr) != 0;
}

// A program that uses OpenGL itself counts, too: it has loaded a driver.
const int registered = pthread_atfork(
    [] {
        if (!used && has_driver()) note_use();
    },
    nullptr,
    [] {
        if (used) used_before_fork = true;
    });
}  // namespace

void note_use() noexcept {
    used = true;
}

EglContext::EglContext(const HeadlessOptions& options, OpenGl api)
    : egl_(std::make_shared<const EglApi>()), wanted_(api) {
    static_cast<void>(registered);
    if (used_before_fork) {
        throw ContextError(
            std::string("Context::headless: this process was forked from one that had used OpenGL, and drivers do not "
                        "work across a fork; ") +
            fork_hint);
    }
    note_use();
    const auto& egl = *egl_;
    const ApiGuard guard(egl);
    const auto wanted = wanted_device(options);
    const auto devices = list_devices(egl);
    std::string tried;
    if (wanted) check_index(*wanted, devices);
    if (egl.get_platform_display && has_word(egl.client_extensions, "EGL_EXT_platform_device")) {
        for (std::size_t i = wanted ? static_cast<std::size_t>(*wanted) : 0; i < devices.size(); ++i) {
            auto* display = egl.get_platform_display(EGL_PLATFORM_DEVICE_EXT, devices[i], nullptr);
            if (open(display, "EGL device " + std::to_string(i), options, tried)) return;
            if (wanted) break;
        }
    }
    if (!wanted) {
        if (egl.get_platform_display && has_word(egl.client_extensions, "EGL_MESA_platform_surfaceless")) {
            auto* display = egl.get_platform_display(EGL_PLATFORM_SURFACELESS_MESA, nullptr, nullptr);
            if (open(display, "EGL surfaceless", options, tried)) return;
        }
        if (open(egl.get_display(EGL_DEFAULT_DISPLAY), "EGL default display", options, tried)) return;
    }
    throw ContextError("no context of " + std::string(name_of(wanted_)) + " without a display. Tried:" + tried + ". " +
                       install_hint);
}

unsigned EglContext::client_api() const noexcept {
    return api_ == OpenGl::Es3 ? EGL_OPENGL_ES_API : EGL_OPENGL_API;
}

bool EglContext::open(void* display, const std::string& platform, const HeadlessOptions& options, std::string& tried) {
    if (wanted_ != OpenGl::Best) {
        api_ = wanted_;
        return open_version(display, platform, options, tried);
    }
    for (const auto api : {OpenGl::Desktop45, OpenGl::Desktop41, OpenGl::Desktop33, OpenGl::Es3}) {
        api_ = api;
        if (open_version(display, platform, options, tried)) return true;
    }
    return false;
}

bool EglContext::open_version(void* display, const std::string& platform, const HeadlessOptions& options,
                              std::string& tried) {
    const auto& egl = *egl_;
    const auto fail = [&](const std::string& why) {
        std::array<char, 16> code{};
        std::to_chars(code.data(), code.data() + code.size() - 1, egl.get_error(), 16);
        tried.append(tried.empty() ? " " : "; ").append(platform).append(" (").append(why);
        tried.append(", EGL error 0x").append(code.data()).append(")");
        return false;
    };
    if (!display) return fail("no display");
    if (!egl.initialize(display, nullptr, nullptr)) return fail("eglInitialize failed");
    if (!egl.bind_api(client_api())) return fail(api_ == OpenGl::Es3 ? "no OpenGL ES" : "no desktop OpenGL");

    using Surface = HeadlessOptions::Surface;
    const char* extensions = egl.query_string(display, EGL_EXTENSIONS);
    const bool surfaceless = has_word(extensions, "EGL_KHR_surfaceless_context");
    if (options.surface == Surface::Surfaceless && !surfaceless) return fail("cannot work without a surface");
    const bool pbuffer = options.surface == Surface::Pbuffer || !surfaceless;

    const std::array config_wish{EGL_RENDERABLE_TYPE, api_ == OpenGl::Es3 ? EGL_OPENGL_ES3_BIT : EGL_OPENGL_BIT,
                                 EGL_SURFACE_TYPE, pbuffer ? EGL_PBUFFER_BIT : 0, EGL_NONE};
    EGLConfig config = nullptr;
    EGLint configs = 0;
    if (!egl.choose_config(display, config_wish.data(), &config, 1, &configs) || configs < 1)
        return fail(pbuffer ? "no config with pbuffers" : "no config");

    const bool debug = static_cast<bool>(options.on_debug_message);
    robust_ = true;
    display_ = display;
    config_ = config;
    context_ = create(debug);
    if (!context_) {
        robust_ = false;
        context_ = create(debug);
    }
    if (!context_) return fail("no context of " + std::string(name_of(api_)));
    if (pbuffer && !make_pbuffer()) {
        egl.destroy_context(display, std::exchange(context_, nullptr));
        return fail("no pbuffer");
    }
    platform_ = platform;
    surface_name_ = pbuffer ? "pbuffer" : "none";
    return true;
}

void* EglContext::create(bool debug) const {
    const bool is_es = api_ == OpenGl::Es3;
    const EGLint minor = is_es ? 0 : api_ == OpenGl::Desktop33 ? 3 : api_ == OpenGl::Desktop41 ? 1 : 5;
    std::vector<EGLint> wish{EGL_CONTEXT_MAJOR_VERSION, is_es || api_ == OpenGl::Desktop33 ? 3 : 4,
                             EGL_CONTEXT_MINOR_VERSION, minor};
    const auto add = [&](EGLint name, EGLint value) {
        wish.push_back(name);
        wish.push_back(value);
    };
    if (!is_es) add(EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT);
    if (debug) add(EGL_CONTEXT_OPENGL_DEBUG, EGL_TRUE);
    if (robust_) {
        add(EGL_CONTEXT_OPENGL_ROBUST_ACCESS, EGL_TRUE);
        add(EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, EGL_LOSE_CONTEXT_ON_RESET);
    }
    wish.push_back(EGL_NONE);
    return egl_->create_context(display_, config_, EGL_NO_CONTEXT, wish.data());
}

bool EglContext::make_pbuffer() {
    const std::array size{EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
    surface_ = egl_->create_pbuffer(display_, config_, size.data());
    return surface_ != nullptr;
}

EglContext::~EglContext() {
    const ApiGuard guard(*egl_);
    egl_->bind_api(client_api());
    if (egl_->current_context() == context_)
        egl_->make_current(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    egl_->destroy_context(display_, context_);
    if (surface_) egl_->destroy_surface(display_, surface_);
}

EglContext::Binding EglContext::make_current() {
    // EGL keeps a current context for each client API. Its getters answer for the API that the thread is bound to.
    Binding previous;
    previous.api = egl_->query_api();
    egl_->bind_api(client_api());
    previous.display = egl_->current_display();
    previous.draw = egl_->current_surface(EGL_DRAW);
    previous.read = egl_->current_surface(EGL_READ);
    previous.context = egl_->current_context();
    if (previous.context == context_) return previous;
    try {
        previous.glx = release_glx();
    } catch (...) {
        egl_->bind_api(previous.api);
        throw;
    }
    if (!egl_->make_current(display_, surface_, surface_, context_)) {
        egl_->bind_api(previous.api);
        restore_glx(previous.glx);
        throw ContextError(
            "the headless OpenGL context could not be made current; is it in use by another thread? One context "
            "belongs to one thread at a time");
    }
    return previous;
}

void EglContext::restore(const Binding& previous) noexcept {
    // A context that was destroyed while it was current disappears when ours becomes current. Then no context is
    // current afterwards, and ours can move to another thread.
    const bool is_back =
        previous.context == context_ ||
        (previous.context && egl_->make_current(previous.display, previous.draw, previous.read, previous.context));
    if (!is_back) egl_->make_current(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    egl_->bind_api(previous.api);
    restore_glx(previous.glx);
}

void (*EglContext::proc_address(const char* name) const)() {
    return egl_->get_proc_address(name);
}

}  // namespace quadmill::detail::gl
