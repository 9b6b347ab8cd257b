// Converts between keys in memory and texels. Keys that blending cannot order are set aside and replaced by padding
// that sorts last.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <span>
#include <vector>

#include "cpu/keys.hpp"
#include "pass/layout.hpp"

namespace quadmill::detail::sort {

// The padding sorts to the end. Keys that equal the padding have the same bits, so it does not matter which of them are
// cut off.
template <class Float>
[[nodiscard]] typename cpu::KeyBits<Float>::Bits padding(Order order) {
    using Traits = cpu::KeyBits<Float>;
    using Bits = typename Traits::Bits;
    return static_cast<Bits>(Traits::exponent | (order == Order::Descending ? Traits::sign : Bits{0}));
}

// Classifies keys by their bits. 32-bit integers become the floats with the same rank in the order.
template <class Float>
class Coding {
  public:
    using Bits = typename cpu::KeyBits<Float>::Bits;
    explicit Coding(KeyType type)
        : is_integer_(type == KeyType::U32 || type == KeyType::I32),
          flip_(type == KeyType::I32 ? cpu::KeyBits<Float>::sign : Bits{0}) {}
    void to_floats(std::span<Bits> keys) const {
        if (!is_integer_) return;
        for (auto& bits : keys) bits = order_.decode(static_cast<Bits>(bits ^ flip_));
    }
    void to_keys(std::span<Float> floats) const {
        if (!is_integer_) return;
        using Traits = cpu::KeyBits<Float>;
        for (auto& value : floats) value = Traits::value(static_cast<Bits>(order_.encode(Traits::of(value)) ^ flip_));
    }

  private:
    bool is_integer_;
    Bits flip_;
    cpu::TotalOrder<Float> order_{Order::Ascending};
};

// Keys that were set aside, each with the number of the array (run or window) that it belongs to.
template <class Float>
struct SetAside {
    using Bits = typename cpu::KeyBits<Float>::Bits;
    struct Key {
        std::size_t array;
        Bits bits;
    };
    void add(const std::vector<Key>& more) {
        if (more.empty()) return;
        const std::lock_guard lock(mutex);
        keys.insert(keys.end(), more.begin(), more.end());
    }
    std::vector<Key> keys;
    std::mutex mutex;
};

// Packs keys into texels.
template <class Float>
struct PackForm {
    Order order;
    Coding<Float> coding;
};

// Copies `count` keys to every `stride`-th position of `to`. Keys that cannot be blended go to `aside`; key i belongs
// to `array_of(i)`.
template <class Float, class ArrayOf>
void pack_keys(const Float* from, std::size_t count, std::byte* to, std::size_t stride, const PackForm<Float>& form,
               ArrayOf array_of, std::vector<typename SetAside<Float>::Key>& aside) {
    using Traits = cpu::KeyBits<Float>;
    using Bits = typename Traits::Bits;
    constexpr std::size_t chunk = 64;
    const auto pad = padding<Float>(form.order);
    for (std::size_t begin = 0; begin < count; begin += chunk) {
        const auto size = std::min(chunk, count - begin);
        std::array<Bits, chunk> bits;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled next
        std::memcpy(bits.data(), from + begin, size * sizeof(Bits));
        form.coding.to_floats(std::span(bits).first(size));
        bool all = true;
        for (std::size_t i = 0; i < size; ++i) all &= cpu::blendable<Float>(bits[i]);
        for (std::size_t i = 0; i < size && !all; ++i) {
            if (cpu::blendable<Float>(bits[i])) continue;
            aside.push_back({array_of(begin + i), bits[i]});
            bits[i] = pad;
        }
        if (stride == 1) {
            std::memcpy(to + begin * sizeof(Bits), bits.data(), size * sizeof(Bits));
        } else {
            for (std::size_t i = 0; i < size; ++i)
                std::memcpy(to + (begin + i) * stride * sizeof(Bits), &bits[i], sizeof(Bits));
        }
    }
}

template <class Float>
void pack_padding(std::size_t count, std::byte* to, std::size_t stride, Order order) {
    const auto pad = padding<Float>(order);
    for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * stride * sizeof pad, &pad, sizeof pad);
}

// Fills texels [first, first + count) with consecutive keys. All runs are merged in the end, so it does not matter
// which run a key is in. Channel c of the block of texels [b 2^k, (b + 1) 2^k) is run 4 b + c.
template <class Float>
void pack_in_turn(std::span<const Float> keys, int k, std::size_t first, std::size_t count, std::byte* to,
                  const PackForm<Float>& form, SetAside<Float>& aside) {
    const auto begin = std::min(4 * first, keys.size()), end = std::min(4 * (first + count), keys.size());
    std::vector<typename SetAside<Float>::Key> mine;
    const auto run_of = [begin, k](std::size_t i) {
        const auto position = begin + i;
        return 4 * ((position / 4) >> static_cast<unsigned>(k)) + position % 4;
    };
    pack_keys(keys.data() + begin, end - begin, to, 1, form, run_of, mine);
    pack_padding<Float>(4 * count - (end - begin), to + (end - begin) * sizeof(Float), 1, form.order);
    aside.add(mine);
}

// Fills texels [first, first + count) with windows that are split over the channels. Window b is block b, and its key i
// is in channel i mod 4. Keys of channel c that are set aside belong to array 4 b + c.
template <class Float>
void pack_split_windows(std::span<const Float> keys, std::size_t window, int k, std::size_t first, std::size_t count,
                        std::byte* to, const PackForm<Float>& form, SetAside<Float>& aside) {
    const auto block_size = std::size_t{1} << static_cast<unsigned>(k);
    std::vector<typename SetAside<Float>::Key> mine;
    for (std::size_t texel = first; texel < first + count;) {
        const auto block = texel / block_size, within = texel % block_size;
        const auto size = std::min(block_size - within, first + count - texel);
        const auto begin = std::min(block * window + std::min(4 * within, window), keys.size());
        const auto end = std::min(block * window + std::min(4 * (within + size), window), keys.size());
        auto* out = to + pass::FourArray::position(texel - first, 0) * sizeof(Float);
        pack_keys(
            keys.data() + begin, end - begin, out, 1, form, [block](std::size_t i) { return 4 * block + i % 4; }, mine);
        pack_padding<Float>(4 * size - (end - begin), out + (end - begin) * sizeof(Float), 1, form.order);
        texel += size;
    }
    aside.add(mine);
}

// Fills texels [first, first + count) with windows. Window 4 b + c is block b of channel c; a block has 2^k texels.
template <class Float>
void pack_windows(std::span<const Float> keys, std::size_t window, int k, std::size_t first, std::size_t count,
                  std::byte* to, const PackForm<Float>& form, SetAside<Float>& aside) {
    const auto block_size = std::size_t{1} << static_cast<unsigned>(k);
    std::vector<typename SetAside<Float>::Key> mine;
    for (std::size_t texel = first; texel < first + count;) {
        const auto block = texel / block_size, within = texel % block_size;
        const auto size = std::min(block_size - within, first + count - texel);
        for (std::size_t c = 0; c < 4; ++c) {
            const auto index = 4 * block + c;
            const auto begin = std::min(index * window + std::min(within, window), keys.size());
            const auto end = std::min({index * window + std::min(within + size, window), keys.size()});
            auto* out = to + pass::FourArray::position(texel - first, c) * sizeof(Float);
            pack_keys(
                keys.data() + begin, end - begin, out, 4, form, [index](std::size_t) { return index; }, mine);
            pack_padding<Float>(size - (end - begin), out + 4 * (end - begin) * sizeof(Float), 4, form.order);
        }
        texel += size;
    }
    aside.add(mine);
}

}  // namespace quadmill::detail::sort
