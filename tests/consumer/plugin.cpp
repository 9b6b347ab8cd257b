// A plugin that links the library and exports only its own function. The library must be hidden, too: its code,
// templates and classes of its headers, and the exceptions that it throws.
#include <quadmill/error.hpp>
#include <quadmill/stream.hpp>
#ifdef WITH_OPENGL
#include <quadmill/linalg.hpp>
#include <quadmill/query.hpp>
#include <quadmill/sketch.hpp>
#include <quadmill/sort.hpp>
#endif

#include <span>

extern "C" __attribute__((visibility("default"))) float median(const float* values, std::size_t count) {
    try {
        quadmill::Quantiles<float> quantiles;
        quantiles.add(std::span(values, count));
#ifdef WITH_OPENGL
        const auto context = quadmill::Context::headless();
        quadmill::Sorter sorter(context);
        quadmill::Sketch<float> sketch(quadmill::SketchOptions{});
        quadmill::Lu lu(context);
        quadmill::Table table;
        table.add("x", std::span(values, count));
        if (quadmill::QueryProcessor(context).count(table, quadmill::column("x") > 1) == 0) return 0;
#endif
        return quantiles.quantile(0.5).value;
    } catch (const quadmill::Error&) {
        return 0;
    }
}
