#include "context.hpp"

#include <pybind11/stl.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "gl/identity.hpp"
#include "module.hpp"
#include "quadmill/error.hpp"

namespace quadmill::python {

namespace {

// Never closed, because drivers may be unloaded earlier at the end of the process.
WorkplacePtr& kept() {
    static auto* const workplace = new WorkplacePtr;
    return *workplace;
}

WorkplacePtr open(int device) {
    return released([&] { return std::make_shared<Workplace>(Context::headless({.device = device})); });
}

// What a loader of Python returned.
void* address_of(const char* name, const py::object& found) {
    if (found.is_none()) return nullptr;
    const auto rule = [&] {
        return "Context.adopt: the loader must return the address of " + std::string(name) +
               ", as a number, a pointer of ctypes, or None, not " + py::repr(found).cast<std::string>();
    };
    py::object number = found;
    if (PyIndex_Check(found.ptr()) == 0) {
        const auto ctypes = py::module_::import("ctypes");
        const auto data =
            py::make_tuple(ctypes.attr("_SimpleCData"), ctypes.attr("_Pointer"), ctypes.attr("_CFuncPtr"));
        // A text would be cast to the address of its characters.
        const auto texts = py::make_tuple(ctypes.attr("c_char_p"), ctypes.attr("c_wchar_p"));
        if (!py::isinstance(found, data) || py::isinstance(found, texts)) throw py::type_error(rule());
        try {
            number = ctypes.attr("cast")(found, ctypes.attr("c_void_p")).attr("value");
        } catch (const py::error_already_set&) {  // of ctypes.c_int and the like
            throw py::type_error(rule());
        }
        if (number.is_none()) return nullptr;
    }
    constexpr std::uint64_t first_page = 4096;  // which no process can use
    const auto address = PyLong_AsUnsignedLongLong(py::int_(number).ptr());
    if (PyErr_Occurred() != nullptr || (address != 0 && address < first_page)) {
        PyErr_Clear();
        throw InvalidArgument(rule());
    }
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));  // NOLINT(performance-no-int-to-ptr)
}

WorkplacePtr adopt(const py::object& loader) {
    if (loader.is_none()) return std::make_shared<Workplace>(Context::adopt());
    if (PyCallable_Check(loader.ptr()) == 0)
        throw py::type_error("Context.adopt: the loader must be callable, not " + py::repr(loader).cast<std::string>());
    std::exception_ptr failure;  // which must not go through the library's loader, which is C
    const auto address = [&](const char* name) -> void* {
        try {
            return failure ? nullptr : address_of(name, py::object(loader(name)));
        } catch (...) {
            failure = std::current_exception();
            return nullptr;
        }
    };
    try {
        auto made = std::make_shared<Workplace>(Context::adopt(address));
        if (!failure) return made;
    } catch (const Error&) {
        if (!failure) throw;
    }
    std::rethrow_exception(failure);
}

py::dict info(const Workplace& workplace) {
    const auto& known = workplace.context.info();
    py::dict made;
    made["renderer"] = known.renderer;
    made["vendor"] = known.vendor;
    made["version"] = known.version;
    made["platform"] = known.platform;
    made["software"] = known.software;
    made["max_texture_size"] = known.max_texture_size;
    return made;
}

// Records the passes of a context between __enter__ and __exit__.
struct Profile {
    WorkplacePtr workplace;
    PassProfiler::Rows by;
    std::unique_ptr<PassProfiler> profiler{};
    std::vector<PassProfiler::Row> rows{};

    Profile(WorkplacePtr of, PassProfiler::Rows rows_by) : workplace(std::move(of)), by(rows_by) {}
    Profile(const Profile&) = delete;
    Profile& operator=(const Profile&) = delete;
    ~Profile() {
        if (!profiler) return;
        workplace->profiled = false;
        let_go(workplace->turn, profiler);
    }
    void enter() {
        in_turn(workplace->turn, [&] {
            if (workplace->profiled)
                throw InvalidArgument("Context.profile: the context is being profiled; leave that `with` first");
            profiler = std::make_unique<PassProfiler>(workplace->context, by);
            workplace->profiled = true;
        });
    }
    void exit() {
        if (!profiler) throw InvalidArgument("Context.profile: take it by `with`");
        in_turn(workplace->turn, [&] {
            rows = profiler->rows();
            profiler.reset();
            workplace->profiled = false;
        });
    }
};

py::list rows_of(const Profile& profile) {
    py::list all;
    for (const auto& row : profile.rows) {
        py::dict one;
        one["name"] = row.name;
        one["format"] = row.format;
        one["blended"] = row.write == PassEvent::Write::Blend;
        one["passes"] = row.passes;
        one["texels"] = row.texels;
        one["gpu_ms"] = row.gpu_ms;
        all.append(one);
    }
    return all;
}

}  // namespace

// The value in the map, or a new one from make().
template <class Map, class Make>
auto& found_or_made(Map& map, const typename Map::key_type& key, const Make& make) {
    const auto found = map.find(key);
    return found != map.end() ? found->second : map.emplace(key, make()).first->second;
}

Sorter& Workplace::sorter(const SortOptions& options) {
    return found_or_made(sorters_, {options.engine, options.order, options.threads},
                         [&] { return Sorter(context, options); });
}

PairSorter& Workplace::pairs(const SortOptions& options) {
    return found_or_made(pairs_, {options.engine, options.order, options.threads},
                         [&] { return PairSorter(context, options); });
}

PictureStatistics& Workplace::pictures() {
    return pictures_ ? *pictures_ : pictures_.emplace(context);
}

QueryProcessor& Workplace::processor(const QueryOptions& options) {
    return found_or_made(processors_, {options.engine, options.threads},
                         [&] { return QueryProcessor(context, options); });
}

Lu& Workplace::lu(const LuOptions& options) {
    return found_or_made(lus_, {options.pivot, options.threads}, [&] { return Lu(context, options); });
}

LuBatch& Workplace::lu_batch(unsigned threads) {
    return found_or_made(lu_batches_, threads, [&] { return LuBatch(context, threads); });
}

void Workplace::free() {
    sorters_.clear();
    pairs_.clear();
    pictures_.reset();
    processors_.clear();
    lus_.clear();
    lu_batches_.clear();
}

WorkplacePtr default_workplace() {
    if (!kept()) {
        auto opened = open(-1);
        if (!kept()) kept() = std::move(opened);  // another thread may have been quicker
    }
    return kept();
}

WorkplacePtr open_default_workplace() {
    return kept();
}

void bind_context(py::module_& module) {
    py::class_<Workplace, WorkplacePtr> context(module, "Context", R"(
An OpenGL context that the library works in: one of its own without a display, or, by adopt(), the program's.

Calls of several threads in one context wait for each other. What a call needs on the GPU (programs, textures) stays for
the next one; free() lets go of it.

>>> context = quadmill.Context()
>>> a = numpy.array([3, 1, 2], numpy.float32)
>>> quadmill.sort(a, engine="merge", context=context)
>>> a
array([1., 2., 3.], dtype=float32)
)");
    context
        .def(py::init(
                 [](const py::object& loader, int device) { return loader.is_none() ? open(device) : adopt(loader); }),
             py::arg("loader") = py::none(), py::kw_only(), py::arg("device") = -1, R"(
Opens a context through EGL on a device of devices(); -1: the environment variable QUADMILL_DEVICE, or the first. With a
loader, adopt(loader).
)")
        .def_static("adopt", &adopt, py::arg("loader") = py::none(), R"(
The context that is current on this thread: of moderngl, pyglet, PyOpenGL or any other program, of OpenGL 3.3 or OpenGL ES
3.0 or later. It must be current in each call; its state is as it was after each. `loader` is only needed if neither EGL
nor GLX made the context: a function that takes the name of a function of OpenGL and returns its address, as a number, a
pointer of ctypes, or None; such as glfw.get_proc_address.
)")
        .def_property_readonly("info", &info, "Facts about the context: renderer, vendor, version, platform, ...")
        .def(
            "free", [](Workplace& self) { in_turn(self.turn, [&] { self.free(); }); },
            "Frees memory that earlier calls keep for later ones.")
        .def(
            "profile",
            [](const WorkplacePtr& self, bool by_step) {
                return std::make_unique<Profile>(self,
                                                 by_step ? PassProfiler::Rows::ByStep : PassProfiler::Rows::ByName);
            },
            py::kw_only(), py::arg("by_step") = false, R"(
Times the passes in this context within `with`, as `quadmill --profile` prints them.

>>> context = quadmill.Context()
>>> with context.profile() as profile:
...     quadmill.sort(numpy.arange(1000, dtype=numpy.float32), engine="merge", context=context)
>>> sum(row["passes"] for row in profile.rows) > 0
True
)")
        .def("__repr__", [](const Workplace& self) {
            const auto& info = self.context.info();
            return "Context(" + info.renderer + ", " + info.platform + ")";
        });
    bind_objects(module, context);
    py::class_<Profile>(module, "Profile", "The passes of a context, timed; Context.profile() makes it, for `with`.")
        .def("__enter__",
             [](py::object self) {
                 self.cast<Profile&>().enter();
                 return self;
             })
        .def("__exit__", [](Profile& self, const py::args&) { self.exit(); })
        .def_property_readonly("rows", &rows_of, R"(
After `with`: for each pass name a dict of name, format, blended, passes, texels and gpu_ms, in order of first
appearance.
)");
    module.def("default_context", &default_workplace, R"(
The context of calls that need one and get none; opened at the first such call.
)");
    module.def(
        "devices",
        [] {
            py::list all;
            for (const auto& device : Context::devices()) all.append(device.name);
            return all;
        },
        "Names of the EGL devices that Context(device=) takes by number.");
}

}  // namespace quadmill::python
