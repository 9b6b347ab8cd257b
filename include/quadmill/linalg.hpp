/// Linear algebra by the graphics pipeline: reductions, and LU factorization with what it serves.
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

/// A matrix in a texture of the caller: R32F, level 0, row i being row i of texels. Its parameters do not matter.
struct MatrixTexture {
    std::uint32_t id = 0;  ///< its OpenGL name
};

/// What is reduced to one result each.
enum class Along { All, Rows, Columns };

/// Where a matrix lies.
using MatrixInput = std::variant<MatrixView, MatrixTexture>;

/// The smallest or largest element and its place, the first of equal ones in row-major order.
struct Extreme {
    float value = 0;                  ///< of the element
    std::size_t row = 0, column = 0;  ///< from 0
    bool operator==(const Extreme&) const = default;
};

/// Sums, extremes and norms of matrices by log-step passes: the first folds 64 elements into one, the others 16.
///
/// Shape: results have one element for Along::All, one a row, or one a column. A sum of nothing is 0.
/// Guarantee: float sums are pairwise, so the error of a sum of n values is at most (log2(n) + 8) * 2^-24 times the
/// sum of their absolute values (plus n * 2^-126: hardware may flush denormals); of a dot product, 2 more in the
/// bracket. Integer sums and extremes are exact.
/// Memory: on the GPU the matrix and a quarter more; a texture of the caller is read where it is.
/// Throws: InvalidArgument for views whose size is not rows * columns, for rows or columns beyond
/// ContextInfo::max_texture_size (but for Along::All), for more than 2^30 elements, or that size squared where it is
/// less, and for what is no such texture; GlError, ContextError, std::bad_alloc.
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
    /// Sums of products of elements in the same place.
    /// Shape: both matrices have the same.
    [[nodiscard]] std::vector<float> dots(const MatrixInput& a, const MatrixInput& b, Along along = Along::All);
    /// Euclidean norms. Squares neither overflow nor vanish: they are scaled by a power of two.
    [[nodiscard]] std::vector<float> norms(const MatrixInput& matrix, Along along = Along::All);
    /// The least elements and where they are. NaNs are passed over; nothing where there is nothing else. -0 equals +0.
    ///
    ///     const auto least = reducer.least(matrix).front();  // 1, of row 0 and column 1
    [[nodiscard]] std::vector<std::optional<Extreme>> least(const MatrixInput& matrix, Along along = Along::All);
    /// The same of the largest elements.
    [[nodiscard]] std::vector<std::optional<Extreme>> most(const MatrixInput& matrix, Along along = Along::All);
    /// Exact sums of a matrix of integers, row after row, of `columns` columns.
    /// Throws: InvalidArgument when columns do not divide the number of values.
    [[nodiscard]] std::vector<std::uint64_t> sums(std::span<const std::uint32_t> values, std::size_t columns,
                                                  Along along = Along::All);
    /// The same of integers with a sign.
    [[nodiscard]] std::vector<std::int64_t> sums(std::span<const std::int32_t> values, std::size_t columns,
                                                 Along along = Along::All);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Which element becomes the pivot of a step.
enum class Pivot {
    Diagonal,  ///< the one on the diagonal, whatever it is: no pivoting
    Partial,   ///< the largest in its column, as LAPACK's getrf does
    Full       ///< the largest of all that are left
};

/// How rows and columns are swapped, where a pass eliminates one row.
enum class Swap {
    Pointer,  ///< an index texture says where they lie, and passes draw there
    Copy      ///< their texels are copied
};

/// How the trailing matrix of a blocked factorization lies in texels.
enum class Layout {
    Scalars,  ///< R32F, an element a texel
    Tiles     ///< RGBA32F in 8 layers that a pass writes together: a fragment computes 4 columns of 8 rows
};

/// How Lu goes about it.
struct LuOptions {
    Pivot pivot = Pivot::Partial;  ///< which elements it divides by
    Swap swap = Swap::Copy;        ///< for one row a pass
    /// Rows that a pass over the trailing matrix eliminates: 8, 16 or 32, or 1, the slides' own form. Pivot::Full
    /// always has 1, since each of its pivots depends on all that is left. Unset: 32, or 1 for Pivot::Full.
    std::optional<std::size_t> block{};
    Layout layout = Layout::Tiles;  ///< for several rows a pass
    /// CPU threads for packing and residuals; 0 takes as many as the machine has.
    unsigned threads = 0;
};

/// What a factorization did.
struct LuStats {
    std::size_t rows = 0;     ///< of the matrix
    std::size_t columns = 0;  ///< of the matrix
    /// 0, or the number, from 1, of the first pivot that is zero, as LAPACK reports it.
    std::size_t info = 0;
    std::size_t block = 0;     ///< the one that was taken
    std::uint64_t passes = 0;  ///< issued
    double upload_ms = 0;      ///< wall clock: the matrix to its texture
    double factor_ms = 0;      ///< wall clock: the passes, to their end on the GPU
};

/// L and U in one array: U on and above the diagonal, L below, whose diagonal is 1.
struct Factors {
    std::vector<float> lu{};               ///< row after row
    std::vector<std::uint32_t> rows{};     ///< row i of L * U is row rows[i] of the matrix
    std::vector<std::uint32_t> columns{};  ///< column j of L * U is column columns[j] of the matrix
    /// Empty, unless the factors of the matrix itself do not fit into floats: then lu has those of the matrix whose
    /// element (i, j) is multiplied by 2^(row_exponents[i] + column_exponents[j]).
    std::vector<int> row_exponents{};
    std::vector<int> column_exponents{};  ///< as row_exponents, for the columns

    /// L and U of the matrix itself, in doubles, which have the range for them but in the most extreme cases.
    [[nodiscard]] QUADMILL_API std::vector<double> unscaled() const;
};

/// The determinant as sign * exp(log_magnitude), since it mostly overflows.
struct Determinant {
    int sign = 0;                                                     ///< 0 where the matrix is singular
    double log_magnitude = -std::numeric_limits<double>::infinity();  ///< the natural logarithm of |det|
    [[nodiscard]] QUADMILL_API double value() const noexcept;  ///< 0 or an infinity where a double cannot hold it
};

/// How a refinement ended.
struct Refinement {
    int steps = 0;           ///< of refinement
    bool converged = false;  ///< whether double accuracy was reached
    double residual = 0;     ///< the largest of |b - A x| / (|A| |x| + |b|) over all right-hand sides, infinity norms
    /// Set where float factors did not suffice and the CPU factorized in double: an estimate of the condition number, as
    /// Lu::condition() has it, by those factors. From about 2^53 on no digit of x is certain.
    std::optional<double> condition{};
};

/// LU factorization in passes: A(i,j) -= A(i,k) / A(k,k) * A(k,j), two textures in turn. Keeps programs, and the
/// factors on the GPU for what follows.
///
/// Guarantee: nothing is read back during a factorization; the pivot's position goes from pass to pass in a texel.
/// Residuals are those of LAPACK's test, |L U - P A| / (n |A| 2^-24) < 30 in 1-norms, for Pivot::Partial and
/// Pivot::Full. Bits differ between drivers, whose division and fused multiply-adds differ. A zero pivot leaves zeros in
/// its column of L, so a singular matrix brings no NaN; of Pivot::Diagonal, L * U then is not A.
/// Scaling: elements outside 2^-60 to 2^60 are brought into the range of floats by one power of two for all, which
/// changes no pivot. Where they span more than 2^120, powers of two scale each row and column, and pivots are chosen, and
/// residuals hold, in the scaled matrix. After that, elements below 2^-126 count as zero.
/// Memory: on the GPU some 5 times the matrix.
/// Cost: 2/3 n^3 operations. With block = 1, a pass over the trailing matrix for each row, and small ones to find the
/// pivot (1 to 3, with Pivot::Full 1 to 5) and to swap (1 by pointers; by copies 4, with Pivot::Full 7). Else a pass
/// for four columns in a panel of `block` columns, with Pivot::Partial one more a column, and for each panel one over
/// the trailing matrix and 6 small ones.
/// Throws: InvalidArgument, before any work, for views whose size is not rows * columns, for NaNs and infinities in
/// them, for more rows or columns than ContextInfo::max_texture_size, and where factors are asked for before factor();
/// GlError, ContextError, std::bad_alloc.
/// Source: 'Query Processing on GPUs', LU decomposition; blocks and tiles are not in it. Refinement with a factorization
/// in double for what floats cannot do is that of LAPACK's dsgesv.
///
///     Lu lu(Context::headless());
///     const std::vector<float> a{2, 1, 4, 1};             // [2 1; 4 1]
///     const LuStats stats = lu.factor({a, 2, 2});         // info is 0
///     const auto x = lu.solve(std::vector<float>{3, 5});  // 1, 1
///     const double d = lu.determinant().value();          // -2
class QUADMILL_API Lu {
  public:
    /// Programs are compiled when they are first used.
    /// Throws: InvalidArgument for options that cannot be.
    explicit Lu(const Context& context, const LuOptions& options = {});
    Lu(Lu&&) noexcept;
    Lu& operator=(Lu&&) noexcept;
    ~Lu();

    /// Factorizes the matrix and keeps L and U for what follows. Waits for the GPU.
    LuStats factor(MatrixView matrix);
    /// The same of a matrix of doubles, whose elements are rounded to floats once they are scaled.
    LuStats factor(DoubleMatrixView matrix);

    /// Reads the factors back.
    [[nodiscard]] Factors factors();

    /// Solves A x = b for right-hand sides in the columns of b, by passes.
    /// Shape: b has as many rows as the matrix, which is square, and `columns` columns, at most
    /// ContextInfo::max_texture_size; the result is alike.
    /// Cost: about n / 4 passes.
    /// Throws: InvalidArgument for another shape; Error when a pivot is zero, and when a solution does not fit into
    /// floats.
    [[nodiscard]] std::vector<float> solve(std::span<const float> b, std::size_t columns = 1);

    /// Solves A x = b to double accuracy: residuals are computed in double on the CPU, and corrections solved on the GPU,
    /// as long as each halves the residual. Where that does not converge (the condition number is near 2^24 or beyond,
    /// or a pivot is zero in floats), the CPU factorizes the matrix in double with partial pivoting, and refines by that.
    /// Shape: as for solve() in floats; x is filled, and may lie where b does.
    /// Pre: matrix is the one that was factorized, to be read again.
    /// Guarantee: `converged` says that for each right-hand side |b - A x| <= sqrt(n) 2^-52 (|A| |x| + |b|) in infinity
    /// norms; else x is the best that was found.
    /// Cost: where the CPU factorizes, 2/3 n^3 operations and n^2 doubles there.
    /// Throws: InvalidArgument for another shape, and for NaNs and infinities in b; Error when a pivot is zero in double.
    Refinement solve(MatrixView matrix, std::span<const double> b, std::span<double> x, std::size_t columns = 1);
    /// The same of the matrix of doubles that was factorized.
    Refinement solve(DoubleMatrixView matrix, std::span<const double> b, std::span<double> x, std::size_t columns = 1);

    /// An estimate of the condition number |A| |A^-1| in the 1-norm, by the method of LAPACK's sgecon: never above that
    /// of the factors, and mostly within a factor of 3. Of the scaled matrix, where rows and columns were scaled. Infinite
    /// when a pivot is zero. solve() in floats has about log10(2^24 / condition) digits right; of values beyond 2^24, as
    /// estimated by float factors, only that they are large is certain.
    /// Pre: matrix is the one that was factorized, to be read again, and square.
    /// Cost: reads the factors back; a few times n^2 operations on the CPU.
    [[nodiscard]] double condition(MatrixView matrix);
    /// The same of the matrix of doubles that was factorized.
    [[nodiscard]] double condition(DoubleMatrixView matrix);

    /// The inverse of the matrix, which is square, row after row.
    /// Throws: as solve().
    [[nodiscard]] std::vector<float> inverse();
    /// The determinant of the matrix, which is square, from U's diagonal.
    /// Throws: InvalidArgument for another shape; Error when a pivot is zero and Pivot::Diagonal does not say whether the
    /// matrix is singular.
    [[nodiscard]] Determinant determinant();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// What a factorization of many matrices did.
struct BatchStats {
    std::size_t systems = 0, n = 0;  ///< matrices, and the rows of each
    /// For each matrix 0, or the number, from 1, of its first pivot that is zero.
    std::vector<std::uint32_t> info;
    std::uint64_t passes = 0;  ///< issued
    double upload_ms = 0;      ///< wall clock: the matrices to their texture
    double factor_ms = 0;      ///< wall clock: the passes, to their end on the GPU
};

/// The factors of many matrices, one after the other: of each as in Factors.
struct BatchFactors {
    std::vector<float> lu;            ///< of all matrices
    std::vector<std::uint32_t> rows;  ///< n of each matrix
};

/// LU factorization of many small matrices of one size together, with partial pivoting, each as LAPACK's getrf has it:
/// a matrix is one row of texels, and a pass works on all of them.
///
/// Shape: matrices have up to most_n rows, are square, and lie one after the other, each row after row.
/// Guarantee: residuals, denormals and zero pivots are as for Lu with Pivot::Partial. What is in one matrix does not
/// change what comes of another.
/// Memory: on the GPU some 4 times the matrices, whose rows count as multiples of 4 elements, and one of 4 more.
/// Cost: two passes for four columns, however many matrices there are, and two more; to solve, two passes.
/// Throws: InvalidArgument, before any work, for an n beyond most_n, for values that make no n x n matrices, for NaNs
/// and infinities, and for more matrices than textures hold (about ContextInfo::max_texture_size squared over n * (n +
/// 7)), and where factors are asked for before factor(); GlError, ContextError, std::bad_alloc.
/// Source: 'Query Processing on GPUs', LU decomposition; that many are done at once is not in it.
///
///     LuBatch batch(Context::headless());
///     const std::vector<float> two{2, 1, 4, 1, 1, 2, 2, 4};        // [2 1; 4 1] and [1 2; 2 4]
///     const BatchStats stats = batch.factor(two, 2);               // info is 0 and 2
///     const auto x = batch.solve(std::vector<float>{3, 5, 1, 1});  // 1, 1, and NaNs
class QUADMILL_API LuBatch {
  public:
    static constexpr std::size_t most_n = 32;  ///< rows of a matrix, at most

    /// `threads` are the CPU's, for packing; 0 takes as many as the machine has.
    explicit LuBatch(const Context& context, unsigned threads = 0);
    LuBatch(LuBatch&&) noexcept;
    LuBatch& operator=(LuBatch&&) noexcept;
    ~LuBatch();

    /// Factorizes all of them, n x n each, and keeps L and U for what follows. Waits for the GPU.
    BatchStats factor(std::span<const float> matrices, std::size_t n);

    /// Reads the factors back.
    [[nodiscard]] BatchFactors factors();

    /// Solves A x = b for right-hand sides in the columns of b, for each A.
    /// Shape: for each matrix b has n rows of `columns` values, one after the other; the result is alike. Solutions
    /// with a matrix that is singular are NaNs.
    /// Throws: InvalidArgument for another shape.
    [[nodiscard]] std::vector<float> solve(std::span<const float> b, std::size_t columns = 1);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace quadmill
