#include "sort/key_form.hpp"

#include "cpu/keys.hpp"
#include "pass/banked.hpp"

namespace quadmill::detail::sort {

std::size_t KeyForm::key_bytes() const {
    return cpu::bytes_of(type);
}

std::size_t KeyForm::pair_keys() const {
    return std::size_t{2} * 4 * pass::Banked::max_layers / static_cast<std::size_t>(words());
}

gl::Format KeyForm::source_format() const {
    return key_bytes() == 2 ? gl::Format::Rgba16ui : gl::Format::Rgba32ui;
}

gl::Format KeyForm::format() const {
    return indexed ? gl::Format::Rgba32ui : source_format();
}

std::uint64_t KeyForm::padding() const {
    return cpu::visit_key_type(type, [this]<class Key>(const Key*) {
        return static_cast<std::uint64_t>(cpu::TotalOrder<Key>(order).decode(cpu::TotalOrder<Key>::ones));
    });
}

gl::Uniforms order_uniforms(const KeyForm& form) {
    return cpu::visit_key_type(form.type, [&]<class Key>(const Key*) -> gl::Uniforms {
        using Rule = cpu::TotalOrder<Key>;
        const auto high = [](auto bits) {
            return static_cast<unsigned>(sizeof bits == 8 ? static_cast<std::uint64_t>(bits) >> 32U : bits);
        };
        unsigned sign = 0;
        if constexpr (cpu::is_float<Key>) sign = high(cpu::KeyBits<Key>::sign);
        const Rule rule(form.order);
        return {{"flip_low", static_cast<unsigned>(rule.flip)},
                {"flip_high", high(rule.flip)},
                {"sign_bit", sign},
                {"ones", high(Rule::ones)},
                {"nans", high(Rule::negative_nans)}};
    });
}

gl::Uniforms number_uniforms() {
    return {{"flip_low", 0U}, {"flip_high", 0U}, {"sign_bit", 0U}, {"ones", 0U}, {"nans", 0U}};
}

}  // namespace quadmill::detail::sort
