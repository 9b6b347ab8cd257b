// The keys of a column's selected rows, copied to the CPU: all keys if there are few rows, or a sample of many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pass/target.hpp"
#include "pass/transfer.hpp"
#include "query/gpu/bit_list.hpp"
#include "query/gpu/key_textures.hpp"

namespace quadmill::detail::query {

// Both textures have the shape of the table.
struct SelectedKeys {
    const gl::Texture& selection;
    const gl::Texture& keys;
    ColumnType type = ColumnType::F32;
    Shape shape{};
    std::uint64_t n = 0;  // number of selected rows
};

// Every call waits for the GPU. Pre of every call: a session is open.
class KeyList {
  public:
    static constexpr std::size_t max = std::size_t{1} << 16U, sampled = std::size_t{1} << 13U;

    KeyList(gl::Device& device, pass::Programs& programs) : device_(device), bits_(device, programs) {}
    // All keys in the order of rows. Pre: at most `max` rows are selected.
    [[nodiscard]] std::vector<Key> all(const SelectedKeys& rows);
    // Keys of a sample: the rows are cut into `sampled` equal parts, and each gives a random row. Pre: at least that
    // many rows are selected.
    [[nodiscard]] std::vector<Key> sample(const SelectedKeys& rows);

  private:
    [[nodiscard]] BitWords count(const SelectedKeys& rows);
    [[nodiscard]] std::vector<Key> read(const gl::Texture& list, std::size_t n);

    gl::Device& device_;
    BitList bits_;
    pass::Target all_, sample_;
    pass::ReadBack back_;
};

}  // namespace quadmill::detail::query
