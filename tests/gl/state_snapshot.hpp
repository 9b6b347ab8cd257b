// All state of an OpenGL 4.5 core context (or of an older version) that a program can query and a library could change,
// in the order of the state tables of the specification (chapter 23). It is written from those tables and not from the
// library's guard, so comparing two snapshots proves the guard right.
#pragma once

#include <string>
#include <vector>

#include "gl/host.hpp"

namespace quadmill::test {

struct Snapshot {
    struct Entry {
        std::string name;            // "VIEWPORT[3]"
        std::vector<double> values;  // wide enough for every type of state: 32-bit integers, floats, addresses
        bool operator==(const Entry&) const = default;
    };
    std::vector<Entry> entries;

    // Reads and clears pending errors, which are the first entry. Changes nothing else.
    static Snapshot take(const Api& gl);
};

// One line for each entry that differs, up to a dozen. Empty if all are equal.
std::string difference(const Snapshot& before, const Snapshot& after);

}  // namespace quadmill::test
