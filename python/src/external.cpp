#include "quadmill/external.hpp"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cstddef>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "context.hpp"
#include "devices.hpp"
#include "module.hpp"
#include "numbers.hpp"
#include "quadmill/error.hpp"

namespace quadmill::python {

namespace {

// A key is (offset, bytes) or (offset, "u32"), optionally with "desc".
KeyField field_of(const py::tuple& spec) try {
    if (spec.size() < 2 || spec.size() > 3) {
        throw InvalidArgument("terasort: a key is (offset, bytes) or (offset, type), and perhaps \"desc\", not " +
                              py::repr(spec).cast<std::string>());
    }
    KeyField field{.offset = spec[0].cast<std::size_t>()};
    if (py::isinstance<py::str>(spec[1])) {
        field.type = value_for(detail::input::field_words, "terasort: the type of a key", spec[1].cast<std::string>());
    } else {
        field.bytes = spec[1].cast<std::size_t>();
    }
    if (spec.size() == 3) field.order = value_for(detail::input::order_words, "order", spec[2].cast<std::string>());
    return field;
} catch (const py::cast_error&) {
    throw py::type_error("terasort: a key is (offset, bytes) or (offset, type), and perhaps \"desc\", not " +
                         py::repr(spec).cast<std::string>());
}

py::dict dict_of(const ExternalProgress& progress) {
    py::dict made;
    made["phase"] = progress.phase == ExternalProgress::Phase::Runs ? "runs" : "merge";
    made["bytes"] = progress.bytes;
    made["total"] = progress.total;
    made["seconds"] = progress.seconds;
    return made;
}

py::dict dict_of(const ExternalSortStats& stats) {
    py::dict made;
    made["bytes"] = stats.bytes;
    made["records"] = stats.records;
    made["runs"] = stats.runs;
    made["merge_passes"] = stats.merge_passes;
    made["engine"] = detail::input::word_for(detail::input::engine_words, stats.engine);
    made["io"] = stats.io;
    made["seconds"] = stats.seconds;
    made["runs_seconds"] = stats.runs_seconds;
    made["merge_seconds"] = stats.merge_seconds;
    return made;
}

// Reports the progress of a sort to Python. An exception raised there, also by Ctrl-C, stops the sort and is then raised
// again.
class Telling {
  public:
    explicit Telling(py::object callback) : callback_(std::move(callback)) {}
    Proceed operator()(const ExternalProgress& progress) {
        const py::gil_scoped_acquire gil;
        try {
            check_signals();
            if (callback_.is_none()) return Proceed::GoOn;
            const auto answer = callback_(dict_of(progress));
            return answer.is(py::bool_(false)) ? Proceed::Stop : Proceed::GoOn;
        } catch (const py::error_already_set&) {
            raised_ = std::current_exception();
            return Proceed::Stop;
        }
    }
    void raise_again() const {
        if (raised_) std::rethrow_exception(raised_);
    }

  private:
    py::object callback_;
    std::exception_ptr raised_;
};

py::dict terasort(const std::filesystem::path& input, const std::filesystem::path& output, std::size_t record_bytes,
                  const std::vector<py::tuple>& key, bool lines, std::size_t memory, std::vector<std::string> temp,
                  const std::string& engine, WorkplacePtr context, const DevicesPtr& devices,
                  Whole<"threads", unsigned> threads, const py::object& progress) {
    if (!progress.is_none() && PyCallable_Check(progress.ptr()) == 0)
        throw py::type_error("terasort: progress must be a function, not " + py::repr(progress).cast<std::string>());
    if (context && devices) throw InvalidArgument("terasort: give a context or devices, not both");
    RecordFormat format{.kind = lines ? RecordFormat::Kind::Lines : RecordFormat::Kind::Fixed, .bytes = record_bytes};
    if (!key.empty()) format.key.clear();
    for (const auto& field : key) format.key.push_back(field_of(field));
    Telling telling(progress);
    const ExternalSortOptions options{.format = std::move(format),
                                      .memory = memory,
                                      .temp = std::move(temp),
                                      .engine = value_for(detail::input::engine_words, "engine", engine),
                                      .threads = threads,
                                      .progress = [&](const ExternalProgress& p) { return telling(p); }};
    if (!devices && options.engine != Engine::Auto && options.engine != Engine::Cpu) context = or_default(context);
    const auto sort = [&] {
        if (devices) {
            devices->sorter.reset();
            return sort_file(input.string(), output.string(), options, devices->group);
        }
        return sort_file(input.string(), output.string(), options,
                         context ? std::optional(context->context) : std::nullopt);
    };
    try {
        if (devices) return dict_of(in_turn(devices->turn, sort));
        return dict_of(context ? in_turn(context->turn, sort) : released(sort));
    } catch (const SortStopped&) {
        telling.raise_again();
        throw;
    }
}

}  // namespace

void bind_external(py::module_& module) {
    module.def("terasort", &terasort, py::arg("input"), py::arg("output"), py::kw_only(), py::arg("record_bytes") = 100,
               py::arg("key") = std::vector<py::tuple>{}, py::arg("lines") = false,
               py::arg("memory") = std::size_t{256} << 20U, py::arg("temp") = std::vector<std::string>{},
               py::arg("engine") = "auto", py::arg("context") = WorkplacePtr(), py::arg("devices") = DevicesPtr(),
               py::arg("threads") = 0U, py::arg("progress") = py::none(), R"(
Sorts a file of records or lines, which may be larger than memory, into another file, which appears when it is complete.

`key` is a list of fields that order the records, the second one if the first is equal: (offset, bytes), or (offset,
type) with a type such as u16 or f64 (see `quadmill terasort --help`), and "desc" as a third element. The default is the first 10 bytes. `memory` is
the maximum of additional bytes; `temp` is a list of folders for runs, used in turn (default: the environment variable
TMPDIR, or /tmp). `engine` sorts runs: auto, cpu, merge or bitonic, the latter two in `context`; with `devices`, a
DeviceGroup, all of them share the runs. `threads` are CPU threads, 0 for all. `progress` is called about ten times a
second with a dict of phase ("runs" or "merge"), bytes, total and seconds; if it returns False or raises, or after
Ctrl-C, the sort stops and the output is unchanged. Returns a dict with statistics.

>>> _ = pathlib.Path("in.bin").write_bytes(numpy.array([3, 1, 2], "<u8").tobytes())
>>> quadmill.terasort("in.bin", "out.bin", record_bytes=8, key=[(0, "u64")])["records"]
3
>>> numpy.fromfile("out.bin", "<u8")
array([1, 2, 3], dtype=uint64)
)");
}

}  // namespace quadmill::python
