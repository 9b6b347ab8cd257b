// Draws the array as it lies in the texture on its way through a sort, on one sheet: sort_picture FILE.png
// It watches the real engine through a PassObserver and reads the texture back after the passes that end a step.
#define STB_IMAGE_WRITE_IMPLEMENTATION
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include <stb_easy_font.h>
#include <stb_image_write.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <quadmill/context.hpp>
#include <quadmill/sort.hpp>
#include <random>
#include <string>
#include <vector>

namespace {

using Pixel = std::array<std::uint8_t, 3>;
constexpr Pixel paper{255, 255, 255}, ink{40, 40, 40};

class Image {
  public:
    Image(int width, int height) : width_(width), height_(height), pixels_(at(0, height), paper) {}
    void set(int x, int y, Pixel color) {
        if (x >= 0 && y >= 0 && x < width_ && y < height_) pixels_[at(x, y)] = color;
    }
    void fill(int x0, int y0, int x1, int y1, Pixel color) {
        for (int y = y0; y < y1; ++y) {
            for (int x = x0; x < x1; ++x) set(x, y, color);
        }
    }
    // stb_easy_font gives rectangles; `scale` pixels a unit.
    void text(int x, int y, int scale, std::string words) {
        struct Vertex {
            float x, y, z;
            std::array<std::uint8_t, 4> color;
        };
        std::vector<Vertex> corners(std::size_t{4} * 64 * words.size() + 4);
        const int quads = stb_easy_font_print(0, 0, words.data(), nullptr, corners.data(),
                                              static_cast<int>(corners.size() * sizeof(Vertex)));
        for (std::size_t q = 0; q < static_cast<std::size_t>(quads); ++q) {
            const auto scaled = [&](float v) { return static_cast<int>(v) * scale; };
            fill(x + scaled(corners[4 * q].x), y + scaled(corners[4 * q].y), x + scaled(corners[4 * q + 2].x),
                 y + scaled(corners[4 * q + 2].y), ink);
        }
    }
    [[nodiscard]] bool write(const char* path) const {
        stbi_write_png_compression_level = 32;
        return stbi_write_png(path, width_, height_, 3, pixels_.data(), 3 * width_) != 0;
    }

  private:
    [[nodiscard]] std::size_t at(int x, int y) const {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
    }
    int width_, height_;
    std::vector<Pixel> pixels_;
};

// Dark blue over green to yellow, rising in lightness, so it reads in grey and for the colour-blind.
Pixel heat(float t) {
    const std::array<std::array<float, 3>, 5> stops{
        {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};
    const float place = std::fmin(std::fmax(t, 0.0F), 1.0F) * 4;
    const auto low = std::min<std::size_t>(static_cast<std::size_t>(place), 3);
    const float part = place - static_cast<float>(low);
    Pixel color{};
    for (std::size_t c = 0; c < 3; ++c)
        color[c] = static_cast<std::uint8_t>(stops[low][c] + (stops[low + 1][c] - stops[low][c]) * part);
    return color;
}

constexpr int k = 12, side = 1 << (k / 2);  // 2^12 texels a channel
constexpr std::size_t values = std::size_t{4} << k;

struct Tile {
    std::string title;
    std::vector<float> values;
};

// Keeps the first channel of the texture at the start, after each step of the first stage and after some later stages.
class Recorder : public quadmill::PassObserver {
  public:
    explicit Recorder(const quadmill::Context& context)
        : get_(reinterpret_cast<GetTextureImage>(context.proc_address("glGetTextureImage"))) {}
    void after(const quadmill::PassEvent& pass) override {
        if (pass.name == "copy") keep(pass.target, "input");
        if (pass.name != "copy to tex") return;
        if (pass.stage == 1) keep(pass.target, "stage 1, step " + std::to_string(pass.step));
        const bool shown = pass.stage == 2 || pass.stage == 3 || pass.stage == 4 || pass.stage == 6 ||
                           pass.stage == 8 || pass.stage == 10 || pass.stage == k;
        if (shown && pass.step == k) keep(pass.target, "stage " + std::to_string(pass.stage));
    }
    std::vector<Tile> tiles;

  private:
    using GetTextureImage = void (*)(unsigned texture, int level, unsigned format, unsigned type, int size, void* to);
    void keep(unsigned texture, std::string title) {
        std::vector<float> texels(values);
        constexpr unsigned rgba = 0x1908, floats = 0x1406;
        get_(texture, 0, rgba, floats, static_cast<int>(texels.size() * sizeof(float)), texels.data());
        auto& tile = tiles.emplace_back(Tile{std::move(title), {}});
        for (std::size_t i = 0; i < texels.size(); i += 4) tile.values.push_back(texels[i]);
    }
    GetTextureImage get_;
};

std::vector<Tile> record() {
    auto context = quadmill::Context::headless();
    Recorder recorder(context);
    context.observe(&recorder);
    std::vector<float> keys(values);
    std::mt19937 random(1);
    for (auto& key : keys) key = std::uniform_real_distribution<float>(0, 1)(random);
    quadmill::sort(context, keys, {.engine = quadmill::Engine::Pbsn, .early_stop = quadmill::EarlyStop::No});
    return std::move(recorder.tiles);
}

void paint(Image& image, const Tile& tile, int left, int top, int scale) {
    int disorder = 0;
    for (std::size_t i = 1; i < tile.values.size(); ++i) disorder += tile.values[i - 1] > tile.values[i];
    image.text(left, top, 2, tile.title);
    image.text(left, top + 20, 2, disorder == 0 ? "in order" : std::to_string(disorder) + " out of order");
    for (int y = 0; y < side * scale; ++y) {
        for (int x = 0; x < side * scale; ++x) {
            const auto texel = static_cast<std::size_t>(y / scale) * side + static_cast<std::size_t>(x / scale);
            image.set(left + x, top + 44 + y, heat(tile.values[texel]));
        }
    }
}

int draw(const char* path) {
    const auto tiles = record();
    constexpr int columns = 5, scale = 4, gap = 16, size = side * scale, cell = size + 60, head = 68;
    const int rows = (static_cast<int>(tiles.size()) + columns - 1) / columns;
    Image image(gap + columns * (size + gap), head + rows * cell);
    image.text(gap, 14, 2,
               "Periodic balanced sorting network, 12 stages of 12 steps: one channel of 64 x 64 texels as it lies");
    image.text(gap, 38, 2, "in the texture, first element at the top left. Small values are dark, large ones light.");
    for (std::size_t i = 0; i < tiles.size(); ++i) {
        paint(image, tiles[i], gap + static_cast<int>(i % columns) * (size + gap),
              head + static_cast<int>(i / columns) * cell, scale);
    }
    if (image.write(path)) return 0;
    std::fprintf(stderr, "sort_picture: cannot write %s\n", path);
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: sort_picture FILE.png\n");
        return 2;
    }
    try {
        return draw(argv[1]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "sort_picture: %s\n", error.what());
        return 1;
    }
}
