#include "quadmill/context.hpp"

#include <chrono>

#include "gl/device.hpp"
#include "gl/identity.hpp"
#include "gl/pixels.hpp"
#include "quadmill/error.hpp"

namespace quadmill {

PassObserver::~PassObserver() = default;
void PassObserver::before(const PassEvent& /*pass*/) {}
void PassObserver::after(const PassEvent& /*pass*/) {}

Context::Context(std::shared_ptr<detail::gl::Device> device) : device_(std::move(device)) {}

Context Context::headless(const HeadlessOptions& options) {
    return Context(std::make_shared<detail::gl::Device>(options));
}

Context Context::adopt(GetProcAddress get_proc_address) {
    if (!get_proc_address) throw InvalidArgument("Context::adopt: get_proc_address must not be null");
    return adopt([&](const char* name) { return get_proc_address(name); });
}

Context Context::adopt() {
    const auto loader = detail::gl::current_loader();
    if (loader) return adopt(loader);
    throw ContextError(
        "Context::adopt: no OpenGL context is current on this thread as far as EGL and GLX know; make yours current "
        "first, or, where it is another window system's, give the function that loads OpenGL functions for it");
}

Context Context::adopt_by(void (*(*load)(void* user, const char* name))(), void* user) {
    return Context(std::make_shared<detail::gl::Device>(detail::gl::Loader{load, user}));
}

std::vector<DeviceInfo> Context::devices() {
    return detail::gl::egl_devices();
}

const ContextInfo& Context::info() const noexcept {
    return device_->info;
}

PassObserver* Context::observe(PassObserver* observer) noexcept {
    return std::exchange(device_->observer, observer);
}

void Context::make_current() {
    device_->make_current();
}

void (*Context::proc_address(const char* name) const)() {
    return device_->egl ? device_->egl->proc_address(name) : nullptr;
}

std::vector<std::byte> Context::save_programs() const {
    const detail::gl::Scope scope(*device_, "Context::save_programs");
    auto saved = device_->programs.save(*device_);
    scope.check();
    return saved;
}

std::size_t Context::load_programs(std::span<const std::byte> saved) {
    const detail::gl::Scope scope(*device_, "Context::load_programs");
    return device_->programs.take(*device_, saved, "Context::load_programs");
}

Session::Session(const Context& context) : device_(detail::Access::of(context)) {
    device_->enter("Session");
}

Session::~Session() {
    device_->leave();
}

struct PassProfiler::State {
    State(const Context& watched, PassProfiler::Rows wanted) : context(watched), by(wanted) {}
    struct Mark {
        std::size_t row;
        detail::gl::Query begin, end;
    };
    using Clock = std::chrono::steady_clock;
    std::size_t row_of(const PassEvent& pass) {
        std::string name(pass.name);
        if (by == PassProfiler::Rows::ByStep && pass.step >= 0) name += ", step " + std::to_string(pass.step);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (rows[i].name == name && rows[i].format == pass.format && rows[i].write == pass.write) return i;
        }
        rows.push_back({std::move(name), std::string(pass.format), pass.write});
        return rows.size() - 1;
    }

    Context context;
    PassProfiler::Rows by;
    PassObserver* previous = nullptr;
    std::vector<Row> rows;
    std::vector<Mark> open;   // issued, times not read yet
    std::vector<Mark> spare;  // queries for reuse
    std::size_t row = 0;      // row of the pass that is being issued
    Clock::time_point begun;
};

PassProfiler::PassProfiler(const Context& context, Rows rows) : state_(std::make_unique<State>(context, rows)) {
    state_->previous = state_->context.observe(this);
}

PassProfiler::~PassProfiler() {
    state_->context.observe(state_->previous);
}

void PassProfiler::before(const PassEvent& pass) {
    using detail::gl::Query;
    auto& state = *state_;
    auto& device = *detail::Access::of(state.context);
    state.row = state.row_of(pass);
    ++state.rows[state.row].passes;
    state.rows[state.row].texels += pass.texels * static_cast<std::uint64_t>(pass.targets);
    if (device.features.works_around(detail::gl::Workaround::TimesByWaiting)) {
        finish(device);
        state.begun = State::Clock::now();
        return;
    }
    constexpr std::size_t max_open = 4096;
    if (state.open.size() >= max_open) static_cast<void>(rows());
    if (state.spare.empty()) {
        state.spare.push_back({0, Query(device, Query::Kind::Timestamp), Query(device, Query::Kind::Timestamp)});
    }
    state.open.push_back(std::move(state.spare.back()));
    state.spare.pop_back();
    auto& mark = state.open.back();
    mark.row = state.row;
    mark.begin.take_time();
}

void PassProfiler::after(const PassEvent& /*pass*/) {
    auto& state = *state_;
    auto& device = *detail::Access::of(state.context);
    if (!device.features.works_around(detail::gl::Workaround::TimesByWaiting)) return state.open.back().end.take_time();
    finish(device);
    state.rows[state.row].gpu_ms +=
        std::chrono::duration<double, std::milli>(State::Clock::now() - state.begun).count();
}

std::vector<PassProfiler::Row> PassProfiler::rows() {
    auto& state = *state_;
    detail::gl::Scope scope(*detail::Access::of(state.context), "PassProfiler::rows");
    for (auto& mark : state.open) {
        state.rows[mark.row].gpu_ms += static_cast<double>(mark.end.result() - mark.begin.result()) * 1e-6;
        state.spare.push_back(std::move(mark));
    }
    state.open.clear();
    scope.check();
    return state.rows;
}

}  // namespace quadmill
