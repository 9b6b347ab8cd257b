#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "context.hpp"
#include "module.hpp"
#include "numbers.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sketch.hpp"

namespace quadmill::python {

namespace {

using Sketches = std::variant<Sketch<std::uint32_t>, Sketch<std::uint64_t>, Sketch<float>, Sketch<std::string_view>>;

// A sketch of keys of any type, with the lock that keeps its calls apart.
struct AnySketch {
    AnySketch(WorkplacePtr where, Sketches made) : workplace(std::move(where)), sketch(std::move(made)) {}
    AnySketch(const AnySketch&) = delete;
    AnySketch& operator=(const AnySketch&) = delete;
    ~AnySketch() {
        if (workplace) let_go(workplace->turn, sketch);
    }

    template <class Visit>
    auto visit(const Visit& visit) {
        return std::visit(visit, sketch);
    }
    template <class Work>
    auto alone(const Work& work) {
        return in_turn(turn(), work);
    }
    [[nodiscard]] Turn& turn() { return workplace ? workplace->turn : own_turn; }

    WorkplacePtr workplace;
    Turn own_turn;
    Sketches sketch;
};

SketchKeys keys_of(const py::object& dtype) {
    const bool text =
        dtype.is(py::type::of(py::str())) || (py::isinstance<py::str>(dtype) && dtype.cast<std::string>() == "str");
    if (text) return SketchKeys::Text;
    switch (key_type(dtype)) {
        case KeyType::U32:
            return SketchKeys::U32;
        case KeyType::U64:
            return SketchKeys::U64;
        case KeyType::F32:
            return SketchKeys::F32;
        default:
            throw py::type_error("Sketch: keys are uint32, uint64, float32 or str, not " +
                                 py::str(dtype).cast<std::string>());
    }
}

// Makes a sketch with make(T{}), in its context if it has one.
template <class Make>
std::unique_ptr<AnySketch> made_for(SketchKeys keys, const WorkplacePtr& context, const Make& make) {
    const auto any = [&]() -> Sketches {
        switch (keys) {
            case SketchKeys::U32:
                return make(std::uint32_t{});
            case SketchKeys::U64:
                return make(std::uint64_t{});
            case SketchKeys::F32:
                return make(float{});
            default:
                return make(std::string_view{});
        }
    };
    return std::make_unique<AnySketch>(context, context ? in_turn(context->turn, any) : released(any));
}

std::unique_ptr<AnySketch> make_sketch(const py::object& dtype, std::uint64_t width, int depth, const std::string& kind,
                                       int fat, std::uint64_t seed, const std::string& engine, WorkplacePtr context,
                                       Whole<"threads", unsigned> threads) {
    const SketchOptions options{.kind = value_for(detail::input::sketch_kind_words, "kind", kind),
                                .width = width,
                                .depth = depth,
                                .fat = fat,
                                .seed = seed,
                                .engine = value_for(detail::input::sketch_engine_words, "engine", engine),
                                .threads = threads};
    if (options.engine != SketchEngine::Auto && options.engine != SketchEngine::Cpu) context = or_default(context);
    return made_for(keys_of(dtype), context,
                    [&]<class T>(T) { return context ? Sketch<T>(context->context, options) : Sketch<T>(options); });
}

std::unique_ptr<AnySketch> load_sketch(const py::bytes& saved, const WorkplacePtr& context) {
    const auto bytes = std::as_bytes(std::span(std::string_view(saved)));
    return made_for(saved_sketch(bytes).keys, context, [&]<class T>(T) {
        return context ? Sketch<T>::load(context->context, bytes) : Sketch<T>::load(bytes);
    });
}

// Texts of a list or an array in UTF-8, and as keys of a sketch.
struct Texts {
    explicit Texts(const char* function, const py::object& from) {
        if (py::isinstance<py::str>(from) || py::isinstance<py::bytes>(from))
            throw py::type_error(std::string(function) + ": takes a list of texts, not one text");
        for (const auto& text : from) {
            if (!py::isinstance<py::str>(text) && !py::isinstance<py::bytes>(text)) {
                throw py::type_error(std::string(function) + ": keys are str or bytes, not " +
                                     py::repr(text).cast<std::string>());
            }
            kept.push_back(text.cast<std::string>());
        }
        views.assign(kept.begin(), kept.end());
    }
    std::vector<std::string> kept;
    std::vector<std::string_view> views;
};

// Calls work(keys). The keys are a span of the sketch's own type.
template <class T, class Work>
auto with_keys(const char* function, const py::object& keys, const Work& work) {
    if constexpr (std::is_same_v<T, std::string_view>) {
        const Texts texts(function, keys);
        return work(std::span<const std::string_view>(texts.views));
    } else {
        const auto array = readable(function, keys);
        return work(span_of<T>(function, array));
    }
}

enum class Change { Insert, Remove };

template <Change change>
void change_by(AnySketch& self, const py::object& keys, const py::object& weights) {
    constexpr const auto* function = change == Change::Insert ? "Sketch.insert" : "Sketch.remove";
    std::optional<KeyArray> weight_array;
    std::span<const std::uint32_t> weight;
    if (!weights.is_none()) {
        weight_array = readable(function, weights);
        weight = span_of<std::uint32_t>(function, *weight_array);
    }
    self.visit([&]<class T>(Sketch<T>& sketch) {
        with_keys<T>(function, keys, [&](std::span<const T> values) {
            self.alone([&] {
                if constexpr (change == Change::Insert) {
                    weight_array ? sketch.insert(values, weight) : sketch.insert(values);
                } else {
                    weight_array ? sketch.remove(values, weight) : sketch.remove(values);
                }
            });
        });
    });
    check_signals();
}

py::object query_keys(AnySketch& self, const py::object& keys) {
    return self.visit([&]<class T>(Sketch<T>& sketch) {
        return with_keys<T>("Sketch.query", keys, [&](std::span<const T> values) {
            const auto found = self.alone([&] { return sketch.query(values); });
            return records(found, with_bounds<SketchCount>({}, 0));
        });
    });
}

// Calls `work` with a sketch whose keys may be in textures.
template <class Work>
void in_textures(AnySketch& self, const Work& work) {
    self.visit([&]<class T>(Sketch<T>& sketch) {
        if constexpr (std::is_same_v<T, std::string_view>) {
            throw py::type_error("Sketch: texts are in no texture");
        } else {
            self.alone([&] { work(sketch); });
        }
    });
}

void merge_sketches(AnySketch& self, AnySketch& other) {
    if (self.sketch.index() != other.sketch.index())
        throw py::type_error("Sketch.merge: keys of both must be of one type");
    self.visit([&]<class T>(Sketch<T>& sketch) {
        in_turns(self.turn(), other.turn(), [&] { sketch.merge(std::get<Sketch<T>>(other.sketch)); });
    });
}

py::bytes save_sketch(AnySketch& self) {
    return bytes_of(self.visit([&](auto& sketch) { return self.alone([&] { return sketch.save(); }); }));
}

std::string sketch_text(AnySketch& self) {
    return self.visit([&]<class T>(Sketch<T>& sketch) {
        const auto [n, bytes] = self.alone([&] { return std::pair(sketch.n(), sketch.bytes()); });
        const auto& options = sketch.options();
        std::string keys = "str";
        if constexpr (!std::is_same_v<T, std::string_view>) keys = py::str(dtype_of<T>()).template cast<std::string>();
        return "Sketch(" + keys + ", " + detail::input::word_for(detail::input::sketch_kind_words, options.kind) +
               ", width=" + std::to_string(options.width) + ", depth=" + std::to_string(options.depth) +
               ", n=" + std::to_string(n) + ", bytes=" + std::to_string(bytes) + ")";
    });
}

using Hitters = std::variant<HeavyHitters<std::uint32_t>, HeavyHitters<std::uint64_t>, HeavyHitters<float>>;

struct AnyHitters {
    Turn turn;
    Hitters hitters;
};

std::unique_ptr<AnyHitters> make_hitters(const py::object& dtype, double eps, std::uint64_t width, int depth,
                                         std::uint64_t seed) {
    const FrequencyOptions frequencies{.eps = eps};
    const SketchOptions sketch{.width = width, .depth = depth, .seed = seed};
    const auto made = [&]<class T>(T) {
        return std::unique_ptr<AnyHitters>(new AnyHitters{{}, HeavyHitters<T>(frequencies, sketch)});
    };
    switch (keys_of(dtype)) {
        case SketchKeys::U32:
            return made(std::uint32_t{});
        case SketchKeys::U64:
            return made(std::uint64_t{});
        case SketchKeys::F32:
            return made(float{});
        default:
            throw py::type_error("HeavyHitters: keys are uint32, uint64 or float32, not str");
    }
}

void add_to_hitters(AnyHitters& self, const py::object& values) {
    const auto array = readable("HeavyHitters.add", values);
    std::visit(
        [&]<class T>(HeavyHitters<T>& hitters) {
            const auto span = span_of<T>("HeavyHitters.add", array);
            add_slices(span.size(), [&](std::size_t begin, std::size_t count) {
                in_turn(self.turn, [&] { hitters.add(span.subspan(begin, count)); });
            });
        },
        self.hitters);
}

py::tuple top_hitters(AnyHitters& self, Whole<"k"> k) {
    return std::visit(
        [&]<class T>(HeavyHitters<T>& hitters) {
            const auto top = in_turn(self.turn, [&] { return hitters.top(k); });
            using Item = Frequent<T>;
            return py::make_tuple(
                records(top.items,
                        with_bounds<Count>({{"value", dtype_of<T>(), offsetof(Item, value)}}, offsetof(Item, count))),
                top.others);
        },
        self.hitters);
}

}  // namespace

void bind_sketches(py::module_& module) {
    py::class_<AnySketch>(module, "Sketch", R"(
A count-min sketch: it counts keys in depth * width counters and stores no keys. An estimate is never too low (if only
inserted keys are removed), and at most e N / width too high with probability 1 - e^-depth.

`dtype` is uint32, uint64, float32 or str. `kind` is quarter, thread (the count-min sketch itself), half, warp, msws or
sf; `engine` is auto, cpu, blend-counters, blend-buckets, blend-packed or sort. Without a context, auto is the CPU.

>>> words = quadmill.Sketch(str, width=quadmill.suggest_width(0.001), depth=quadmill.suggest_depth(0.01))
>>> words.insert(["to", "be", "or", "not", "to", "be"])
>>> words.query(["to", "question"]).estimate
array([2, 0], dtype=uint64)
)")
        .def(py::init(&make_sketch), py::arg("dtype") = "uint32", py::kw_only(), py::arg("width"), py::arg("depth") = 3,
             py::arg("kind") = "quarter", py::arg("fat") = 3, py::arg("seed") = 0, py::arg("engine") = "auto",
             py::arg("context") = WorkplacePtr(), py::arg("threads") = 0U)
        .def("insert", &change_by<Change::Insert>, py::arg("keys"), py::arg("weights") = py::none(),
             "Counts keys, each `weight` (uint32) times.")
        .def("remove", &change_by<Change::Remove>, py::arg("keys"), py::arg("weights") = py::none(),
             "Removes inserted keys. Counters do not fall below 0; see removed_too_often.")
        .def("query", &query_keys, py::arg("keys"), "For each key a record of lower, estimate and upper.")
        .def(
            "insert_texture",
            [](AnySketch& self, Whole<"keys", std::uint32_t> keys, std::optional<Whole<"count">> count) {
                in_textures(self, [&](auto& sketch) { sketch.insert_texture(keys, count); });
            },
            py::arg("keys"), py::arg("count") = py::none(),
            "Counts the first `count` texels of a texture: R32UI, R32F, or RG32UI for uint64.")
        .def(
            "query_texture",
            [](AnySketch& self, Whole<"keys", std::uint32_t> keys, Whole<"estimates", std::uint32_t> estimates,
               std::optional<Whole<"count">> count) {
                in_textures(self, [&](auto& sketch) { sketch.query_texture(keys, estimates, count); });
            },
            py::arg("keys"), py::arg("estimates"), py::arg("count") = py::none(),
            "Writes the estimates of the texels' keys into an R32UI texture.")
        .def("merge", &merge_sketches, py::arg("other"),
             "Adds the counters of another sketch of the same shape and seed.")
        .def("save", &save_sketch, "The sketch as bytes, which load(), pickle and the command read.")
        .def_static("load", &load_sketch, py::arg("saved"), py::kw_only(), py::arg("context") = WorkplacePtr(),
                    "Loads the bytes of save().")
        .def(py::pickle(&save_sketch, [](const py::bytes& saved) { return load_sketch(saved, {}); }))
        .def_property_readonly(
            "n", [](AnySketch& self) { return self.visit([&](auto& s) { return self.alone([&] { return s.n(); }); }); },
            "The sum of all inserted weights minus removed ones.")
        .def_property_readonly(
            "removed_too_often",
            [](AnySketch& self) {
                return self.visit([&](auto& s) { return self.alone([&] { return s.removed_too_often(); }); });
            },
            "Weights that were removed although they had not been inserted: at least that many; 0 while every remove "
            "follows an insert. If it is not 0, estimates of other keys may be too low.")
        .def_property_readonly(
            "nbytes",
            [](AnySketch& self) { return self.visit([&](auto& s) { return self.alone([&] { return s.bytes(); }); }); },
            "Bytes of the table, on the CPU and on the GPU.")
        .def("__repr__", &sketch_text);
    py::class_<AnyHitters>(module, "HeavyHitters", R"(
The most frequent values of a stream. Candidates come from a lossy count, which finds every value that occurs more than
eps n times, and counts from it and from a sketch; all bounds are certain.

>>> ports = quadmill.HeavyHitters("uint32", eps=0.01, width=4096)
>>> ports.add(numpy.array([80, 443, 80, 22, 80, 443], numpy.uint32))
>>> items, others = ports.top(2)
>>> items.value, items.estimate, int(others)
(array([ 80, 443], dtype=uint32), array([3, 2], dtype=uint64), 1)
)")
        .def(py::init(&make_hitters), py::arg("dtype") = "uint32", py::kw_only(), py::arg("eps") = 0.001,
             py::arg("width"), py::arg("depth") = 3, py::arg("seed") = 0)
        .def("add", &add_to_hitters, py::arg("values"), "Counts values, without NaNs.")
        .def("top", &top_hitters, py::arg("k"), R"(
(items, others): up to k records of value, lower, estimate and upper, the largest estimate first; no other value occurs
more often than `others`.
)")
        .def_property_readonly(
            "n",
            [](AnyHitters& self) {
                return std::visit([&](auto& h) { return in_turn(self.turn, [&] { return h.n(); }); }, self.hitters);
            },
            "Values so far, without NaNs.")
        .def("__repr__", [](AnyHitters& self) {
            const auto n = std::visit([&](auto& h) { return in_turn(self.turn, [&] { return h.n(); }); }, self.hitters);
            return "HeavyHitters(n=" + std::to_string(n) + ")";
        });
    module.def("suggest_width", &suggest_width, py::arg("eps"),
               "The smallest width with estimates at most eps N too high.");
    module.def("suggest_depth", &suggest_depth, py::arg("delta"), "The smallest depth with e^-depth <= delta.");
}

}  // namespace quadmill::python
