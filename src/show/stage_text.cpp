#include <fmt/core.h>

#include "show/stage_view.hpp"

namespace quadmill::detail::show {

namespace {

std::string input_text(const Stages& stages) {
    const auto size = with_commas(stages.array_size());
    switch (stages.request.engine) {
        case Watched::Pbsn:
            return fmt::format(
                "The input: four arrays of {} keys lie in the red, green, blue and alpha channels of one texture; "
                "element i is texel (i mod {}, i div {}), counted from the lower left.",
                size, stages.width, stages.width);
        case Watched::BitonicSingle:
            return fmt::format("The input: {} keys, four consecutive ones in the four channels of each texel.", size);
        case Watched::BitonicFour:
            return fmt::format("The input: {} keys, a quarter of them in each channel of the texture.", size);
        case Watched::Merge:
            break;
    }
    return fmt::format(
        "The input: {} keys as the first pass will lay them out in the 8 layers (here side by side) of a texture: 32 "
        "consecutive keys are a texel of each layer, even blocks below, odd ones above.",
        size);
}

std::string pbsn_text(const Stages& stages, const Step& step) {
    const int k = stages.stages;
    const auto block = std::size_t{1} << static_cast<unsigned>(k - step.step + 1);
    const auto width = static_cast<std::size_t>(stages.width);
    const auto shape = block <= width ? fmt::format("Blocks within rows (column quads {} x {} texels, Fig. 2 left)",
                                                    block / 2, stages.height)
                                      : fmt::format("Blocks of {} rows (row quads {} x {} texels, Fig. 2 right)",
                                                    block / width, width, block / width / 2);
    return fmt::format(
        "{}: in each block of {} elements, element i meets element {} − i; MIN blending leaves the smaller key in "
        "the first half, MAX the larger one in the second.",
        shape, with_commas(block), with_commas(block - 1));
}

std::string bitonic_text(const Stages& stages, const Step& step) {
    const auto run = with_commas(std::uint64_t{1} << static_cast<unsigned>(step.stage));
    const auto turn = step.stage == stages.stages ? std::string("the whole array ascends")
                                                  : fmt::format("runs of {} keys take turns in direction", run);
    if (step.quads.empty() || step.comparators.empty()) return "Nothing is compared.";
    const auto& first = step.comparators.front();
    const auto low = std::min(first.low, first.high) / 4, high = std::max(first.low, first.high) / 4;
    if (low == high)
        return fmt::format("The four keys of each texel are compared with one another, and no other texel is read; {}.",
                           turn);
    const auto apart = high - low, width = static_cast<Place>(stages.width);
    const auto where = apart < width ? fmt::format("{} texels to the side (column quads)", apart)
                                     : fmt::format("{} rows above or below (row quads)", apart / width);
    return fmt::format(
        "Each key meets the one {}; grey texels keep the smaller, orange ones the larger key, compared by the "
        "fragment program; {}.",
        where, turn);
}

std::string merge_text(const Step& step) {
    if (step.stage == 0)
        return "Each fragment sorted 64 keys in registers, by Batcher's network, and wrote its half of them to 8 "
               "render targets: now runs of 64 keys ascend.";
    const auto run = std::uint64_t{32} << static_cast<unsigned>(step.stage);
    return fmt::format(
        "Pairs of runs of {} keys became runs of {}: a search found where each fragment's keys begin in both runs; one "
        "min or max a key and a bitonic merge in registers did the rest, 32 at a time.",
        with_commas(run), with_commas(2 * run));
}

}  // namespace

std::string title_of(const Stages& stages, std::size_t step) {
    const auto& now = stages.steps[step];
    if (step == 0) return "input";
    if (stages.request.engine == Watched::Merge)
        return now.stage == 0 ? std::string("runs in registers")
                              : fmt::format("level {} of {}", now.stage, stages.stages);
    const int of = stages.request.engine == Watched::Pbsn ? stages.stages : now.stage;
    return fmt::format("stage {} of {}, step {} of {}", now.stage, stages.stages,
                       stages.request.engine == Watched::Pbsn ? now.step : of - now.step + 1, of);
}

std::string size_words(const Stages& stages) {
    return fmt::format("{} x {}{}", stages.width / stages.layers, stages.height,
                       stages.layers > 1 ? fmt::format(" x {}", stages.layers) : "");
}

std::string order_words(const Step& step) {
    return step.out_of_order == 0 ? "in order" : with_commas(step.out_of_order) + " out of order";
}

std::string explain(const Stages& stages, std::size_t step) {
    const auto& now = stages.steps[step];
    if (step == 0) return input_text(stages);
    switch (stages.request.engine) {
        case Watched::Pbsn:
            return pbsn_text(stages, now);
        case Watched::Merge:
            return merge_text(now);
        default:
            return bitonic_text(stages, now);
    }
}

}  // namespace quadmill::detail::show
