// LAPACK's sgetrf by passes, for programs that call it in Fortran's way: preload libquadmill_lapack.so, or link it first.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <vector>

#include "quadmill/linalg.hpp"

extern "C" {
// LAPACK's own, of the program that calls or of the LAPACK behind it.
__attribute__((weak)) void xerbla_(const char* routine, const int* argument, std::size_t length);
__attribute__((visibility("default"))) void sgetrf_(const int* m, const int* n, float* a, const int* lda, int* ipiv,
                                                    int* info);
}

namespace {

using namespace quadmill;  // NOLINT(google-build-using-namespace)

// The number of the first argument that is wrong; 0 when none is.
int wrong_argument(int m, int n, int lda) {
    return m < 0 ? 1 : n < 0 ? 2 : lda < std::max(1, m) ? 4 : 0;
}

// One for all callers, who take turns. Lives until the process ends: threads may still call then. Where there is no
// context, that is found out once, since asking takes longer than LAPACK does for small matrices.
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

// LAPACK's pivots are the exchanges, in their order, that make this order of rows.
void write_exchanges(const std::vector<std::uint32_t>& rows, std::size_t steps, int* ipiv) {
    std::vector<std::uint32_t> now(rows.size()), place(rows.size());
    std::iota(now.begin(), now.end(), 0U);
    place = now;
    for (std::size_t k = 0; k < steps; ++k) {
        const auto other = place[rows[k]];
        ipiv[k] = static_cast<int>(other) + 1;
        std::swap(now[k], now[other]);
        place[now[k]] = static_cast<std::uint32_t>(k);
        place[now[other]] = other;
    }
}

// Throws before it writes to `a`.
int factor(std::size_t rows, std::size_t columns, float* a, std::size_t lda, int* ipiv) {
    static std::mutex turns;
    const std::lock_guard lock(turns);
    auto& lu = factorizer();
    std::vector<float> matrix(rows * columns);
    for (std::size_t j = 0; j < columns; ++j) {
        for (std::size_t i = 0; i < rows; ++i) matrix[i * columns + j] = a[j * lda + i];
    }
    const auto stats = lu.factor({matrix, rows, columns});
    const auto factors = lu.factors();
    write_exchanges(factors.rows, std::min(rows, columns), ipiv);
    for (std::size_t j = 0; j < columns; ++j) {
        for (std::size_t i = 0; i < rows; ++i) a[j * lda + i] = factors.lu[i * columns + j];
    }
    return static_cast<int>(stats.info);
}

// The next sgetrf_ in the order of loading: LAPACK's own where this one was preloaded, or linked first; else null.
decltype(&sgetrf_) lapacks_own() {
    return reinterpret_cast<decltype(&sgetrf_)>(dlsym(RTLD_NEXT, "sgetrf_"));
}

// At the first call that needs it, as a program may make thousands alike.
void say_who_answers(const char* why) {
    static std::once_flag said;
    std::call_once(said, [&] {
        static_cast<void>(std::fprintf(
            stderr, "libquadmill_lapack: sgetrf: %s; LAPACK's own sgetrf answers, now and whenever this one cannot\n",
            why));
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
    try {
        *info =
            factor(static_cast<std::size_t>(*m), static_cast<std::size_t>(*n), a, static_cast<std::size_t>(*lda), ipiv);
    } catch (const std::exception& error) {
        if (const auto own = lapacks_own()) {
            say_who_answers(error.what());
            return own(m, n, a, lda, ipiv, info);
        }
        // Fortran has no way to be told, and wrong factors would be worse.
        static_cast<void>(
            std::fprintf(stderr, "libquadmill_lapack: sgetrf: %s; there is no other sgetrf to ask\n", error.what()));
        std::abort();
    }
}
