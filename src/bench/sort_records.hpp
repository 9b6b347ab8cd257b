// The records of the sort benchmark (sortbenchmark.org), made as by its generator `gensort` and checked as by its
// `valsort`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "files/files.hpp"

namespace quadmill::detail::bench {

inline constexpr std::size_t record_bytes = 100, record_key_bytes = 10;
using RecordKey = std::array<std::byte, record_key_bytes>;
__extension__ using Number128 = unsigned __int128;

[[nodiscard]] std::string to_hexadecimal(Number128 number);

// Binary: 100 bytes of random bits. Ascii: 10 printable characters, the record's number, letters, CR LF.
enum class RecordKind { Binary, Ascii };
// Skewed: three quarters of the keys begin with some bits (Binary, up to 48) or characters (Ascii, up to 6) of the key
// of an early record. It is the same record for all records whose numbers have the same count of binary digits.
enum class KeySpread { Uniform, Skewed };

struct RecordForm {
    RecordKind kind = RecordKind::Binary;
    KeySpread spread = KeySpread::Uniform;
};

// State `number`, from 1, of the benchmark's random numbers: a linear congruential generator of 128 bits. Takes time
// proportional to the number of digits.
[[nodiscard]] Number128 random_number(std::uint64_t number);

// Makes records, beginning with number `first`.
class RecordMaker {
  public:
    RecordMaker(RecordForm form, std::uint64_t first);
    // Pre: the size is a multiple of record_bytes.
    void make(std::span<std::byte> records);

  private:
    static constexpr std::size_t numbers = 10;  // random numbers that a record uses, beginning with its own
    void step();
    [[nodiscard]] Number128 own() const { return random_[oldest_]; }
    void make_binary(std::byte* record) const;
    void make_ascii(std::byte* record) const;
    void skew(std::byte* record) const;

    RecordForm form_;
    std::uint64_t number_;
    std::array<Number128, numbers> random_;  // ring buffer
    std::size_t oldest_ = 0;
};

// Facts about consecutive records.
struct RecordCheck {
    std::uint64_t records = 0;
    std::uint64_t unordered = 0;                     // number of keys that are smaller than the previous one
    std::optional<std::uint64_t> first_unordered{};  // index of the record, from 0
    std::uint64_t duplicates = 0;                    // number of keys that equal the previous one
    Number128 checksum = 0;                          // sum of the CRC-32 of all records
    RecordKey first_key{}, last_key{};

    // Appends the facts about the next records.
    void add(const RecordCheck& next);
};

// Pre: the size is a multiple of record_bytes.
[[nodiscard]] RecordCheck check_records(std::span<const std::byte> records);

// Records [first, first + count) of a file, on all threads. Both functions throw IoError, also for a file that ends
// within a record.
void make_file(files::OutputFile& out, RecordForm form, std::uint64_t first, std::uint64_t count);
[[nodiscard]] RecordCheck check_file(files::InputFile& in);

}  // namespace quadmill::detail::bench
