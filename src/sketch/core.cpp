#include "sketch/core.hpp"

#include <algorithm>
#include <string>

#include "gl/float_blending.hpp"
#include "gl/pixels.hpp"
#include "quadmill/error.hpp"
#include "sketch/choose.hpp"
#include "sketch/saved.hpp"
#include "sort/caller_argsort.hpp"

namespace quadmill::detail::sketch {

namespace {

constexpr std::uint64_t max_n = ~std::uint64_t{0} >> 1U;
constexpr std::uint64_t heavy_mean = 256;  // the CPU adds batches with a larger mean weight

// Whether points can carry the weights.
bool is_light(const Batch& batch, std::uint64_t weight) {
    if (batch.weights.empty()) return true;
    return weight <= heavy_mean * batch.size && std::ranges::max(batch.weights) <= DeviceTable::exact;
}

}  // namespace

Core::Core(std::optional<Context> context, const SketchOptions& options, SketchKeys keys, const char* function)
    : context_(std::move(context)), keys_(keys), shape_(options, words_of(keys), function), workers_(options.threads) {
    const auto engine = options.engine;
    if (engine == SketchEngine::Cpu) return;
    if (!context_) {
        if (engine != SketchEngine::Auto) refuse(function, "a GPU engine needs a Context; give one, or use Cpu");
        return;
    }
    const auto why = DeviceTable::refusal(
        *detail::Access::of(*context_), shape_,
        engine == SketchEngine::Auto && shape_.kind() != SketchKind::Sf ? device_engine() : engine);
    if (why && engine != SketchEngine::Auto) refuse(function, *why);
    device_can_ = !why;
}

SketchEngine Core::device_engine() const {
    if (shape_.options().engine != SketchEngine::Auto) return shape_.options().engine;
    const auto best = gpu_engine(shape_.kind());
    return DeviceTable::refusal(*detail::Access::of(*context_), shape_, best) ? SketchEngine::BlendCounters : best;
}

SketchEngine Core::unless_inexact(const char* function, SketchEngine engine, Weights weights) {
    const bool blends = engine != SketchEngine::Cpu && (engine != SketchEngine::Sort || weights == Weights::Some);
    if (!blends) return engine;
    auto& device = *detail::Access::of(*context_);
    if (!blends_) {
        const gl::Scope scope(device, function);
        blends_ = device.features.float_blending && gl::blends_exactly(device, gl::Format::R32f, gl::Blended::Sum) &&
                  gl::blends_exactly(device, gl::Format::Rgba32f, gl::Blended::Sum);
    }
    if (*blends_) return engine;
    const auto asked = shape_.options().engine;
    if (asked != SketchEngine::Auto && asked != SketchEngine::Sort) {
        refuse(function,
               "this driver does not add 32-bit floats exactly by blending (a test drawing came out wrong); use Auto, "
               "Sort or Cpu");
    }
    const bool sorts = weights == Weights::None && !DeviceTable::refusal(device, shape_, SketchEngine::Sort);
    return sorts ? SketchEngine::Sort : SketchEngine::Cpu;
}

SketchEngine Core::chosen(const DeviceTable& table, SketchEngine usual, std::size_t keys) const {
    return shape_.options().engine == SketchEngine::Auto ? table.quicker(usual, keys) : usual;
}

KeyTexels Core::key_texels() const {
    return {words_of(keys_) == 1 ? gl::Format::R32ui : gl::Format::Rg32ui, keys_ == SketchKeys::F32};
}

std::uint64_t Core::n_after(const char* function, std::uint64_t weight, Sign sign) const {
    if (sign == Sign::Minus && weight > n_) {
        refuse(function, "cannot remove weights of " + std::to_string(weight) + ": only " + std::to_string(n_) +
                             " were inserted");
    }
    if (sign == Sign::Plus && weight > max_n - n_) refuse(function, "the sum of all weights would pass 2^63 - 1");
    return sign == Sign::Plus ? n_ + weight : n_ - weight;
}

SketchEngine Core::engine_for(const Batch& batch, std::uint64_t n) const {
    const auto asked = shape_.options().engine;
    if (!device_can_ || shape_.kind() == SketchKind::Sf || n > max_32 || n_ > max_32) return SketchEngine::Cpu;
    if (asked == SketchEngine::Auto) {
        const bool stays = side_ == Side::Device;
        if (!stays && (context_->info().software || batch.size < gpu_keys)) return SketchEngine::Cpu;
    }
    return is_light(batch, batch.weight(0, batch.size)) ? device_engine() : SketchEngine::Cpu;
}

void Core::require_intact() const {
    if (lost_) throw GlError("Sketch: its counters were on the GPU and were lost when an earlier call failed there");
}

CpuTable& Core::cpu_table() {
    require_intact();
    if (side_ != Side::Device) return host_ ? *host_ : host_.emplace(shape_);
    CpuTable fresh(shape_);
    ask_device("Sketch", [&](DeviceTable& table) { table.add_to(fresh); });
    host_ = std::move(fresh);
    side_ = Side::Both;
    return *host_;
}

// Moves the counters to the device, for queries and inserts. Pre: a session is open.
DeviceTable& Core::on_device() {
    require_intact();
    if (!device_) device_.emplace(*detail::Access::of(*context_), workers_, shape_, key_texels());
    if (side_ != Side::Host) return *device_;
    if (host_) device_->load(*host_);
    side_ = Side::Both;
    return *device_;
}

template <class Work>
void Core::change_device(const char* function, const Work& work) {
    const gl::Scope scope(*detail::Access::of(*context_), function);
    auto& table = on_device();
    try {
        work(table);
        scope.check();
    } catch (...) {
        lost_ = true;
        throw;
    }
    side_ = Side::Device;
    host_.reset();
}

// A query first carries over what is blended. If that fails half-way, a second carry would count some counters twice.
template <class Work>
void Core::ask_device(const char* function, const Work& work) {
    const gl::Scope scope(*detail::Access::of(*context_), function);
    try {
        work(on_device());
        scope.check();
    } catch (...) {
        if (side_ == Side::Device) {
            lost_ = true;
        } else {
            side_ = Side::Host;  // the device's copy is made again
        }
        throw;
    }
}

void Core::add(const char* function, const Batch& batch, Sign sign) {
    require_intact();
    if (!batch.weights.empty() && batch.weights.size() != batch.size) {
        refuse(function, std::to_string(batch.size) + " keys need the same number of weights, not " +
                             std::to_string(batch.weights.size()));
    }
    const auto n = n_after(function, batch.weight(0, batch.size), sign);
    if (batch.size == 0) return;
    auto engine = unless_inexact(function, engine_for(batch, n), batch.weights.empty() ? Weights::None : Weights::Some);
    if (engine == SketchEngine::Cpu) {
        cpu_table().add(batch, sign, std::max(n, n_), workers_);
        side_ = Side::Host;
    } else {
        change_device(function, [&](DeviceTable& table) {
            if (batch.weights.empty()) engine = chosen(table, engine, batch.size);
            table.add(batch, sign, engine);
        });
    }
    n_ = n;
    ran_on_ = engine;
}

void Core::query(const Batch& batch, std::span<SketchCount> counts) {
    require_intact();
    // A query on the other side would first have to move all counters.
    const bool moves = side_ == Side::Host;
    const bool by_device = device_can_ && n_ <= max_32 && batch.size > 0 &&
                           (shape_.options().engine != SketchEngine::Auto || side_ == Side::Device ||
                            (!context_->info().software && batch.size >= (moves ? 4 * gpu_keys : gpu_keys)));
    if (by_device) {
        ask_device("Sketch::query", [&](DeviceTable& table) { table.query(batch, counts); });
    } else {
        cpu_table().query(batch, counts, workers_);
    }
    ran_on_ = by_device ? device_engine() : SketchEngine::Cpu;
    const auto error = shape_.error(n_);
    for (auto& [lower, estimate, upper] : counts) {
        lower = estimate > error ? estimate - error : 0;
        upper = estimate;
    }
}

void Core::require_device(const char* function) const {
    require_intact();
    if (!context_) refuse(function, "the sketch was made without a Context; make it with the one of the texture");
    if (shape_.options().engine == SketchEngine::Cpu) refuse(function, "the engine is Cpu; use Auto or a GPU engine");
    if (!device_can_) {
        refuse(function,
               "the table does not fit on the GPU: " +
                   DeviceTable::refusal(*detail::Access::of(*context_), shape_, device_engine()).value_or(""));
    }
}

// A copy of the bits in the caller's texture, independent of its parameters. Pre: a session is open.
const gl::Texture& Core::keys_of(const char* function, std::uint32_t keys, std::size_t& count,
                                 std::optional<std::size_t> asked) {
    auto& device = *detail::Access::of(*context_);
    const auto format = keys_ == SketchKeys::F32   ? gl::Format::R32f
                        : keys_ == SketchKeys::U64 ? gl::Format::Rg32ui
                                                   : gl::Format::R32ui;
    const auto from = gl::host_texture(device, keys, {format}, function, "the texture of keys");
    const auto texels = static_cast<std::size_t>(from.width()) * static_cast<std::size_t>(from.height());
    count = asked.value_or(texels);
    if (count > texels) {
        refuse(function,
               std::to_string(count) + " keys cannot be in a texture of " + std::to_string(texels) + " texels");
    }
    const gl::PlainAccess read(device, from);
    if (keys_copy_.width() != from.width() || keys_copy_.height() != from.height()) {
        keys_copy_ = {};
        keys_copy_ = gl::Texture(device, key_texels().format, from.width(), from.height());
    }
    copy(device, "copy from caller", read.texture(), keys_copy_);
    return keys_copy_;
}

void Core::add_texture(const char* function, std::uint32_t keys, std::optional<std::size_t> asked, Sign sign) {
    require_device(function);
    const gl::Scope session(*detail::Access::of(*context_), function);
    std::size_t count = 0;
    const auto& copied = keys_of(function, keys, count, asked);
    const auto n = n_after(function, count, sign);
    if (n > max_32 || n_ > max_32) refuse(function, "the GPU counts up to 2^32 - 1; insert from memory instead");
    if (shape_.kind() == SketchKind::Sf) refuse(function, "the table of Sf is filled by the CPU; insert from memory");
    if (count == 0) return;
    auto engine = unless_inexact(function, device_engine(), Weights::None);
    if (engine == SketchEngine::Cpu)
        refuse(function, "this driver does not add 32-bit floats exactly by blending; insert from memory");
    change_device(function, [&](DeviceTable& table) {
        engine = chosen(table, engine, count);
        table.add(copied, count, sign, engine);
    });
    n_ = n;
    ran_on_ = engine;
}

void Core::query_texture(std::uint32_t keys, std::uint32_t estimates, std::optional<std::size_t> asked) {
    constexpr const char* function = "Sketch::query_texture";
    require_device(function);
    if (n_ > max_32) refuse(function, "the GPU counts up to 2^32 - 1; query from memory instead");
    auto& device = *detail::Access::of(*context_);
    const gl::Scope scope(device, function);
    std::size_t count = 0;
    const auto& copied = keys_of(function, keys, count, asked);
    const auto to = gl::host_texture(device, estimates, {gl::Format::R32ui}, function, "the texture of estimates");
    if (count > static_cast<std::size_t>(to.width()) * static_cast<std::size_t>(to.height())) {
        refuse(function, std::to_string(count) + " estimates do not fit into a texture of " +
                             std::to_string(to.width()) + " x " + std::to_string(to.height()) + " texels");
    }
    if (count == 0) return;
    const gl::PlainAccess write(device, to);
    const auto how = sort::index_write(write, function, "the texture of estimates");
    sort::IndexTarget target(device, write.texture(), how);
    ask_device(function, [&](DeviceTable& table) {
        table.query(copied, count, target.framebuffer());
        target.finish(count);
    });
    scope.check();
    ran_on_ = device_engine();
}

void Core::merge(Core& other) {
    require_intact();
    if (!shape_.same_as(other.shape_) || keys_ != other.keys_) {
        refuse("Sketch::merge",
               "both sketches must have one kind, width, depth, fat and seed, and the same type of keys");
    }
    const auto n = n_after("Sketch::merge", other.n_, Sign::Plus);
    const bool on_one_device = shape_.kind() != SketchKind::Msws && side_ == Side::Device &&
                               other.side_ == Side::Device && n <= max_32 && this != &other &&
                               detail::Access::of(*context_) == detail::Access::of(*other.context_);
    if (on_one_device) {
        other.require_intact();
        other.ask_device("Sketch::merge", [](DeviceTable& table) { table.carry(); });
        change_device("Sketch::merge", [&](DeviceTable& table) { table.add(*other.device_); });
    } else {
        const auto& from = other.cpu_table();
        cpu_table().merge(from, n, workers_);
        side_ = Side::Host;
    }
    n_ = n;
}

std::vector<std::byte> Core::save() {
    return sketch::save({keys_, shape_.options(), n_}, shape_, cpu_table());
}

void Core::load(std::span<const std::byte> bytes, const SavedSketch& head) {
    sketch::load(bytes, head, shape_, cpu_table());
    n_ = head.n;
}

std::vector<std::uint64_t> Core::counters() {
    const auto& table = cpu_table();
    std::vector<std::uint64_t> all(shape_.cells());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = table.get(i);
    return all;
}

// Each weight that is inserted or removed changes `depth` counters, unless they would fall below 0.
std::uint64_t Core::removed_too_often() {
    const auto depth = static_cast<std::uint64_t>(shape_.depth());
    const auto more = cpu_table().sum() - depth * n_;
    return more >> 63U != 0 ? 0 : (more + depth - 1) / depth;  // forged bytes may have a smaller sum
}

std::size_t Core::bytes() const {
    return (host_ ? host_->bytes() : 0) + (device_ ? device_->bytes() : 0);
}

}  // namespace quadmill::detail::sketch
