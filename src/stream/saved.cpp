#include "quadmill/stream.hpp"
#include "stream/bytes.hpp"

namespace quadmill {

SavedSummary saved_summary(std::span<const std::byte> bytes) {
    const auto header = detail::stream::Reader("saved_summary", bytes).header();
    return {static_cast<SavedSummary::Kind>(static_cast<int>(header.kind) - 1), static_cast<KeyType>(header.type)};
}

}  // namespace quadmill
