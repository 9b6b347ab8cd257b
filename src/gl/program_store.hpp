// The programs of a device. Each is compiled once and kept for the life of the device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gl/api_fwd.hpp"

namespace quadmill::detail::gl {

class Device;

struct LinkedProgram {
    std::uint32_t id = 0;
    std::string name;
    int target_size = -1;
    std::vector<std::pair<std::string, int>> uniforms;  // by name
};

class ProgramStore {
  public:
    struct Sources {
        const char *vertex, *fragment;
        const std::string& prelude;
    };
    // Compiles the program if it is not stored yet. The reference is valid for the life of this store.
    const LinkedProgram& get(Device& device, const char* name, const Sources& sources);
    [[nodiscard]] std::size_t compiled() const noexcept { return compiled_; }

    // Thrown instead of compiling more programs than allow() permits.
    struct NoMore {};
    void allow(std::optional<std::size_t> programs) noexcept { allowed_ = programs; }

    // All programs in the driver's binary form, for take() in a later run; empty if the driver has no such form.
    [[nodiscard]] std::vector<std::byte> save(const Device& device) const;
    // From now on, get() looks up programs in `saved` before it compiles them. Returns their number, which is 0 if
    // another driver saved them. Throws InvalidArgument if the bytes are damaged.
    std::size_t take(const Device& device, std::span<const std::byte> saved, const char* function);

    // Pre: the context is current.
    void release(const Api& gl) noexcept;

  private:
    using Key = std::array<std::uint64_t, 2>;
    struct Binary {
        std::uint32_t format = 0;
        std::vector<std::byte> bytes;
    };
    [[nodiscard]] bool link_saved(const Api& gl, std::uint32_t program, const Key& key) const;

    std::map<Key, LinkedProgram> programs_;
    std::map<Key, Binary> saved_;
    std::size_t compiled_ = 0;
    std::optional<std::size_t> allowed_;
};

}  // namespace quadmill::detail::gl
