// A choice in a bar of controls: values, each with a name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "window/window.hpp"

namespace demo {

template <class T>
class Choice {
  public:
    explicit Choice(const std::vector<std::pair<std::string, T>>& named) {
        for (const auto& [name, value] : named) {
            names_.push_back(name);
            values_.push_back(value);
        }
    }
    // Returns whether another value was chosen, and stores it in `now`. Pre: `now` is one of the values.
    bool choose(Bar& bar, const std::string& help, T& now, float width) const {
        auto chosen = static_cast<std::size_t>(std::ranges::find(values_, now) - values_.begin());
        if (!bar.choose(help, chosen, names_, width)) return false;
        now = values_[chosen];
        return true;
    }

  private:
    std::vector<std::string> names_;
    std::vector<T> values_;
};

}  // namespace demo
