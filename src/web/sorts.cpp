// Sorts for JavaScript (web/package/index.js). A module serves one context, which gl.js gives it. Calls that would wait
// for the GPU are two calls, and JavaScript polls between them.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "cpu/sort.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "gl/rehearsal.hpp"
#include "gl/web/page.hpp"
#include "pass/banked.hpp"
#include "pass/layout.hpp"
#include "pass/programs.hpp"
#include "pass/target.hpp"
#include "pass/transfer.hpp"
#include "quadmill/context.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"
#include "sort/caller_argsort.hpp"
#include "sort/caller_keys.hpp"
#include "sort/caller_sort.hpp"
#include "sort/merge/merge_sort.hpp"
#include "sort_shaders.hpp"
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
            : merge(device, workers), caller(device, merge), programs(device) {
            merge.plan() = sort::MergePlan(false);  // tests on software renderers draw what a GPU draws
        }
        sort::MergeSort merge;
        sort::CallerSort caller;
        // For the sort of an array. `words` has the result, one word per texel; `sorted` passes when it is there.
        pass::Programs programs;
        pass::Uploader uploader;
        pass::Target words;
        gl::Fence sorted;
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

KeyType key_type(int type) {
    return keys_of(type, nullptr, 0).type();
}

Order order_of(int descending) {
    return descending != 0 ? Order::Descending : Order::Ascending;
}

}  // namespace

namespace {
// WebGL2 promises four render targets. Eight need fewer levels of merges, if framebuffers have that many bits.
void take_all_targets(gl::Device& device) {
    if (device.info.max_draw_buffers < pass::Banked::max_layers) return;
    const gl::Scope scope(device, "open");
    try {
        const pass::Target target(device, gl::Format::Rgba32ui, 1, 1, pass::Banked::max_layers);
        device.features.color_targets = pass::Banked::max_layers;
    } catch (const GlError&) {  // only four
    }
}
}  // namespace

QUADMILL_EXPORT(qm_open) int qm_open() {
    return call([] {
        page = std::make_unique<Page>();
        take_all_targets(page->device);
    });
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

// The sort of an array between its two halves.
struct InFlight {
    const gl::Texture* words = nullptr;  // sorted keys, or their order
    std::size_t count = 0;               // of words
} in_flight;

// Uploads the array's keys, and padding after them.
void upload(const sort::KeyForm& form, std::size_t bytes, const pass::Target& to, std::size_t rows) {
    const auto row_bytes = static_cast<std::size_t>(to.texture.width()) * gl::info(to.texture.format()).bytes;
    const auto whole = std::min(bytes / row_bytes, rows);
    gl::upload_array(page->device, to.texture, static_cast<int>(whole));
    if (whole == rows) return;
    page->sorts().uploader.send(page->device, to.texture, {whole, rows - whole}, page->workers,
                                [&](std::size_t row, std::size_t /*rows*/, std::span<std::byte> memory) {
                                    const auto begin = row * row_bytes,
                                               keys = std::min(bytes - std::min(begin, bytes), memory.size());
                                    gl::copy_from_array(begin, memory.first(keys));
                                    const auto padding = form.padding();
                                    for (auto at = keys; at < memory.size(); at += form.key_bytes())
                                        std::memcpy(memory.data() + at, &padding, form.key_bytes());
                                });
}

// The words of sorted keys, one per texel.
const gl::Texture& words_of(const sort::MergeSort::SortedKeys& sorted, std::size_t count) {
    auto& [merge, caller, programs, uploader, words, fence] = page->sorts();
    const auto shape = pass::FourArray::of_blocks(0, count);
    if (!words.is(gl::Format::R32ui, shape.width, shape.height))
        words = pass::Target(page->device, gl::Format::R32ui, shape.width, shape.height);
    pass::fill(page->device, "words of keys",
               programs.get("sort/texels_of_keys.frag", shaders::sort_texels_of_keys_frag,
                            sorted.prelude + "#define CHANNELS 1\n"),
               words, {sorted.keys}, gl::Uniforms(sorted.uniforms).set("target_width", shape.width));
    return words.texture;
}

enum class Source { Array, None };  // None: only compiles

// `wanted`: how many indices of the first keys in order to give; 0: the keys instead.
void begin_sort(KeyType type, std::size_t count, std::size_t wanted, Order order, Source source) {
    auto& sorts = page->sorts();
    const bool indexed = wanted > 0;
    const sort::KeyForm form{type, order, indexed};
    const auto bytes = count * form.key_bytes();
    const auto sorted = sorts.merge.sort_drawn(form, count, [&](const pass::Target& to, std::size_t rows) {
        if (source == Source::Array) upload(form, bytes, to, rows);
    });
    const auto words = indexed ? wanted : bytes / 4;
    in_flight = {indexed ? &sorts.merge.index_of(sorted, wanted) : &words_of(sorted, words), words};
    sorts.sorted = gl::Fence(page->device);
    gl::flush(page->device);
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

// Begins a sort of the keys in JavaScript's array; if `wanted` is not 0, qm_sort_finish() gives the indices of that many
// first keys instead. Pre: no sort is in flight; at least one key, and no fewer than wanted.
QUADMILL_EXPORT(qm_sort_begin)
int qm_sort_begin(int type, std::size_t count, std::size_t wanted, int descending) {
    return call([&] {
        const gl::Scope scope(page->device, "sort");
        begin_sort(key_type(type), count, wanted, order_of(descending), Source::Array);
        scope.check();
    });
}
// Whether qm_sort_finish() will not wait for passes.
QUADMILL_EXPORT(qm_sort_ready) int qm_sort_ready() {
    return page->sorts().sorted.passed() ? 1 : 0;
}
// Writes the sorted keys or their order to JavaScript's array.
QUADMILL_EXPORT(qm_sort_finish) int qm_sort_finish() {
    return call([&] {
        const gl::Scope scope(page->device, "sort");
        gl::read_into_array(page->device, *in_flight.words, in_flight.count);
        scope.check();
    });
}

// Sorts keys in memory on the CPU, in place; or, if `index` is not 0, writes the indices of the first `wanted` keys in
// order there. Takes no context.
QUADMILL_EXPORT(qm_sort_on_cpu)
int qm_sort_on_cpu(int type, void* keys, std::size_t count, std::uint32_t* index, std::size_t wanted, int descending) {
    return call([&] {
        const auto all = keys_of(type, keys, count);
        if (!index) return cpu::sort_keys(all, order_of(descending));
        cpu::sort_places(all, keys_of(type, nullptr, 0), {index, wanted}, order_of(descending), 1);
    });
}

// The largest number of keys of that type that a sort takes, with or without an index.
QUADMILL_EXPORT(qm_max_keys) double qm_max_keys(int type, int indexed) {
    const sort::KeyForm form{key_type(type), Order::Ascending, indexed != 0};
    const auto side = static_cast<std::size_t>(page->device.info.max_texture_size);
    const auto words = indexed != 0 ? 1 : form.key_bytes() / 4;  // of a key in the result
    return static_cast<double>(std::min(sort::MergeTextures::max_keys(page->device, form), side * side / words));
}

namespace {
bool is_prepared = false;

void rehearse(bool texture, KeyType type, std::size_t count, bool indexed) {
    auto& device = page->device;
    if (!texture) return begin_sort(type, count, indexed ? count : 0, Order::Ascending, Source::None);
    const auto format = sort::texel_format(type);
    const int width = 4096, height = static_cast<int>((count + 4095) / 4096);
    const gl::Texture keys(device, format, width, height), index(device, gl::Format::R32ui, width, height);
    argsort_texture(keys.id(), index.id(), count, Order::Ascending);
}
}  // namespace

// Compiles up to `programs` programs that a call for `count` keys needs: of a texture, or in memory. Afterwards
// qm_prepared() says whether all are there. Pre: at least one key; no sort is in flight.
QUADMILL_EXPORT(qm_prepare)
int qm_prepare(int texture, int type, std::size_t count, int indexed, std::size_t programs) {
    return call([&] {
        is_prepared = false;
        const gl::Scope scope(page->device, "prepare");
        is_prepared =
            gl::rehearse(page->device, programs, [&] { rehearse(texture != 0, key_type(type), count, indexed != 0); });
        scope.check();
    });
}
QUADMILL_EXPORT(qm_prepared) int qm_prepared() {
    return is_prepared ? 1 : 0;
}

}  // namespace quadmill::detail::web
