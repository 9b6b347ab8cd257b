// Parts of a program that draws with OpenGL itself, independent of the library: a loader, shaders, a picture, a clock.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "quadmill/context.hpp"
#include "show/canvas.hpp"
#include "show/png.hpp"

namespace demo {

namespace show = quadmill::detail::show;

using Load = std::function<void (*(const char* name))()>;

// Loads OpenGL into this program's own table of functions. Throws std::runtime_error.
void load_gl(const Load& load);

// Links the two stages, each with `common` before its source. `captured` is a varying for transform feedback; then
// there is no fragment stage. Throws std::runtime_error with the driver's message.
[[nodiscard]] unsigned link(const std::string& common, const std::string& vertex, const std::string& fragment);
[[nodiscard]] unsigned link_capture(const std::string& common, const std::string& vertex, const char* captured);

// The side of the smallest square that has at least this many texels.
[[nodiscard]] int square_side(std::size_t texels);
// With nearest filters and one level. `layers` 0 means that it is not an array.
[[nodiscard]] unsigned make_texture(unsigned format, int width, int height, int layers = 0);
[[nodiscard]] unsigned make_target(unsigned texture);
[[nodiscard]] unsigned make_buffer(std::size_t bytes, const void* content = nullptr);

// A picture to draw to.
class Image {
  public:
    explicit Image(show::Size size) { make(size); }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
    ~Image() { release(); }
    void resize(show::Size size);
    [[nodiscard]] show::Size size() const { return size_; }
    [[nodiscard]] unsigned id() const { return texture_; }
    // Makes it the target and clears it.
    void begin() const;
    // Reads it back.
    [[nodiscard]] show::Canvas picture() const;

  private:
    void make(show::Size size);
    void release();
    show::Size size_{};
    unsigned texture_ = 0, target_ = 0;
};

// The median of the last times, since single times vary.
class Median {
  public:
    void add(double time) { last_[next_++ % last_.size()] = time; }
    [[nodiscard]] double value() const;

  private:
    std::array<double, 31> last_{};
    std::size_t next_ = 0;
};

// Measures the milliseconds between the marks of a frame with the GPU's clock, without waiting: the times are those of
// the last frames that the GPU has finished. With a CPU renderer it waits, because its timestamps ignore vertex work.
class Clock {
  public:
    // `spans` is the number of spans between marks.
    Clock(std::size_t spans, const quadmill::Context& context);
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;
    ~Clock();
    void begin();
    void mark();
    [[nodiscard]] double ms(std::size_t span);

  private:
    void collect();

    enum class Frame { None, Marked, UnderWay, Unmeasured };
    const bool software_;
    std::chrono::steady_clock::time_point last_{};
    std::vector<unsigned> queries_;
    std::vector<Median> ms_;
    std::size_t marks_ = 0;
    Frame frame_ = Frame::None;
};

}  // namespace demo
