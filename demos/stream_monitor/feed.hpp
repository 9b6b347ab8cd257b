// Values on their way to the monitor.
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

// Ctrl-C and its like are a request to stop, from when it is made to when it is destroyed.
class Feed {
  public:
    enum class Wait { No, Yes };

    virtual ~Feed() = default;
    Feed() = default;
    Feed(const Feed&) = delete;
    Feed& operator=(const Feed&) = delete;

    // The next values, at most so many: those that are there, or, waiting, all of them but at the end of the stream.
    // Good until the next call. Throws what is wrong with the stream, after all values before it.
    virtual std::span<const float> take(std::size_t most, Wait wait) = 0;
    // Whether no more will come.
    virtual bool ended() = 0;
    virtual bool interrupted() = 0;
    // What the program then answers to the shell.
    virtual int interrupt_status() = 0;
};

class MadeUp : public Feed {
  public:
    MadeUp(std::uint64_t seed, std::uint64_t cycle) : drift_(seed, cycle) {}
    std::span<const float> take(std::size_t most, Wait wait) override;
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

// A file, or standard input for "-". A thread of its own reads ahead, up to a bound; then it waits, and so does in the
// end who writes the stream. Nothing is lost.
class Reader : public Feed {
  public:
    // Throws IoError.
    Reader(const std::string& path, const Reading& reading);
    // Says which lines were skipped.
    ~Reader() override;
    std::span<const float> take(std::size_t most, Wait wait) override;
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
    std::condition_variable more_, less_;  // values waiting
    std::vector<float> waiting_;
    enum class State { Reading, Ended, Closed } state_ = State::Reading;
    std::exception_ptr failure_;
    std::vector<float> taken_;
    std::thread thread_;
};

}  // namespace demo
