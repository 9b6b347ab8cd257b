#include "input/stream_input.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "input/enum_words.hpp"
#include "input/npy.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::input {

StreamInput::StreamInput(const Share& share)
    : file_(share.path), begin_(share.begin), left_(share.end - share.begin), to_end_(share.end == Share{}.end) {
    if (share.begin > 0 && lseek(file_.descriptor(), static_cast<off_t>(share.begin), SEEK_SET) < 0)
        throw IoError("cannot read " + file_.name() + " from byte " + std::to_string(share.begin) + " on", share.path,
                      share.begin);
    // Makes the pipe as large as a read, which is twice as fast. For anything but a pipe this fails, which is harmless.
    static_cast<void>(fcntl(file_.descriptor(), F_SETPIPE_SZ, static_cast<int>(capacity)));
}

bool StreamInput::more() {
    if (ended_) return false;
    interrupt_.wait_for(file_.descriptor());
    if (interrupt_.came()) return false;
    try {
        const auto got = file_.read({memory_.get() + size_, std::min<std::uint64_t>(capacity - size_, left_)});
        size_ += got;
        left_ -= got;
        ended_ = got == 0;
    } catch (const IoError& error) {
        throw BadInput(error.what());
    }
    return !ended_;
}

void StreamInput::drop(std::size_t used) {
    std::copy(memory_.get() + used, memory_.get() + size_, memory_.get());
    size_ -= used;
}

void refuse_other_forms(const Look& look, Form form, const std::string& name, const std::string& what) {
    if (look.kind == Look::Kind::Format) {
        const auto& [format, to_values, to_text] = look.format;
        const std::string advice = to_values.empty() ? "" : "; " + std::string(to_values);
        if (form == Form::Text)
            throw InvalidArgument(fmt::format("{} looks like {}, not like lines of numbers{}", name, format, advice));
        throw InvalidArgument(fmt::format("{} looks like {}, not like raw values, each a {}{}; --raw reads it as it is",
                                          name, format, what, advice));
    }
    if (look.kind == Look::Kind::Text && form != Form::Text)
        throw InvalidArgument(
            fmt::format("{} looks like text, not like raw values, each a {}; should it be --text? "
                        "(--raw reads it as it is)",
                        name, what));
}

void refuse_other_forms(StreamInput& input, Form form, const std::string& what) {
    if (form == Form::Raw) return;
    // Text is read line by line and must not wait until there is enough of it to be recognized as text.
    const auto look_at_head = form == Form::Text ? look_for_format : look_at;
    auto look = look_at_head(input.text(), Head::AndMore);
    while (look.kind == Look::Kind::Unsure) {
        const auto head = input.more() ? Head::AndMore : Head::IsAll;
        look = look_at_head(input.text(), head);
    }
    if (form == Form::Unsaid && is_npy(input.text())) return;
    refuse_other_forms(look, form, input.file().name(), what);
}

std::optional<std::uint64_t> take_npy_header(StreamInput& input, KeyType type, std::size_t values) {
    if (!is_npy(input.text())) return {};
    while (input.text().size() < max_npy_header && input.more()) continue;
    const auto name = input.file().name();
    const auto header = *npy_header(input.text().substr(0, max_npy_header), name);
    if (header.type != type)
        throw InvalidArgument(fmt::format("{} has {} values; say --type {}", name, word_for(type_words, header.type),
                                          word_for(type_words, header.type)));
    if (values > 1 && (header.shape.size() != 2 || header.shape.back() != values))
        throw InvalidArgument(
            fmt::format("{} has not {} columns, but each record takes {} values", name, values, values));
    input.drop(header.bytes);
    return header.values() / values;
}

void check_npy_records(const StreamInput& input, std::uint64_t promised, std::uint64_t found) {
    if (promised == found || !input.is_rest_of_file()) return;
    throw BadInput(fmt::format("{} has {} values, but its header says {}", input.file().name(), found, promised));
}

void refuse_rest(const StreamInput& input, std::size_t value_bytes, const std::string& what) {
    throw BadInput(fmt::format("{} ends with {} of the {} bytes of a {}; is --type right, or should it be --text?",
                               input.file().name(), input.bytes().size(), value_bytes, what));
}

void refuse_record(const StreamInput& input, std::uint64_t number, Fault why) {
    throw BadInput(fmt::format("{}, pair {}: {}", input.file().name(), number, why));
}

}  // namespace quadmill::detail::input
