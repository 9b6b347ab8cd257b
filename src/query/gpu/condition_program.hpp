// A condition in conjunctive normal form as one fragment program that reads each column once. The program's text only
// depends on the condition's shape: constants are uniforms, and columns are named in order of first use. So conditions
// of the same shape share a program.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gl/pass.hpp"
#include "query/gpu/gpu_tables.hpp"

namespace quadmill::detail::query {

// Max number of list keys that are compared one by one.
inline constexpr std::size_t few_keys = 16;

// The keys of the list that values of that type can have.
[[nodiscard]] std::span<const Key> keys_within(const Member& leaf, ColumnType type);

class ConditionProgram {
  public:
    using ColumnOf = std::function<const GpuColumn&(std::size_t)>;
    using BitsOf = std::function<BitsPtr(const Leaf&)>;
    // `all` is the selection of all rows, used for columns without NULLs. `bits_of` gives the rows of a leaf that a
    // program cannot express.
    ConditionProgram(ColumnOf column_of, BitsPtr all, BitsOf bits_of);

    // Adds a clause. Returns false and changes nothing if the program would need too many textures or constants. Pre:
    // the clause is not empty.
    [[nodiscard]] bool add(std::span<const Leaf> clause);
    // Adds a selection as a clause, with the same result.
    [[nodiscard]] bool add(BitsPtr rows);

    [[nodiscard]] bool empty() const { return parts_.clauses.empty(); }
    // The GLSL that goes before condition.frag.
    [[nodiscard]] std::string prelude(const Shape& shape) const;
    [[nodiscard]] gl::Uniforms uniforms(const Shape& shape) const;
    [[nodiscard]] std::span<const gl::Texture* const> textures() const { return parts_.textures; }

  private:
    // The parts of a program.
    struct Parts {
        std::vector<const gl::Texture*> textures{};  // one texture unit each
        std::string inputs{}, words{}, keys{}, leaves{}, clauses{};
        std::vector<std::array<Key, 2>> constants{};
        std::vector<std::pair<Leaf, std::string>> known{};  // leaves and the names of their results
        std::vector<BitsPtr> held{};
    };

    [[nodiscard]] bool kept(Parts&& before);
    void and_also(const std::string& clause);
    [[nodiscard]] std::string name_of(const Leaf& leaf);
    [[nodiscard]] std::string text_of(const Leaf& leaf);
    [[nodiscard]] std::string text_of(const Member& leaf);
    [[nodiscard]] std::string text_of(const Pair& leaf);
    // GLSL for the leaf's answer, which is false for rows with NULL.
    [[nodiscard]] std::string where_valid(const std::string& answer, bool negate, std::span<const std::size_t> columns);
    [[nodiscard]] std::string keys_of(std::size_t column);
    // GLSL for four bits of a selection, which may have other bits above; empty for all rows.
    [[nodiscard]] std::string bits_of(const BitsPtr& rows);
    [[nodiscard]] std::string unit_of(const gl::Texture& texture);
    [[nodiscard]] std::string constant(Key first, Key second);

    ColumnOf column_of_;
    BitsPtr all_;
    BitsOf bits_of_;
    Parts parts_;
};

}  // namespace quadmill::detail::query
