#include "sort/task.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace quadmill::detail::sort {

std::size_t Task::pairs(const KeyForm& form) const {
    const auto each = form.pair_keys();
    const auto filled = [each](std::size_t n) { return n / each + (n % each != 0 ? 1 : 0); };
    if (what == What::Windows) return keys.size() / window * filled(window) + filled(keys.size() % window);
    if (what != What::Segments) return filled(keys.size());
    std::size_t begin = 0, all = 0;
    for (const auto end : ends) {
        all += filled(end - begin);
        begin = end;
    }
    return all;
}

std::optional<EqualSegments> Task::equal_segments() const {
    const auto n = keys.size();
    if (n == 0) return {};
    const auto cut = [n](std::size_t size) { return EqualSegments{(n - 1) / size + 1, size, (n - 1) % size + 1}; };
    if (what == What::Windows) return cut(window);
    if (what != What::Segments) return cut(n);
    const auto equal = cut(std::max<std::size_t>(ends.front(), 1));
    for (std::size_t i = 0; i < ends.size(); ++i) {
        if (ends[i] != std::min((i + 1) * equal.size, n)) return {};
    }
    return equal;
}

SortWork Task::work() const {
    const auto n = keys.size();
    const auto mean = std::max<std::size_t>(n / std::max<std::size_t>(ends.size(), 1), 1);
    return {.n = n,
            .window = what == What::Segments ? mean : window,
            .top = what == What::Top,
            .index = !index.empty(),
            .type = keys.type()};
}

SortOptions checked_options(const char* function, const ContextInfo& info, SortOptions options) {
    auto &max_texels = options.paper.pbsn.max_texels, &max_run = options.paper.pbsn.max_run;
    if (max_texels < 1) throw InvalidArgument(std::string(function) + ": max_texels must be at least 1, not 0");
    max_run = std::bit_floor(max_run == 0 ? paper_run : max_run);
    const auto side = std::bit_floor(static_cast<std::size_t>(info.max_texture_size));
    max_texels = std::bit_floor(std::min(max_texels, side * side));
    if (auto& block = options.paper.bitonic.block) block = std::bit_floor(*block);
    const int steps = options.paper.bitonic.steps_per_pass;
    if (steps < 1 || steps > 3) {
        throw InvalidArgument(std::string(function) + ": bitonic.steps_per_pass must be 1, 2 or 3, not " +
                              std::to_string(steps));
    }
    return options;
}

void check_pbsn_window(const char* function, const PbsnOptions& options, std::size_t window) {
    const auto max = options.channels == Channels::Windows ? options.max_texels : 4 * options.max_texels;
    if (window <= max) return;
    throw InvalidArgument(std::string(function) + ": a window of " + std::to_string(window) +
                          " keys does not fit into a texture of " + std::to_string(options.max_texels) +
                          " texels (max_texels, or the driver's limit)" +
                          (options.channels == Channels::Windows ? ", one channel of it (Channels::Windows)" : "") +
                          "; use smaller windows or Engine::Cpu");
}

bool can(Engine engine, Task::What what) {
    using What = Task::What;
    switch (engine) {
        case Engine::Pbsn:
            return what == What::Sort || what == What::Windows;
        case Engine::Bitonic:
            return what == What::Sort || what == What::Windows || what == What::SortWithIndex || what == What::Argsort;
        case Engine::Hybrid:
            return what == What::Sort || what == What::Windows || what == What::Segments;
        default:
            return true;
    }
}

InvalidArgument cannot(Engine engine, const Task& task) {
    const std::string name = engine == Engine::Pbsn      ? "Engine::Pbsn"
                             : engine == Engine::Bitonic ? "Engine::Bitonic"
                                                         : "Engine::Hybrid";
    const bool index = task.what == Task::What::SortWithIndex || task.what == Task::What::Argsort;
    const std::string what = index                               ? " cannot carry an index"
                             : task.what == Task::What::Segments ? " sorts windows of one length only"
                                                                 : " sorts all keys, not the best alone";
    return InvalidArgument(std::string(task.function) + ": " + name + what +
                           "; use Engine::Merge, Engine::Auto or Engine::Cpu");
}

void check_no_conversion(const SortOptions& options, const Task& task) {
    const bool converts = (options.precision == Precision::Float16 && task.keys.type() == KeyType::F32) ||
                          (options.precision == Precision::Float32 && task.keys.type() == KeyType::F16);
    if (!converts || task.what == Task::What::Sort || task.what == Task::What::Windows) return;
    throw InvalidArgument(std::string(task.function) +
                          ": only sort() and sort_windows() convert keys to another precision; use Precision::Native");
}

}  // namespace quadmill::detail::sort
