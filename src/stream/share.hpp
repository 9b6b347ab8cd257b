// Work that may be shared among threads: a sorter's (WindowSorter::share), or none but the caller's.
#pragma once

#include <cstddef>
#include <functional>

namespace quadmill::detail::stream {

using Work = std::function<void(std::size_t index)>;
// Runs work(0) .. work(count - 1), in any order, perhaps at the same time.
using Share = std::function<void(std::size_t count, const Work& work)>;

// On the caller's thread. A type of its own: from a plain function, std::function would leave symbols in the library
// that are not quadmill's.
struct Alone {
    void operator()(std::size_t count, const Work& work) const {
        for (std::size_t i = 0; i < count; ++i) work(i);
    }
};
inline constexpr Alone alone{};

// The pieces that `size` items are cut into: few enough that threads are worth waking. The same for all threads, so
// that no result depends on how many there are.
inline constexpr std::size_t shared_piece = std::size_t{1} << 15U;

// Calls work(piece, begin, end) for each; on the caller's thread when there is but one.
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
