#include "gl/program_store.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/dialect.hpp"
#include "gl/system.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

namespace {

// 64-bit FNV-1a with a given start value.
std::uint64_t hash(std::uint64_t start, std::span<const std::byte> bytes) {
    for (const auto byte : bytes) start = (start ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3U;
    return start;
}

constexpr std::array<std::uint64_t, 2> hash_starts{0xcbf29ce484222325U, 0x9ae16a3b2f90404fU};

std::array<std::uint64_t, 2> key_of(const ProgramStore::Sources& sources) {
    auto key = hash_starts;
    for (const std::string_view text :
         {std::string_view(sources.vertex), std::string_view(sources.prelude), std::string_view(sources.fragment)}) {
        // The length of each text is hashed, too, so that moving characters from one text to the next changes the key.
        for (auto& half : key) half = hash(half * 31 + text.size(), std::as_bytes(std::span(text)));
    }
    return key;
}

std::string shader_log(const Api& gl, GLuint shader) {
    GLint length = 0;
    gl.GetShaderiv(shader, GL_INFO_LOG_LENGTH, &length);
    std::string log(static_cast<std::size_t>(std::max(length, 1)), '\0');
    gl.GetShaderInfoLog(shader, length, nullptr, log.data());
    return log;
}

Handle<ShaderTraits> compile(Device& device, const char* name, GLenum stage, const char* prelude, const char* source) {
    const auto& gl = device.gl;
    Handle<ShaderTraits> shader(device.shared_from_this(), gl.CreateShader(stage));
    const auto header = device.dialect->shader_header();
    keep_source(name, stage == GL_VERTEX_SHADER ? ".vert" : ".frag", std::string(prelude) + source);
    const std::array parts{header.c_str(), prelude, source};
    gl.ShaderSource(shader.id(), static_cast<GLsizei>(parts.size()), parts.data(), nullptr);
    gl.CompileShader(shader.id());
    GLint done = GL_FALSE;
    gl.GetShaderiv(shader.id(), GL_COMPILE_STATUS, &done);
    if (!done) throw GlError(std::string("shader ") + name + " does not compile: " + shader_log(gl, shader.id()));
    return shader;
}

bool has_binaries(const Api& gl) {
    if (!gl.ProgramBinary) return false;
    GLint count = 0;
    gl.GetIntegerv(GL_NUM_PROGRAM_BINARY_FORMATS, &count);
    return count > 0;
}

void link(Device& device, GLuint program, const char* name, const ProgramStore::Sources& sources) {
    const auto& gl = device.gl;
    const auto vertex = compile(device, name, GL_VERTEX_SHADER, "", sources.vertex);
    const auto fragment = compile(device, name, GL_FRAGMENT_SHADER, sources.prelude.c_str(), sources.fragment);
    gl.AttachShader(program, vertex.id());
    gl.AttachShader(program, fragment.id());
    gl.BindAttribLocation(program, 0, "target");
    gl.BindAttribLocation(program, 1, "source");
    if (has_binaries(gl)) gl.ProgramParameteri(program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);
    gl.LinkProgram(program);
    GLint done = GL_FALSE;
    gl.GetProgramiv(program, GL_LINK_STATUS, &done);
    if (!done) {
        std::array<char, 2048> log{};
        gl.GetProgramInfoLog(program, log.size(), nullptr, log.data());
        throw GlError(std::string("program ") + name + " does not link: " + log.data());
    }
    gl.DetachShader(program, vertex.id());
    gl.DetachShader(program, fragment.id());
}

// Reads the declared names from the sources, since the driver only reports uniforms that affect a result. It collects
// all words of a declaration, the type's included; no uniform has the name of a type. An array is listed as a whole and
// by element.
std::vector<std::pair<std::string, int>> uniforms_of(const Api& gl, GLuint program, std::string_view sources) {
    std::vector<std::pair<std::string, int>> uniforms;
    const auto add = [&](const std::string& uniform) {
        uniforms.emplace_back(uniform, gl.GetUniformLocation(program, uniform.c_str()));
        return uniforms.back().second >= 0;
    };
    constexpr const char* letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    constexpr std::string_view keyword = "uniform ";
    for (auto at = sources.find(keyword); at != sources.npos; at = sources.find(keyword, at)) {
        at += keyword.size();
        const auto line = sources.substr(at, sources.find(';', at) - at);
        for (auto begin = line.find_first_of(letters), end = begin; begin != line.npos;
             begin = line.find_first_of(letters, end)) {
            end = std::min(line.find_first_not_of(letters, begin), line.size());
            const std::string name(line.substr(begin, end - begin));
            add(name);
            const bool array = end < line.size() && line[end] == '[';
            for (int i = 0; array && add(name + "[" + std::to_string(i) + "]");) ++i;
        }
    }
    std::ranges::sort(uniforms);
    return uniforms;
}

// Format of saved programs: this magic number, the driver's key, then the key, format, size and bytes of each program,
// and finally a hash of all that.
constexpr std::uint64_t magic = 0x31307370646d7571;  // "qumdps01"

std::string driver_of(const Device& device) {
    return device.info.vendor + "\n" + device.info.renderer + "\n" + device.info.version;
}

void put(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
    to.insert(to.end(), bytes.begin(), bytes.end());
}

void put(std::vector<std::byte>& to, std::uint64_t word) {
    put(to, std::as_bytes(std::span(&word, 1)));
}

// Reads what put() wrote, and checks every step.
class SavedPrograms {
  public:
    SavedPrograms(std::span<const std::byte> left, const char* function) : left_(left), function_(function) {}
    [[nodiscard]] std::span<const std::byte> bytes(std::size_t size) {
        if (size > left_.size()) throw damaged();
        const auto found = left_.first(size);
        left_ = left_.subspan(size);
        return found;
    }
    [[nodiscard]] std::uint64_t word() {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
        return value;
    }
    [[nodiscard]] bool empty() const { return left_.empty(); }
    [[nodiscard]] InvalidArgument damaged() const {
        return InvalidArgument(std::string(function_) + ": these are not saved programs, or not all of their bytes");
    }

  private:
    std::span<const std::byte> left_;
    const char* function_;
};

}  // namespace

bool ProgramStore::link_saved(const Api& gl, GLuint program, const Key& key) const {
    const auto found = saved_.find(key);
    if (found == saved_.end()) return false;
    const auto& [format, bytes] = found->second;
    gl.ProgramBinary(program, format, bytes.data(), static_cast<GLsizei>(bytes.size()));
    GLint done = GL_FALSE;
    gl.GetProgramiv(program, GL_LINK_STATUS, &done);
    // After an update, a driver rejects its old programs; they are compiled again. A lost context may return errors
    // forever.
    for (GLenum error = done ? GLenum{GL_NO_ERROR} : gl.GetError(); error != GL_NO_ERROR && error != GL_CONTEXT_LOST;) {
        error = gl.GetError();
    }
    return done != GL_FALSE;
}

const LinkedProgram& ProgramStore::get(Device& device, const char* name, const Sources& sources) {
    const auto key = key_of(sources);
    if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
    const auto& gl = device.gl;
    Handle<ProgramTraits> made(device.shared_from_this(), gl.CreateProgram());
    if (!link_saved(gl, made.id(), key)) {
        if (allowed_ && *allowed_ == 0) throw NoMore{};
        link(device, made.id(), name, sources);
        ++compiled_;
        if (allowed_) --*allowed_;
    }
    if (device.features.debug_groups) gl.ObjectLabel(GL_PROGRAM, made.id(), -1, name);
    LinkedProgram program{.id = made.id(),
                          .name = name,
                          .target_size = gl.GetUniformLocation(made.id(), "target_size"),
                          .uniforms = uniforms_of(gl, made.id(), sources.vertex + sources.prelude + sources.fragment)};
    for (int unit = 0; unit < texture_units; ++unit) {
        const auto where = gl.GetUniformLocation(made.id(), ("texture" + std::to_string(unit)).c_str());
        if (where < 0) continue;
        gl.UseProgram(device.pipeline.program = made.id());
        gl.Uniform1i(where, unit);
    }
    const auto& kept = programs_.emplace(key, std::move(program)).first->second;
    static_cast<void>(made.release());
    return kept;
}

std::vector<std::byte> ProgramStore::save(const Device& device) const {
    const auto& gl = device.gl;
    if (programs_.empty() || !has_binaries(gl)) return {};
    std::vector<std::byte> all;
    const auto driver = driver_of(device);
    put(all, magic);
    put(all, driver.size());
    put(all, std::as_bytes(std::span(driver)));
    for (const auto& [key, program] : programs_) {
        GLint size = 0;
        gl.GetProgramiv(program.id, GL_PROGRAM_BINARY_LENGTH, &size);
        if (size <= 0) continue;
        std::vector<std::byte> bytes(static_cast<std::size_t>(size));
        GLenum format = 0;
        gl.GetProgramBinary(program.id, size, &size, &format, bytes.data());
        bytes.resize(static_cast<std::size_t>(size));
        for (const auto half : key) put(all, half);
        put(all, std::uint64_t{format});
        put(all, bytes.size());
        put(all, bytes);
    }
    put(all, hash(hash_starts[0], all));
    return all;
}

std::size_t ProgramStore::take(const Device& device, std::span<const std::byte> saved, const char* function) {
    if (saved.empty()) return 0;
    const auto content = saved.first(saved.size() - std::min(saved.size(), sizeof magic));
    SavedPrograms from(content, function), end(saved.subspan(content.size()), function);
    if (from.word() != magic || end.word() != hash(hash_starts[0], content)) throw from.damaged();
    const auto driver = from.bytes(from.word());
    const auto here = driver_of(device);
    if (!has_binaries(device.gl) || !std::ranges::equal(driver, std::as_bytes(std::span(here)))) return 0;
    std::size_t count = 0;
    for (; !from.empty(); ++count) {
        const auto first = from.word(), second = from.word();
        const auto format = static_cast<GLenum>(from.word());
        const auto bytes = from.bytes(from.word());
        saved_[Key{first, second}] = {format, {bytes.begin(), bytes.end()}};
    }
    return count;
}

void ProgramStore::release(const Api& gl) noexcept {
    for (const auto& [key, program] : programs_) gl.DeleteProgram(program.id);
    programs_.clear();
}

}  // namespace quadmill::detail::gl
