// Objects of an application that free themselves, and comparisons for tests.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "gl/host.hpp"
#include "quadmill/query.hpp"

namespace quadmill::test {

class HostBuffer {
  public:
    HostBuffer(const Api& gl, const std::vector<std::byte>& content) : gl_(gl), bytes_(content.size()) {
        gl.CreateBuffers(1, &id_);
        gl.NamedBufferStorage(id_, static_cast<GLsizeiptr>(bytes_), content.data(), GL_DYNAMIC_STORAGE_BIT);
    }
    HostBuffer(const HostBuffer&) = delete;
    HostBuffer& operator=(const HostBuffer&) = delete;
    ~HostBuffer() { gl_.DeleteBuffers(1, &id_); }
    [[nodiscard]] GLuint id() const { return id_; }
    [[nodiscard]] std::vector<std::byte> read() const {
        std::vector<std::byte> content(bytes_);
        gl_.GetNamedBufferSubData(id_, 0, static_cast<GLsizeiptr>(bytes_), content.data());
        return content;
    }

  private:
    const Api& gl_;
    std::size_t bytes_;
    GLuint id_ = 0;
};

// All NaNs count as equal.
inline bool same(const Value& a, const Value& b) {
    const auto* const x = std::get_if<double>(&a);
    const auto* const y = std::get_if<double>(&b);
    return a == b || (x && y && std::isnan(*x) && std::isnan(*y));
}

}  // namespace quadmill::test
