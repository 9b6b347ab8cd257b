// The C interface, include/quadmill/quadmill.h: sorts and percentiles of an application's textures and buffers.
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "cpu/workers.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "gl/rehearsal.hpp"
#include "quadmill/error.hpp"
#include "quadmill/quadmill.h"
#include "sort/caller_argsort.hpp"
#include "sort/caller_keys.hpp"
#include "sort/caller_sort.hpp"
#include "sort/merge/merge_sort.hpp"

using namespace quadmill;                // NOLINT(google-build-using-namespace): this file is a front door
using namespace quadmill::detail;        // NOLINT(google-build-using-namespace)
using namespace quadmill::detail::sort;  // NOLINT(google-build-using-namespace)

struct qm_context {
    explicit qm_context(const gl::Loader& loader) : shared(std::make_shared<gl::Device>(loader)) {}
    std::shared_ptr<gl::Device> shared;
    gl::Device& device = *shared;
    cpu::Workers workers{1};
    struct Sorts {
        Sorts(gl::Device& device, cpu::Workers& workers) : merge(device, workers), caller(device, merge) {}
        MergeSort merge;
        CallerSort caller;
    };
    // Pre: a session is open.
    CallerSort& caller() { return (sorts_ ? *sorts_ : sorts_.emplace(device, workers)).caller; }

  private:
    std::optional<Sorts> sorts_;
};

namespace {

// As long as any but those with a compiler's output, which lose their end.
thread_local std::array<char, 8192> last_message{};

qm_status failed(qm_status status, const char* what) noexcept {
    std::snprintf(last_message.data(), last_message.size(), "%s", what);
    return status;
}

// A call of a function object that outlives it. One handler of exceptions is shared by all.
struct Work {
    template <class Function>
    Work(const Function& function)  // NOLINT(google-explicit-constructor): an argument of call()
        : object(&function), run([](const void* of) { (*static_cast<const Function*>(of))(); }) {}
    const void* object;
    void (*run)(const void*);
};

// Runs `work` and tells how it ended.
qm_status call(const Work& work) noexcept {
    try {
        work.run(work.object);
        return QM_OK;
    } catch (const InvalidArgument& error) {
        return failed(QM_INVALID, error.what());
    } catch (const ContextError& error) {
        return failed(QM_NO_CONTEXT, error.what());
    } catch (const GlError& error) {
        return failed(QM_GL_ERROR, error.what());
    } catch (const std::bad_alloc&) {
        return failed(QM_OUT_OF_MEMORY, "out of memory");
    } catch (const std::exception& error) {
        return failed(QM_FAILED, error.what());
    } catch (...) {
        return failed(QM_FAILED, "an error without a description");
    }
}

[[noreturn]] void refuse(const char* function, const std::string& why) {
    throw InvalidArgument(std::string(function) + ": " + why);
}

// call() within a session of the context.
qm_status call(qm_context* context, const char* function, const Work& work) noexcept {
    const auto status = call([&] {
        if (!context) refuse(function, "the context is NULL");
        const gl::Scope scope(context->device, function);
        work.run(work.object);
        scope.check();
    });
    return status == QM_INVALID && context && !context->device.is_within_reach() ? QM_NO_CONTEXT : status;
}

Order order_of(const char* function, qm_order order) {
    if (order != QM_ASCENDING && order != QM_DESCENDING)
        refuse(function, "an order is QM_ASCENDING or QM_DESCENDING, not " + std::to_string(order));
    return order == QM_DESCENDING ? Order::Descending : Order::Ascending;
}

KeyType type_of(const char* function, qm_type type) {
    constexpr std::array types{KeyType::F32, KeyType::F64, KeyType::I32, KeyType::U32,
                               KeyType::I64, KeyType::U64, KeyType::F16};
    if (type < QM_F32 || type > QM_F16) refuse(function, "there is no type " + std::to_string(type));
    return types.at(static_cast<std::size_t>(type - QM_F32));
}

template <class Given>
const Given& checked(const char* function, const char* name, const Given* given) {
    if (!given) refuse(function, std::string(name) + " is NULL");
    if (given->size < sizeof(Given))
        refuse(function, std::string(name) + "->size is " + std::to_string(given->size) +
                             "; begin with QM_KEYS_IN_TEXTURE or QM_KEYS_IN_BUFFER");
    return *given;
}

template <class Given>
std::optional<CountInBuffer> counted(const Given& keys) {
    if (keys.count_buffer == 0) return {};
    return CountInBuffer{keys.count_buffer, keys.count_offset};
}

// Null for keys that are not positions.
std::optional<Plane> plane_of(const char* function, const float* const* plane) {
    if (!plane) return {};
    if (!*plane) refuse(function, "plane is NULL");
    return Plane{(*plane)[0], (*plane)[1], (*plane)[2], (*plane)[3]};
}

KeysInTexture keys_in(gl::Device& device, const char* function, const char* name, const qm_texture* given,
                      const std::optional<Plane>& plane = {}) {
    const auto& keys = checked(function, name, given);
    return {device,
            function,
            name,
            {.texture = keys.texture,
             .layer = keys.layer,
             .x = keys.x,
             .y = keys.y,
             .width = keys.width,
             .height = keys.height,
             .count = keys.count == QM_ALL ? std::nullopt : std::optional(keys.count),
             .counted = counted(keys)},
            plane ? 0 : keys.channel,
            plane};
}

KeysInBuffer keys_in(gl::Device& device, const char* function, const qm_buffer* given,
                     const std::optional<Plane>& plane = {}) {
    const auto& keys = checked(function, "keys", given);
    return {device,
            function,
            "keys",
            {.buffer = keys.buffer,
             .type = type_of(function, keys.type),
             .offset = keys.offset,
             .stride = keys.stride,
             .counted = counted(keys)},
            keys.count,
            plane};
}

void check_count(const gl::Device& device, const char* function, const KeyForm& form, std::size_t count) {
    if (const auto max = MergeTextures::max_keys(device, form); count > max)
        refuse(function, std::to_string(count) + " keys are more than the " + std::to_string(max) +
                             " that a texture of this driver holds");
}

void argsort_texture(qm_context& context, const char* function, const qm_texture* keys, std::uint32_t index,
                     Order order, const std::optional<Plane>& plane) {
    auto& device = context.device;
    const auto from = keys_in(device, function, "keys", keys, plane);
    const auto to = index_texture(device, index, from.count, function, "the index");
    if (keys->texture == index) refuse(function, "keys and index must be different textures");
    check_count(device, function, from.form(order, true), from.count);
    if (from.count == 0) return;
    const gl::PlainAccess write(device, to);
    context.caller().argsort(from, write.texture(), index_write(write, function, "the index"), order, {});
}

void sort_texture(qm_context& context, const char* function, const qm_texture* from, const qm_texture* to,
                  Order order) {
    auto& device = context.device;
    const auto source = keys_in(device, function, "from", from), target = keys_in(device, function, "to", to);
    check_pair(function, source, target);
    for (const auto* one : {&source, &target}) one->refuse_counter(function);
    check_count(device, function, source.form(order, false), source.count);
    if (source.count != 0) context.caller().sort(source, target, TexelChannels::EachByItself, order);
}

void argsort_buffer(qm_context& context, const char* function, const qm_buffer* keys, std::uint32_t index,
                    std::size_t offset, Order order, const std::optional<Plane>& plane) {
    auto& device = context.device;
    const auto from = keys_in(device, function, keys, plane);
    const KeysInBuffer to(device, function, "index", {.buffer = index, .type = KeyType::U32, .offset = offset},
                          from.count);
    check_pair(function, from, to);
    check_count(device, function, CallerSort::form(from, order, true), from.count);
    if (from.count != 0) context.caller().argsort(from, to.buffer, to.offset, order);
}

void sort_buffer(qm_context& context, const char* function, const qm_buffer* keys, Order order) {
    const auto from = keys_in(context.device, function, keys);
    check_count(context.device, function, CallerSort::form(from, order, false), from.count);
    if (from.count != 0) context.caller().sort(from, order);
}

// Makes the call on zeros.
void rehearse(qm_context& context, const char* function, qm_call what, KeyType type, std::size_t count) {
    auto& device = context.device;
    if (what == QM_ARGSORT_BUFFER || what == QM_SORT_BUFFER) {
        const KeyForm form{type, Order::Ascending, what == QM_ARGSORT_BUFFER};
        check_count(device, function, form, count);
        const std::vector<std::byte> zeros(count * form.key_bytes());
        const gl::Buffer keys(device, zeros);
        const KeysInBuffer from(device, function, "keys", {.buffer = keys.id(), .type = type}, count);
        if (what == QM_SORT_BUFFER) return static_cast<void>(context.caller().sort(from, Order::Ascending));
        const std::vector<std::byte> indices(count * sizeof(std::uint32_t));
        const gl::Buffer index(device, indices);
        const KeysInBuffer to(device, function, "index", {.buffer = index.id(), .type = KeyType::U32}, count);
        context.caller().argsort(from, to.buffer, 0, Order::Ascending);
        return;
    }
    if (type != KeyType::F32 && type != KeyType::I32 && type != KeyType::U32)
        refuse(function, "keys in textures are QM_F32, QM_I32 or QM_U32");
    const auto format = texel_format(type);
    constexpr std::size_t max_width = 4096;
    const auto width = std::min(count, max_width), height = (count + max_width - 1) / max_width;
    const auto size = [](std::size_t texels) { return static_cast<int>(texels); };
    check_count(device, function, {type, Order::Ascending, true}, count);
    const gl::Texture keys(device, format, size(width), size(height));
    qm_texture from = QM_KEYS_IN_TEXTURE(keys.id());
    from.count = count;
    if (what == QM_SORT_TEXTURE) return sort_texture(context, function, &from, &from, Order::Ascending);
    if (what == QM_PERCENTILES_TEXTURE) {
        const gl::Texture output(device, format, 1, 1);
        const double half = 0.5;
        context.caller().percentiles(function, keys_in(device, function, "keys", &from), {&half, 1}, output.id());
        return;
    }
    const gl::Texture index(device, gl::Format::R32ui, size(width), size(height));
    argsort_texture(context, function, &from, index.id(), Order::Ascending, {});
}

qm_status argsort(qm_context* context, const char* name, const qm_texture* keys, const float* const* plane,
                  std::uint32_t index, qm_order order) noexcept {
    return call(context, name,
                [&] { argsort_texture(*context, name, keys, index, order_of(name, order), plane_of(name, plane)); });
}

qm_status argsort(qm_context* context, const char* name, const qm_buffer* keys, const float* const* plane,
                  std::uint32_t index, std::size_t offset, qm_order order) noexcept {
    return call(context, name, [&] {
        argsort_buffer(*context, name, keys, index, offset, order_of(name, order), plane_of(name, plane));
    });
}

}  // namespace

const char* qm_message() {
    return last_message.data();
}

qm_status qm_adopt(qm_load load, void* user, qm_context** context) {
    return call([&] {
        if (!load || !context) refuse("qm_adopt", "load and context must not be NULL");
        *context = nullptr;
        *context = new qm_context({load, user, "qm_adopt"});
    });
}

void qm_free(qm_context* context) {
    delete context;
}

qm_status qm_argsort_texture(qm_context* context, const qm_texture* keys, uint32_t index, qm_order order) {
    return argsort(context, "qm_argsort_texture", keys, nullptr, index, order);
}

qm_status qm_sort_texture(qm_context* context, const qm_texture* from, const qm_texture* to, qm_order order) {
    constexpr const char* name = "qm_sort_texture";
    return call(context, name, [&] { sort_texture(*context, name, from, to, order_of(name, order)); });
}

qm_status qm_percentiles_texture(qm_context* context, const qm_texture* keys, const double* phi, size_t count,
                                 uint32_t output) {
    constexpr const char* name = "qm_percentiles_texture";
    return call(context, name, [&] {
        const auto from = keys_in(context->device, name, "keys", keys);
        if (!phi) refuse(name, "phi is NULL");
        check_count(context->device, name, from.form(Order::Ascending, true), from.count);
        context->caller().percentiles(name, from, {phi, count}, output);
    });
}

qm_status qm_argsort_buffer(qm_context* context, const qm_buffer* keys, uint32_t index, size_t index_offset,
                            qm_order order) {
    return argsort(context, "qm_argsort_buffer", keys, nullptr, index, index_offset, order);
}

qm_status qm_argsort_texture_by_plane(qm_context* context, const qm_texture* positions, const float* plane,
                                      uint32_t index, qm_order order) {
    return argsort(context, "qm_argsort_texture_by_plane", positions, &plane, index, order);
}

qm_status qm_argsort_buffer_by_plane(qm_context* context, const qm_buffer* positions, const float* plane,
                                     uint32_t index, size_t index_offset, qm_order order) {
    return argsort(context, "qm_argsort_buffer_by_plane", positions, &plane, index, index_offset, order);
}

qm_status qm_sort_buffer(qm_context* context, const qm_buffer* keys, qm_order order) {
    constexpr const char* name = "qm_sort_buffer";
    return call(context, name, [&] { sort_buffer(*context, name, keys, order_of(name, order)); });
}

qm_status qm_prepare(qm_context* context, qm_call what, qm_type type, size_t count, size_t programs, int* ready) {
    constexpr const char* name = "qm_prepare";
    return call(context, name, [&] {
        if (!ready) refuse(name, "ready is NULL");
        if (what < QM_ARGSORT_TEXTURE || what > QM_SORT_BUFFER)
            refuse(name, "there is no call " + std::to_string(what));
        if (count == 0) refuse(name, "a call on no keys needs nothing; give the number of keys");
        const auto keys = type_of(name, type);
        *ready = gl::rehearse(context->device, programs, [&] { rehearse(*context, name, what, keys, count); }) ? 1 : 0;
    });
}

qm_status qm_save_programs(qm_context* context, void* bytes, size_t capacity, size_t* size) {
    constexpr const char* name = "qm_save_programs";
    return call(context, name, [&] {
        if (!size) refuse(name, "size is NULL");
        const auto saved = context->device.programs.save(context->device);
        *size = saved.size();
        if (!bytes) return;
        if (capacity < saved.size())
            refuse(name, "the programs have " + std::to_string(saved.size()) + " bytes, and there is room for " +
                             std::to_string(capacity));
        std::copy(saved.begin(), saved.end(), static_cast<std::byte*>(bytes));
    });
}

qm_status qm_load_programs(qm_context* context, const void* bytes, size_t size, size_t* loaded) {
    constexpr const char* name = "qm_load_programs";
    return call(context, name, [&] {
        if (!bytes || !loaded) refuse(name, "bytes and loaded must not be NULL");
        *loaded = context->device.programs.take(context->device, {static_cast<const std::byte*>(bytes), size}, name);
    });
}
