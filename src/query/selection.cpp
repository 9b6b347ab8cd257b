#include "quadmill/error.hpp"
#include "query/processor_state.hpp"

namespace quadmill {

using namespace detail::query;  // NOLINT(google-build-using-namespace): this file is the front door of the room
namespace gl = detail::gl;

Selection::Selection(std::unique_ptr<State> state) : state_(std::move(state)) {}
Selection::Selection(Selection&&) noexcept = default;
Selection& Selection::operator=(Selection&&) noexcept = default;
Selection::~Selection() = default;

BitsPtr Selection::State::bits_for(const Opened& other) const {
    const auto on_gpu = [](QueryEngine engine) { return engine != QueryEngine::Cpu; };
    if (on_gpu(other.engine) == on_gpu(opened.engine)) return bits();
    return other.columns->bits_of(opened.columns->words(*bits()));
}

static Selection combined(const char* function, BoolOp op, const Selection& a, const Selection& b) {
    const auto& x = detail::Access::of(a);
    const auto& y = detail::Access::of(b);
    if (x.processor != y.processor)
        throw InvalidArgument(std::string(function) + ": both selections must belong to the same processor");
    if (x.opened.table->rows != y.opened.table->rows)
        throw InvalidArgument(std::string(function) + ": both selections must have the same number of rows, not " +
                              std::to_string(x.opened.table->rows) + " and " + std::to_string(y.opened.table->rows));
    return x.processor->within(function, [&] {
        auto bits = x.opened.columns->combine(op, *x.bits(), *y.bits_for(x.opened));
        return detail::Access::make<Selection>(
            std::make_unique<Selection::State>(Selection::State{x.processor, x.opened, std::move(bits), {}}));
    });
}

Selection Selection::operator&(const Selection& other) const {
    return combined("Selection::operator&", BoolOp::And, *this, other);
}

Selection Selection::operator|(const Selection& other) const {
    return combined("Selection::operator|", BoolOp::Or, *this, other);
}

Selection Selection::operator~() const {
    return state_->processor->within("Selection::operator~", [&] {
        auto& columns = *state_->opened.columns;
        auto bits = columns.combine(BoolOp::AndNot, *columns.leaf(Always{true}), *state_->bits());
        return Selection(std::make_unique<State>(State{state_->processor, state_->opened, std::move(bits), {}}));
    });
}

std::uint64_t Selection::count() const {
    return state_->processor->within("Selection::count", [&] {
        const auto [columns, bits] = state_->rows();
        return columns.count(bits);
    });
}

std::vector<std::uint64_t> Selection::rows() const {
    return state_->processor->within("Selection::rows", [&] {
        const auto [columns, bits] = state_->rows();
        return columns.rows(bits);
    });
}

std::vector<std::uint32_t> Selection::bits() const {
    return state_->processor->within("Selection::bits", [&] { return state_->opened.columns->words(*state_->bits()); });
}

// Passes the selection's words on the GPU to `write`.
template <class Write>
static void write_for_host(const char* function, const Selection::State& selection, const Write& write) {
    auto& processor = *selection.processor;
    if (!processor.context) {
        throw InvalidArgument(std::string(function) +
                              ": this processor has no context; make it with the one that the object is of");
    }
    processor.within(function, [&] {
        auto columns = selection.opened.columns;
        auto bits = selection.bits();
        if (selection.opened.engine == QueryEngine::Cpu) {
            const auto words = columns->words(*bits);
            columns = processor.engines.get(QueryEngine::Bitmap).open(selection.opened.table, {});
            bits = columns->bits_of(words);
        }
        const auto* const textures = columns->textures();
        if (!textures) {
            throw InvalidArgument(std::string(function) + ": " + std::to_string(selection.opened.table->rows) +
                                  " rows are more than a texture holds; select parts of the table");
        }
        auto& device = *detail::Access::of(*processor.context);
        if (!processor.host_rows) processor.host_rows.emplace(device);
        write(device, *processor.host_rows, SelectedWords{BitmapColumns::texture(*bits), textures->shape()});
        return 0;
    });
}

void Selection::write_bits(std::uint32_t texture) const {
    constexpr const char* function = "Selection::write_bits";
    write_for_host(function, *state_, [&](gl::Device& device, HostRows& rows, const SelectedWords& words) {
        constexpr const char* what = "the texture of bits";
        const auto to = gl::host_texture(device, texture, {gl::Format::R32ui}, function, what);
        const auto texels = product(to.width(), to.height());
        if (texels < words.shape.words_in_use()) {
            throw InvalidArgument(std::string(function) + ": " + std::to_string(words.shape.rows) + " rows take " +
                                  std::to_string(words.shape.words_in_use()) + " texels, and the texture has " +
                                  std::to_string(texels));
        }
        const gl::PlainAccess plain(device, to);
        rows.write_bits(words, plain.texture(), detail::sort::index_write(plain, function, what));
    });
}

void Selection::write_count(std::uint32_t buffer, std::size_t offset) const {
    constexpr const char* function = "Selection::write_count";
    write_for_host(function, *state_, [&](gl::Device& device, HostRows& rows, const SelectedWords& words) {
        rows.write_count(words, buffer_for(device, function, "the buffer of the count", buffer, offset, 1), offset);
    });
}

void Selection::write_rows(std::uint32_t index, std::size_t index_offset, std::uint32_t count,
                           std::size_t count_offset) const {
    constexpr const char* function = "Selection::write_rows";
    write_for_host(function, *state_, [&](gl::Device& device, HostRows& rows, const SelectedWords& words) {
        const auto list = buffer_for(device, function, "the buffer of rows", index, index_offset, words.shape.rows);
        const auto total = buffer_for(device, function, "the buffer of the count", count, count_offset, 1);
        if (index == count && count_offset + 4 > index_offset && count_offset < index_offset + 4 * words.shape.rows)
            throw InvalidArgument(std::string(function) + ": the rows would lie over their count; give another offset");
        rows.write_rows(words, list, index_offset, total, count_offset);
    });
}

}  // namespace quadmill
