#include "external/range_merge.hpp"

#include <algorithm>
#include <string>
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

// Finds the first record after the boundary in bytes of a run.
std::uint64_t Ranges::find(const Boundary& boundary, const Search& search) const {
    std::vector<std::byte> made;
    for (std::size_t at = 0; at < search.bytes.size();) {
        const auto record = first_record(format_, search.bytes.subspan(at), made);
        if (!boundary.comes_after(record.key, search.run, search.from + at)) return search.from + at;
        at += record.bytes;
    }
    return search.from + search.bytes.size();
}

void Ranges::wait_for(const std::vector<Search>& searches, Transfers& io) const {
    while (io.in_flight() > 0) {
        const auto done = io.next();
        const auto& search = searches[done.tag];
        const auto& place = runs_[search.run].place;
        const auto begin = files::page_down(place.offset + search.from), end = begin + done.bytes;
        if (done.error != 0) fail_io("read", place, end, done.error);
        if (end < place.offset + search.from + search.bytes.size())
            throw IoError(place.name + " ends at byte " + std::to_string(end) + ", where there was more before",
                          place.path, end);
    }
}

// The offset in each run of the first record after a boundary. Reads as much as there is room for together.
std::vector<std::uint64_t> Ranges::find(const Boundary& boundary, std::span<std::byte> memory, Transfers& io) const {
    std::vector<std::uint64_t> offsets;
    std::vector<Search> searches;
    auto rest = memory;
    const auto settle = [&] {
        wait_for(searches, io);
        for (const auto& search : searches) offsets[search.run] = find(boundary, search);
        searches.clear();
        rest = memory;
    };
    for (std::size_t run = 0; run < runs_.size(); ++run) {
        const auto& [place, bytes, index] = runs_[run];
        const auto [from, to] = index->bracket(boundary, run, bytes);
        offsets.push_back(to);
        if (from == to) continue;
        const auto skip = (place.offset + from) % files::page, pages = files::page_up(skip + (to - from));
        if (pages > rest.size()) settle();
        io.read(place.file, rest.first(pages), place.offset + from - skip, searches.size());
        searches.push_back({run, from, rest.subspan(skip, to - from)});
        rest = rest.subspan(pages);
    }
    settle();
    return offsets;
}

std::vector<Merger::Input> Ranges::range(std::size_t which, std::span<std::byte> memory, Transfers& io) const {
    std::vector<std::uint64_t> begins(runs_.size()), ends;
    for (const auto& run : runs_) ends.push_back(run.bytes);
    if (which > 0) begins = find(boundaries_[which - 1], memory, io);
    if (which < boundaries_.size()) ends = find(boundaries_[which], memory, io);
    std::vector<Merger::Input> inputs;
    for (std::size_t run = 0; run < runs_.size(); ++run) {
        if (begins[run] == ends[run]) continue;
        auto& input = inputs.emplace_back(Merger::Input{runs_[run].place, ends[run] - begins[run]});
        input.place.offset += begins[run];
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
          reader_(plan.reader),
          memory_(plan.reader + RunReader::readable),
          io_(files::BlockIo::Method::Auto, reading, tick) {}
    [[nodiscard]] std::unique_ptr<RecordStream> make(std::size_t part) override {
        const std::span memory(memory_.data(), reader_);
        const auto inputs = ranges_.range(part, memory, io_);
        if (inputs.empty()) return {};
        return std::make_unique<Merger>(format_, inputs, margin_, memory, io_);
    }

  private:
    const Format& format_;
    const Ranges& ranges_;
    std::size_t margin_, reader_;
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

namespace {

class GatherMaker final : public PartMaker {
  public:
    GatherMaker(const Slot& slot, std::size_t parts, EqualKeys equal) : slot_(slot), parts_(parts), equal_(equal) {}
    [[nodiscard]] std::unique_ptr<RecordStream> make(std::size_t part) override {
        const auto begin = begin_of(part), end = begin_of(part + 1);
        if (begin == end) return {};
        return std::make_unique<Gather>(slot_, alone_, begin, end);
    }

  private:
    [[nodiscard]] std::size_t begin_of(std::size_t part) const {
        const auto order = slot_.order();
        const auto at = order.size() * part / parts_;
        if (equal_ == EqualKeys::Apart || at == 0 || at == order.size()) return at;
        const auto keys = slot_.keys();
        const auto before = keys[order[at - 1]];
        const auto after = std::ranges::partition_point(
            order.subspan(at), [&](std::uint32_t i) { return std::ranges::equal(keys[i], before); });
        return static_cast<std::size_t>(after - order.begin());
    }

    const Slot& slot_;
    std::size_t parts_;
    EqualKeys equal_;
    cpu::Workers alone_{1};
};

}  // namespace

std::unique_ptr<Parts> give_parts(const Slot& slot, const Parts::Plan& plan, EqualKeys equal, Shape shape,
                                  StageClock& clock, Tick tick) {
    return std::make_unique<Parts>(
        plan, [&slot, plan, equal](const Tick&) { return std::make_unique<GatherMaker>(slot, plan.parts, equal); },
        std::move(shape), clock, std::move(tick));
}

}  // namespace quadmill::detail::external
