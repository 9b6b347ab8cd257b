// Passes values to the monitor.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "drift.hpp"
#include "input/interrupt.hpp"
#include "input/stream_input.hpp"

namespace demo {

// For the life of this object, Ctrl-C and similar signals are a request to stop.
class Feed {
  public:
    enum class Wait { No, Yes };

    virtual ~Feed() = default;
    Feed() = default;
    Feed(const Feed&) = delete;
    Feed& operator=(const Feed&) = delete;

    // The next values, at most `max`: those that are available or, with Wait::Yes, the full number except at the end
    // of the stream. Valid until the next call. Throws errors of the stream after all values before them.
    virtual std::span<const float> take(std::size_t max, Wait wait) = 0;
    // Whether no more values will come.
    virtual bool ended() = 0;
    virtual bool interrupted() = 0;
    // The exit status of the program in this case.
    virtual int interrupt_status() = 0;
};

class MadeUp : public Feed {
  public:
    MadeUp(std::uint64_t seed, std::uint64_t cycle) : drift_(seed, cycle) {}
    std::span<const float> take(std::size_t max, Wait wait) override;
    bool ended() override { return false; }
    bool interrupted() override { return interrupt_.came(); }
    int interrupt_status() override { return interrupt_.status(); }

  private:
    quadmill::detail::input::Interrupt interrupt_;
    Drift drift_;
    std::vector<float> values_;
};

using quadmill::detail::input::BadInput;
using quadmill::detail::input::Form;
using quadmill::detail::input::Reading;

// A file, or standard input for "-". A thread reads ahead up to a limit. Then it waits, so that finally the writer of
// the stream waits, too. No value is lost.
class Reader : public Feed {
  public:
    // Throws IoError.
    Reader(const std::string& path, const Reading& reading);
    // Reports which lines were skipped.
    ~Reader() override;
    std::span<const float> take(std::size_t max, Wait wait) override;
    bool ended() override;
    bool interrupted() override { return input_.interrupted(); }
    int interrupt_status() override { return input_.interrupt().status(); }

  private:
    static constexpr std::size_t room = std::size_t{1} << 20U;  // values

    void read();
    void put(std::span<const float> values);

    Reading reading_;
    quadmill::detail::input::StreamInput input_;
    quadmill::detail::input::Skipped skipped_;
    std::mutex mutex_;
    std::condition_variable more_, less_;  // waiting values
    std::vector<float> waiting_;
    enum class State { Reading, Ended, Closed } state_ = State::Reading;
    std::exception_ptr failure_;
    std::vector<float> taken_;
    std::thread thread_;
};

}  // namespace demo
