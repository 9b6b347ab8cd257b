#include "query/gpu/bitmap_engine.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "quadmill/error.hpp"
#include "quadmill_shaders.hpp"
#include "query/gpu/key_lines.hpp"
#include "query/gpu/parted_columns.hpp"
#include "query/table/key.hpp"

namespace quadmill::detail::query {

namespace {

constexpr int usual_words = 512;  // of a row of a selection's texture
constexpr int words_a_partial = 4, fold = 16;
// Lists to be member of: so few are compared one by one; others are a table of bits, if they lie within so many.
constexpr std::size_t few_keys = 16;
constexpr Key most_table_bits = Key{1} << 25U;

std::size_t product(int a, int b) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

bool wide(ColumnType type) {
    return key_bits(type) == 64;
}

int texels_a_word(ColumnType type) {
    return wide(type) ? 16 : 8;
}

std::uint32_t low(Key key) {
    return static_cast<std::uint32_t>(key);
}
std::uint32_t high(Key key) {
    return static_cast<std::uint32_t>(key >> 32U);
}

// As values.glsl counts types.
int number_of(ColumnType type) {
    switch (type) {
        case ColumnType::F32:
            return 0;
        case ColumnType::F64:
            return 1;
        case ColumnType::I32:
            return 2;
        case ColumnType::I64:
            return 4;
        case ColumnType::U32:
        case ColumnType::Text:
            break;
    }
    return 3;
}

std::string define(const char* name, int value) {
    return std::string("#define ") + name + " " + std::to_string(value) + "\n";
}

glm::uvec2 words_of(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return {low(bits), high(bits)};
}

// The relations for which a comparison holds: 1 less, 2 equal, 4 greater, 8 neither.
std::uint32_t wanted(Comparison op, bool negate) {
    const auto relations = [op]() -> std::uint32_t {
        switch (op) {
            case Comparison::Less:
                return 1;
            case Comparison::LessOrEqual:
                return 3;
            case Comparison::Equal:
                return 2;
            case Comparison::NotEqual:
                return 13;
            case Comparison::GreaterOrEqual:
                return 6;
            case Comparison::Greater:
                break;
        }
        return 4;
    }();
    return negate ? ~relations & 15U : relations;
}

}  // namespace

std::string keys_prelude(ColumnType type, int words) {
    return define("WORDS", words) + (wide(type) ? "#define WIDE\n" : "") + shaders::query_keys_glsl;
}

Key most_number(ColumnType type) {
    if (type == ColumnType::F32) return KeyOf<float>::key(std::numeric_limits<float>::infinity());
    if (type == ColumnType::F64) return KeyOf<double>::key(std::numeric_limits<double>::infinity());
    return ~Key{0};
}

gl::Uniform key_uniform(std::string name, ColumnType type, Key key) {
    if (wide(type)) return {std::move(name), glm::uvec2(low(key), high(key))};
    return {std::move(name), low(key)};
}

void remove_bias(Sum& sum, ColumnType type, std::uint64_t n) {
    if (type == ColumnType::U32 || type == ColumnType::Text) return;
    const auto shift = static_cast<unsigned>(key_bits(type) - 1);
    const auto low = n << shift;
    sum.high -= static_cast<std::int64_t>(n >> (64U - shift)) + (sum.low < low ? 1 : 0);
    sum.low -= low;
}

std::size_t Shape::most_rows(int max_texture_size, int texels_a_word) {
    constexpr std::size_t most = std::size_t{1} << 30U;  // shaders count rows in 32 bits
    int words = usual_words;
    while (2 * words * texels_a_word <= max_texture_size) words *= 2;
    return std::min(product(words * static_cast<int>(rows_a_word), max_texture_size), most);
}

Shape Shape::of(std::size_t rows, int max_texture_size) {
    const auto height_of = [rows](int words) {
        const auto in_row = product(words, static_cast<int>(rows_a_word));
        return std::max<std::size_t>((rows + in_row - 1) / in_row, 1);
    };
    const auto most = static_cast<std::size_t>(max_texture_size);
    int words = usual_words;
    while (height_of(words) > most) words *= 2;
    return {words, static_cast<int>(height_of(words)), rows};
}

BitmapEngine::BitmapEngine(gl::Device& device, unsigned threads, std::size_t most_rows)
    : BitmapEngine(device, threads, most_rows, texels_a_word(ColumnType::F64)) {}

BitmapEngine::BitmapEngine(gl::Device& device, unsigned threads, std::size_t most_rows, int widest)
    : device_(device),
      workers_(threads),
      programs_(device),
      most_rows_(
          std::min(most_rows, Shape::most_rows(std::min({device.info.max_texture_size, device.info.max_viewport_width,
                                                         device.info.max_viewport_height}),
                                               widest))) {}

std::shared_ptr<BitmapEngine::Pool> BitmapEngine::pool(std::size_t rows) {
    auto& pool = pools_[rows];
    if (!pool) {
        pool = std::make_shared<Pool>();
        pool->shape = Shape::of(rows, device_.info.max_texture_size);
    }
    pool->used = ++clock_;
    return pool;
}

std::size_t BitmapEngine::column_bytes(std::size_t rows, ColumnType type) const {
    const auto shape = Shape::of(std::min(rows, most_rows_), device_.info.max_texture_size);
    const auto parts = std::max<std::size_t>((rows + most_rows_ - 1) / most_rows_, 1);
    return parts * product(shape.words * texels_a_word(type), shape.height) * 16;
}

std::size_t BitmapEngine::pool_bytes(std::size_t rows) const {
    return rows / 8;
}

std::size_t BitmapEngine::held() const {
    std::size_t bytes = 0;
    for (const auto& [key, known] : columns_) bytes += known.column->keys.bytes();
    for (const auto& [rows, pool] : pools_) {
        bytes += pool_bytes(rows);
        for (const auto& texture : pool->keys->kept()) bytes += texture.bytes();
    }
    return bytes;
}

void BitmapEngine::forget_dead_columns() {
    std::erase_if(columns_, [](const auto& entry) { return entry.second.data.expired(); });
}

// Of those that nothing uses now, some stay for the next table of their size.
void BitmapEngine::forget_old_pools() {
    constexpr std::size_t kept = 2;
    std::vector<std::pair<std::uint64_t, std::size_t>> unused;
    for (const auto& [rows, pool] : pools_) {
        if (pool.use_count() == 1) unused.emplace_back(pool->used, rows);
    }
    std::ranges::sort(unused);
    for (std::size_t i = 0; i + kept < unused.size(); ++i) pools_.erase(unused[i].second);
}

std::size_t BitmapEngine::bytes(const TableData& table, std::span<const std::size_t> columns) const {
    const auto part = std::min(table.rows, most_rows_);
    std::size_t bytes = pools_.contains(part) ? 0 : pool_bytes(part);
    for (const auto i : columns) {
        const auto& data = table.columns[i];
        const auto known = columns_.lower_bound({data.get(), 0});
        if (known == columns_.end() || known->first.first != data.get()) bytes += column_bytes(table.rows, data->type);
    }
    return bytes;
}

bool BitmapEngine::make_room(const TableData& table, std::span<const std::size_t> columns, std::size_t limit) {
    forget_dead_columns();
    const auto needed = bytes(table, columns);
    const auto fits = [&] { return held() + needed <= limit; };
    if (fits()) return true;
    const auto part = std::min(table.rows, most_rows_);
    std::erase_if(pools_, [part](const auto& entry) { return entry.first != part && entry.second.use_count() == 1; });
    const auto drop_spare = [&] {
        for (auto& [rows, pool] : pools_) pool->keys->clear();
    };
    drop_spare();
    std::vector<std::pair<std::uint64_t, std::pair<const ColumnData*, std::size_t>>> unused;
    for (const auto& [key, known] : columns_) {
        const auto asked = [&, data = key.first](std::size_t i) { return table.columns[i].get() == data; };
        if (known.column.use_count() == 1 && std::ranges::none_of(columns, asked)) unused.emplace_back(known.used, key);
    }
    std::ranges::sort(unused);
    for (std::size_t i = 0; i < unused.size() && !fits(); ++i) {
        columns_.erase(unused[i].second);
        drop_spare();
    }
    return fits();
}

void BitmapEngine::upload(const ColumnData& data, const RowPart& part, const Shape& shape, GpuColumn& to) {
    send_lines(device_, to.keys, static_cast<std::size_t>(shape.height), uploaders_, workers_,
               [&](std::size_t line, std::size_t /*lines*/, std::span<std::byte> memory) {
                   std::visit(
                       [&]<class V>(const V& values) {
                           if constexpr (!std::is_same_v<V, HostTextures>)
                               write_keys(std::span(values).subspan(part.first, part.rows), shape, line, memory);
                       },
                       data.values);
               });
}

std::vector<RowsTexture> textures_of(gl::Device& device, const ColumnData& column, std::size_t rows) {
    constexpr const char* function = "QueryProcessor";
    const auto what = "the texture of column '" + column.name + "'";
    const auto format = column.type == ColumnType::F32   ? gl::Format::R32f
                        : column.type == ColumnType::I32 ? gl::Format::R32i
                                                         : gl::Format::R32ui;
    std::vector<RowsTexture> all;
    std::size_t first = 0;
    for (const auto id : std::get<HostTextures>(column.values).ids) {
        if (first % Shape::rows_a_word != 0)
            throw InvalidArgument(std::string(function) + ": " + what +
                                  " before the next one must have a multiple of " + std::to_string(Shape::rows_a_word) +
                                  " texels, not " + std::to_string(all.back().texels()));
        all.push_back({gl::host_texture(device, id, {format}, function, what), first});
        first += all.back().texels();
    }
    if (first < rows)
        throw InvalidArgument(std::string(function) + ": " + what + " has " + std::to_string(first) +
                              " texels, fewer than the table's " + std::to_string(rows) + " rows");
    return all;
}

void BitmapEngine::copy_from_host(const ColumnData& column, const RowPart& part, const Shape& shape, GpuColumn& to) {
    const char* kind = column.type == ColumnType::F32   ? "#define SAMPLER sampler2D\n#define TEXEL vec4\n"
                       : column.type == ColumnType::I32 ? "#define SAMPLER isampler2D\n#define TEXEL ivec4\n"
                                                        : "#define SAMPLER usampler2D\n#define TEXEL uvec4\n";
    const auto& program =
        programs_.get("query/to_keys.frag", shaders::query_to_keys_frag,
                      kind + define("TYPE", number_of(column.type)) + keys_prelude(column.type, shape.words));
    const gl::Framebuffer target(device_, to.keys);
    const gl::QuadList quads(device_, {gl::rectangle(0, 0, to.keys.width(), to.keys.height())});
    for (const auto& source : textures_of(device_, column, part.first + part.rows)) {
        if (source.first >= part.first + part.rows || source.first + source.texels() <= part.first) continue;
        const gl::PlainAccess access(device_, source.texture);
        const auto offset = static_cast<std::ptrdiff_t>(part.first) - static_cast<std::ptrdiff_t>(source.first);
        draw(device_, {.name = "column from texture",
                       .program = &program,
                       .inputs = {&access.texture()},
                       .uniforms = {{"offset", static_cast<int>(offset)}, {"rows", static_cast<int>(shape.rows)}},
                       .target = &target,
                       .quads = &quads,
                       .first = 0,
                       .count = 1});
    }
}

std::shared_ptr<GpuColumn> BitmapEngine::column(Pool& pool, const RowPart& part,
                                                const std::shared_ptr<const ColumnData>& data) {
    const bool host = std::holds_alternative<HostTextures>(data->values);
    const std::pair key(data.get(), part.first);
    const auto known = columns_.find(key);
    if (known != columns_.end()) {
        known->second.used = clock_;
        if (host) copy_from_host(*data, part, pool.shape, *known->second.column);  // it may have changed
        return known->second.column;
    }
    auto made = std::make_shared<GpuColumn>(pool.keys);
    made->type = data->type;
    made->least = data->least;
    made->most = std::min(data->most, wide(data->type) ? ~Key{0} : Key{0xffffffffU});
    const auto width = pool.shape.words * texels_a_word(data->type);
    auto spare = pool.keys->take([&](const gl::Texture& texture) { return texture.width() == width; });
    made->keys = spare ? std::move(*spare) : gl::Texture(device_, gl::Format::Rgba32ui, width, pool.shape.height);
    if (host) {
        copy_from_host(*data, part, pool.shape, *made);
    } else {
        upload(*data, part, pool.shape, *made);
    }
    columns_[key] = {.data = data, .column = made, .used = clock_};
    return made;
}

std::shared_ptr<Columns> BitmapEngine::open(const std::shared_ptr<const TableData>& table,
                                            std::span<const std::size_t> columns) {
    forget_dead_columns();
    forget_old_pools();
    if (table->rows <= most_rows_) return open_part(*table, {0, table->rows}, columns);
    std::vector<PartedColumns::Part> parts;
    for (std::size_t first = 0; first < table->rows; first += most_rows_) {
        const RowPart part{first, std::min(most_rows_, table->rows - first)};
        parts.push_back({part.rows, open_part(*table, part, columns)});
    }
    return std::make_shared<PartedColumns>(std::move(parts));
}

std::span<const std::uint32_t> valid_words(const ColumnData& column, const RowPart& part) {
    const std::span all(column.valid);
    if (all.empty()) return all;
    return all.subspan(part.first / Shape::rows_a_word, (part.rows + Shape::rows_a_word - 1) / Shape::rows_a_word);
}

std::shared_ptr<Columns> BitmapEngine::open_part(const TableData& table, const RowPart& part,
                                                 std::span<const std::size_t> columns) {
    const auto pool = this->pool(part.rows);
    auto opened = std::make_shared<BitmapColumns>(*this, pool);
    for (const auto i : columns)
        opened->add(i, column(*pool, part, table.columns[i]), valid_words(*table.columns[i], part));
    return opened;
}

BitmapColumns::BitmapColumns(BitmapEngine& engine, std::shared_ptr<Pool> pool)
    : engine_(engine), device_(engine.device_), programs_(engine.programs_), held_(std::move(pool)), pool_(*held_) {
    if (!pool_.all) pool_.all = bits_of(std::vector<std::uint32_t>(pool_.shape.words_in_use(), ~std::uint32_t{0}));
}

void BitmapColumns::add(std::size_t column, std::shared_ptr<GpuColumn> gpu, std::span<const std::uint32_t> valid) {
    if (valid.empty()) {
        gpu->valid = pool_.all;
    } else if (!gpu->valid) {
        gpu->valid = bits_of(valid);
    }
    columns_[column] = std::move(gpu);
}

std::shared_ptr<GpuBits> BitmapColumns::make_bits() {
    auto target = pool_.bits->take([](const pass::Target& /*any*/) { return true; });
    if (!target) target.emplace(device_, gl::Format::R32ui, pool_.shape.words, pool_.shape.height);
    return std::make_shared<GpuBits>(std::move(*target), pool_.bits);
}

const GpuColumn& BitmapColumns::column(std::size_t i) const {
    return *columns_.at(i);
}

const gl::Texture& BitmapColumns::texture(const Bits& bits) {
    return dynamic_cast<const GpuBits&>(bits).target().texture;
}

void BitmapColumns::fill(const char* name, const gl::Program& program, const pass::Target& target,
                         std::initializer_list<const gl::Texture*> inputs, gl::Uniforms uniforms) {
    gl::Pass pass{.name = name,
                  .program = &program,
                  .uniforms = std::move(uniforms),
                  .target = &target.framebuffer,
                  .quads = &target.whole,
                  .first = 0,
                  .count = 1};
    std::ranges::copy(inputs, pass.inputs.begin());
    draw(device_, pass);
}

BitsPtr BitmapColumns::all_valid(std::span<const std::size_t> columns) {
    BitsPtr all = column(columns.front()).valid;
    for (const auto i : columns.subspan(1)) {
        const auto& valid = column(i).valid;
        if (valid != all)
            all = all == pool_.all ? valid : valid == pool_.all ? all : combine(BoolOp::And, *all, *valid);
    }
    return all;
}

BitsPtr BitmapColumns::member(const Member& leaf) {
    const auto& of = column(leaf.column);
    const auto end = std::ranges::upper_bound(leaf.keys, wide(of.type) ? ~Key{0} : Key{0xffffffffU});
    const std::span keys(leaf.keys.begin(), end);
    if (keys.empty()) return leaf.negate ? of.valid : combine(BoolOp::AndNot, *of.valid, *of.valid);
    if (keys.size() <= few_keys) return member_of_few(of, keys, leaf.negate);
    if (keys.back() - keys.front() < most_table_bits) return member_of_table(of, keys, leaf.negate);
    return member_of_list(of, keys, leaf.negate);
}

BitsPtr BitmapColumns::leaf_of(const GpuColumn& of, const char* name, const std::string& kind, bool negate,
                               const gl::Texture* list, gl::Uniforms uniforms) {
    const auto& program =
        programs_.get("query/leaf.frag", shaders::query_leaf_frag, kind + keys_prelude(of.type, pool_.shape.words));
    uniforms.set("negate", negate ? ~0U : 0U);
    auto bits = make_bits();
    fill(name, program, bits->target(), {&of.keys, &texture(*of.valid), list}, std::move(uniforms));
    return bits;
}

BitsPtr BitmapColumns::range(const Range& leaf) {
    const auto& of = column(leaf.column);
    return leaf_of(of, "range", "#define RANGE\n", leaf.negate, nullptr,
                   {key_uniform("low", of.type, leaf.low), key_uniform("span", of.type, leaf.high - leaf.low)});
}

BitsPtr BitmapColumns::member_of_few(const GpuColumn& of, std::span<const Key> keys, bool negate) {
    const auto places = std::bit_ceil(keys.size());  // few programs, not one for each number
    gl::Uniforms list;
    for (std::size_t i = 0; i < places; ++i)
        list.set({key_uniform("list[" + std::to_string(i) + "]", of.type, keys[std::min(i, keys.size() - 1)])});
    return leaf_of(of, "member of few", define("FEW", static_cast<int>(places)), negate, nullptr, std::move(list));
}

BitsPtr BitmapColumns::member_of_table(const GpuColumn& of, std::span<const Key> keys, bool negate) {
    const auto span = keys.back() - keys.front();
    std::vector<std::uint32_t> words(span / 32 + 1);
    for (const auto key : keys) {
        const auto bit = key - keys.front();
        words[bit / 32] |= std::uint32_t{1} << (bit % 32);
    }
    const auto table = send_list(gl::Format::R32ui, std::as_bytes(std::span(words)));
    return leaf_of(of, "member of table", "#define TABLE\n", negate, &table,
                   {key_uniform("low", of.type, keys.front()), key_uniform("span", of.type, span)});
}

BitsPtr BitmapColumns::member_of_list(const GpuColumn& of, std::span<const Key> keys, bool negate) {
    const auto list = send_list(gl::Format::Rg32ui, std::as_bytes(keys));
    return leaf_of(of, "member of list", "", negate, &list, {{"count", static_cast<int>(keys.size())}});
}

gl::Texture BitmapColumns::send_list(gl::Format format, std::span<const std::byte> bytes) {
    constexpr std::size_t width = 1024;
    const auto line = width * gl::info(format).bytes;
    gl::Texture list(device_, format, static_cast<int>(width), static_cast<int>((bytes.size() + line - 1) / line));
    engine_.uploaders_[0].send(device_, list, engine_.workers_, [&](std::size_t first, std::size_t, auto memory) {
        const auto from = bytes.subspan(std::min(first * line, bytes.size()));
        std::memcpy(memory.data(), from.data(), std::min(from.size(), memory.size()));
    });
    return list;
}

BitsPtr BitmapColumns::pair(const Pair& leaf) {
    const auto &a = column(leaf.a), &b = column(leaf.b);
    const char* as = leaf.as == Pair::As::Keys       ? "#define AS_KEYS\n"
                     : leaf.as == Pair::As::Integers ? "#define AS_INTEGERS\n"
                                                     : "#define AS_DOUBLES\n";
    const auto& program =
        programs_.get("query/pair.frag", shaders::query_pair_frag,
                      as + define("TYPE_A", number_of(a.type)) + define("TYPE_B", number_of(b.type)) +
                          define("WIDE_A", wide(a.type)) + define("WIDE_B", wide(b.type)) +
                          keys_prelude(ColumnType::F64, pool_.shape.words) + shaders::query_values_glsl);
    const auto valid = all_valid(std::array{leaf.a, leaf.b});
    const auto most = most_number(leaf.as == Pair::As::Keys ? a.type : ColumnType::F64);
    auto bits = make_bits();
    // The program may have no use for some.
    fill("pair", program, bits->target(), {&a.keys, &b.keys, &texture(*valid)},
         {{"wanted", wanted(leaf.op, leaf.negate)}, {"most_number", glm::uvec2{low(most), high(most)}}});
    return bits;
}

namespace {

// The sum of the terms in order, from 0.
Formula formula_of(const Linear& leaf) {
    using Kind = Arithmetic;
    Formula formula{.steps = {{.kind = Kind::Constant, .constant = 0.0}}, .op = leaf.op, .negate = leaf.negate};
    auto& steps = formula.steps;
    for (std::size_t i = 0; i < leaf.columns.size(); ++i) {
        steps.push_back({.kind = Kind::Constant, .constant = leaf.factors[i]});
        steps.push_back({.kind = Kind::Column, .column = leaf.columns[i]});
        steps.push_back({.kind = Kind::Multiply});
        steps.push_back({.kind = Kind::Add});
    }
    steps.push_back({.kind = Kind::Constant, .constant = leaf.constant});
    return formula;
}

// What formula.frag is made of: a variable a step.
class FormulaCode {
  public:
    explicit FormulaCode(const Formula& formula) : integers_(formula.as == Formula::As::Integers) {}

    // `value`: of the row.
    void column(const std::string& value) { push(value); }
    void constant(std::size_t number) {
        push((integers_ ? "constants[" : "packDouble2x32(constants[") + std::to_string(number) +
             (integers_ ? "]" : "])"));
    }
    void operation(Arithmetic kind) {
        const auto b = pop();
        if (kind == Arithmetic::Negate) return push(integers_ ? "negative(" + b + ")" : "-" + b);
        const auto a = pop();
        const char* name = kind == Arithmetic::Add ? "add(" : kind == Arithmetic::Subtract ? "subtract(" : "multiply(";
        const char* sign = kind == Arithmetic::Add ? " + " : kind == Arithmetic::Subtract ? " - " : " * ";
        push(integers_ ? name + a + ", " + b + ")" : a + sign + b);
    }
    [[nodiscard]] std::string finish() {
        const auto right = pop(), left = pop();
        return text_ + " return relation(" + left + ", " + right + ");";
    }

  private:
    void push(const std::string& value) {
        auto name = std::string(1, 'v').append(std::to_string(variables_++));
        text_.append(integers_ ? " uvec4 " : " precise double ").append(name).append(" = ").append(value).append(";");
        stack_.push_back(std::move(name));
    }
    std::string pop() {
        auto top = std::move(stack_.back());
        stack_.pop_back();
        return top;
    }

    bool integers_;
    std::size_t variables_ = 0;
    std::string text_;
    std::vector<std::string> stack_;
};

// As formula.frag has them.
glm::uvec4 words_of(Integer value) {
    const auto word = [value](int i) { return static_cast<unsigned>(value >> (32 * i)); };
    return {word(0), word(1), word(2), word(3)};
}

}  // namespace

BitsPtr BitmapColumns::formula(const Formula& leaf) {
    const auto columns = columns_of(leaf.steps);
    if (columns.size() > most_linear_columns_on_gpu || leaf.steps.size() > most_steps_on_gpu)
        throw InvalidArgument("query: engines of the GPU take linear conditions and sums of at most " +
                              std::to_string(most_linear_columns_on_gpu) + " columns, and " +
                              std::to_string(most_steps_on_gpu) +
                              " steps (names, constants and signs); use QueryEngine::Auto or Cpu");
    const bool integers = leaf.as == Formula::As::Integers;
    gl::Pass pass{.name = "formula"};
    std::string samplers = "\n#define SAMPLERS", fetch = "\n#define FETCH", keys = "\n#define KEYS",
                arguments = "\n#define ARGUMENTS";
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto unit = std::to_string(i + 1);
        const auto& of = column(columns[i]);
        pass.inputs.at(i + 1) = &of.keys;
        samplers += " uniform highp usampler2D texture" + unit + ";";
        fetch += " uvec2 keys" + unit + "[4]; four_keys(texture" + unit + ", " + std::to_string(wide(of.type)) +
                 ", at, group, keys" + unit + ");";
        keys += (i > 0 ? ", uvec2 key" : " uvec2 key") + unit;
        arguments += (i > 0 ? ", keys" : " keys") + unit + "[i]";
    }
    FormulaCode code(leaf);
    std::vector<Numeral> constants;
    for (const auto& step : leaf.steps) {
        if (step.kind == Arithmetic::Column) {
            const auto& of = column(step.column);
            const auto unit = std::ranges::find(columns, step.column) - columns.begin() + 1;
            code.column((integers ? "to_integer(key" : "to_double(key") + std::to_string(unit) +
                        (wide(of.type) ? ", " : ".x, ") + std::to_string(number_of(of.type)) + ")");
        } else if (step.kind == Arithmetic::Constant) {
            code.constant(constants.size());
            constants.push_back(step.constant);
        } else {
            code.operation(step.kind);
        }
    }
    const auto& program =
        programs_.get("query/formula.frag", shaders::query_formula_frag,
                      (integers ? "#define AS_INTEGERS\n" : "") +
                          define("CONSTANTS", static_cast<int>(std::max<std::size_t>(constants.size(), 1))) +
                          keys_prelude(ColumnType::F64, pool_.shape.words) + shaders::query_values_glsl + samplers +
                          fetch + keys + arguments + "\n#define COMPUTE" + code.finish() + "\n");
    const auto valid = all_valid(columns);
    auto bits = make_bits();
    pass.program = &program;
    pass.inputs[0] = &texture(*valid);
    pass.uniforms = {{"wanted", wanted(leaf.op, leaf.negate)}};
    for (std::size_t i = 0; i < constants.size(); ++i) {
        const auto name = "constants[" + std::to_string(i) + "]";
        if (integers) {
            pass.uniforms.set(name, words_of(std::get<Integer>(constants[i])));
        } else {
            pass.uniforms.set(name, words_of(nearest_double(constants[i])));
        }
    }
    pass.target = &bits->target().framebuffer;
    pass.quads = &bits->target().whole;
    draw(device_, pass);
    return bits;
}

BitsPtr BitmapColumns::leaf(const Leaf& leaf) {
    return std::visit(
        [this]<class L>(const L& known) -> BitsPtr {
            if constexpr (std::is_same_v<L, Range>) {
                return range(known);
            } else if constexpr (std::is_same_v<L, Member>) {
                return member(known);
            } else if constexpr (std::is_same_v<L, Pair>) {
                return pair(known);
            } else if constexpr (std::is_same_v<L, Linear>) {
                return formula(formula_of(known));
            } else if constexpr (std::is_same_v<L, Formula>) {
                return formula(known);
            } else if constexpr (std::is_same_v<L, IsNull>) {
                const auto& valid = column(known.column).valid;
                return known.negate ? valid : combine(BoolOp::AndNot, *pool_.all, *valid);
            } else {
                return known.value ? pool_.all : combine(BoolOp::AndNot, *pool_.all, *pool_.all);
            }
        },
        leaf);
}

BitsPtr BitmapColumns::combine(BoolOp op, const Bits& a, const Bits& b) {
    const auto& program = programs_.get("query/combine.frag", shaders::query_combine_frag);
    auto bits = make_bits();
    fill("combine", program, bits->target(), {&texture(a), &texture(b)}, {{"op", static_cast<int>(op)}});
    return bits;
}

std::vector<pass::Target>& BitmapColumns::partials(int width) {
    auto& all = pool_.partial[width];
    if (!all.empty()) return all;
    all.emplace_back(device_, gl::Format::Rgba32ui, width, pool_.shape.height);
    for (auto count = product(width, pool_.shape.height); count > 1;) {
        count = (count + fold - 1) / fold;
        const auto columns = std::min<std::size_t>(count, usual_words);
        all.emplace_back(device_, gl::Format::Rgba32ui, static_cast<int>(columns),
                         static_cast<int>((count + columns - 1) / columns));
    }
    return all;
}

const gl::Texture& BitmapColumns::reduce(std::vector<pass::Target>& partials, const char* fold_name) {
    const auto& program = programs_.get("query/reduce.frag", shaders::query_reduce_frag,
                                        std::string("#define ") + fold_name + "\n" + shaders::query_fold_glsl);
    auto count = product(partials[0].texture.width(), partials[0].texture.height());
    for (std::size_t i = 1; i < partials.size(); ++i) {
        fill("reduce", program, partials[i], {&partials[i - 1].texture},
             {{"count", static_cast<int>(count)},
              {"source_width", partials[i - 1].texture.width()},
              {"target_width", partials[i].texture.width()}});
        count = (count + fold - 1) / fold;
    }
    return partials.back().texture;
}

const gl::Program& BitmapColumns::partial_program(const GpuColumn& column, const char* fold_name) {
    return programs_.get("query/partial.frag", shaders::query_partial_frag,
                         std::string("#define ") + fold_name + "\n" + define("TYPE", number_of(column.type)) +
                             keys_prelude(column.type, pool_.shape.words) + shaders::query_values_glsl +
                             shaders::query_fold_glsl);
}

BitmapColumns::Texel BitmapColumns::read(const gl::Texture& texel) {
    engine_.readback_.request(device_, texel);
    Texel words{};
    std::memcpy(words.data(), engine_.readback_.wait().data(), sizeof words);
    return words;
}

std::uint64_t BitmapColumns::count(const Bits& rows) {
    auto& targets = partials(pool_.shape.words / fold);
    fill("count",
         programs_.get("query/count_bits.frag", shaders::query_count_bits_frag, define("WORDS", pool_.shape.words)),
         targets[0], {&texture(rows)});
    return read(reduce(targets, "COUNTS"))[0];
}

std::pair<Key, Key> BitmapColumns::extremes(std::size_t i, const Bits& rows) {
    const auto& of = column(i);
    auto& targets = partials(pool_.shape.words / words_a_partial);
    fill("extremes", partial_program(of, "EXTREMES"), targets[0], {&of.keys, &texture(rows)});
    const auto found = read(reduce(targets, "EXTREMES"));
    return {found[0] | Key{found[1]} << 32U, found[2] | Key{found[3]} << 32U};
}

Sum BitmapColumns::sum(std::size_t i, const Bits& rows) {
    const auto& of = column(i);
    const bool floats = of.type == ColumnType::F32 || of.type == ColumnType::F64;
    const char* fold_name = floats ? "DOUBLES" : "INTEGERS";
    auto& targets = partials(pool_.shape.words / words_a_partial);
    fill("sum", partial_program(of, fold_name), targets[0], {&of.keys, &texture(rows)});
    const auto found = read(reduce(targets, fold_name));
    const auto first = found[0] | std::uint64_t{found[1]} << 32U;
    if (floats) return {.value = std::bit_cast<double>(first)};
    Sum sum{.high = static_cast<std::int64_t>(found[2] | std::uint64_t{found[3]} << 32U), .low = first};
    remove_bias(sum, of.type, count(rows));
    return sum;
}

Key BitmapColumns::kth(std::size_t i, std::uint64_t k, const Bits& rows) {
    const auto& of = column(i);
    const auto differ = std::bit_width(of.least ^ of.most);
    if (differ == 0) return of.least;
    // Two bits a round; what all keys begin with is known.
    const auto& partial = partial_program(of, "COUNTS");
    const auto& choose = programs_.get("query/choose_digit.frag", shaders::query_choose_digit_frag);
    auto& targets = partials(pool_.shape.words / words_a_partial);
    std::array<pass::Target, 2> state{pass::Target(device_, gl::Format::Rgba32ui, 1, 1),
                                      pass::Target(device_, gl::Format::Rgba32ui, 1, 1)};
    int shift = (static_cast<int>(differ) - 1) & ~1;
    const auto prefix = shift + 2 >= 64 ? Key{0} : of.least >> (shift + 2) << (shift + 2);
    engine_.uploaders_[0].send(device_, state[0].texture, engine_.workers_, [&](std::size_t, std::size_t, auto memory) {
        const Texel start{low(prefix), high(prefix), static_cast<std::uint32_t>(k), 0};
        std::memcpy(memory.data(), start.data(), sizeof start);
    });
    for (; shift >= 0; shift -= 2) {
        fill("count digits", partial, targets[0], {&of.keys, &texture(rows), &state[0].texture}, {{"shift", shift}});
        fill("choose digit", choose, state[1], {&reduce(targets, "COUNTS"), &state[0].texture}, {{"shift", shift}});
        std::swap(state[0], state[1]);
    }
    const auto found = read(state[0].texture);
    return found[0] | Key{found[1]} << 32U;
}

std::vector<std::uint32_t> BitmapColumns::words(const Bits& rows) {
    std::vector<std::uint32_t> out(pool_.shape.words_in_use());
    engine_.readback_.request(device_, texture(rows));
    engine_.readback_.copy_to(std::as_writable_bytes(std::span(out)), engine_.workers_);
    return out;
}

std::vector<std::uint64_t> BitmapColumns::rows(const Bits& rows) {
    std::vector<std::uint64_t> out;
    const auto all = words(rows);
    for (std::size_t w = 0; w < all.size(); ++w) {
        for (auto word = all[w]; word != 0; word &= word - 1)
            out.push_back(w * Shape::rows_a_word + static_cast<std::size_t>(std::countr_zero(word)));
    }
    return out;
}

BitsPtr BitmapColumns::bits_of(std::span<const std::uint32_t> words) {
    auto bits = make_bits();
    const auto& to = bits->target().texture;
    const auto in_line = static_cast<std::size_t>(pool_.shape.words);
    engine_.uploaders_[0].send(
        device_, to, engine_.workers_, [&](std::size_t first, std::size_t, std::span<std::byte> memory) {
            const auto from = std::as_bytes(words.subspan(std::min(first * in_line, words.size())));
            const auto n = std::min(from.size(), memory.size());
            std::copy_n(from.begin(), n, memory.begin());
            std::memset(memory.data() + n, 0, memory.size() - n);
            // Of the last word, rows that there are.
            const auto used = pool_.shape.rows % Shape::rows_a_word, last = pool_.shape.rows / Shape::rows_a_word;
            if (used == 0 || last < first * in_line || last >= first * in_line + memory.size() / sizeof(std::uint32_t))
                return;
            std::uint32_t word = 0;
            auto* at = memory.data() + (last - first * in_line) * sizeof word;
            std::memcpy(&word, at, sizeof word);
            word &= (1U << used) - 1;
            std::memcpy(at, &word, sizeof word);
        });
    return bits;
}

}  // namespace quadmill::detail::query
