#include "input/interrupt.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace quadmill::detail::input {

// A descriptor instead of a signal handler: a signal that arrives just before a read would be noticed only after it.
Interrupt::Interrupt() : held_{}, stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    sigemptyset(&held_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction before {};
        if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) sigaddset(&held_, signal);
    }
    signals_ = signalfd(-1, &held_, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals_ >= 0) pthread_sigmask(SIG_BLOCK, &held_, nullptr);
}

Interrupt::~Interrupt() {
    release();
    if (stop_ >= 0) close(stop_);
}

bool Interrupt::wait_for(int descriptor, int milliseconds) {
    std::array<pollfd, 3> ready{pollfd{descriptor, POLLIN, 0}, pollfd{signals_, POLLIN, 0}, pollfd{stop_, POLLIN, 0}};
    if (came()) return true;
    int found = 0;
    do {
        found = poll(ready.data(), ready.size(), milliseconds);
    } while (found < 0 && errno == EINTR && milliseconds < 0);
    return found > 0 || (found < 0 && errno != EINTR);
}

void Interrupt::wait_for_room(int descriptor) {
    std::array<pollfd, 2> ready{pollfd{descriptor, POLLOUT, 0}, pollfd{signals_, POLLIN, 0}};
    while (poll(ready.data(), ready.size(), -1) < 0 && errno == EINTR) {
    }
    if (ready[0].revents == 0 && came()) release();
}

bool Interrupt::came() {
    signalfd_siginfo signal{};
    if (signals_ >= 0 && read(signals_, &signal, sizeof signal) == sizeof signal)
        signal_ = static_cast<int>(signal.ssi_signo);
    return signal_ != 0;
}

void Interrupt::stop() {
    signal_ = SIGINT;
    static_cast<void>(eventfd_write(stop_, 1));
}

void Interrupt::release() {
    if (signals_ < 0) return;
    pthread_sigmask(SIG_UNBLOCK, &held_, nullptr);
    close(std::exchange(signals_, -1));
}

}  // namespace quadmill::detail::input
