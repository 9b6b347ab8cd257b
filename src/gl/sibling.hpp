// A context that shares the objects of another one and has a thread of its own, where texels move while that one draws.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include "gl/api_fwd.hpp"
#include "quadmill/context.hpp"

namespace quadmill::detail::gl {

class Sibling {
  public:
    // `gl` serves both contexts: they are of one driver. Throws what make_current throws.
    Sibling(const Api& gl, SharedContext context);
    Sibling(const Sibling&) = delete;
    Sibling& operator=(const Sibling&) = delete;
    // Does first what it was given.
    ~Sibling();

    // Done in order, on its thread. The first that fails is told by the next fence, and what follows up to there is left
    // out.
    using Work = std::function<void(const Api& gl)>;
    void give(Work work);

    // A fence behind the work so far, once its place is issued: for Fence. Throws GlError when the work failed.
    [[nodiscard]] std::shared_future<void*> fence();

    // Waits there for a fence of the other context, which becomes the sibling's. It must have been flushed.
    void after(void* sync);
    // From here, or from when the other context got to after(), ...
    void start_clock();
    // ... to when the GPU is done with the work so far, in milliseconds.
    [[nodiscard]] std::shared_future<double> stop_clock();

  private:
    void run(std::promise<void> started);
    void post(std::function<void()> step);
    void wait_for(void* sync) const;

    const Api& gl_;
    SharedContext context_;
    std::mutex mutex_;
    std::condition_variable given_;
    std::deque<std::function<void()>> queue_;  // an empty one ends the thread
    // Of the thread alone.
    std::exception_ptr failed_;
    std::chrono::steady_clock::time_point clock_{};  // since when
    std::thread thread_;
};

}  // namespace quadmill::detail::gl
