#include "input/matrix_file.hpp"

#include <fmt/core.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

#include "files/files.hpp"
#include "input/enum_words.hpp"
#include "input/looks_like.hpp"
#include "input/npy.hpp"
#include "input/text.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::input {

namespace {

constexpr std::string_view banner = "%%MatrixMarket";

std::vector<std::string_view> words_of(std::string_view line) {
    constexpr std::string_view blanks = " \t\r";
    std::vector<std::string_view> words;
    for (auto begin = line.find_first_not_of(blanks); begin != std::string_view::npos;
         begin = line.find_first_not_of(blanks)) {
        line.remove_prefix(begin);
        const auto end = std::min(line.find_first_of(blanks), line.size());
        words.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
    return words;
}

std::string in_lower_case(std::string_view word) {
    std::string lower(word);
    for (auto& letter : lower) {
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    return lower;
}

// Whether converting it to a float loses more than digits.
bool vanishes(double value) {
    return std::abs(value) < static_cast<double>(std::numeric_limits<float>::min()) &&
           static_cast<double>(static_cast<float>(value)) != value;
}
constexpr Fault below_floats = "is below the range of 32-bit floats";

template <class Value>
class MatrixMarket {
  public:
    MatrixMarket(const std::string& path, std::string_view text, std::uint64_t max_elements)
        : lines_(path), path_(path), text_(text), max_elements_(max_elements) {}

    MatrixOf<Value> read() {
        read_banner();
        read_size();
        made_.values.assign(made_.rows * made_.columns, 0);
        if (dense_) {
            for (std::size_t j = 0; j < made_.columns; ++j) {
                for (auto i = symmetry_ == Symmetry::General ? 0
                              : symmetry_ == Symmetry::Skew  ? j + 1
                                                             : j;
                     i < made_.rows; ++i)
                    add(i, j, number(only_word()));
            }
        } else {
            for (std::uint64_t entry = 0; entry < entries_; ++entry) read_entry();
        }
        if (next_line()) fail(line_, "is more than the size line says");
        return std::move(made_);
    }

  private:
    enum class Symmetry { General, Symmetric, Skew };

    [[noreturn]] void fail(std::string_view word, Fault why) const {
        throw InvalidArgument(lines_.about(lines_.number(), word, why));
    }
    // Skips comments and blank lines. False at the end.
    bool next_line() {
        while (!text_.empty()) {
            line_ = lines_.next(text_);
            if (!line_.empty() && line_.front() != '%') return true;
        }
        return false;
    }
    std::vector<std::string_view> next_words() {
        if (!next_line()) throw InvalidArgument(fmt::format("{}: ends before the end of its matrix", path_));
        return words_of(line_);
    }
    std::string_view only_word() {
        const auto words = next_words();
        if (words.size() != 1) fail(line_, "is not a line of one number");
        return words[0];
    }
    void read_banner() {
        line_ = lines_.next(text_);
        const auto words = words_of(line_);
        if (words.size() != 5 || in_lower_case(words[1]) != "matrix")
            fail(line_, "is not '%%MatrixMarket matrix FORM FIELD SYMMETRY'");
        const auto form = in_lower_case(words[2]), field = in_lower_case(words[3]), symmetry = in_lower_case(words[4]);
        if (form != "array" && form != "coordinate") fail(words[2], "must be 'array' or 'coordinate'");
        if (field != "real" && field != "integer" && field != "pattern")
            fail(words[3], "must be 'real', 'integer' or 'pattern'");
        if (symmetry != "general" && symmetry != "symmetric" && symmetry != "skew-symmetric")
            fail(words[4], "must be 'general', 'symmetric' or 'skew-symmetric'");
        dense_ = form == "array";
        pattern_ = field == "pattern";
        if (dense_ && pattern_) fail(words[3], "does not go with 'array'");
        symmetry_ = symmetry == "general"     ? Symmetry::General
                    : symmetry == "symmetric" ? Symmetry::Symmetric
                                              : Symmetry::Skew;
    }
    void read_size() {
        const auto words = next_words();
        if (words.size() != (dense_ ? 2U : 3U))
            fail(line_, dense_ ? "is not 'ROWS COLUMNS'" : "is not 'ROWS COLUMNS ENTRIES'");
        const auto rows = whole(words[0]), columns = whole(words[1]);
        if (columns > max_elements_ / std::max<std::uint64_t>(rows, 1)) fail(line_, "is more than 2^30 elements");
        if (symmetry_ != Symmetry::General && rows != columns)
            fail(line_, "is not square, which symmetric matrices are");
        made_.rows = rows;
        made_.columns = columns;
        if (!dense_) entries_ = whole(words[2]);
    }
    void read_entry() {
        const auto words = next_words();
        if (words.size() != (pattern_ ? 2U : 3U))
            fail(line_, pattern_ ? "is not 'ROW COLUMN'" : "is not 'ROW COLUMN VALUE'");
        const auto i = whole(words[0]), j = whole(words[1]);
        if (i < 1 || i > made_.rows) fail(words[0], "is not a row of the matrix");
        if (j < 1 || j > made_.columns) fail(words[1], "is not a column of the matrix");
        if (symmetry_ == Symmetry::Skew && i == j)
            fail(line_, "is on the diagonal, which skew-symmetric matrices leave out");
        add(i - 1, j - 1, pattern_ ? Value{1} : number(words[2]));
    }
    [[nodiscard]] std::size_t whole(std::string_view word) const {
        std::uint64_t value = 0;
        if (const auto* const fault = parse_number(word, value)) fail(word, fault);
        return value;
    }
    [[nodiscard]] Value number(std::string_view word) const {
        Value value = 0;
        if (const auto* const fault = parse_number(word, value)) fail(word, fault);
        if (!std::isfinite(value)) {
            fail(word, sizeof(Value) == sizeof(float) ? "is not finite as a 32-bit float" : "is not finite");
        }
        if constexpr (std::is_same_v<Value, float>) {
            double exact = 0;
            if (parse_number(word, exact) == nullptr && vanishes(exact)) fail(word, below_floats);
        }
        return value;
    }
    // Entries at the same position are added, as other readers of the format do.
    void add(std::size_t i, std::size_t j, Value value) {
        auto& sum = made_.values[i * made_.columns + j];
        sum += value;
        if (!std::isfinite(sum)) fail(line_, "makes the sum of the entries at its position infinite");
        if (symmetry_ != Symmetry::General && i != j)
            made_.values[j * made_.columns + i] += symmetry_ == Symmetry::Skew ? -value : value;
    }

    Lines lines_;
    std::string path_;
    std::string_view text_, line_;
    bool dense_ = false, pattern_ = false;
    Symmetry symmetry_ = Symmetry::General;
    std::uint64_t max_elements_, entries_ = 0;
    MatrixOf<Value> made_;
};

template <class Value>
MatrixOf<Value> raw_matrix(const std::string& name, std::span<const Value> values, std::optional<std::size_t> columns) {
    const auto side = static_cast<std::size_t>(std::llround(std::sqrt(static_cast<double>(values.size()))));
    if (!columns && side * side != values.size())
        throw InvalidArgument(
            fmt::format("{} has {} values, which do not make a square matrix; say --columns N", name, values.size()));
    MatrixOf<Value> made;
    made.columns = columns.value_or(side);
    made.rows = made.columns == 0 ? 0 : values.size() / made.columns;
    if (made.rows * made.columns != values.size())
        throw InvalidArgument(
            fmt::format("{} has {} values, which do not make rows of {}", name, values.size(), made.columns));
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i]))
            throw InvalidArgument(fmt::format("{}: value {} (row {}, column {}, from 1) is {}", name, i + 1,
                                              i / made.columns + 1, i % made.columns + 1,
                                              std::isnan(values[i]) ? "a NaN" : "infinite"));
    }
    made.values.assign(values.begin(), values.end());
    return made;
}

// Raw floats or doubles as the values of a matrix.
template <class Value, class Raw>
std::vector<Value> values_of(const std::string& name, std::span<const Raw> all) {
    std::vector<Value> values;
    values.reserve(all.size());
    for (const auto value : all) {
        if (std::is_same_v<Value, float> && vanishes(static_cast<double>(value)))
            throw InvalidArgument(
                fmt::format("{}: value {}, {}, {}", name, values.size() + 1, format_number(value), below_floats));
        values.push_back(static_cast<Value>(value));
    }
    return values;
}

// The values of a raw file, which has floats or doubles.
template <class Value>
std::vector<Value> raw_values(const std::string& path, const std::string& name, const files::Bytes& bytes) {
    const std::size_t size = is_raw_double(path) ? sizeof(double) : sizeof(float);
    if (bytes.size() % size != 0)
        throw InvalidArgument(
            fmt::format("{} has {} bytes, which is not a multiple of {}, the size of a {}-bit float; text must begin "
                        "with {}",
                        name, bytes.size(), size, size * 8, banner));
    return is_raw_double(path) ? values_of<Value, double>(name, bytes.as<const double>())
                               : values_of<Value, float>(name, bytes.as<const float>());
}

// NumPy's file says the shape. One of a single row of values is cut like a raw file.
template <class Value>
MatrixOf<Value> npy_matrix(const std::string& name, const NpyHeader& header, const files::Bytes& bytes,
                           std::optional<std::size_t> columns) {
    const bool is_double = header.type == KeyType::F64;
    if (!is_double && header.type != KeyType::F32)
        throw InvalidArgument(
            fmt::format("{} has {} values; a matrix has 32- or 64-bit floats, such as a.astype('<f4')", name,
                        word_for(type_words, header.type)));
    const auto raw = bytes.span().subspan(header.bytes);
    const auto count = header.values();
    if (raw.size() != count * (is_double ? sizeof(double) : sizeof(float)))
        throw InvalidArgument(
            fmt::format("{} has {} bytes of values, but its header says {} values", name, raw.size(), count));
    const auto values = [&]<class Raw>(Raw /*type*/) {
        std::vector<Raw> copied(count);  // aligned
        if (count > 0) std::memcpy(copied.data(), raw.data(), raw.size());
        return values_of<Value, Raw>(name, copied);
    };
    auto all = is_double ? values(double{}) : values(float{});
    if (header.shape.size() > 1) {  // several matrices stand one below the other
        if (columns.value_or(header.shape.back()) != header.shape.back())
            throw InvalidArgument(fmt::format("{} has {} columns, not {}", name, header.shape.back(), *columns));
        columns = header.shape.back();
    }
    return raw_matrix<Value>(name, std::span<const Value>(all), columns);
}

// Text and compressed files are not raw values: their bytes would make a matrix that looks right and means nothing.
void refuse_other_files(const std::string& path, const std::string& name, std::string_view content) {
    constexpr std::size_t head = 4096;
    const auto look = look_at(content.substr(0, head), content.size() > head ? Head::AndMore : Head::IsAll);
    const auto values = fmt::format("not like raw {}-bit floats", is_raw_double(path) ? 64 : 32);
    if (look.kind == Look::Kind::Format)
        throw InvalidArgument(fmt::format("{} looks like {}, {}{}{}", name, look.format.name, values,
                                          look.format.to_values.empty() ? "" : "; ", look.format.to_values));
    if (look.kind == Look::Kind::Text)
        throw InvalidArgument(fmt::format("{} looks like text, {}; text must be Matrix Market, which begins with {}",
                                          name, values, banner));
}

}  // namespace

template <class Value>
MatrixOf<Value> read_matrix(const std::string& path, std::optional<std::size_t> columns, std::uint64_t max_elements) {
    const auto bytes = files::read_file(path);
    const std::string_view text(bytes.as<const char>().data(), bytes.size());
    const auto name = files::input_name(path);
    if (text.starts_with(banner)) return MatrixMarket<Value>(path, text, max_elements).read();
    if (is_matrix_market(path)) throw InvalidArgument(fmt::format("{} does not begin with {}", name, banner));
    if (const auto header = npy_header(text.substr(0, max_npy_header), name))
        return npy_matrix<Value>(name, *header, bytes, columns);
    refuse_other_files(path, name, text);
    return raw_matrix<Value>(name, raw_values<Value>(path, name, bytes), columns);
}
template MatrixOf<float> read_matrix(const std::string&, std::optional<std::size_t>, std::uint64_t);
template MatrixOf<double> read_matrix(const std::string&, std::optional<std::size_t>, std::uint64_t);

bool is_matrix_market(const std::string& path) {
    return path.ends_with(".mtx");
}

bool is_raw_double(const std::string& path) {
    return path.ends_with(".f64");
}

namespace {

template <class Value>
std::string matrix_market(const MatrixOf<Value>& matrix) {
    auto text = fmt::format("{} matrix array real general\n{} {}\n", banner, matrix.rows, matrix.columns);
    for (std::size_t j = 0; j < matrix.columns; ++j) {
        for (std::size_t i = 0; i < matrix.rows; ++i)
            text += format_number(matrix.values[i * matrix.columns + j]) + "\n";
    }
    return text;
}

template <class Raw, class Value>
std::string raw(const std::vector<Value>& values) {
    std::string bytes;
    bytes.reserve(values.size() * sizeof(Raw));
    for (const auto value : values) {
        const auto one = std::bit_cast<std::array<char, sizeof(Raw)>>(static_cast<Raw>(value));
        bytes.append(one.data(), one.size());
    }
    return bytes;
}

}  // namespace

std::vector<float> to_floats(const std::string& name, std::span<const double> values, const std::string& advice) {
    std::vector<float> rounded(values.begin(), values.end());
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!vanishes(values[i]) && std::isfinite(rounded[i]) == std::isfinite(values[i])) continue;
        throw InvalidArgument(fmt::format("{}: value {}, {}, is beyond the range of 32-bit floats; {}", name, i + 1,
                                          format_number(values[i]), advice));
    }
    return rounded;
}

template <class Value>
std::string matrix_content(const std::string& path, const MatrixOf<Value>& matrix) {
    if (is_matrix_market(path)) return matrix_market(matrix);
    if (is_npy_name(path)) {
        const std::array<std::uint64_t, 2> shape{matrix.rows, matrix.columns};
        const auto type = std::is_same_v<Value, float> ? KeyType::F32 : KeyType::F64;
        return made_npy_header(type, shape) + raw<Value>(matrix.values);
    }
    if (is_raw_double(path)) return raw<double>(matrix.values);
    if constexpr (std::is_same_v<Value, float>) {
        return raw<float>(matrix.values);
    } else {
        return raw<float>(to_floats(files::input_name(path), matrix.values, "end the name in .f64 or .mtx"));
    }
}
template std::string matrix_content(const std::string&, const MatrixOf<float>&);
template std::string matrix_content(const std::string&, const MatrixOf<double>&);

}  // namespace quadmill::detail::input
