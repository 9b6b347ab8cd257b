// An SFML program: shapes and a RenderTexture in a RenderWindow, which draws in the compatibility profile; and a Window
// with the core profile, in which SFML itself cannot draw.
#include <SFML/Graphics.hpp>

#include "scene.hpp"

namespace {

// SFML remembers what it has set, and does not set it again.
void draw_shapes(sf::RenderTarget& target, const sf::Texture* texture) {
    target.clear({20, 40, 60});
    sf::CircleShape circle(20);
    circle.setFillColor({255, 0, 0, 128});
    circle.setPosition(5, 5);
    target.draw(circle);
    sf::RectangleShape square({30, 30});
    square.setTexture(texture);
    square.setPosition(25, 25);
    target.draw(square, sf::BlendAdd);
}

int check(const char* host, const auto& draw) {
    return hosts::check(host, quadmill::Context::adopt(), draw) +
           hosts::check("SFML, its loader", quadmill::Context::adopt(sf::Context::getFunction), draw);
}

}  // namespace

int main() try {
    const sf::VideoMode mode(hosts::side, hosts::side);
    int failed = 0;
    for (const auto& settings : {sf::ContextSettings(), sf::ContextSettings(24, 8, 0, 4, 5)}) {
        sf::RenderWindow window(mode, "host", sf::Style::Default, settings);
        sf::RenderTexture picture;
        if (!picture.create(hosts::side, hosts::side) || !picture.setActive()) return 2;
        failed += check("SFML, RenderTexture", [&] {
            draw_shapes(picture, nullptr);
            picture.display();
        });
        if (!window.setActive()) return 2;
        failed += check("SFML, RenderWindow", [&] { draw_shapes(window, &picture.getTexture()); });
    }
    const sf::ContextSettings core(24, 8, 0, 4, 5, sf::ContextSettings::Core);
    const sf::Window other(mode, "host", sf::Style::Default, core);
    if (!other.setActive()) return 2;
    return failed + check("SFML, core", hosts::draw_new_scene);
} catch (const quadmill::ContextError& refused) {
    std::puts(refused.what());
    return 1;
}
