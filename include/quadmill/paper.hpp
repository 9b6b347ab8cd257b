/// Options that reproduce experiments of the papers. Everyday programs need none of them: the defaults were measured
/// fastest. The options of sorts, external sorts, sliding windows and queries each hold one of these structs as
/// `paper`.
///
///     Sorter sorter(context, {.engine = Engine::Bitonic, .paper = {.bitonic = {.steps_per_pass = 1}}});
#pragma once

#include <cstddef>
#include <optional>

namespace quadmill {

/// Whether PBSN may stop at the first stage that finds everything in order.
enum class EarlyStop { Yes, No };

/// The contents of a texel's four channels when Engine::Pbsn sorts windows.
enum class Channels {
    Auto,     ///< the faster one, which is Split
    Windows,  ///< one window in each channel, four in a block of texels: the GPU does all of the work
    Split,    ///< a quarter of one window in each channel; the CPU merges them, and the network has two stages fewer
};

/// How the CPU merges the four channels that Engine::Pbsn has sorted.
enum class ChannelMerge {
    FourWays,  ///< all four in one round, so each key moves once
    TwoWays,   ///< two and two, then both results: two rounds
};

/// The layout of keys in the four channels of a texel, for Engine::Bitonic.
enum class Representation {
    SingleArray,  ///< four consecutive keys in a texel: the last two steps of each stage need no other texel
    FourArray,    ///< a quarter of the keys in each channel; if there are several windows, one window in each channel
};

/// Options of Engine::Pbsn.
/// Source: SIGMOD'05 (Govindaraju, Raghuvanshi, Manocha), section 4; its own form is one run per channel without early
/// stop.
struct PbsnOptions {
    EarlyStop early_stop = EarlyStop::Yes;  ///< checked after each stage of the network
    /// The largest texture, in texels of 4 keys, up to what the driver allows. A larger input is sorted in several
    /// textures, one uploading while the other sorts, and merged on the CPU. Rounded down to a power of two; at least
    /// 1.
    std::size_t max_texels = std::size_t{1} << 24;
    /// Max number of elements of a run in each channel. The network sorts many runs in one texture, and the CPU merges
    /// them: the network's steps grow with the square of the logarithm, the merge's rounds with the logarithm. Rounded
    /// down to a power of two. With max_texels or more it is the paper's own form, one run per channel. 0 means 2^18;
    /// fastest is 2^8.
    std::size_t max_run = 0;
    Channels channels = Channels::Auto;                   ///< for windows
    ChannelMerge channel_merge = ChannelMerge::FourWays;  ///< also the ways of each round if there are more runs
};

/// Options of Engine::Bitonic; docs/notes/sorting.md has the measurements behind the defaults.
/// Source: SIGMOD'06 (Govindaraju, Gray, Kumar, Manocha), sections 4.2 and 4.4; its own form has steps_per_pass = 1.
struct BitonicOptions {
    Representation representation = Representation::SingleArray;  ///< of keys in texels
    /// Side of a square in texels. If a texel's partner is closer than this, a pass draws its quads in squares, one
    /// after the other, so that the texels of a square are read while they are in the cache. Rounded down to a power of
    /// two. 0: quads are not divided. Smaller squares mean more quads, of 32 bytes each; squares that are too small for
    /// the number of keys are refused. Unset: the fastest in measurements, 128 on GPUs and 0 on software renderers.
    std::optional<std::size_t> block{};
    /// Steps of the network in one pass, 1 to 3; with 3, each texel is computed from 8.
    int steps_per_pass = 3;
};

/// The sorting networks of the papers, as SortOptions::paper.
struct SortPaperOptions {
    PbsnOptions pbsn{};        ///< for Engine::Pbsn
    BitonicOptions bitonic{};  ///< for Engine::Bitonic
};

/// The runs of SIGMOD'06, Fig. 1, as ExternalSortOptions::paper.
struct ExternalPaperOptions {
    /// Bytes of a run, at least 2^16 and 16 records. A larger input is sorted in several runs, even if it fits into
    /// memory. 0: runs as long as memory allows, but short enough to keep the pipeline busy.
    std::size_t run_bytes = 0;
};

/// Whether a sliding window keeps its values exactly if that takes less memory than its blocks may.
enum class RawValues { WhereSmaller, Never };

/// How the blocks of a sliding window are made.
enum class SlidingBlocks {
    Merged,  ///< from one chain of merges, so that each value is sorted once; or of few levels, see SlidingQuantiles
    /// as in SIGMOD'05, section 5.3: each of the L + 1 levels sorts all values again and makes its blocks of them. It
    /// sorts sets of 1 / e values, where e is the error of its blocks, or whole blocks if these are smaller. For fixed
    /// widths only
    Sorted,
};

/// The sliding windows of SIGMOD'05, section 5.3, as SlidingOptions::paper.
struct SlidingPaperOptions {
    RawValues raw = RawValues::WhereSmaller;       ///< whether the window may be exact
    SlidingBlocks blocks = SlidingBlocks::Merged;  ///< how blocks are made
    /// The sorter sorts only sets of at least this many values, which are those of the upper levels; the CPU sorts
    /// smaller ones on the caller's thread. 0: the sorter sorts all sets; with SlidingBlocks::Sorted those of 2^12
    /// values or more. (The paper: 2^16.) It does not change answers and is not saved.
    std::size_t sorter_min = 0;
};

/// How QueryEngine::Depth computes sums of columns; the other engines have Exact only.
enum class SumPrecision {
    Exact,   ///< as Predicate says
    Float32  ///< as in SIGMOD'04: values, factors, the constant and each step are rounded to float32. With n terms, the
    ///< answer for a row is that of real numbers if both sides differ by more than (n + 4) 2^-24 times the sum of the
    ///< absolute values of the terms and the constant, and if each of these is 0 or from 2^-100 to 2^100. A sum of
    ///< integers that may be beyond 2^53 stays exact
};

/// How a plan's nodes follow each other.
enum class Execution {
    Pipelined,    ///< selections stay where they were found; a column is uploaded once
    OneOperation  ///< each node alone, the baseline of MDS'09: its columns and selections are uploaded for it, and
                  ///< what it selects is read back
};

/// Queries as in SIGMOD'04 and MDS'09, as QueryOptions::paper.
struct QueryPaperOptions {
    SumPrecision sums = SumPrecision::Exact;     ///< for QueryEngine::Depth
    Execution execution = Execution::Pipelined;  ///< how a plan's nodes follow each other
};

}  // namespace quadmill
