#include "stream/bytes.hpp"

namespace quadmill {

SavedSummary saved_summary(std::span<const std::byte> bytes) {
    return detail::stream::Reader("saved_summary", bytes).header();
}

}  // namespace quadmill
