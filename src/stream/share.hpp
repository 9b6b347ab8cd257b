// Work that may be shared among threads: a sorter's threads (WindowSorter::share), or only the caller's.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "cpu/stopwatch.hpp"

namespace quadmill::detail::stream {

// Returns what `work` returns, and adds its milliseconds.
decltype(auto) timed(double& ms, const auto& work) {
    struct Add {
        double& ms;
        cpu::Stopwatch time{};
        ~Add() { ms += time.ms(); }
    } const add{ms};
    return work();
}

// Refers to something callable, for the length of a call. A std::function would compile five functions for each lambda.
template <class Call>
class Callable;
template <class... Args>
class Callable<void(Args...)> {
  public:
    template <class Called>
    requires(!std::same_as<std::remove_cvref_t<Called>, Callable>)
        Callable(const Called& called)  // NOLINT(google-explicit-constructor): as std::function
        : called_(&called),
          call_([](const void* it, Args... args) { (*static_cast<const Called*>(it))(std::forward<Args>(args)...); }) {}
    void operator()(Args... args) const { call_(called_, std::forward<Args>(args)...); }

  private:
    const void* called_;
    void (*call_)(const void*, Args...);
};

using Work = Callable<void(std::size_t index)>;
// Runs work(0) .. work(count - 1) in any order, possibly at the same time.
using Share = Callable<void(std::size_t count, const Work& work)>;

// Runs all work on the caller's thread.
struct Alone {
    void operator()(std::size_t count, const Work& work) const {
        for (std::size_t i = 0; i < count; ++i) work(i);
    }
};
inline constexpr Alone alone{};

// Work on many items is cut into pieces of this size: large enough that waking threads pays. Pieces do not depend on
// the number of threads, so results do not, either.
inline constexpr std::size_t shared_piece = std::size_t{1} << 15U;

// Calls work(piece, begin, end) for each piece; on the caller's thread if there is only one.
template <class WorkOnPiece>
void share_pieces(const Share& share, std::size_t size, const WorkOnPiece& work) {
    const auto on_piece = [&](std::size_t i) {
        work(i, i * shared_piece, size - i * shared_piece < shared_piece ? size : (i + 1) * shared_piece);
    };
    const auto pieces = (size + shared_piece - 1) / shared_piece;
    if (pieces > 1) return share(pieces, on_piece);
    if (pieces == 1) on_piece(0);
}

}  // namespace quadmill::detail::stream
