#include "gl/sibling.hpp"

#include <string>
#include <utility>

#include "gl/api.hpp"
#include "gl/state_guard.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

Sibling::Sibling(const Api& gl, SharedContext context) : gl_(gl), context_(std::move(context)) {
    std::promise<void> started;
    auto has_started = started.get_future();
    thread_ = std::thread([this, started = std::move(started)]() mutable { run(std::move(started)); });
    try {
        has_started.get();
    } catch (...) {
        thread_.join();
        throw;
    }
}

Sibling::~Sibling() {
    post({});
    thread_.join();
}

void Sibling::post(std::function<void()> step) {
    {
        const std::scoped_lock lock(mutex_);
        queue_.push_back(std::move(step));
    }
    given_.notify_one();
}

void Sibling::run(std::promise<void> started) {
    try {
        context_.make_current();
        store_tightly(gl_);
    } catch (...) {
        return started.set_exception(std::current_exception());
    }
    started.set_value();
    for (;;) {
        std::function<void()> step;
        {
            std::unique_lock lock(mutex_);
            given_.wait(lock, [this] { return !queue_.empty(); });
            step = std::move(queue_.front());
            queue_.pop_front();
        }
        if (!step) break;
        step();
    }
    try {
        if (context_.release) context_.release();
    } catch (...) {  // NOLINT(bugprone-empty-catch): no one is left to be told
    }
}

void Sibling::give(Work work) {
    post([this, work = std::move(work)] {
        if (failed_) return;
        try {
            work(gl_);
            const auto error = gl_.GetError();
            if (error != GL_NO_ERROR) {
                throw GlError("a transfer beside the drawing: " +
                              std::string(error == GL_OUT_OF_MEMORY
                                              ? "out of GPU memory"
                                              : "the driver reported GL error " + std::to_string(error)));
            }
        } catch (...) {
            failed_ = std::current_exception();
        }
    });
}

std::shared_future<void*> Sibling::fence() {
    auto promise = std::make_shared<std::promise<void*>>();
    post([this, promise] {
        if (failed_) return promise->set_exception(std::exchange(failed_, {}));
        void* const sync = gl_.FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        gl_.Flush();
        promise->set_value(sync);
    });
    return promise->get_future();
}

void Sibling::wait_for(void* sync) const {
    constexpr GLuint64 second = 1'000'000'000;
    GLenum state = GL_TIMEOUT_EXPIRED;
    while (state == GL_TIMEOUT_EXPIRED) {
        state = gl_.ClientWaitSync(static_cast<GLsync>(sync), GL_SYNC_FLUSH_COMMANDS_BIT, second);
        if (state == GL_WAIT_FAILED || gl_.GetGraphicsResetStatus() != GL_NO_ERROR)
            throw GlError("a transfer beside the drawing: waiting for the GPU failed; the context is lost");
    }
}

// By the thread, not by the GPU: so the clock starts when the transfer can.
void Sibling::after(void* sync) {
    post([this, sync] {
        try {
            wait_for(sync);
        } catch (...) {
            if (!failed_) failed_ = std::current_exception();
        }
        gl_.DeleteSync(static_cast<GLsync>(sync));
    });
}

void Sibling::start_clock() {
    post([this] { clock_ = std::chrono::steady_clock::now(); });
}

std::shared_future<double> Sibling::stop_clock() {
    auto promise = std::make_shared<std::promise<double>>();
    post([this, promise] {
        auto* const sync = gl_.FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        try {
            wait_for(sync);
            promise->set_value(
                std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - clock_).count());
        } catch (...) {
            promise->set_exception(std::current_exception());
        }
        gl_.DeleteSync(sync);
    });
    return promise->get_future();
}

}  // namespace quadmill::detail::gl
