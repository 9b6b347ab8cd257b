#include "input/unpack.hpp"

#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <new>

#include "input/looks_like.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::input {

namespace {

using namespace std::string_view_literals;

std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

// Result of a call to either library: bytes read of the compressed data, and bytes written.
struct Progress {
    std::size_t used = 0, made = 0;
};

class Unpacker {
  public:
    explicit Unpacker(const std::string& path) : path_(path) {}
    Unpacker(const Unpacker&) = delete;
    Unpacker& operator=(const Unpacker&) = delete;
    virtual ~Unpacker() = default;

    // Decompresses some of `packed` into the memory. After a fault, the first call that writes nothing throws.
    Progress unpack(std::span<const std::byte> packed, std::span<std::byte> memory) {
        Progress all;
        while (fault_.empty() && all.used < packed.size() && all.made < memory.size()) {
            const auto [used, made] = step(packed.subspan(all.used), memory.subspan(all.made));
            all.used += used;
            all.made += made;
            packed_ += used;
            if (used == 0 && made == 0) break;
        }
        // Even without input there may be output left.
        if (fault_.empty() && all.made == 0 && all.used == packed.size()) all.made = step({}, memory).made;
        if (!fault_.empty() && all.made == 0) fail(fault_);
        return all;
    }
    // Call it at the end of the compressed bytes.
    void finish() const {
        if (!between_) fail("is truncated: it ends within the compressed data");
    }

  protected:
    [[nodiscard]] virtual Progress step(std::span<const std::byte> packed, std::span<std::byte> memory) = 0;
    void fault(const std::string& what) { fault_ = "is damaged: " + what; }
    bool between_ = true;  // between members of gzip or frames of zstd; there may be several

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw IoError(files::input_name(path_) + " " + what + ", at byte " + std::to_string(packed_), path_, packed_);
    }

    std::string path_, fault_;
    std::size_t packed_ = 0;
};

namespace {

class GzipUnpacker final : public Unpacker {
  public:
    explicit GzipUnpacker(const std::string& path) : Unpacker(path) {
        constexpr int largest_window = 15, gzip = 16;
        if (inflateInit2(&state_, largest_window + gzip) != Z_OK) throw std::bad_alloc();
    }
    GzipUnpacker(const GzipUnpacker&) = delete;
    GzipUnpacker& operator=(const GzipUnpacker&) = delete;
    ~GzipUnpacker() override { inflateEnd(&state_); }

  private:
    Progress step(std::span<const std::byte> packed, std::span<std::byte> memory) override {
        // Zeros may fill the last block of a tape, as gzip permits.
        if (ended_ && !packed.empty() && packed[0] == std::byte{0}) return {.used = 1, .made = 0};
        if (packed.empty() && between_) return {};
        if (ended_) inflateReset(&state_);
        ended_ = between_ = false;
        const auto max = std::size_t{std::numeric_limits<uInt>::max()};
        const auto in = std::min(packed.size(), max), out = std::min(memory.size(), max);
        // zlib only reads what this points to.
        state_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
        state_.avail_in = static_cast<uInt>(in);
        state_.next_out = reinterpret_cast<Bytef*>(memory.data());
        state_.avail_out = static_cast<uInt>(out);
        const int result = inflate(&state_, Z_NO_FLUSH);
        if (result == Z_MEM_ERROR) throw std::bad_alloc();
        if (result == Z_STREAM_END) {
            ended_ = between_ = true;
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            fault(state_.msg ? state_.msg : "no gzip data");
        }
        return {.used = in - state_.avail_in, .made = out - state_.avail_out};
    }

    z_stream state_{};
    bool ended_ = false;
};

class ZstdUnpacker final : public Unpacker {
  public:
    explicit ZstdUnpacker(const std::string& path) : Unpacker(path), state_(ZSTD_createDStream()) {
        if (!state_) throw std::bad_alloc();
    }
    ZstdUnpacker(const ZstdUnpacker&) = delete;
    ZstdUnpacker& operator=(const ZstdUnpacker&) = delete;
    ~ZstdUnpacker() override { ZSTD_freeDStream(state_); }

  private:
    Progress step(std::span<const std::byte> packed, std::span<std::byte> memory) override {
        if (packed.empty() && between_) return {};
        ZSTD_inBuffer in{packed.data(), packed.size(), 0};
        ZSTD_outBuffer out{memory.data(), memory.size(), 0};
        const auto result = ZSTD_decompressStream(state_, &out, &in);
        if (ZSTD_isError(result) != 0) fault(ZSTD_getErrorName(result));
        between_ = result == 0;
        return {.used = in.pos, .made = out.pos};
    }

    ZSTD_DStream* state_;
};

constexpr std::size_t magic_bytes = 4;

// Null if it is not compressed.
std::unique_ptr<Unpacker> unpacker_of(const std::string& path, std::string_view begin) {
    if (begin.starts_with("\x1f\x8b"sv)) return std::make_unique<GzipUnpacker>(path);
    const bool skipped = begin.size() >= magic_bytes && begin.substr(1, 3) == "\x2a\x4d\x18"sv &&
                         (static_cast<unsigned char>(begin[0]) & 0xf0U) == 0x50;  // a skippable frame
    if (begin.starts_with("\x28\xb5\x2f\xfd"sv) || skipped) return std::make_unique<ZstdUnpacker>(path);
    return {};
}

}  // namespace

void require_text(const std::string& path, std::string_view begin) {
    constexpr std::size_t enough = 4096;
    const auto look = look_for_no_text(begin.substr(0, enough));
    if (!look) return;
    throw InvalidArgument(files::input_name(path) + " is not text; it looks like " + std::string(look->name) +
                          (look->to_text.empty() ? "" : "; " + std::string(look->to_text)));
}

files::Bytes read_unpacked(const std::string& path) {
    auto packed = files::read_file(path);
    const auto unpacker = unpacker_of(path, text_of(packed.span()));
    if (!unpacker) return packed;
    files::Bytes bytes;
    bytes.resize(std::max<std::size_t>(4 * packed.size(), 4096));
    std::size_t used = 0, size = 0;
    for (;;) {
        if (size == bytes.size()) {
            if (size > files::machine_memory())
                throw IoError(files::input_name(path) +
                                  " unpacks to more than the memory of this machine; --batch reads it in parts",
                              path, used);
            bytes.resize(2 * size);
        }
        const auto progress = unpacker->unpack(packed.span().subspan(used), bytes.span().subspan(size));
        used += progress.used;
        size += progress.made;
        if (used == packed.size() && progress.made == 0) break;
    }
    unpacker->finish();
    bytes.resize(size);
    return bytes;
}

bool is_packed(std::string_view begin) {
    return unpacker_of({}, begin) != nullptr;
}

// ---- TextStream

namespace {

// Whether the first bytes of packed data, but not enough of them, or none at all, have come.
bool may_become_packed(std::string_view begin) {
    return begin.size() < magic_bytes && (begin.empty() || begin[0] == '\x1f' || begin[0] == '\x28' ||
                                          (static_cast<unsigned char>(begin[0]) & 0xf0U) == 0x50);
}

}  // namespace

void read_texts(StreamInput& input, const std::function<std::size_t(const TextPart&)>& take) {
    TextStream text(input);
    const auto more = [&] {
        try {
            return text.more();
        } catch (const IoError& error) {  // damaged data; what came before it was taken
            throw BadInput(error.what());
        }
    };
    while (more()) text.drop(take({.text = text.text(), .full = text.full(), .is_last = false}));
    if (!text.interrupted()) static_cast<void>(take({.text = text.text(), .full = false, .is_last = true}));
}

TextStream::TextStream(const std::string& path) : own_(std::make_unique<StreamInput>(path)), input_(*own_) {}

TextStream::TextStream(StreamInput& input) : input_(input) {}

TextStream::~TextStream() = default;

bool TextStream::more() {
    if (!known_) {
        while (may_become_packed(input_.text()) && input_.more()) {
        }
        known_ = true;
        unpacker_ = unpacker_of(path(), input_.text());
        if (unpacker_) memory_ = std::make_unique_for_overwrite<std::byte[]>(capacity);
        if (!unpacker_) return !input_.text().empty();
    }
    if (!unpacker_) return input_.more();
    for (;;) {
        const auto progress = unpacker_->unpack(input_.bytes(), {memory_.get() + size_, capacity - size_});
        input_.drop(progress.used);
        size_ += progress.made;
        if (progress.made > 0) return true;
        if (!input_.bytes().empty() || input_.more()) continue;
        if (!input_.interrupted()) unpacker_->finish();
        return false;
    }
}

std::string_view TextStream::text() const {
    if (!known_) return {};
    return unpacker_ ? text_of({memory_.get(), size_}) : input_.text();
}

void TextStream::drop(std::size_t used) {
    if (!unpacker_) return input_.drop(used);
    std::copy(memory_.get() + used, memory_.get() + size_, memory_.get());
    size_ -= used;
}

}  // namespace quadmill::detail::input
