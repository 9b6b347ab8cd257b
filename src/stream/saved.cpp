#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "quadmill/concurrent.hpp"
#include "quadmill/error.hpp"
#include "stream/bytes.hpp"
#include "stream/parts.hpp"

namespace quadmill {

namespace detail::stream {

namespace {

bool has_parts(Kind kind) {
    return kind == Kind::Groups || kind == Kind::LastSeconds;
}

// A file within a file.
std::vector<std::byte> file_in(Reader& from) {
    const auto text = from.text();
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

void write_file_into(Writer& to, std::span<const std::byte> file) {
    to.text({reinterpret_cast<const char*>(file.data()), file.size()});
}

// The first field of kinds that have parts is an empty one.
Header header_of_parts(Reader& from, std::span<const std::byte> empty) {
    const auto header = Reader("saved_summary", empty).header();
    from.require(!has_parts(header.kind) && header.type == from.header().type, "the kind of the parts");
    return header;
}

}  // namespace

std::vector<std::byte> SavedParts::save() const {
    Writer to({kind, saved_summary(empty).type});
    write_file_into(to, empty);
    if (kind == Kind::LastSeconds) {
        to.f64(seconds);
        to.u64(panes);
        to.u64(late);
        to.u64(latest ? 1 : 0);
        if (latest) to.f64(*latest);
    }
    to.u64(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (kind == Kind::Groups) {
            to.text(parts[i].name);
        } else if (i == 0) {
            to.f64(static_cast<double>(parts[i].index));
        } else {
            to.u64(static_cast<std::uint64_t>(parts[i].index - parts[i - 1].index));
        }
        write_file_into(to, parts[i].summary);
    }
    return to.take();
}

SavedParts SavedParts::load(const char* function, SavedSummary::Kind kind, std::span<const std::byte> bytes) {
    auto from = open(function, bytes, kind, Reader(function, bytes).header().type);
    SavedParts saved{.kind = kind, .empty = file_in(from)};
    const auto of_parts = header_of_parts(from, saved.empty);
    if (kind == Kind::LastSeconds) {
        saved.seconds = from.f64();
        saved.panes = from.u64();
        from.require(saved.seconds > 0 && std::isfinite(saved.seconds) && saved.panes >= 1 && saved.panes <= max_panes,
                     "the seconds");
        saved.late = from.u64();
        const auto has_latest = from.u64();
        from.require(has_latest <= 1, "the latest time");
        if (has_latest == 1) saved.latest = from.f64();
        from.require(!saved.latest || std::isfinite(*saved.latest), "the latest time");
    }
    saved.parts.resize(from.count(14));
    for (std::size_t i = 0; i < saved.parts.size(); ++i) {
        auto& part = saved.parts[i];
        if (kind == Kind::Groups) {
            part.name = from.text();
            from.require(i == 0 || saved.parts[i - 1].name < part.name, "the name of a group");
        } else if (i == 0) {
            const auto index = from.f64();
            from.require(
                std::abs(index) <= max_pane && index == std::floor(index) && (index != 0 || !std::signbit(index)),
                "the number of a pane");
            part.index = static_cast<std::int64_t>(index);
        } else {
            const auto more = from.u64(),
                       of_all = static_cast<std::uint64_t>(saved.parts[i - 1].index - saved.parts[0].index);
            from.require(more >= 1 && more <= saved.panes - std::min(saved.panes, of_all), "the number of a pane");
            part.index = saved.parts[i - 1].index + static_cast<std::int64_t>(more);
        }
        part.summary = file_in(from);
        const auto header = Reader(function, part.summary).header();
        from.require(header.kind == of_parts.kind && header.type == of_parts.type, "the kind of a part");
    }
    from.end();
    return saved;
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
    const auto part = path + ".part";
    std::ofstream file(part, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (file && std::rename(part.c_str(), path.c_str()) == 0) return;
    const std::string why = std::strerror(errno);
    static_cast<void>(std::remove(part.c_str()));
    throw IoError("save_file: cannot write '" + path + "': " + why, path, 0);
}

std::vector<std::byte> read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> all{std::istreambuf_iterator<char>(file), {}};
    if (!file.is_open() || file.bad())
        throw IoError("load_file: cannot read '" + path + "': " + std::strerror(errno), path, 0);
    const auto bytes = std::as_bytes(std::span(all));
    return {bytes.begin(), bytes.end()};
}

}  // namespace detail::stream

SavedSummary saved_summary(std::span<const std::byte> bytes) {
    detail::stream::Reader from("saved_summary", bytes);
    auto found = from.header();
    if (detail::stream::has_parts(found.kind))
        found.parts = detail::stream::header_of_parts(from, detail::stream::file_in(from)).kind;
    return found;
}

}  // namespace quadmill
