// The programs of a device: compiled once, whoever asks for them, and kept as long as the device lives.
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
    // Compiles what is not there yet; what it gives lives as long as this.
    const LinkedProgram& get(Device& device, const char* name, const Sources& sources);
    [[nodiscard]] std::size_t compiled() const noexcept { return compiled_; }

    // Thrown in place of compiling one program more than allow() said.
    struct NoMore {};
    void allow(std::optional<std::size_t> programs) noexcept { allowed_ = programs; }

    // All programs as the driver keeps them, for take() in a later run; empty where it has no such form.
    [[nodiscard]] std::vector<std::byte> save(const Device& device) const;
    // From now on, get() looks among these before it compiles. Returns how many there are: none of another driver.
    // Throws InvalidArgument for bytes that are not whole.
    std::size_t take(const Device& device, std::span<const std::byte> saved);

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
