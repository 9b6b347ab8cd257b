#include "sketch/shape.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "quadmill/error.hpp"

namespace quadmill::detail::sketch {

void refuse(const char* function, const std::string& rule) {
    throw InvalidArgument(std::string(function) + ": " + rule);
}

namespace {

std::uint32_t scrambled(std::uint32_t x) {  // MurmurHash3's finalizer, a bijection; as in shaders/sketch/hash.glsl
    x = (x ^ x >> 16U) * 0x85ebca6bU;
    x = (x ^ x >> 13U) * 0xc2b2ae35U;
    return x ^ x >> 16U;
}

// SplitMix64: pseudo-random numbers from a seed.
class Numbers {
  public:
    explicit Numbers(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        auto x = state_ += 0x9e3779b97f4a7c15U;
        x = (x ^ x >> 30U) * 0xbf58476d1ce4e5b9U;
        x = (x ^ x >> 27U) * 0x94d049bb133111ebU;
        return x ^ x >> 31U;
    }

  private:
    std::uint64_t state_;
};

std::vector<HashFunction> make_functions(std::size_t count, std::uint64_t seed) {
    Numbers numbers(seed);
    std::vector<HashFunction> all(count);
    for (auto& function : all) {
        const auto low = numbers.next(), high = numbers.next();
        function = {{low, high}, numbers.next()};
    }
    return all;
}

// Each mask has `depth` different positions in a bucket, with all choices equally likely.
std::vector<Positions> make_masks(int bucket, int depth, std::uint64_t seed) {
    Numbers numbers(seed ^ 0x6d61736b73U);
    std::vector<Positions> all(Shape::masks);
    std::vector<std::uint8_t> places(static_cast<std::size_t>(bucket));
    for (auto& positions : all) {
        std::iota(places.begin(), places.end(), std::uint8_t{0});
        for (std::size_t i = 0; i < static_cast<std::size_t>(depth); ++i) {
            std::swap(places[i], places[i + numbers.next() % (places.size() - i)]);
            positions.at(i) = places[i];
        }
    }
    return all;
}

int bucket_of(SketchKind kind) {
    switch (kind) {
        case SketchKind::Warp:
            return 32;
        case SketchKind::Half:
            return 16;
        case SketchKind::Quarter:
        case SketchKind::Sf:
            return 8;
        case SketchKind::Msws:
            return 28;
        case SketchKind::Thread:
            break;
    }
    return 0;
}

constexpr std::uint64_t max_cells = std::uint64_t{1} << 32U;

void check(const SketchOptions& options, int bucket, const char* function) {
    const auto [min_kind, max_kind] = std::pair{SketchKind::Thread, SketchKind::Sf};
    if (options.kind < min_kind || options.kind > max_kind) refuse(function, "there is no such kind");
    if (options.depth < 1 || options.depth > max_depth) {
        refuse(function,
               "depth must be from 1 to " + std::to_string(max_depth) + ", not " + std::to_string(options.depth));
    }
    if (bucket > 0 && options.depth > bucket) {
        refuse(function, "depth must be at most " + std::to_string(bucket) + ", the counters of a bucket, not " +
                             std::to_string(options.depth));
    }
    if (options.fat < 1 || options.fat > 255)
        refuse(function, "fat must be from 1 to 255, not " + std::to_string(options.fat));
    const auto fat = options.kind == SketchKind::Sf ? static_cast<std::uint64_t>(options.fat) : 1;
    const auto max = std::min(max_cells / static_cast<std::uint64_t>(options.depth) / fat, max_32);  // columns()
    if (options.width < 1 || options.width > max) {
        refuse(function, "width must be from 1 to " + std::to_string(max) + ", not " + std::to_string(options.width));
    }
}

}  // namespace

Key key_of(std::uint32_t value) {
    return {value, 0};
}
Key key_of(std::uint64_t value) {
    return {static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32U)};
}
Key key_of(float value) {
    if (std::isnan(value)) return {0x7fc00000U, 0};
    return {value == 0 ? 0U : std::bit_cast<std::uint32_t>(value), 0};
}
Key key_of(std::string_view bytes) {
    return key_of(std::uint64_t{XXH3_64bits(bytes.data(), bytes.size())});
}

Key mixed(Key key, int words) {
    if (words == 1) return {scrambled(key.low), 0};
    key.low ^= scrambled(key.high + 0x9e3779b9U);
    key.high ^= scrambled(key.low + 0x7f4a7c15U);
    return key;
}

Shape::Shape(const SketchOptions& options, int key_words, const char* function)
    : options_(options), key_words_(key_words), bucket_(bucket_of(options.kind)) {
    check(options, bucket_, function);
    const auto depth = static_cast<std::size_t>(options.depth);
    if (bucket_ == 0) {
        columns_ = static_cast<std::uint32_t>(options.width);
        functions_ = make_functions(depth, options.seed);
        return;
    }
    // A bucket of Msws has as many bytes as 8 counters.
    const auto words = static_cast<std::uint64_t>(kind() == SketchKind::Msws ? 8 : bucket_);
    columns_ = static_cast<std::uint32_t>((options.width * depth + words - 1) / words) | 1U;
    functions_ = make_functions(kind() == SketchKind::Sf ? depth + 1 : 1, options.seed);
    mask_table_ = make_masks(bucket_, options.depth, options.seed);
}

std::size_t Shape::seen_cells() const {
    return static_cast<std::size_t>(columns_) * static_cast<std::size_t>(bucket_ == 0 ? depth() : bucket_);
}

bool Shape::same_as(const Shape& other) const {
    const auto &a = options_, &b = other.options_;
    return a.kind == b.kind && a.width == b.width && a.depth == b.depth && fat() == other.fat() && a.seed == b.seed &&
           key_words_ == other.key_words_;
}

std::uint64_t Shape::error(std::uint64_t n) const {
    const auto all = static_cast<long double>(n);
    const auto e = std::exp(1.0L);
    const auto max =
        bucket_ == 0 ? all * e / columns_ : all * std::exp(static_cast<long double>(depth())) * depth() / seen_cells();
    return max >= all ? n : static_cast<std::uint64_t>(max);
}

std::uint64_t Batch::weight(std::size_t first, std::size_t count) const {
    if (weights.empty()) return count;
    const auto some = weights.subspan(first, count);
    return std::accumulate(some.begin(), some.end(), std::uint64_t{0});
}

}  // namespace quadmill::detail::sketch
