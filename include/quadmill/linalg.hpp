/// Linear algebra with the graphics pipeline: Reducer (line 67) has sums, norms and extremes. Lu (line 166) factorizes
/// a matrix, solves, inverts, and finds the determinant and the condition number. LuBatch (line 310) is for many small
/// matrices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "quadmill/api.hpp"
#include "quadmill/context.hpp"

namespace quadmill {

struct Determinant;
struct Extreme;
struct Factors;
struct LuStats;
struct Refinement;

/// A matrix in memory, row after row.
/// Shape: values has rows * columns elements.
struct MatrixView {
    std::span<const float> values;      ///< row after row
    std::size_t rows = 0, columns = 0;  ///< of the matrix
};

/// A matrix of doubles in memory, row after row.
/// Shape: values has rows * columns elements.
struct DoubleMatrixView {
    std::span<const double> values;     ///< row after row
    std::size_t rows = 0, columns = 0;  ///< of the matrix
};

/// A matrix in a texture of the caller: R32F, level 0, row i being row i of texels. Its parameters are ignored.
struct MatrixTexture {
    std::uint32_t id = 0;  ///< its OpenGL name
};

/// The elements that each result is computed from.
enum class Along { All, Rows, Columns };

/// A matrix of the caller.
using MatrixInput = std::variant<MatrixView, MatrixTexture>;

/// Sums, extremes and norms of matrices in log-step passes: the first one folds 64 elements into one, the others 16.
///
/// Shape: results have one element for Along::All, one per row, or one per column. A sum of nothing is 0.
/// Guarantee: float sums are pairwise, so the error of a sum of n values is at most (log2(n) + 8) * 2^-24 times the sum
/// of their absolute values (plus n * 2^-126: hardware may flush denormals); for a dot product log2(n) + 10. Integer
/// sums and extremes are exact.
/// Memory: on the GPU 1.25 times the matrix; a texture of the caller is read in place.
/// Throws: InvalidArgument for views whose size is not rows * columns, for rows or columns beyond
/// ContextInfo::max_texture_size (except with Along::All), for more than 2^30 elements, or that size squared if it is
/// less, and for an id that is not such a texture; GlError, ContextError, std::bad_alloc.
/// Source: 'Query Processing on GPUs', parallel reduction, where a pass folds two.
///
///     Reducer reducer(Context::headless());
///     const std::vector<float> values{3, 1, 2, 6, 5, 4};
///     const MatrixView matrix{values, 2, 3};
///     const auto sums = reducer.sums(matrix, Along::Rows);  // 6, 15
class QUADMILL_API Reducer {
  public:
    /// Programs are compiled when they are first used.
    explicit Reducer(const Context& context);
    Reducer(Reducer&&) noexcept;
    Reducer& operator=(Reducer&&) noexcept;
    ~Reducer();

    /// Sums of the elements.
    [[nodiscard]] std::vector<float> sums(const MatrixInput& matrix, Along along = Along::All);
    /// Sums of products of elements at the same position.
    /// Shape: both matrices have the same size.
    [[nodiscard]] std::vector<float> dots(const MatrixInput& a, const MatrixInput& b, Along along = Along::All);
    /// Euclidean norms. Squares neither overflow nor vanish: they are scaled by a power of two.
    [[nodiscard]] std::vector<float> norms(const MatrixInput& matrix, Along along = Along::All);
    /// The smallest elements and their positions. NaNs are skipped; without any other element the result is empty. -0
    /// equals +0.
    ///
    ///     const auto min = reducer.minimum(matrix).front();  // 1, of row 0 and column 1
    [[nodiscard]] std::vector<std::optional<Extreme>> minimum(const MatrixInput& matrix, Along along = Along::All);
    /// The largest elements, as minimum().
    [[nodiscard]] std::vector<std::optional<Extreme>> maximum(const MatrixInput& matrix, Along along = Along::All);
    /// Exact sums of a matrix of integers with `columns` columns, row after row.
    /// Throws: InvalidArgument if columns do not divide the number of values.
    [[nodiscard]] std::vector<std::uint64_t> sums(std::span<const std::uint32_t> values, std::size_t columns,
                                                  Along along = Along::All);
    /// Exact sums of signed integers.
    [[nodiscard]] std::vector<std::int64_t> sums(std::span<const std::int32_t> values, std::size_t columns,
                                                 Along along = Along::All);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The smallest or largest element and its position, the first of equal ones in row-major order.
struct Extreme {
    float value = 0;                  ///< of the element
    std::size_t row = 0, column = 0;  ///< from 0
    bool operator==(const Extreme&) const = default;
};

/// Which element becomes the pivot of a step: the one that the others in its column are divided by.
enum class Pivot {
    Diagonal,  ///< the one on the diagonal: no pivoting
    Partial,   ///< the largest in its column, as LAPACK's getrf does
    Full       ///< the largest of all that remain
};

/// How rows and columns are swapped if a pass eliminates one row.
enum class Swap {
    Pointer,  ///< an index texture has their positions, and passes draw there
    Copy      ///< their texels are copied
};

/// How the trailing matrix lies in texels: the rows and columns that are not yet eliminated.
enum class Layout {
    Scalars,  ///< R32F, one element per texel
    Tiles     ///< RGBA32F in 8 layers that a pass writes together: a fragment computes 4 columns of 8 rows
};

/// Options of Lu.
struct LuOptions {
    Pivot pivot = Pivot::Partial;  ///< how the elements to divide by are chosen
    Swap swap = Swap::Copy;        ///< for one row per pass
    /// Rows that a pass over the trailing matrix eliminates: 8, 16 or 32, or 1, the slides' own form. Pivot::Full
    /// always has 1, since each of its pivots depends on all remaining elements. Unset: 32, or 1 for Pivot::Full.
    std::optional<std::size_t> block{};
    Layout layout = Layout::Tiles;  ///< for several rows per pass
    /// CPU threads for packing and residuals; 0: as many as the machine has.
    unsigned threads = 0;
};

/// LU factorization in passes: A(i,j) -= A(i,k) / A(k,k) * A(k,j), alternating between two textures. Keeps programs,
/// and the factors on the GPU for later calls.
///
/// Guarantee: nothing is read back during a factorization; the pivot's position goes from pass to pass in a texel.
/// Residuals satisfy LAPACK's test, |L U - P A| / (n |A| 2^-24) < 30 in 1-norms, for Pivot::Partial and Pivot::Full.
/// Bits differ between drivers, whose division and fused multiply-adds differ. A zero pivot leaves zeros in its column
/// of L, so a singular matrix makes no NaN; with Pivot::Diagonal L * U is not A then. Scaling: elements outside 2^-60
/// to 2^60 are brought into the range of floats by one power of two for all, which changes no pivot. If they span more
/// than 2^120, powers of two scale each row and column; pivots are chosen in the scaled matrix, and residuals hold for
/// it. After scaling, elements below 2^-126 count as zero.
/// Memory: on the GPU about 5 times the matrix.
/// Cost: 2/3 n^3 operations. With block = 1, a pass over the trailing matrix for each row, and small ones to find the
/// pivot (1 to 3, with Pivot::Full 1 to 5) and to swap (1 with Swap::Pointer; with Swap::Copy 4, with Pivot::Full 7).
/// Otherwise a pass for four columns in a panel of `block` columns, with Pivot::Partial one more per column, and for
/// each panel one over the trailing matrix and 6 small ones.
/// Throws: InvalidArgument, before any work, for views whose size is not rows * columns, for NaNs and infinities in
/// them, for more rows or columns than ContextInfo::max_texture_size, and if factors are requested before factor();
/// GlError, ContextError, std::bad_alloc.
/// Source: 'Query Processing on GPUs', LU decomposition; blocks and tiles are not in it. Refinement that falls back to
/// a factorization in double is that of LAPACK's dsgesv.
///
///     Lu lu(Context::headless());
///     const std::vector<float> a{2, 1, 4, 1};             // [2 1; 4 1]
///     const LuStats stats = lu.factor({a, 2, 2});         // info is 0
///     const auto x = lu.solve(std::vector<float>{3, 5});  // 1, 1
///     const double d = lu.determinant().value();          // -2
class QUADMILL_API Lu {
  public:
    /// Programs are compiled when they are first used.
    /// Throws: InvalidArgument for invalid options.
    explicit Lu(const Context& context, const LuOptions& options = {});
    Lu(Lu&&) noexcept;
    Lu& operator=(Lu&&) noexcept;
    ~Lu();

    /// Factorizes the matrix and keeps L and U for later calls. Waits for the GPU.
    LuStats factor(MatrixView matrix);
    /// factor() for a matrix of doubles, whose elements are rounded to floats after scaling.
    LuStats factor(DoubleMatrixView matrix);

    /// Reads the factors back.
    [[nodiscard]] Factors factors();

    /// Solves A x = b for the right-hand sides in the columns of b, in passes.
    /// Shape: b has as many rows as the matrix, which is square, and `columns` columns, at most
    /// ContextInfo::max_texture_size; the result has the same shape.
    /// Cost: about n / 4 passes.
    /// Throws: InvalidArgument for another shape; Error if a pivot is zero, or a solution does not fit into floats.
    [[nodiscard]] std::vector<float> solve(std::span<const float> b, std::size_t columns = 1);

    /// Solves A x = b to double accuracy: residuals are computed in double on the CPU, and corrections solved on the
    /// GPU, as long as each halves the residual. If that does not converge (a condition number near 2^24 or above, or a
    /// zero pivot in floats), the CPU factorizes the matrix in double with partial pivoting, and refines with those
    /// factors.
    /// Shape: as for solve() in floats; x is filled, and may be the memory of b.
    /// Pre: matrix is the one that was factorized; it is read again.
    /// Guarantee: `converged` says that for each right-hand side |b - A x| <= sqrt(n) 2^-52 (|A| |x| + |b|) in infinity
    /// norms; otherwise x is the best that was found.
    /// Cost: if the CPU factorizes, 2/3 n^3 operations and n^2 doubles there.
    /// Throws: InvalidArgument for another shape, and for NaNs and infinities in b; Error if a pivot is zero in double.
    Refinement solve(MatrixView matrix, std::span<const double> b, std::span<double> x, std::size_t columns = 1);
    /// solve() to double accuracy for a matrix of doubles.
    Refinement solve(DoubleMatrixView matrix, std::span<const double> b, std::span<double> x, std::size_t columns = 1);

    /// An estimate of the condition number |A| |A^-1| in the 1-norm, by the method of LAPACK's sgecon: never above that
    /// of the factors, and usually within a factor of 3. If rows and columns were scaled, it is that of the scaled
    /// matrix. Infinite if a pivot is zero. solve() in floats has about log10(2^24 / condition) correct digits.
    /// Estimates above 2^24 from float factors are only known to be large.
    /// Pre: matrix is the one that was factorized, and square; it is read again.
    /// Cost: reads the factors back; a few times n^2 operations on the CPU.
    [[nodiscard]] double condition(MatrixView matrix);
    /// condition() for a matrix of doubles.
    [[nodiscard]] double condition(DoubleMatrixView matrix);

    /// The inverse of the square matrix, row after row.
    /// Throws: as solve().
    [[nodiscard]] std::vector<float> inverse();
    /// The determinant of the square matrix, from U's diagonal.
    /// Throws: InvalidArgument for another shape; Error if a pivot is zero with Pivot::Diagonal, which does not show
    /// whether the matrix is singular.
    [[nodiscard]] Determinant determinant();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Statistics of a factorization.
struct LuStats {
    std::size_t rows = 0;     ///< of the matrix
    std::size_t columns = 0;  ///< of the matrix
    /// 0, or the number, from 1, of the first pivot that is zero, as LAPACK reports it.
    std::size_t info = 0;
    std::size_t block = 0;     ///< the block that was used
    std::uint64_t passes = 0;  ///< issued
    double upload_ms = 0;      ///< wall clock: the matrix to its texture
    double factor_ms = 0;      ///< wall clock: the passes, to their end on the GPU
};

/// L and U in one array: U on and above the diagonal, L below, whose diagonal is 1.
struct Factors {
    std::vector<float> lu{};               ///< row after row
    std::vector<std::uint32_t> rows{};     ///< row i of L * U is row rows[i] of the matrix
    std::vector<std::uint32_t> columns{};  ///< column j of L * U is column columns[j] of the matrix
    /// Empty, unless the factors of the matrix do not fit into floats: then lu has the factors of the matrix whose
    /// element (i, j) is multiplied by 2^(row_exponents[i] + column_exponents[j]).
    std::vector<int> row_exponents{};
    std::vector<int> column_exponents{};  ///< as row_exponents, for the columns

    /// L and U of the matrix itself in doubles, which have the range for them except in extreme cases.
    [[nodiscard]] QUADMILL_API std::vector<double> unscaled() const;
};

/// The determinant as sign * exp(log_magnitude), since it often overflows.
struct Determinant {
    int sign = 0;                                                     ///< 0 if the matrix is singular
    double log_magnitude = -std::numeric_limits<double>::infinity();  ///< the natural logarithm of |det|
    [[nodiscard]] QUADMILL_API double value() const noexcept;         ///< 0 or an infinity if a double cannot hold it
};

/// How a refinement ended.
struct Refinement {
    int steps = 0;           ///< of refinement
    bool converged = false;  ///< whether double accuracy was reached
    double residual = 0;     ///< the largest of |b - A x| / (|A| |x| + |b|) over all right-hand sides, infinity norms
    /// Set if float factors did not suffice and the CPU factorized in double: the condition number estimated from those
    /// factors, as in Lu::condition(). From about 2^53 on no digit of x is certain.
    std::optional<double> condition{};
};

/// Statistics of a factorization of many matrices.
struct BatchStats {
    std::size_t systems = 0, n = 0;  ///< matrices, and the rows of each
    /// For each matrix 0, or the number, from 1, of its first zero pivot.
    std::vector<std::uint32_t> info;
    std::uint64_t passes = 0;  ///< issued
    double upload_ms = 0;      ///< wall clock: the matrices to their texture
    double factor_ms = 0;      ///< wall clock: the passes, to their end on the GPU
};

/// The factors of many matrices, one after the other, each as in Factors.
struct BatchFactors {
    std::vector<float> lu;            ///< of all matrices
    std::vector<std::uint32_t> rows;  ///< n per matrix
    /// Empty, unless the factors of a matrix itself do not fit into floats: then n of each matrix, as in Factors, and 0
    /// for the other matrices.
    std::vector<int> row_exponents{};
    std::vector<int> column_exponents{};  ///< as row_exponents, for the columns

    /// L and U of the matrices themselves, in doubles, as Factors::unscaled() has them.
    [[nodiscard]] QUADMILL_API std::vector<double> unscaled() const;
};

/// LU factorization of many small matrices of one size together, with partial pivoting, each as in LAPACK's getrf. A
/// matrix is one row of texels, and a pass works on all of them.
///
/// Shape: matrices have up to max_n rows, are square, and lie one after the other, each row after row.
/// Guarantee: residuals, scaling and zero pivots are as for Lu with Pivot::Partial. Matrices do not affect each
/// other.
/// Memory: on the GPU about 4 times the matrices, with rows rounded up to multiples of 4 elements, plus 4 elements.
/// Cost: two passes for four columns, for any number of matrices, and two more; to solve, two passes.
/// Throws: InvalidArgument, before any work, for an n beyond max_n, for values that are not n x n matrices, for NaNs
/// and infinities, and for more matrices than textures hold (about ContextInfo::max_texture_size squared over n * (n +
/// 7)), and if factors are requested before factor(); GlError, ContextError, std::bad_alloc.
/// Source: 'Query Processing on GPUs', LU decomposition; batches are not in it.
///
///     LuBatch batch(Context::headless());
///     const std::vector<float> two{2, 1, 4, 1, 1, 2, 2, 4};        // [2 1; 4 1] and [1 2; 2 4]
///     const BatchStats stats = batch.factor(two, 2);               // info is 0 and 2
///     const auto x = batch.solve(std::vector<float>{3, 5, 1, 1});  // 1, 1, and NaNs
class QUADMILL_API LuBatch {
  public:
    static constexpr std::size_t max_n = 32;  ///< rows of a matrix, at most

    /// `threads`: CPU threads for packing; 0: as many as the machine has.
    explicit LuBatch(const Context& context, unsigned threads = 0);
    LuBatch(LuBatch&&) noexcept;
    LuBatch& operator=(LuBatch&&) noexcept;
    ~LuBatch();

    /// Factorizes all matrices, n x n each, and keeps L and U for later calls. Waits for the GPU.
    BatchStats factor(std::span<const float> matrices, std::size_t n);

    /// Reads the factors back.
    [[nodiscard]] BatchFactors factors();

    /// Solves A x = b for right-hand sides in the columns of b, for each A.
    /// Shape: for each matrix b has n rows of `columns` values, one after the other; the result has the same shape.
    /// Solutions of singular matrices are NaNs, and elements that do not fit into floats are infinite.
    /// Throws: InvalidArgument for another shape.
    [[nodiscard]] std::vector<float> solve(std::span<const float> b, std::size_t columns = 1);

    /// An estimate of each matrix's condition number, as Lu::condition() has it. Infinite when a pivot is zero.
    /// Pre: the matrices are those that were factorized, to be read again.
    /// Cost: reads the factors back; a few times n^2 operations per matrix on the CPU.
    /// Throws: InvalidArgument for another number of values.
    [[nodiscard]] std::vector<double> conditions(std::span<const float> matrices);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace quadmill
