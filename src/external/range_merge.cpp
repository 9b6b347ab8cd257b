#include "external/range_merge.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "external/wide_keys.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::external {

namespace {

// A sample, for the records from the one before on.
struct Candidate {
    std::size_t run;
    const RunIndex::Sample* sample;
    std::uint64_t bytes;
};

std::vector<Candidate> candidates_of(const std::vector<IndexedRun>& runs, std::uint64_t range) {
    constexpr std::uint64_t per_range = 16;  // so that ranges differ by some percent
    std::vector<Candidate> found;
    for (std::size_t run = 0; run < runs.size(); ++run) {
        std::uint64_t begin = 0;
        for (const auto& sample : runs[run].index->samples()) {
            if (sample.offset == 0 || sample.offset - begin < range / per_range) continue;
            found.push_back({run, &sample, sample.offset - begin});
            begin = sample.offset;
        }
    }
    std::ranges::sort(found, [&](const Candidate& a, const Candidate& b) {
        const auto key = [&](const Candidate& c) { return runs[c.run].index->key(*c.sample); };
        const int order = compare(key(a), key(b), 0);
        if (order != 0) return order < 0;
        if (a.sample->is_cut != b.sample->is_cut) return a.sample->is_cut;  // its boundary is before all equal keys
        return a.run != b.run ? a.run < b.run : a.sample->offset < b.sample->offset;
    });
    return found;
}

}  // namespace

Ranges::Ranges(const Format& format, std::vector<IndexedRun> runs, std::uint64_t bytes, EqualKeys equal)
    : format_(format), runs_(std::move(runs)) {
    std::uint64_t before = 0;
    for (const auto& [run, sample, more] : candidates_of(runs_, bytes)) {
        before += more;
        if (before < bytes) continue;
        auto boundary = runs_[run].index->boundary(*sample, run, equal);
        if (!boundaries_.empty() && boundaries_.back() == boundary) continue;
        boundaries_.push_back(std::move(boundary));
        before = 0;
    }
}

// The offset of the first record after a boundary.
std::uint64_t Ranges::find(const Boundary& boundary, std::size_t run, std::span<std::byte> memory,
                           Transfers& io) const {
    const auto& [place, bytes, index] = runs_[run];
    const auto [from, to] = index->bracket(boundary, run, bytes);
    if (from == to) return to;
    const auto skip = (place.offset + from) % files::page, needed = skip + (to - from);
    io.read(place.file, memory.first(files::page_up(needed)), place.offset + from - skip, 0);
    const auto done = io.next();
    const auto end = place.offset + from - skip + done.bytes;
    if (done.error != 0) fail_io("read", place, end, done.error);
    if (done.bytes < needed)
        throw IoError(place.name + " ends at byte " + std::to_string(end) + ", where there was more before", place.path,
                      end);
    std::vector<std::byte> made;
    for (auto at = from; at < to;) {
        const auto record = first_record(format_, memory.subspan(skip + (at - from), to - at), made);
        if (!boundary.comes_after(record.key, run, at)) return at;
        at += record.bytes;
    }
    return to;
}

std::vector<Merger::Input> Ranges::range(std::size_t which, std::span<std::byte> memory, Transfers& io) const {
    std::vector<Merger::Input> inputs;
    for (std::size_t run = 0; run < runs_.size(); ++run) {
        const auto begin = which == 0 ? 0 : find(boundaries_[which - 1], run, memory, io);
        const auto end = which == boundaries_.size() ? runs_[run].bytes : find(boundaries_[which], run, memory, io);
        if (begin == end) continue;
        auto& input = inputs.emplace_back(Merger::Input{runs_[run].place, end - begin});
        input.place.offset += begin;
    }
    return inputs;
}

namespace {

class RangeMaker final : public PartMaker {
  public:
    RangeMaker(const Format& format, const Ranges& ranges, const RangePlan& plan, StageClock& reading, const Tick& tick)
        : format_(format),
          ranges_(ranges),
          margin_(plan.margin),
          memory_(plan.reader),
          io_(files::BlockIo::Method::Auto, reading, tick) {}
    [[nodiscard]] std::unique_ptr<RecordStream> make(std::size_t part) override {
        const std::span memory(memory_.data(), memory_.size());
        const auto inputs = ranges_.range(part, memory, io_);
        if (inputs.empty()) return {};
        return std::make_unique<Merger>(format_, inputs, margin_, memory, io_);
    }

  private:
    const Format& format_;
    const Ranges& ranges_;
    std::size_t margin_;
    files::Memory memory_;
    Transfers io_;  // last member, so that its destructor waits before the memory is freed
};

}  // namespace

std::unique_ptr<Parts> merge_ranges(const Format& format, const Ranges& ranges, const RangePlan& plan, Shape shape,
                                    StageClock& reading, StageClock& merging, Tick tick) {
    const Parts::Plan parts{.parts = ranges.size(), .threads = plan.threads, .memory = plan.range};
    return std::make_unique<Parts>(
        parts,
        [&format, &ranges, &reading, plan](const Tick& stop) {
            return std::make_unique<RangeMaker>(format, ranges, plan, reading, stop);
        },
        std::move(shape), merging, std::move(tick));
}

}  // namespace quadmill::detail::external
