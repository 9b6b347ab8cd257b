#include "cli/interrupt.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

namespace quadmill::cli {

namespace {

sigset_t only_sigint() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    return set;
}

}  // namespace

// A descriptor and not a handler: a signal that comes just before a read would be noticed only after it.
Interrupt::Interrupt() : stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    struct sigaction before {};
    if (sigaction(SIGINT, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) return;
    const auto set = only_sigint();
    signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals_ >= 0) pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Interrupt::~Interrupt() {
    release();
    if (stop_ >= 0) close(stop_);
}

void Interrupt::wait_for(int descriptor) {
    std::array<pollfd, 3> ready{pollfd{descriptor, POLLIN, 0}, pollfd{signals_, POLLIN, 0}, pollfd{stop_, POLLIN, 0}};
    if (came()) return;
    while (poll(ready.data(), ready.size(), -1) < 0 && errno == EINTR) {
    }
}

bool Interrupt::came() {
    signalfd_siginfo signal{};
    if (signals_ >= 0 && read(signals_, &signal, sizeof signal) == sizeof signal) came_ = true;
    return came_;
}

void Interrupt::stop() {
    came_ = true;
    static_cast<void>(eventfd_write(stop_, 1));
}

void Interrupt::release() {
    if (signals_ < 0) return;
    const auto set = only_sigint();
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    close(std::exchange(signals_, -1));
}

}  // namespace quadmill::cli
