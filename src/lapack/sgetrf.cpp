// LAPACK's sgetrf with passes, for programs that call it by its Fortran interface. Preload libquadmill_lapack.so, or
// link it first.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <vector>

#include "linalg/cpu_lu.hpp"
#include "quadmill/error.hpp"
#include "quadmill/linalg.hpp"

extern "C" {
// LAPACK's error handler, from the calling program or from the LAPACK behind it.
__attribute__((weak)) void xerbla_(const char* routine, const int* argument, std::size_t length);
__attribute__((visibility("default"))) void sgetrf_(const int* m, const int* n, float* a, const int* lda, int* ipiv,
                                                    int* info);
}

namespace {

using namespace quadmill;  // NOLINT(google-build-using-namespace)

// The number of the first wrong argument; 0 if there is none.
int wrong_argument(int m, int n, int lda) {
    return m < 0 ? 1 : n < 0 ? 2 : lda < std::max(1, m) ? 4 : 0;
}

// One for all callers, who take turns. It lives until the process ends, because threads may call until then. A failure
// to open a context is remembered: trying again takes longer than LAPACK takes for small matrices.
Lu& factorizer() {
    struct Opened {
        std::optional<Lu> lu{};
        std::exception_ptr failure{};
    };
    static auto* const opened = [] {
        auto* const made = new Opened;
        try {
            made->lu.emplace(Context::headless());
        } catch (...) {
            made->failure = std::current_exception();
        }
        return made;
    }();
    if (opened->failure) std::rethrow_exception(opened->failure);
    return *opened->lu;
}

// LAPACK's pivots are a sequence of exchanges. These are the ones that produce this order of rows.
void write_exchanges(const std::vector<std::uint32_t>& rows, std::size_t steps, int* ipiv) {
    std::vector<std::uint32_t> now(rows.size()), index(rows.size());
    std::iota(now.begin(), now.end(), 0U);
    index = now;
    for (std::size_t k = 0; k < steps; ++k) {
        const auto other = index[rows[k]];
        ipiv[k] = static_cast<int>(other) + 1;
        std::swap(now[k], now[other]);
        index[now[k]] = static_cast<std::uint32_t>(k);
        index[now[other]] = other;
    }
}

using Routine = decltype(&sgetrf_);

// A matrix in LAPACK's layout, column after column.
struct Call {
    std::size_t rows, columns;
    float* a;
    std::size_t lda;
    int* ipiv;

    [[nodiscard]] std::vector<float> by_rows() const {
        std::vector<float> matrix(rows * columns);
        for (std::size_t j = 0; j < columns; ++j) {
            for (std::size_t i = 0; i < rows; ++i) matrix[i * columns + j] = a[j * lda + i];
        }
        return matrix;
    }

    void take(const std::vector<float>& lu, const std::vector<std::uint32_t>& order) const {
        write_exchanges(order, std::min(rows, columns), ipiv);
        for (std::size_t j = 0; j < columns; ++j) {
            for (std::size_t i = 0; i < rows; ++i) a[j * lda + i] = lu[i * columns + j];
        }
    }
};

// From this number of rows and columns on, passes are used. On an H200 they take 20 ms for 1,024 rows and 13.5 ms for
// 768; one thread of its CPU (Eigen) takes 40 and 15.5 ms. Opening and reading back are added to that. OpenBLAS on 16
// threads takes 5.9 and 3.9 ms. QUADMILL_SGETRF_MIN overrides this number.
std::size_t min_for_passes() {
    constexpr std::size_t usual = 1024;
    static const std::size_t found = [] {
        const char* const text = std::getenv("QUADMILL_SGETRF_MIN");
        char* end = nullptr;
        const auto wanted = text ? std::strtoul(text, &end, 10) : usual;
        return text && (end == text || *end != '\0') ? usual : std::size_t{wanted};
    }();
    return found;
}

// Throws before it writes to the matrix. A child of the process that loaded the library does not use its context.
int factor_by_passes(const Call& call) {
    static const auto process = ::getpid();
    if (::getpid() != process) throw Error("this process is a fork of one that may use OpenGL");
    static std::mutex turns;
    const std::lock_guard lock(turns);
    auto& lu = factorizer();
    const auto matrix = call.by_rows();
    const auto stats = lu.factor(MatrixView{matrix, call.rows, call.columns});
    const auto factors = lu.factors();
    if (!factors.row_exponents.empty()) throw Error("the factors do not fit into 32-bit floats");
    call.take(factors.lu, factors.rows);
    return static_cast<int>(stats.info);
}

int factor_by_this_cpu(const Call& call) {
    auto matrix = call.by_rows();
    std::vector<std::uint32_t> order;
    const auto info =
        detail::linalg::factor_on_cpu<float>(detail::cpu::Workers(1), matrix, call.rows, call.columns, order);
    call.take(matrix, order);
    return static_cast<int>(info);
}

// The next sgetrf_ in the order of loading: LAPACK's own, if this library was preloaded or linked first. Otherwise that
// of a LAPACK that is found by its name: a program may have loaded one that other libraries do not see. Otherwise null.
Routine lapacks_own() {
    static const auto found = []() -> Routine {
        void* symbol = dlsym(RTLD_NEXT, "sgetrf_");
        for (const char* const name : {"liblapack.so.3", "libopenblas.so.0", "libmkl_rt.so.2", "libmkl_rt.so"}) {
            if (symbol) break;
            if (void* const library = dlopen(name, RTLD_LAZY | RTLD_LOCAL)) symbol = dlsym(library, "sgetrf_");
        }
        const auto routine = reinterpret_cast<Routine>(symbol);
        return routine == &sgetrf_ ? nullptr : routine;
    }();
    return found;
}

// Reports once, at the first call that needs it, since a program may make thousands of such calls.
void say_who_answers(const char* why, const char* who) {
    static std::once_flag said;
    std::call_once(said, [&] {
        static_cast<void>(std::fprintf(
            stderr, "libquadmill_lapack: sgetrf: %s; %s answers, now and whenever passes cannot\n", why, who));
    });
}

}  // namespace

void sgetrf_(const int* m, const int* n, float* a, const int* lda, int* ipiv, int* info) {
    *info = -wrong_argument(*m, *n, *lda);
    if (*info != 0) {
        const int argument = -*info;
        if (xerbla_) xerbla_("SGETRF", &argument, 6);
        return;
    }
    if (*m == 0 || *n == 0) return;
    const Call call{static_cast<std::size_t>(*m), static_cast<std::size_t>(*n), a, static_cast<std::size_t>(*lda),
                    ipiv};
    const auto own = lapacks_own();
    if (std::min(call.rows, call.columns) >= min_for_passes()) {
        try {
            *info = factor_by_passes(call);
            return;
        } catch (const std::exception& error) {
            say_who_answers(error.what(), own ? "LAPACK's own sgetrf" : "the CPU");
        }
    }
    if (own) return own(m, n, a, lda, ipiv, info);
    try {
        *info = factor_by_this_cpu(call);
    } catch (const std::exception& error) {
        // Fortran has no way to report this, and wrong factors would be worse. Only memory can be missing here.
        static_cast<void>(std::fprintf(stderr, "libquadmill_lapack: sgetrf: %s\n", error.what()));
        std::abort();
    }
}
