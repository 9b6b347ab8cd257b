#include "quadmill/sketch.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "quadmill/error.hpp"
#include "sketch/core.hpp"
#include "sketch/saved.hpp"

namespace quadmill {

using detail::sketch::Batch;
using detail::sketch::Core;
using detail::sketch::Key;
using detail::sketch::Sign;

namespace {

template <class T>
constexpr SketchKeys keys_of = std::is_same_v<T, std::uint32_t>   ? SketchKeys::U32
                               : std::is_same_v<T, std::uint64_t> ? SketchKeys::U64
                               : std::is_same_v<T, float>         ? SketchKeys::F32
                                                                  : SketchKeys::Text;

template <class T>
Batch batch_of(std::span<const T> keys, std::span<const std::uint32_t> weights = {}) {
    const auto copy = [](const void* from, std::size_t first, std::span<Key> to) {
        const auto* all = static_cast<const T*>(from);
        for (std::size_t i = 0; i < to.size(); ++i) to[i] = detail::sketch::key_of(all[first + i]);
    };
    return {keys.size(), copy, keys.data(), weights};
}

// An empty list of weights is only right if there are no keys.
template <class T>
void check_weights(const char* function, std::span<const T> keys, std::span<const std::uint32_t> weights) {
    if (weights.size() == keys.size()) return;
    throw InvalidArgument(std::string(function) + ": " + std::to_string(keys.size()) +
                          " keys need the same number of weights, not " + std::to_string(weights.size()));
}

// Keys that came one at a time and are not counted yet. They stay in a CPU's first-level cache.
constexpr std::size_t most_waiting = 4096;

}  // namespace

template <class T>
struct Sketch<T>::State {
    explicit State(Core counters) : core(std::move(counters)) {}
    // The counters, once keys that came one at a time are counted, too.
    Core& all() {
        if (!waiting.empty()) {
            const auto copy = [](const void* from, std::size_t first, std::span<Key> to) {
                std::copy_n(static_cast<const Key*>(from) + first, to.size(), to.begin());
            };
            core.add("Sketch::insert", {waiting.size(), copy, waiting.data()}, Sign::Plus);
            waiting.clear();
        }
        return core;
    }
    void insert(T key) {
        if (waiting.size() == most_waiting) all();
        core.require_room(waiting.size() + 1);
        waiting.push_back(detail::sketch::key_of(key));
    }

  private:
    Core core;
    std::vector<Key> waiting;
};

template <class T>
Sketch<T>::Sketch(const SketchOptions& options) : state_(new State(Core({}, options, keys_of<T>, "Sketch"))) {}
template <class T>
Sketch<T>::Sketch(const Context& context, const SketchOptions& options)
    : state_(new State(Core(context, options, keys_of<T>, "Sketch"))) {}
template <class T>
Sketch<T>::Sketch(std::unique_ptr<State> state) : state_(std::move(state)) {}
template <class T>
Sketch<T>::Sketch(Sketch&&) noexcept = default;
template <class T>
Sketch<T>& Sketch<T>::operator=(Sketch&&) noexcept = default;
template <class T>
Sketch<T>::~Sketch() = default;

template <class T>
void Sketch<T>::insert(T key) {
    state_->insert(key);
}
template <class T>
void Sketch<T>::insert(std::span<const T> keys) {
    state_->all().add("Sketch::insert", batch_of(keys), Sign::Plus);
}
template <class T>
void Sketch<T>::insert(std::span<const T> keys, std::span<const std::uint32_t> weights) {
    check_weights("Sketch::insert", keys, weights);
    state_->all().add("Sketch::insert", batch_of(keys, weights), Sign::Plus);
}
template <class T>
void Sketch<T>::remove(std::span<const T> keys) {
    state_->all().add("Sketch::remove", batch_of(keys), Sign::Minus);
}
template <class T>
void Sketch<T>::remove(std::span<const T> keys, std::span<const std::uint32_t> weights) {
    check_weights("Sketch::remove", keys, weights);
    state_->all().add("Sketch::remove", batch_of(keys, weights), Sign::Minus);
}

template <class T>
void Sketch<T>::query(std::span<const T> keys, std::span<SketchCount> counts) const {
    if (counts.size() != keys.size()) {
        throw InvalidArgument("Sketch::query: " + std::to_string(keys.size()) +
                              " keys need the same number of counts, not " + std::to_string(counts.size()));
    }
    state_->all().query(batch_of(keys), counts);
}
template <class T>
std::vector<SketchCount> Sketch<T>::query(std::span<const T> keys) const {
    std::vector<SketchCount> counts(keys.size());
    query(keys, counts);
    return counts;
}

template <class T>
void Sketch<T>::insert_texture(std::uint32_t keys,
                               std::optional<std::size_t> count) requires(!std::is_same_v<T, std::string_view>) {
    state_->all().add_texture("Sketch::insert_texture", keys, count, Sign::Plus);
}
template <class T>
void Sketch<T>::remove_texture(std::uint32_t keys,
                               std::optional<std::size_t> count) requires(!std::is_same_v<T, std::string_view>) {
    state_->all().add_texture("Sketch::remove_texture", keys, count, Sign::Minus);
}
template <class T>
void Sketch<T>::query_texture(std::uint32_t keys, std::uint32_t estimates, std::optional<std::size_t> count) const
    requires(!std::is_same_v<T, std::string_view>) {
    state_->all().query_texture(keys, estimates, count);
}

template <class T>
std::uint64_t Sketch<T>::n() const {
    return state_->all().n();
}
template <class T>
const SketchOptions& Sketch<T>::options() const {
    return state_->all().options();
}
template <class T>
std::uint64_t Sketch<T>::removed_too_often() const {
    return state_->all().removed_too_often();
}
template <class T>
std::vector<std::uint64_t> Sketch<T>::counters() const {
    return state_->all().counters();
}
template <class T>
std::size_t Sketch<T>::bytes() const {
    return state_->all().bytes();
}
template <class T>
SketchEngine Sketch<T>::ran_on() const {
    return state_->all().ran_on();
}

template <class T>
void Sketch<T>::merge(const Sketch& other) {
    state_->all().merge(other.state_->all());
}
template <class T>
std::vector<std::byte> Sketch<T>::save() const {
    return state_->all().save();
}

namespace {

SavedSketch head_of(std::span<const std::byte> bytes, SketchKeys keys, SketchEngine engine, unsigned threads) {
    auto head = detail::sketch::read_head("Sketch::load", bytes);
    if (head.keys != keys) throw InvalidArgument("Sketch::load: the bytes are a sketch of keys of another type");
    head.options.engine = engine;
    head.options.threads = threads;
    return head;
}

}  // namespace

template <class T>
Sketch<T> Sketch<T>::load(std::span<const std::byte> bytes, unsigned threads) {
    const auto head = head_of(bytes, keys_of<T>, SketchEngine::Auto, threads);
    Sketch made(head.options);
    made.state_->all().load(bytes, head);
    return made;
}
template <class T>
Sketch<T> Sketch<T>::load(const Context& context, std::span<const std::byte> bytes, SketchEngine engine,
                          unsigned threads) {
    const auto head = head_of(bytes, keys_of<T>, engine, threads);
    Sketch made(context, head.options);
    made.state_->all().load(bytes, head);
    return made;
}

template class Sketch<std::uint32_t>;
template class Sketch<std::uint64_t>;
template class Sketch<float>;
template class Sketch<std::string_view>;

SavedSketch saved_sketch(std::span<const std::byte> bytes) {
    return detail::sketch::read_head("saved_sketch", bytes);
}

std::uint64_t suggest_width(double eps) {
    if (!(eps >= 1e-9 && eps <= 1)) {
        throw InvalidArgument("suggest_width: eps must be from 1e-9 to 1, not " + std::to_string(eps));
    }
    return static_cast<std::uint64_t>(std::ceil(std::exp(1.0) / eps));
}

int suggest_depth(double delta) {
    if (!(delta >= 1e-6 && delta < 1)) {
        throw InvalidArgument("suggest_depth: delta must be at least 1e-6 and less than 1, not " +
                              std::to_string(delta));
    }
    return static_cast<int>(std::ceil(-std::log(delta)));
}

}  // namespace quadmill
