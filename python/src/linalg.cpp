#include "quadmill/linalg.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "context.hpp"
#include "module.hpp"
#include "numbers.hpp"
#include "quadmill/error.hpp"

namespace quadmill::python {

namespace {

std::size_t length(const py::array& array, py::ssize_t axis) {
    return static_cast<std::size_t>(array.shape(axis));
}

std::string shape_of(const py::array& array) {
    return py::str(array.attr("shape")).cast<std::string>();
}

template <class T = float>
std::span<const T> values_of(const py::array& array) {
    return {static_cast<const T*>(array.data()), static_cast<std::size_t>(array.size())};
}

std::vector<py::ssize_t> shape_vector(const py::array& array) {
    return {array.shape(), array.shape() + array.ndim()};
}

py::array matrix_of(const char* function, const py::object& a, KeyType type = KeyType::F32) {
    const auto array = readable_of(function, a, type);
    if (array.ndim() == 2) return array;
    throw InvalidArgument(std::string(function) + ": a must have two dimensions, not the shape " + shape_of(array));
}

// The number of right-hand sides in b. Throws if b does not have n rows.
std::size_t sides_of(const char* function, const py::array& b, std::size_t n, py::ssize_t first = 0) {
    const bool fits = (b.ndim() == first + 1 || b.ndim() == first + 2) && length(b, first) == n;
    if (!fits) {
        throw InvalidArgument(std::string(function) + ": b must have " + std::to_string(n) +
                              " rows for each matrix, and perhaps columns, not the shape " + shape_of(b));
    }
    return b.ndim() == first + 2 ? length(b, first + 1) : 1;
}

MatrixView view_of(const py::array& matrix) {
    return {values_of(matrix), length(matrix, 0), length(matrix, 1)};
}

bool is_double(const py::array& array) {
    return key_type(array.dtype()) == KeyType::F64;
}

// A matrix of float32, or of float64 as it is.
py::array matrix_to_factor(const char* function, const py::object& a) {
    return matrix_of(function, a,
                     array_of(function, a).dtype().equal(dtype_of<double>()) ? KeyType::F64 : KeyType::F32);
}

// Taken while Python's lock is held, used while it is not.
using AnyView = std::variant<MatrixView, DoubleMatrixView>;

AnyView any_view(const py::array& matrix) {
    if (!is_double(matrix)) return view_of(matrix);
    return DoubleMatrixView{values_of<double>(matrix), length(matrix, 0), length(matrix, 1)};
}

LuStats factor(Lu& lu, const AnyView& matrix) {
    return std::visit([&](auto view) { return lu.factor(view); }, matrix);
}

void warn_of(const char* function, double condition) {
    if (condition * 0x1p-53 < 1.0 / 16) return;
    const auto text = std::string(function) + ": the condition number is about " +
                      py::repr(py::float_(condition)).cast<std::string>() + ": do not trust the solution";
    if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) throw py::error_already_set();
}

// x has the shape of b. It is refined if the matrix or b is of float64. factored() returns the factorization of the
// matrix, under the lock.
template <class Factored>
py::array solution(const char* function, Workplace& workplace, const py::array& matrix, const py::object& b,
                   const Factored& factored) {
    const auto given = array_of(function, b);
    const bool of_doubles = is_double(given), refined = of_doubles || is_double(matrix);
    auto sides = readable_of(function, b, of_doubles ? KeyType::F64 : KeyType::F32);
    if (refined && !of_doubles) sides = sides.attr("astype")("f8");
    const auto columns = sides_of(function, sides, length(matrix, 0));
    if (!refined) {
        auto x = in_turn(workplace.turn, [&] { return factored().solve(values_of(sides), columns); });
        return made_of(std::move(x), shape_vector(sides));
    }
    std::vector<double> x(static_cast<std::size_t>(sides.size()));
    const auto right = values_of<double>(sides);
    const auto of_matrix = any_view(matrix);
    const auto ended = in_turn(workplace.turn, [&] {
        return std::visit([&](auto view) { return factored().solve(view, right, x, columns); }, of_matrix);
    });
    if (!ended.converged) {
        throw Error(std::string(function) + ": the refinement to double accuracy did not converge (residual " +
                    py::repr(py::float_(ended.residual)).cast<std::string>() +
                    "): the matrix is nearly singular; a float32 b gives what there is");
    }
    warn_of(function, ended.condition.value_or(0));
    return made_of(std::move(x), shape_vector(sides));
}

// A factorization on the GPU, with its matrix.
class Factorized {
    template <class Work>
    auto alone(const Work& work) {
        return in_turn(workplace_->turn, work);
    }

  public:
    Factorized(const py::object& a, const LuOptions& options, const WorkplacePtr& context)
        : workplace_(or_default(context)), matrix_(matrix_to_factor("lu", a).attr("copy")("C")) {
        const auto view = any_view(matrix_);
        alone([&] {
            lu_.emplace(workplace_->context, options);
            stats_ = factor(*lu_, view);
        });
    }
    Factorized(const Factorized&) = delete;
    Factorized& operator=(const Factorized&) = delete;
    ~Factorized() { let_go(workplace_->turn, lu_); }

    [[nodiscard]] const LuStats& stats() const { return stats_; }

    py::tuple factors() {
        auto found = alone([&] { return lu_->factors(); });
        auto lu = found.row_exponents.empty() ? made_of(std::move(found.lu), shape_vector(matrix_))
                                              : made_of(found.unscaled(), shape_vector(matrix_));
        return py::make_tuple(lu, made_of(std::move(found.rows)), made_of(std::move(found.columns)));
    }

    double condition() {
        return std::visit([&](auto view) { return alone([&] { return lu_->condition(view); }); }, any_view(matrix_));
    }

    py::array solve(const py::object& b) {
        return solution("Lu.solve", *workplace_, matrix_, b, [&]() -> Lu& { return *lu_; });
    }

    py::array inverse() {
        return made_of(alone([&] { return lu_->inverse(); }), shape_vector(matrix_));
    }

    py::tuple slogdet() {
        const auto found = alone([&] { return lu_->determinant(); });
        return py::make_tuple(found.sign, found.log_magnitude);
    }

  private:
    WorkplacePtr workplace_;
    py::array matrix_;  // a copy, which refined solutions read again
    std::optional<Lu> lu_;
    LuStats stats_;
};

// Many small systems together: shape (systems, n, n) and (systems, n) or (systems, n, columns).
py::array solve_all(const py::array& matrices, const py::object& b, Workplace& workplace, unsigned threads) {
    const auto sides = readable_of("solve", b, KeyType::F32);
    const auto systems = length(matrices, 0), n = length(matrices, 1);
    if (length(matrices, 2) != n || sides.ndim() < 2 || length(sides, 0) != systems) {
        throw InvalidArgument(
            "solve: a of shape (systems, n, n) goes with b of (systems, n) or (systems, n, columns), not " +
            shape_of(matrices) + " with " + shape_of(sides));
    }
    const auto columns = sides_of("solve", sides, n, 1);
    auto x = in_turn(workplace.turn, [&] {
        auto& batch = workplace.lu_batch(threads);
        const auto info = batch.factor(values_of(matrices), n).info;
        const auto singular = std::ranges::find_if(info, [](auto pivot) { return pivot != 0; });
        if (singular != info.end()) {
            throw Error("solve: matrix " + std::to_string(singular - info.begin()) + " is singular: pivot " +
                        std::to_string(*singular) + " is zero");
        }
        return batch.solve(values_of(sides), columns);
    });
    return made_of(std::move(x), shape_vector(sides));
}

py::array solve(const py::object& a, const py::object& b, const std::string& pivot, const WorkplacePtr& context,
                Whole<"threads", unsigned> threads) {
    const LuOptions options{.pivot = value_for(detail::input::pivot_words, "pivot", pivot), .threads = threads};
    const auto workplace = or_default(context);
    if (array_of("solve", a).ndim() == 3) {
        if (options.pivot != Pivot::Partial)
            throw InvalidArgument("solve: many matrices together have pivot=\"partial\"");
        return solve_all(readable_of("solve", a, KeyType::F32), b, *workplace, threads);
    }
    const auto matrix = matrix_to_factor("solve", a);
    const auto view = any_view(matrix);
    return solution("solve", *workplace, matrix, b, [&]() -> Lu& {
        auto& lu = workplace->lu(options);
        (void)factor(lu, view);
        return lu;
    });
}

// Reductions in a context.
struct Reductions {
    explicit Reductions(const WorkplacePtr& named)
        : workplace(or_default(named)),
          reducer(in_turn(workplace->turn, [&] { return Reducer(workplace->context); })) {}
    Reductions(const Reductions&) = delete;
    Reductions& operator=(const Reductions&) = delete;
    ~Reductions() { let_go(workplace->turn, reducer); }

    WorkplacePtr workplace;
    Reducer reducer;
};

Along along_of(const std::string& word) {
    static const detail::input::Words<Along> words{
        {"all", Along::All}, {"rows", Along::Rows}, {"columns", Along::Columns}};
    return value_for(words, "along", word);
}

py::array sums_of(Reductions& self, const py::object& a, const std::string& along) {
    const auto by = along_of(along);
    const auto type = array_of("Reducer.sums", a).dtype();
    const auto of_integers = [&]<class T>(T) -> py::array {
        const auto matrix = matrix_of("Reducer.sums", a, key_type_of<T>);
        const auto values = values_of<T>(matrix);
        const auto columns = length(matrix, 1);
        return made_of(in_turn(self.workplace->turn, [&] { return self.reducer.sums(values, columns, by); }));
    };
    if (type.equal(dtype_of<std::uint32_t>())) return of_integers(std::uint32_t{});
    if (type.equal(dtype_of<std::int32_t>())) return of_integers(std::int32_t{});
    const auto matrix = matrix_of("Reducer.sums", a);
    return made_of(in_turn(self.workplace->turn, [&] { return self.reducer.sums(view_of(matrix), by); }));
}

py::array norms_of(Reductions& self, const py::object& a, const std::string& along) {
    const auto by = along_of(along);
    const auto matrix = matrix_of("Reducer.norms", a);
    return made_of(in_turn(self.workplace->turn, [&] { return self.reducer.norms(view_of(matrix), by); }));
}

py::array dots_of(Reductions& self, const py::object& a, const py::object& b, const std::string& along) {
    const auto by = along_of(along);
    const auto left = matrix_of("Reducer.dots", a), right = matrix_of("Reducer.dots", b);
    return made_of(in_turn(self.workplace->turn, [&] { return self.reducer.dots(view_of(left), view_of(right), by); }));
}

template <auto which>
py::list extremes_of(Reductions& self, const py::object& a, const std::string& along) {
    const auto by = along_of(along);
    const auto matrix = matrix_of("Reducer", a);
    const auto found =
        in_turn(self.workplace->turn, [&] { return (self.reducer.*which)(MatrixInput(view_of(matrix)), by); });
    py::list all;
    for (const auto& one : found)
        all.append(one ? py::object(py::make_tuple(one->value, one->row, one->column)) : py::none());
    return all;
}

}  // namespace

void bind_linalg(py::module_& module) {
    const auto along = py::arg("along") = "all";
    py::class_<Reductions>(module, "Reducer", R"(
Sums, norms and extremes of matrices in a context, by default default_context(): of all elements, or with `along` one
per row ("rows") or per column ("columns"). Float sums are pairwise; sums of int32 and uint32 are exact.

>>> reducer = quadmill.Reducer()
>>> a = numpy.array([[3, 1, 2], [6, 5, 4]], numpy.float32)
>>> reducer.sums(a, "rows")
array([ 6., 15.], dtype=float32)
>>> reducer.min(a)
[(1.0, 0, 1)]
>>> reducer.sums(a.astype(numpy.int32))
array([21])
)")
        .def(py::init<const WorkplacePtr&>(), py::arg("context") = WorkplacePtr(), "In that context.")
        .def("sums", &sums_of, py::arg("a"), along, "Sums of the elements.")
        .def("norms", &norms_of, py::arg("a"), along, "Euclidean norms, without overflow or underflow of squares.")
        .def("dots", &dots_of, py::arg("a"), py::arg("b"), along, "Sums of products of elements at the same position.")
        .def("min", &extremes_of<&Reducer::minimum>, py::arg("a"), along,
             "(value, row, column) of the first smallest element of each; None if there are only NaNs.")
        .def("max", &extremes_of<&Reducer::maximum>, py::arg("a"), along, "min() for the largest elements.");
    py::class_<Factorized>(module, "Lu", "An LU factorization, which stays on the GPU; lu() makes it.")
        .def_property_readonly(
            "info", [](const Factorized& self) { return self.stats().info; },
            "0, or the number, from 1, of the first zero pivot, as in LAPACK.")
        .def("factors", &Factorized::factors, R"(
(lu, rows, columns): U on and above the diagonal, L below it, with a diagonal of 1; row i of L U is row rows[i] of the
matrix, columns likewise. lu is float32, or float64 if the factors are beyond the range of float32.
)")
        .def("solve", &Factorized::solve, py::arg("b"), R"(
x with A x = b, of b's shape: in passes if the matrix and b are float32. If one is float64, x is float64 and refined to
double accuracy with the given matrix. Error if that does not converge; RuntimeWarning if the condition number leaves
hardly a correct digit.
)")
        .def("condition", &Factorized::condition,
             "An estimate of the condition number in the 1-norm; infinite if a pivot is zero.")
        .def("inverse", &Factorized::inverse, "The inverse, as float32.")
        .def("slogdet", &Factorized::slogdet,
             "(sign, log of the magnitude) of the determinant, as numpy.linalg.slogdet.")
        .def("__repr__", [](const Factorized& self) {
            const auto& stats = self.stats();
            return "Lu(" + std::to_string(stats.rows) + " x " + std::to_string(stats.columns) +
                   ", info=" + std::to_string(stats.info) + ")";
        });
    module.def(
        "lu",
        [](const py::object& a, const std::string& pivot, const WorkplacePtr& context,
           Whole<"threads", unsigned> threads) {
            const LuOptions options{.pivot = value_for(detail::input::pivot_words, "pivot", pivot), .threads = threads};
            return std::make_unique<Factorized>(a, options, context);
        },
        py::arg("a"), py::kw_only(), py::arg("pivot") = "partial", py::arg("context") = WorkplacePtr(),
        py::arg("threads") = 0U, R"(
The LU factorization, in float32, of a float32 or float64 matrix in the context, by default default_context(). `pivot`
is partial, full or none.

>>> lu = quadmill.lu(numpy.array([[2, 1], [4, 1]], numpy.float32))
>>> lu
Lu(2 x 2, info=0)
>>> lu.solve(numpy.array([3, 5], numpy.float32))
array([1., 1.], dtype=float32)
)");
    module.def("solve", &solve, py::arg("a"), py::arg("b"), py::kw_only(), py::arg("pivot") = "partial",
               py::arg("context") = WorkplacePtr(), py::arg("threads") = 0U, R"(
x with A x = b, of b's shape, for a matrix a of shape (n, n) and b of shape (n,) or (n, columns), each float32 or
float64. If one is float64, x is float64 and refined to double accuracy. With a of shape (systems, n, n), n up to 32,
and b of (systems, n) or (systems, n, columns), many systems are solved together, with partial pivoting in float32.
Raises Error if a matrix is singular.

>>> a = numpy.array([[2, 1], [4, 1]], numpy.float32)
>>> quadmill.solve(a, numpy.array([3.0, 5.0]))
array([1., 1.])
>>> quadmill.solve(numpy.stack([a, a]), numpy.array([[3, 5], [6, 10]], numpy.float32))
array([[1., 1.],
       [2., 2.]], dtype=float32)
)");
}

}  // namespace quadmill::python
