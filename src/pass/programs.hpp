// Programs that are compiled on first use and kept.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "gl/objects.hpp"

namespace quadmill::detail::pass {

// Programs by variant. Variant is a type with operator<.
template <class Variant>
class ProgramVariants {
  public:
    // `compile` makes the program of a variant that does not exist yet.
    template <class Compile>
    const gl::Program& get(const Variant& variant, Compile&& compile) {
        if (const auto found = programs_.find(variant); found != programs_.end()) return found->second;
        return programs_.emplace(variant, compile()).first->second;
    }

  private:
    std::map<Variant, gl::Program> programs_;
};

// Programs by name and prelude; the name is that of the shader's file.
class Programs {
  public:
    explicit Programs(gl::Device& device) : device_(device) {}
    const gl::Program& get(const char* name, const char* fragment, const std::string& prelude = {}) {
        return programs_.get({name, prelude}, [&] { return gl::Program(device_, name, fragment, prelude); });
    }
    const gl::Program& get(const char* name, gl::Program::Shaders shaders, const std::string& prelude = {}) {
        return programs_.get({name, prelude}, [&] { return gl::Program(device_, name, shaders, prelude); });
    }

  private:
    gl::Device& device_;
    ProgramVariants<std::pair<std::string, std::string>> programs_;
};

}  // namespace quadmill::detail::pass
