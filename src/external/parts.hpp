// Consecutive parts of the sorted records, made by several threads and given in order.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "external/blocks.hpp"
#include "files/memory.hpp"

namespace quadmill::detail::external {

// The bytes to give for consecutive records. It may be called in several threads.
using Shape = std::function<std::unique_ptr<Stream>(RecordStream& records)>;

// Makes parts in one thread.
class PartMaker {
  public:
    PartMaker() = default;
    PartMaker(const PartMaker&) = delete;
    PartMaker& operator=(const PartMaker&) = delete;
    virtual ~PartMaker() = default;
    // The records of a part, valid as long as this object; nothing if there are none.
    [[nodiscard]] virtual std::unique_ptr<RecordStream> make(std::size_t part) = 0;
};

// Each thread has a maker. Its records go to memory of the size of a usual part. If a part is larger, its thread waits
// until the parts before it are given.
class Parts final : public RecordStream {
  public:
    struct Plan {
        std::size_t parts = 0, threads = 0;
        std::size_t memory = 0;  // bytes for a part
    };
    // Memory for this many parts.
    [[nodiscard]] static std::size_t memories(std::size_t threads) { return threads + 2; }
    // The maker calls its tick while it waits. Pre: without a shape, records tell their length if next() is called.
    Parts(const Plan& plan, std::function<std::unique_ptr<PartMaker>(const Tick& tick)> make_maker, Shape shape,
          StageClock& clock, Tick tick);
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;
    ~Parts() override;

    [[nodiscard]] std::size_t fill(std::span<std::byte> memory) override;
    [[nodiscard]] std::span<const std::byte> next() override;
    // Fraction of the parts that were given.
    [[nodiscard]] double given() const { return static_cast<double>(part_) / static_cast<double>(plan_.parts); }

  private:
    struct Space {
        Space(std::size_t bytes, Gate& gate) : memory(bytes), was_read(gate) {}
        files::Memory memory;
        Queue<bool> was_read;
    };
    // Bytes of a part.
    struct Piece {
        std::size_t part = 0, bytes = 0;
        Space* space = nullptr;
        enum class Then { More, End } then = Then::End;
    };
    void make_parts();
    void make_part(std::size_t part, PartMaker& maker, Space& space);
    bool next_piece();
    void release();

    Plan plan_;
    std::function<std::unique_ptr<PartMaker>(const Tick& tick)> make_maker_;
    Shape shape_;
    StageClock& clock_;
    Tick tick_;
    Gate gate_;
    std::vector<std::unique_ptr<Space>> spaces_;
    Queue<Space*> free_{gate_};
    Queue<Piece> made_{gate_};
    std::atomic<std::size_t> begun_ = 0;  // parts
    std::map<std::size_t, Piece> early_;  // pieces of later parts
    std::size_t part_ = 0;                // that is given
    Piece piece_;
    std::span<const std::byte> rest_;  // of the piece
    std::vector<std::byte> joined_;    // a record that was cut
    std::vector<std::thread> threads_;
};

}  // namespace quadmill::detail::external
