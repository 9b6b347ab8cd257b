// Sorts for JavaScript (web/package/index.js). A module serves one context, which gl.js gives it. Calls that would wait
// for the GPU are two calls, and JavaScript polls between them.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cpu/sort.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "gl/rehearsal.hpp"
#include "gl/web/page.hpp"
#include "quadmill/context.hpp"
#include "quadmill/sort.hpp"
#include "sort/caller_argsort.hpp"
#include "sort/caller_keys.hpp"
#include "sort/caller_sort.hpp"
#include "sort/merge/merge_sort.hpp"
#include "web/call.hpp"

namespace quadmill::detail::web {

namespace {

// Made in this order, and destroyed in the reverse one.
struct Page {
    Context context = Context::adopt(gl::page_function);
    gl::Device& device = *Access::of(context);
    cpu::Workers workers{1};
    struct Sorts {
        Sorts(gl::Device& device, cpu::Workers& workers)
            : merge(device, workers), slot(device), caller(device, merge) {}
        sort::MergeSort merge;
        sort::MergeSlot slot;  // of the sort in flight
        sort::CallerSort caller;
    };
    // Pre: a session is open.
    Sorts& sorts() { return sorts_ ? *sorts_ : sorts_.emplace(device, workers); }

  private:
    std::optional<Sorts> sorts_;
};
std::unique_ptr<Page> page;

// Types by number: 1 f32, 2 f64, 3 i32, 4 u32, 5 i64, 6 u64.
Keys keys_of(int type, void* at, std::size_t count) {
    switch (type) {
        case 1:
            return std::span(static_cast<float*>(at), count);
        case 2:
            return std::span(static_cast<double*>(at), count);
        case 3:
            return std::span(static_cast<std::int32_t*>(at), count);
        case 4:
            return std::span(static_cast<std::uint32_t*>(at), count);
        case 5:
            return std::span(static_cast<std::int64_t*>(at), count);
        case 6:
            return std::span(static_cast<std::uint64_t*>(at), count);
        default:
            throw InvalidArgument("keys are f32, f64, i32, u32, i64 or u64");
    }
}

Order order_of(int descending) {
    return descending != 0 ? Order::Descending : Order::Ascending;
}

}  // namespace

QUADMILL_EXPORT(qm_open) int qm_open() {
    return call([] { page = std::make_unique<Page>(); });
}
QUADMILL_EXPORT(qm_close) void qm_close() {
    page.reset();
}

namespace {

void argsort_texture(std::uint32_t keys, std::uint32_t index, std::size_t count, Order order) {
    constexpr const char* function = "argsortTexture";
    auto& device = page->device;
    const sort::KeysInTexture from(device, function, "the texture of keys", {.texture = keys, .count = count}, 0);
    const auto to = sort::index_texture(device, index, count, function, "the texture of the index");
    if (count == 0) return;
    const gl::PlainAccess write(device, to);
    page->sorts().caller.argsort(from, write.texture(), sort::IndexWrite::Drawn, order, {});
}

bool in_flight = false;                    // whether qm_sort_finish() is still to come
std::span<std::uint32_t> index_in_flight;  // of an argsort; empty during a sort

void begin_sort(Keys keys, std::span<std::uint32_t> index, Order order) {
    auto& [merge, slot, caller] = page->sorts();
    index_in_flight = index;
    if (!index.empty()) return merge.begin_argsort(keys, order);
    sort::Segments segments(sort::KeyForm{keys.type(), order}.pair_keys());
    segments.add(0, keys.size());
    merge.begin(slot, keys, {keys}, order, std::make_shared<const sort::Segments>(std::move(segments)));
}

}  // namespace

// Writes the order of keys in a texture to a texture of R32UI. Does not wait.
QUADMILL_EXPORT(qm_argsort_texture)
int qm_argsort_texture(std::uint32_t keys, std::uint32_t index, std::size_t count, int descending) {
    return call([&] {
        const gl::Scope scope(page->device, "argsortTexture");
        argsort_texture(keys, index, count, order_of(descending));
        scope.check();
    });
}

// Begins a sort of keys in memory, in place; or, if `index` is not 0, writes their order there and leaves the keys. Pre:
// no sort is in flight; at least one key.
QUADMILL_EXPORT(qm_sort_begin)
int qm_sort_begin(int type, void* keys, std::size_t count, std::uint32_t* index, int descending) {
    return call([&] {
        const gl::Scope scope(page->device, "sort");
        begin_sort(keys_of(type, keys, count), {index, index ? count : 0}, order_of(descending));
        scope.check();
        in_flight = true;
    });
}
// Whether qm_sort_finish() will not wait.
QUADMILL_EXPORT(qm_sort_ready) int qm_sort_ready() {
    auto& [merge, slot, caller] = page->sorts();
    const bool ready = index_in_flight.empty() ? merge.is_ready(slot) : merge.is_argsort_ready();
    return ready ? 1 : 0;
}
QUADMILL_EXPORT(qm_sort_finish) int qm_sort_finish() {
    return call([&] {
        const gl::Scope scope(page->device, "sort");
        auto& [merge, slot, caller] = page->sorts();
        in_flight = false;
        if (index_in_flight.empty()) {
            merge.finish(slot);
        } else {
            merge.finish_argsort(index_in_flight);
        }
        scope.check();
    });
}

// The same on the CPU. Takes no context.
QUADMILL_EXPORT(qm_sort_on_cpu)
int qm_sort_on_cpu(int type, void* keys, std::size_t count, std::uint32_t* index, int descending) {
    return call([&] {
        const auto all = keys_of(type, keys, count);
        if (!index) return cpu::sort_keys(all, order_of(descending));
        cpu::sort_places(all, all, {index, count}, order_of(descending), 1);
    });
}

// The largest number of keys of that type that a sort takes, with or without an index.
QUADMILL_EXPORT(qm_max_keys) double qm_max_keys(int type, int indexed) {
    const sort::KeyForm form{keys_of(type, nullptr, 0).type(), Order::Ascending, indexed != 0};
    return static_cast<double>(sort::MergeTextures::max_keys(page->device, form));
}

namespace {
bool is_prepared = false;

void rehearse(bool texture, KeyType type, std::size_t count, bool indexed) {
    auto& device = page->device;
    if (!texture) {
        std::vector<std::uint32_t> index(indexed ? count : 0);
        cpu::visit_key_type(type, [&]<class Key>(const Key*) {
            std::vector<Key> keys(count);
            begin_sort(keys, index, Order::Ascending);
        });
        return;
    }
    const auto format = sort::texel_format(type);
    const int width = 4096, height = static_cast<int>((count + 4095) / 4096);
    const gl::Texture keys(device, format, width, height), index(device, gl::Format::R32ui, width, height);
    argsort_texture(keys.id(), index.id(), count, Order::Ascending);
}
}  // namespace

// Compiles up to `programs` programs that a call for `count` keys needs: of a texture, or in memory. Afterwards
// qm_prepared() says whether all are there. Compiles none while a sort in memory is in flight. Pre: at least one key.
QUADMILL_EXPORT(qm_prepare)
int qm_prepare(int texture, int type, std::size_t count, int indexed, std::size_t programs) {
    return call([&] {
        is_prepared = false;
        if (in_flight && texture == 0) return;
        const gl::Scope scope(page->device, "prepare");
        const auto keys = keys_of(type, nullptr, 0).type();
        is_prepared = gl::rehearse(page->device, programs, [&] { rehearse(texture != 0, keys, count, indexed != 0); });
        scope.check();
    });
}
QUADMILL_EXPORT(qm_prepared) int qm_prepared() {
    return is_prepared ? 1 : 0;
}

}  // namespace quadmill::detail::web
