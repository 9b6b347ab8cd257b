// Texels between pixel buffers and textures: in the order of the drawing, or beside it.
#pragma once

#include <cstddef>
#include <future>

#include "gl/objects.hpp"
#include "gl/sibling.hpp"

namespace quadmill::detail::gl {

// One batch of transfers of one direction. Pre of every call: a session is open.
class Carrier {
  public:
    // Without a sibling, all of it happens in the context, in the order of the drawing, and the rest is nothing to do.
    explicit Carrier(Device& device, Sibling* beside = nullptr);
    Carrier(const Carrier&) = delete;
    Carrier& operator=(const Carrier&) = delete;
    // What no fence() stands behind is issued by then, so that texture and memory may go.
    ~Carrier();

    // What is carried from now on comes after what was drawn.
    void after_drawing();
    // As upload_rows() and read_rows().
    void send(const PixelBuffer& from, std::size_t offset, const Texture& to, int first, int rows);
    void fetch(const Texture& from, int first, int rows, const PixelBuffer& to, std::size_t offset);
    // Behind what was carried so far.
    [[nodiscard]] Fence fence();
    // What is drawn from now on comes after `carried`.
    void before_drawing(Fence& carried);
    // How long it took, beside the drawing alone: else invalid.
    [[nodiscard]] std::shared_future<double> ms();

  private:
    Device& device_;
    Sibling* beside_;
    bool clock_runs_ = false, open_ = false;
    void start_clock();
};

}  // namespace quadmill::detail::gl
