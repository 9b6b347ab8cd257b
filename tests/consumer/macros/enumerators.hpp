// Names must not only be declared but usable: this instantiates templates and names enumerators.
#include <vector>

namespace {

[[maybe_unused]] bool use_names() {
    quadmill::HeadlessOptions options;
    options.surface = quadmill::HeadlessOptions::Surface::Surfaceless;
    const auto where = quadmill::column("x") > 1 && !(quadmill::column("y") == 2.5);
    quadmill::Quantiles<float> quantiles;
    const std::vector<float> keys{3, 1, 2};
    quantiles.add(keys);
    return quantiles.quantile(0.5).value > 0 && options.device < 0;
}

}  // namespace
