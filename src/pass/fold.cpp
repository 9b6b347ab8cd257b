#include "pass/fold.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "pass_shaders.hpp"

namespace quadmill::detail::pass {

namespace {

constexpr int at_once = 16;
constexpr int usual_width = 512;  // for textures whose rows have no meaning

int folded(int count) {
    return (count + at_once - 1) / at_once;
}

const char* name_of(FoldBy by) {
    static constexpr std::array names{"SUMS", "LEAST", "MOST", "COUNTS", "FIRST_LEAST", "FIRST_MOST"};
    return names.at(static_cast<std::size_t>(by));
}

int texels(const gl::Texture& texture) {
    return texture.width() * texture.height();
}

}  // namespace

FoldRule::FoldRule(FoldBy by) : FoldRule(name_of(by), shaders::pass_fold_rules_glsl) {}

FoldRule::FoldRule(const char* name, const std::string& all)
    : glsl(std::string("#define ") + name + "\n" + all + shaders::pass_fold_glsl) {}

Fold::Fold(gl::Device& device, gl::Format format, int width, int height, Along along) : along_(along) {
    targets_.emplace_back(device, format, width, height);
    if (along == Along::Rows) {
        for (int left = width; left > 1;) targets_.emplace_back(device, format, left = folded(left), height);
    } else if (along == Along::Columns) {
        for (int left = height; left > 1;) targets_.emplace_back(device, format, width, left = folded(left));
    } else {
        for (int left = width * height; left > 1;) {
            left = folded(left);
            const int columns = std::min(left, usual_width);
            targets_.emplace_back(device, format, columns, (left + columns - 1) / columns);
        }
    }
}

const gl::Texture& Fold::operator()(gl::Device& device, Programs& programs, const FoldRule& rule, gl::Note note) const {
    const bool floats = source().texture.format() == gl::Format::Rgba32f;
    const char* along = along_ == Along::Rows ? "#define ROWS\n" : along_ == Along::Columns ? "#define COLUMNS\n" : "";
    const auto& program = programs.get("pass/fold.frag", shaders::pass_fold_frag,
                                       std::string(floats ? "#define FLOATS\n" : "") + along + rule.glsl);
    const auto& first = source().texture;
    int count = along_ == Along::Rows ? first.width() : along_ == Along::Columns ? first.height() : texels(first);
    for (std::size_t i = 1; i < targets_.size(); ++i) {
        const auto &from = targets_[i - 1].texture, &to = targets_[i].texture;
        gl::Uniforms uniforms{{"count", count}};
        if (along_ == Along::All) uniforms.set("source_width", from.width()).set("target_width", to.width());
        fill(device, "fold", program, targets_[i], {&from}, std::move(uniforms), note);
        count = folded(count);
    }
    return targets_.back().texture;
}

std::size_t Fold::bytes() const {
    std::size_t sum = 0;
    for (const auto& target : targets_) sum += target.texture.bytes();
    return sum;
}

}  // namespace quadmill::detail::pass
