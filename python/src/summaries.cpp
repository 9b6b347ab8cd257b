#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "context.hpp"
#include "module.hpp"
#include "numbers.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/stream.hpp"

namespace quadmill::python {

namespace {

// The sorter of a summary's windows. A sorter on a GPU belongs to the thread that made it.
struct SorterChoice {
    WorkplacePtr workplace{};
    std::unique_ptr<WindowSorter> sorter{};
};

SorterChoice sorter_for(const std::string& engine, const WorkplacePtr& context, unsigned threads) {
    const auto chosen = value_for(detail::input::engine_words, "engine", engine);
    if (chosen == Engine::Cpu || (chosen == Engine::Auto && !context)) return {.sorter = cpu_window_sorter(threads)};
    auto place = or_default(context);
    auto sorter =
        in_turn(place->turn, [&] { return window_sorter(place->context, {.engine = chosen, .threads = threads}); });
    return {.workplace = std::move(place), .sorter = std::move(sorter)};
}

// A summary of any type of values, with the lock that keeps its calls apart.
template <template <class> class Summary, class... Types>
class Any {
  public:
    template <class T>
    static constexpr bool takes = (std::is_same_v<T, Types> || ...);

    // Makes the summary with make(T{}, sorter).
    template <class Make>
    Any(const char* name, KeyType type, SorterChoice choice, const Make& make)
        : name_(name),
          type_(type),
          workplace_(std::move(choice.workplace)),
          summary_(for_type(type, [&]<class T>(T) -> std::variant<Summary<Types>...> {
              if constexpr (takes<T>) return make(T{}, std::move(choice.sorter));
              throw py::type_error(std::string(name) + ": takes no values of " +
                                   py::str(dtype_of<T>()).template cast<std::string>());
          })) {}

    Any(const Any&) = delete;
    Any& operator=(const Any&) = delete;
    ~Any() {
        if (workplace_) let_go(workplace_->turn, summary_);
    }

    [[nodiscard]] const char* name() const { return name_; }
    [[nodiscard]] KeyType type() const { return type_; }

    // Calls `work` with the summary, of its own type.
    template <class Visit>
    auto visit(const Visit& visit) {
        return std::visit(visit, summary_);
    }
    // Does work on the summary without the interpreter's lock.
    template <class Work>
    auto alone(const Work& work) {
        check_thread();
        return in_turn(turn(), work);
    }

    void merge(Any& other) {
        if (other.type_ != type_) {
            throw py::type_error(std::string(name_) + ".merge: values of both must be of one type, not " +
                                 py::repr(dtype_of(type_)).template cast<std::string>() + " and " +
                                 py::repr(dtype_of(other.type_)).template cast<std::string>());
        }
        check_thread();
        other.check_thread();
        visit([&]<class T>(Summary<T>& mine) {
            if constexpr (requires { mine.merge(mine); }) {
                in_turns(turn(), other.turn(), [&] { mine.merge(std::get<Summary<T>>(other.summary_)); });
            }
        });
    }

  private:
    [[nodiscard]] Turn& turn() { return workplace_ ? workplace_->turn : own_turn_; }
    void check_thread() const {
        if (workplace_ && thread_ != std::this_thread::get_id()) {
            throw InvalidArgument(
                std::string(name_) +
                ": it sorts on the GPU, so only the thread that made it may use it; without a context any may");
        }
    }

    const char* name_;
    KeyType type_;
    WorkplacePtr workplace_;
    std::thread::id thread_ = std::this_thread::get_id();
    Turn own_turn_;
    std::variant<Summary<Types>...> summary_;
};

template <template <class> class Summary>
using OfNumbers = Any<Summary, Half, float, double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
using AnyQuantiles = OfNumbers<Quantiles>;
using AnyFrequencies = OfNumbers<Frequencies>;
using AnySlidingQuantiles = OfNumbers<SlidingQuantiles>;
using AnySlidingFrequencies = OfNumbers<SlidingFrequencies>;
using AnyPrefixes = Any<HeavyPrefixes, std::uint32_t, std::uint64_t>;
using AnyCorrelatedSums = OfNumbers<CorrelatedSums>;

template <class AnySummary>
void add(AnySummary& self, const py::object& values) {
    const auto array = readable(self.name(), values);
    self.visit([&]<template <class> class Summary, class T>(Summary<T>& summary) {
        const auto all = span_of<T>(self.name(), array);
        add_slices(all.size(), [&](std::size_t begin, std::size_t count) {
            self.alone([&] { summary.add(all.subspan(begin, count)); });
        });
    });
}

// All values are one window of the summary.
template <class AnySummary>
void add_weighted(AnySummary& self, const py::object& values, const py::object& weights) {
    if (weights.is_none()) return add(self, values);
    const auto array = readable(self.name(), values), of_weights = readable(self.name(), weights);
    const auto counts = span_of<std::uint64_t>(self.name(), of_weights);
    self.visit([&]<template <class> class Summary, class T>(Summary<T>& summary) {
        const auto all = span_of<T>(self.name(), array);
        self.alone([&] { summary.add(all, counts); });
    });
}

void add_pairs(AnyCorrelatedSums& self, const py::object& x, const py::object& y) {
    const auto array = readable(self.name(), x), weights = readable(self.name(), y);
    const auto ys = span_of<double>(self.name(), weights);
    if (array.keys.size() != ys.size()) {
        throw InvalidArgument("CorrelatedSums.add: x and y must have the same length, not " +
                              std::to_string(ys.size()) + " and " + std::to_string(array.keys.size()));
    }
    self.visit([&]<class T>(CorrelatedSums<T>& summary) {
        const auto xs = span_of<T>(self.name(), array);
        add_slices(xs.size(), [&](std::size_t begin, std::size_t count) {
            self.alone([&] { summary.add(xs.subspan(begin, count), ys.subspan(begin, count)); });
        });
    });
}

double eps_of(const auto& summary) {
    if constexpr (requires { summary.eps(); }) {
        return summary.eps();
    } else {
        return summary.options().eps;
    }
}

template <class AnySummary>
std::string summary_text(AnySummary& self) {
    return self.visit([&](auto& summary) {
        std::string window;
        if constexpr (requires {
                          summary.options().window;
                          summary.nans();
                      })
            window = ", window=" + std::to_string(summary.options().window);
        const auto [n, eps, bytes] =
            self.alone([&] { return std::tuple(summary.n(), eps_of(summary), summary.bytes()); });
        return std::string(self.name()) + "(" + py::str(dtype_of(self.type())).template cast<std::string>() + window +
               ", n=" + std::to_string(n) + ", eps=" + py::repr(py::float_(eps)).template cast<std::string>() +
               ", bytes=" + std::to_string(bytes) + ")";
    });
}

template <class AnySummary>
py::bytes save(AnySummary& self) {
    return bytes_of(self.visit([&](auto& summary) { return self.alone([&] { return summary.save(); }); }));
}

template <class AnySummary, template <class> class Summary>
std::unique_ptr<AnySummary> load(const char* name, const py::bytes& saved) {
    const auto bytes = std::as_bytes(std::span(std::string_view(saved)));
    return std::make_unique<AnySummary>(
        name, saved_summary(bytes).type, SorterChoice{},
        [&]<class T>(T, std::unique_ptr<WindowSorter>) { return released([&] { return Summary<T>::load(bytes); }); });
}

template <class AnySummary>
void save_to(AnySummary& self, const std::filesystem::path& path) {
    self.visit([&](auto& summary) { self.alone([&] { save_file(summary, path.string()); }); });
}

template <class AnySummary, template <class> class Summary>
std::unique_ptr<AnySummary> load_from(const char* name, const std::filesystem::path& path) {
    const auto bytes = released([&] { return detail::stream::read_file(path.string()); });
    return load<AnySummary, Summary>(name, bytes_of(bytes));
}

// Members of all summaries.
template <class AnySummary, template <class> class Summary>
py::class_<AnySummary> define(py::module_& module, const char* name, const char* says) {
    py::class_<AnySummary> made(module, name, says);
    const auto loaded = [name](const py::bytes& saved) { return load<AnySummary, Summary>(name, saved); };
    made.def("save", &save<AnySummary>, "The summary as bytes, which load(), pickle and the command read.")
        .def("save", &save_to<AnySummary>, py::arg("path"),
             "Writes these bytes to a file, which appears when it is complete.")
        .def_static("load", loaded, py::arg("saved"), "The summary that save() made the bytes or the file of.")
        .def_static(
            "load", [name](const std::filesystem::path& path) { return load_from<AnySummary, Summary>(name, path); },
            py::arg("path"))
        .def(
            "copy", [loaded](AnySummary& self) { return loaded(save(self)); }, "A copy, which sorts on the CPU.")
        .def(py::pickle(&save<AnySummary>, loaded))
        .def("__repr__", &summary_text<AnySummary>)
        .def_property_readonly("dtype", [](const AnySummary& self) { return dtype_of(self.type()); })
        .def_property_readonly(
            "n",
            [](AnySummary& self) { return self.visit([&](auto& s) { return self.alone([&] { return s.n(); }); }); },
            "How many values came, without NaNs.")
        .def_property_readonly(
            "eps",
            [](AnySummary& self) { return self.visit([&](auto& s) { return self.alone([&] { return eps_of(s); }); }); })
        .def_property_readonly(
            "nbytes",
            [](AnySummary& self) { return self.visit([&](auto& s) { return self.alone([&] { return s.bytes(); }); }); },
            "Bytes of memory, values on their way included.");
    if constexpr (requires(Summary<std::uint32_t> s) { s.nans(); }) {
        made.def_property_readonly(
            "nans",
            [](AnySummary& self) { return self.visit([&](auto& s) { return self.alone([&] { return s.nans(); }); }); },
            "How many NaNs came.");
    }
    if constexpr (requires(Summary<std::uint32_t> s, std::span<const std::uint64_t> w) { s.add({}, w); }) {
        made.def("add", &add_weighted<AnySummary>, py::arg("values"), py::arg("weights") = py::none(),
                 "Takes an array of values of the summary's type, each once or as often as its uint64 weight says. "
                 "After Ctrl-C within, `n` says how many it took.");
    } else if constexpr (!std::is_same_v<AnySummary, AnyCorrelatedSums>) {
        made.def("add", &add<AnySummary>, py::arg("values"),
                 "Takes an array of values of the summary's type. After Ctrl-C within, `n` says how many it took.");
    }
    if constexpr (requires(Summary<std::uint32_t> s) { s.merge(s); }) {
        made.def("merge", &AnySummary::merge, py::arg("other"),
                 "Takes over all values of another one, which stays as it is.");
    }
    return made;
}

// Returns answers as records.
py::object record_of(const Count& count) {
    return record(count, with_bounds<Count>({}, 0));
}

template <class T>
py::object records_of(const std::vector<Quantile<T>>& found) {
    using Row = Quantile<T>;
    const auto rank = dtype_of<std::uint64_t>();
    return records(found, {{"phi", dtype_of<double>(), offsetof(Row, phi)},
                           {"value", dtype_of<T>(), offsetof(Row, value)},
                           {"rank", rank, offsetof(Row, rank)},
                           {"rank_lower", rank, offsetof(Row, rank_lower)},
                           {"rank_upper", rank, offsetof(Row, rank_upper)}});
}

template <class T>
py::object records_of(const std::vector<Frequent<T>>& found) {
    return records(found, with_bounds<Count>({{"value", dtype_of<T>(), offsetof(Frequent<T>, value)}},
                                             offsetof(Frequent<T>, count)));
}

// Returns a record for one phi, an array of records for several. ask(summary, phis) returns the quantiles.
template <class AnySummary, class Ask>
py::object quantiles(AnySummary& self, const py::object& phi, const Ask& ask) {
    const bool one = !py::hasattr(phi, "__len__");
    std::vector<double> phis;
    try {
        phis = one ? std::vector<double>{phi.cast<double>()} : phi.cast<std::vector<double>>();
    } catch (const py::cast_error&) {
        throw py::type_error(std::string(self.name()) + ": phi is a number or a list of numbers, not " +
                             py::repr(phi).cast<std::string>());
    }
    return self.visit([&](auto& summary) -> py::object {
        const auto found = self.alone([&] { return ask(summary, phis); });
        auto all = records_of(found);
        return one ? py::object(all[py::int_(0)]) : all;
    });
}

using Width = std::optional<std::uint64_t>;

const detail::input::Words<Tail> tail_words{
    {"none", Tail::Off}, {"low", Tail::Low}, {"high", Tail::High}, {"both", Tail::Both}};

void bind_quantiles(py::module_& module) {
    auto made = define<AnyQuantiles, Quantiles>(module, "Quantiles", R"(
Quantiles of all values of a stream: the rank of every answer is within eps n of the requested one.

`n` is the number of values, if known. Windows are sorted on CPU threads (`threads`, 0: all), or on the GPU with a
`context`, or with the engine merge, hybrid, bitonic or pbsn; then only the thread that made the summary may use it.
`window` is the number of values that are sorted together, 0 for the sorter's choice. With a `tail` ("low", "high" or
"both") the error of a rank is eps times its distance from that end. With `moments`, stats() has the mean and variance.

>>> latencies = quadmill.Quantiles("float64", eps=0.01)
>>> latencies.add(numpy.arange(1000.0))
>>> latencies.quantile(0.5).value
499.0
>>> latencies.quantile([0.9, 0.99])["value"]
array([899., 989.])
>>> again = pickle.loads(pickle.dumps(latencies))
>>> again.merge(latencies)
>>> again.n
2000
)");
    made.def(py::init([](const py::object& dtype, double eps, std::optional<std::uint64_t> n, Whole<"window"> window,
                         const std::string& engine, const WorkplacePtr& context, Whole<"threads", unsigned> threads,
                         const std::string& tail, bool moments) {
                 const QuantileOptions options{.eps = eps,
                                               .n = n,
                                               .window = window,
                                               .tail = value_for(tail_words, "tail", tail),
                                               .moments = moments ? Moments::Kept : Moments::Off};
                 return std::make_unique<AnyQuantiles>("Quantiles", key_type(dtype),
                                                       sorter_for(engine, context, threads),
                                                       [&]<class T>(T, std::unique_ptr<WindowSorter> sorter) {
                                                           return Quantiles<T>(options, std::move(sorter));
                                                       });
             }),
             py::arg("dtype") = "float32", py::kw_only(), py::arg("eps") = 0.001, py::arg("n") = py::none(),
             py::arg("window") = 0, py::arg("engine") = "auto", py::arg("context") = WorkplacePtr(),
             py::arg("threads") = 1U, py::arg("tail") = "none", py::arg("moments") = false)
        .def(
            "stats",
            [](AnyQuantiles& self) {
                return self.visit([&]<class T>(Quantiles<T>& summary) {
                    using Row = Stats<T>;
                    const Row found = self.alone([&] { return summary.stats(); });
                    py::dict all;  // not a record, which has methods min, max and mean
                    all["n"] = found.n;
                    all["min"] = py::cast(found.min);
                    all["max"] = py::cast(found.max);
                    all["mean"] = found.mean;
                    all["variance"] = found.variance;
                    return all;
                });
            },
            "With moments=True: a dict of n, min, max, mean and variance (divided by n - 1).")
        .def(
            "quantile",
            [](AnyQuantiles& self, const py::object& phi) {
                return quantiles(self, phi, [](auto& summary, const auto& phis) { return summary.quantiles(phis); });
            },
            py::arg("phi"), R"(
The value of rank ceil(phi n), from 1: a record of phi, value, rank, and rank_lower and rank_upper, between which the
value's rank certainly is. For a list of phis, an array of records.
)")
        .def(
            "rank",
            [](AnyQuantiles& self, const py::object& value) {
                return self.visit([&]<class T>(Quantiles<T>& summary) {
                    const auto asked = value_of<T>("Quantiles.rank", value);
                    return record_of(self.alone([&] { return summary.rank(asked); }));
                });
            },
            py::arg("value"), "The number of values at or below it: a record of lower, estimate and upper.")
        .def(
            "histogram",
            [](AnyQuantiles& self, Whole<"bars"> bars) {
                return self.visit([&]<class T>(Quantiles<T>& summary) {
                    const auto found = self.alone([&] { return summary.histogram(bars); });
                    return records(found, with_bounds<Count>({{"low", dtype_of<T>(), offsetof(Bar<T>, from)},
                                                              {"high", dtype_of<T>(), offsetof(Bar<T>, to)}},
                                                             offsetof(Bar<T>, count)));
                });
            },
            py::arg("bars"),
            "Bars with about equal numbers of values: records of low, high, and lower, estimate and upper "
            "of their count.");
}

void bind_frequencies(py::module_& module) {
    auto made = define<AnyFrequencies, Frequencies>(module, "Frequencies", R"(
The frequent values of a stream with lossy counting: counts are at most eps n too low, and never too high.

>>> ports = quadmill.Frequencies("uint32", eps=0.01)
>>> ports.add(numpy.array([80, 443, 80, 22, 80], numpy.uint32))
>>> ports.frequent(0.5).value
array([80], dtype=uint32)
>>> ports.count(443).estimate
1
)");
    made.def(py::init([](const py::object& dtype, double eps, Whole<"window"> window, const std::string& engine,
                         const WorkplacePtr& context, Whole<"threads", unsigned> threads) {
                 const FrequencyOptions options{.eps = eps, .window = window};
                 return std::make_unique<AnyFrequencies>("Frequencies", key_type(dtype),
                                                         sorter_for(engine, context, threads),
                                                         [&]<class T>(T, std::unique_ptr<WindowSorter> sorter) {
                                                             return Frequencies<T>(options, std::move(sorter));
                                                         });
             }),
             py::arg("dtype") = "float32", py::kw_only(), py::arg("eps") = 0.001, py::arg("window") = 0,
             py::arg("engine") = "auto", py::arg("context") = WorkplacePtr(), py::arg("threads") = 1U)
        .def(
            "frequent",
            [](AnyFrequencies& self, double support) {
                return self.visit(
                    [&](auto& summary) { return records_of(self.alone([&] { return summary.frequent(support); })); });
            },
            py::arg("support"), R"(
All values that occur at least support n times, and none that occurs less than (support - eps) n times, most frequent
first: records of value, lower, estimate and upper.
)")
        .def(
            "count",
            [](AnyFrequencies& self, const py::object& value) {
                return self.visit([&]<class T>(Frequencies<T>& summary) {
                    const auto asked = value_of<T>("Frequencies.count", value);
                    return record_of(self.alone([&] { return summary.count(asked); }));
                });
            },
            py::arg("value"), "The count of a value: a record of lower, estimate and upper.");
}

// The constructor of both sliding summaries.
template <class AnySummary, template <class> class Summary>
void define_sliding(py::class_<AnySummary>& made, const char* name) {
    made.def(
        py::init([name](std::uint64_t window, const py::object& dtype, double eps, bool any_width,
                        const std::string& engine, const WorkplacePtr& context, Whole<"threads", unsigned> threads) {
            const SlidingOptions options{
                .eps = eps, .window = window, .widths = any_width ? Widths::Variable : Widths::Fixed};
            return std::make_unique<AnySummary>(name, key_type(dtype), sorter_for(engine, context, threads),
                                                [&]<class T>(T, std::unique_ptr<WindowSorter> sorter) {
                                                    return Summary<T>(options, std::move(sorter));
                                                });
        }),
        py::arg("window"), py::arg("dtype") = "float32", py::kw_only(), py::arg("eps") = 0.01,
        py::arg("any_width") = false, py::arg("engine") = "auto", py::arg("context") = WorkplacePtr(),
        py::arg("threads") = 1U);
}

void bind_sliding(py::module_& module) {
    auto of_quantiles = define<AnySlidingQuantiles, SlidingQuantiles>(module, "SlidingQuantiles", R"(
Quantiles of the last `window` values of a stream, or with any_width of the last `width`, up to `window`.

>>> last = quadmill.SlidingQuantiles(100, "int64")
>>> last.add(numpy.arange(1000))
>>> last.quantile(1).value
999
>>> last.quantile(0).value
900
)");
    define_sliding<AnySlidingQuantiles, SlidingQuantiles>(of_quantiles, "SlidingQuantiles");
    of_quantiles.def(
        "quantile",
        [](AnySlidingQuantiles& self, const py::object& phi, Width width) {
            return quantiles(self, phi,
                             [&](auto& summary, const auto& phis) { return summary.quantiles(phis, width); });
        },
        py::arg("phi"), py::arg("width") = py::none(), "As Quantiles.quantile, for the last values.");
    auto of_frequencies = define<AnySlidingFrequencies, SlidingFrequencies>(module, "SlidingFrequencies", R"(
The frequent values among the last `window`; otherwise as SlidingQuantiles.

>>> last = quadmill.SlidingFrequencies(4, "int32")
>>> last.add(numpy.array([1, 1, 1, 2, 2, 3, 2], numpy.int32))
>>> last.frequent(0.5)[["value", "estimate"]].tolist()
[(2, 3)]
)");
    define_sliding<AnySlidingFrequencies, SlidingFrequencies>(of_frequencies, "SlidingFrequencies");
    of_frequencies.def(
        "frequent",
        [](AnySlidingFrequencies& self, double support, Width width) {
            return self.visit([&](auto& summary) {
                return records_of(self.alone([&] { return summary.frequent(support, width); }));
            });
        },
        py::arg("support"), py::arg("width") = py::none(), "As Frequencies.frequent, for the last values.");
}

void bind_prefixes(py::module_& module) {
    auto made = define<AnyPrefixes, HeavyPrefixes>(module, "HeavyPrefixes", R"(
Hierarchical heavy hitters: prefixes of uint32 or uint64 with many values that no longer heavy prefix counts. `lengths`
are in bits; `support` is the smallest value for heavy().

>>> sources = quadmill.HeavyPrefixes([0, 8, 16, 24, 32], eps=0.001, support=0.1)
>>> sources.add(numpy.array([0x0A000001] * 8 + [0x0A000002, 0x0B000001], numpy.uint32))
>>> [(hex(p.value), p.length) for p in sources.heavy(0.5)]
[('0xa000001', 32)]
)");
    made.def(py::init([](const std::vector<int>& lengths, const py::object& dtype, double eps, double support,
                         const std::string& engine, const WorkplacePtr& context, Whole<"threads", unsigned> threads) {
                 const HeavyPrefixOptions options{.eps = eps, .support = support, .lengths = lengths};
                 return std::make_unique<AnyPrefixes>("HeavyPrefixes", key_type(dtype),
                                                      sorter_for(engine, context, threads),
                                                      [&]<class T>(T, std::unique_ptr<WindowSorter> sorter) {
                                                          return HeavyPrefixes<T>(options, std::move(sorter));
                                                      });
             }),
             py::arg("lengths"), py::arg("dtype") = "uint32", py::kw_only(), py::arg("eps") = 0.001,
             py::arg("support") = 0.01, py::arg("engine") = "auto", py::arg("context") = WorkplacePtr(),
             py::arg("threads") = 1U)
        .def(
            "heavy",
            [](AnyPrefixes& self, double support) {
                return self.visit([&]<class T>(HeavyPrefixes<T>& summary) {
                    using Row = HeavyPrefix<T>;
                    const auto found = self.alone([&] { return summary.heavy(support); });
                    auto fields = with_bounds<Count>({{"value", dtype_of<T>(), offsetof(Row, value)},
                                                      {"length", dtype_of<std::int32_t>(), offsetof(Row, length)}},
                                                     offsetof(Row, count));
                    return records(found,
                                   with_bounds<Count>(std::move(fields), offsetof(Row, discounted), "discounted_"));
                });
            },
            py::arg("support"), R"(
The heavy prefixes, longest first: records of value, length, the count of all values under it (lower, estimate, upper),
and the count without values under longer heavy prefixes (discounted_lower, ...).
)");
}

const detail::input::Words<Aggregate::Kind> aggregate_words{{"quantile", Aggregate::Kind::Quantile},
                                                            {"min", Aggregate::Kind::Min},
                                                            {"max", Aggregate::Kind::Max},
                                                            {"avg", Aggregate::Kind::Average}};

void bind_correlated_sums(py::module_& module) {
    auto made = define<AnyCorrelatedSums, CorrelatedSums>(module, "CorrelatedSums", R"(
SUM(y) over the pairs (x, y) whose x is at most scale * AGG(x) + offset, where AGG is a quantile, min, max or avg.

>>> sales = quadmill.CorrelatedSums("float64", eps=0.01)
>>> sales.add(numpy.array([1., 2., 3., 4.]), numpy.array([10., 20., 30., 40.]))
>>> sales.sum("avg")
(2.5, 30., 30., 30.)
>>> sales.sum("quantile", phi=0.75)["sum"]
60.0
)");
    made.def(py::init([](const py::object& dtype, double eps, std::optional<std::uint64_t> n, Whole<"window"> window,
                         const std::string& engine, const WorkplacePtr& context, Whole<"threads", unsigned> threads) {
                 const CorrelatedSumOptions options{.eps = eps, .n = n, .window = window};
                 return std::make_unique<AnyCorrelatedSums>("CorrelatedSums", key_type(dtype),
                                                            sorter_for(engine, context, threads),
                                                            [&]<class T>(T, std::unique_ptr<WindowSorter> sorter) {
                                                                return CorrelatedSums<T>(options, std::move(sorter));
                                                            });
             }),
             py::arg("dtype") = "float32", py::kw_only(), py::arg("eps") = 0.001, py::arg("n") = py::none(),
             py::arg("window") = 0, py::arg("engine") = "auto", py::arg("context") = WorkplacePtr(),
             py::arg("threads") = 1U)
        .def("add", &add_pairs, py::arg("x"), py::arg("y"),
             "Adds pairs: x of the summary's type, and the same number of float64 y, none infinite.")
        .def(
            "sum",
            [](AnyCorrelatedSums& self, const std::string& aggregate, double phi, double scale, double offset) {
                const Aggregate of{.kind = value_for(aggregate_words, "aggregate", aggregate), .phi = phi};
                return self.visit([&](auto& summary) {
                    const auto answer = self.alone([&] { return summary.sum(of, Affine{scale, offset}); });
                    struct Found {
                        double threshold, sum, lower, upper;
                    };
                    const Found found{answer.threshold, answer.sum, answer.lower, answer.upper};
                    const auto number = dtype_of<double>();
                    return record(found, {{"threshold", number, offsetof(Found, threshold)},
                                          {"sum", number, offsetof(Found, sum)},
                                          {"lower", number, offsetof(Found, lower)},
                                          {"upper", number, offsetof(Found, upper)}});
                });
            },
            py::arg("aggregate") = "quantile", py::kw_only(), py::arg("phi") = 0.5, py::arg("scale") = 1.0,
            py::arg("offset") = 0.0,
            "A record of threshold, sum, and lower and upper, between which the exact sum is.");
}

}  // namespace

void bind_summaries(py::module_& module) {
    bind_quantiles(module);
    bind_frequencies(module);
    bind_sliding(module);
    bind_prefixes(module);
    bind_correlated_sums(module);
}

}  // namespace quadmill::python
