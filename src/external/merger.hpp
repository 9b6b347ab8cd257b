// Phase 2: a tournament tree (tree of losers) merges runs from temporary files. The next block of each run is read
// ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "external/blocks.hpp"
#include "external/plan.hpp"
#include "external/run_reader.hpp"

namespace quadmill::detail::external {

// Merges runs. Equal keys are in the order of the runs.
class Merger final : public RecordStream {
  public:
    using Input = RunReader::Input;
    // Pre: there are inputs, at most plan.fan_in; `format` outlives this object.
    Merger(const Format& format, const std::vector<Input>& inputs, const MergePlan& plan, StageClock& reading,
           Tick tick);
    // Pre: there are inputs, `memory` has room for two margins and two pages of each, and no transfer is in flight.
    // `format`, `memory` and `io` outlive this object.
    Merger(const Format& format, const std::vector<Input>& inputs, std::size_t margin, std::span<std::byte> memory,
           Transfers& io);
    [[nodiscard]] std::size_t fill(std::span<std::byte> memory) override;
    [[nodiscard]] std::span<const std::byte> next() override;

  private:
    using Run = RunReader::Run;
    // The number that the tree compares: of keys of one length the first bytes, of others the code by which they differ
    // from the record given last. The runs themselves are read only if two numbers are equal.
    struct Head {
        std::uint64_t number, run;
    };

    void begin();
    void find_record(std::size_t run);
    void find_line(std::size_t run);
    void find_sized(std::size_t run);
    bool next_block(std::size_t run);
    [[nodiscard]] bool comes_first(Head& a, Head& b) const;
    [[nodiscard]] bool shorter_comes_first(std::size_t a, std::size_t b) const;
    [[nodiscard]] Head head(std::size_t run) const;
    Head build(std::size_t node, std::span<const Head> heads);
    void replay(std::size_t run);
    void drop_winner();

    const Format& format_;
    std::size_t record_bytes_ = 0, key_bytes_ = 0, key_offset_ = 0;
    bool makes_keys_ = false;
    std::vector<std::byte> keys_;        // one per run, if keys are made
    std::span<const std::byte> before_;  // key before the one that is being found, if keys have several lengths
    std::vector<std::byte> kept_;        // its memory, if its block has ended
    RunReader reader_;
    std::vector<Run>& runs_;
    std::vector<Head> tree_;           // tree_[0] is the winner
    bool given_ = false;               // whether next() has returned the winner's record
    std::span<const std::byte> rest_;  // rest of the winner's record if it was cut
};

}  // namespace quadmill::detail::external
