#include "player.hpp"

#include <algorithm>

namespace demo {

std::size_t Player::leader_index() const {
    return sorts_.size() == 2 && sorts_[1].passes > sorts_[0].passes ? 1 : 0;
}

std::size_t Player::step_of(std::size_t i) const {
    if (i == leader_index()) return at();
    const auto passes = leader().steps[at()].passes;
    const auto& steps = sorts_[i].steps;
    const auto past = std::ranges::upper_bound(steps, passes, {}, &show::Step::passes);
    const auto reached = std::max<std::ptrdiff_t>(past - steps.begin() - 1, 0);
    return at() == 0 ? 0 : at_end() ? steps.size() - 1 : static_cast<std::size_t>(reached);
}

show::Canvas Player::draw(show::Size size, show::Times times) const {
    if (sorts_.size() == 1) return show::draw_step(sorts_[0], {.step = at(), .times = times}, size);
    show::Canvas both(size.width, size.height);
    const auto each = part(size);
    for (std::size_t i = 0; i < 2; ++i)
        both.paste(show::draw_step(sorts_[i], {.step = step_of(i), .times = times}, each),
                   static_cast<int>(i) * each.width, 0);
    both.fill({each.width, 0, 1, size.height}, show::rule);
    return both;
}

std::ptrdiff_t Player::place_at(show::Size size, int x, int y) const {
    const auto each = part(size);
    const auto which = leader_index();  // positions are the leader's steps
    const int left = static_cast<int>(which) * each.width;
    if (!show::time_line(each).holds(x - left, y)) return -1;
    return static_cast<std::ptrdiff_t>(show::step_at(leader(), each, x - left));
}

std::string Player::title() const {
    auto words = show::title_of(leader(), at());
    if (sorts_.size() == 2)
        return std::string("race: ") + show::name_of(sorts_[0].request.engine) + " against " +
               show::name_of(sorts_[1].request.engine) + ": " + words;
    return std::string(show::name_of(leader().request.engine)) + ": " + words;
}

}  // namespace demo
