#include "gl/carrier.hpp"

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"

namespace quadmill::detail::gl {

Carrier::Carrier(Device& device, Sibling* beside) : device_(device), beside_(beside) {}

Carrier::~Carrier() {
    if (!open_) return;
    try {
        const Fence last(device_, beside_->fence());
    } catch (...) {  // NOLINT(bugprone-empty-catch): no memory, and what called ends by that
    }
}

void Carrier::after_drawing() {
    if (!beside_) return;
    Fence drawn(device_);
    flush(device_);
    beside_->after(drawn.release());
}

void Carrier::start_clock() {
    if (!clock_runs_) beside_->start_clock();
    clock_runs_ = true;
}

void Carrier::send(const PixelBuffer& from, std::size_t offset, const Texture& to, int first, int rows) {
    if (!beside_) return upload_rows(device_, from, offset, to, first, rows);
    start_clock();
    open_ = true;
    beside_->give([offset, rows_there = RowsOf(to, first, rows), buffer = from.id()](const Api& gl) {
        upload_rows(gl, buffer, offset, rows_there);
    });
}

void Carrier::fetch(const Texture& from, int first, int rows, const PixelBuffer& to, std::size_t offset) {
    if (!beside_) return read_rows(device_, from, first, rows, to, offset);
    start_clock();
    open_ = true;
    beside_->give([offset, rows_there = RowsOf(from, first, rows), buffer = to.id()](const Api& gl) {
        read_rows(gl, rows_there, buffer, offset);
    });
}

Fence Carrier::fence() {
    if (!beside_) return Fence(device_);
    Fence fence(device_, beside_->fence());
    open_ = false;
    return fence;
}

void Carrier::before_drawing(Fence& carried) {
    if (beside_) carried.hold();
}

std::shared_future<double> Carrier::ms() {
    return beside_ && clock_runs_ ? beside_->stop_clock() : std::shared_future<double>();
}

}  // namespace quadmill::detail::gl
