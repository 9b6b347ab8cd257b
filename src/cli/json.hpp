// JSON whose members keep the order in which they are set.
#pragma once

#include <nlohmann/json.hpp>

namespace quadmill::detail::cli {

using Json = nlohmann::ordered_json;

}  // namespace quadmill::detail::cli
