// A summary for each group of values: --by.
#pragma once

#include <limits>

#include "cli/stream_run.hpp"
#include "quadmill/concurrent.hpp"

namespace quadmill::detail::cli {

class GroupSummaries final : public MergedSummary {
  public:
    explicit GroupSummaries(Grouped<Part> all) : all_(std::move(all)) {}
    // Pre: `how` lives as long.
    GroupSummaries(const Summaries& how, SavedBytes bytes, std::size_t max = std::numeric_limits<std::size_t>::max());
    // The rows of all groups, with their names.
    [[nodiscard]] Answer answer(const Ask& ask) const override;
    // The max of all groups: merged ones may have different errors.
    [[nodiscard]] double eps() const override;
    [[nodiscard]] std::uint64_t nans() const override;
    [[nodiscard]] std::size_t bytes() const override { return all_.bytes(); }
    [[nodiscard]] std::vector<std::byte> save() const override { return all_.save(); }
    void merge(const MergedSummary& other) override { all_.merge(static_cast<const GroupSummaries&>(other).all_); }
    [[nodiscard]] Grouped<Part>& groups() { return all_; }

  private:
    Grouped<Part> all_;
};

// Passes the values of a column to their groups.
void run_groups(StreamRun& run, std::size_t max, const Summaries& how);

}  // namespace quadmill::detail::cli
