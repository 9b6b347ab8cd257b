#include "query/run/value_later.hpp"

#include <cstring>
#include <optional>
#include <utility>

#include "pass/transfer.hpp"

namespace quadmill::detail::query {

namespace {

class ValueNow final : public ValueLater {
  public:
    explicit ValueNow(Value value) : value_(std::move(value)) {}
    [[nodiscard]] bool ready() override { return true; }
    [[nodiscard]] Value value() override { return value_; }

  private:
    Value value_;
};

// Only what was asked for has been measured.
class ReadMeasures final : public Measures {
  public:
    ReadMeasures(const MeasuredTexel& texel, std::uint64_t count, const Tables& tables)
        : texel_(texel), count_(count), tables_(tables) {}
    [[nodiscard]] std::uint64_t rows() override { return count_; }
    [[nodiscard]] std::uint64_t count(const ColumnPlace& /*place*/) override { return count_; }
    [[nodiscard]] Sum sum(const ColumnPlace& place) override {
        return sum_of_texel(texel_, tables_[place].type, count_);
    }
    [[nodiscard]] std::pair<Key, Key> extremes(const ColumnPlace& /*place*/) override {
        return extremes_of_texel(texel_);
    }
    [[nodiscard]] Key kth(const ColumnPlace& /*place*/, std::uint64_t /*k*/) override { return key_of_texel(texel_); }

  private:
    MeasuredTexel texel_;
    std::uint64_t count_;
    const Tables& tables_;
};

class ReadLater final : public ValueLater {
  public:
    ReadLater(gl::Device& device, const GpuMeasure& measured, const Wanted& wanted, const Tables& tables)
        : wanted_(wanted), tables_(tables) {
        if (measured.value) value_.emplace().request(device, *measured.value);
        count_.request(device, *measured.count);
    }
    [[nodiscard]] bool ready() override { return count_.ready(); }
    [[nodiscard]] Value value() override {
        const auto texel = [](pass::ReadBack& back) {
            MeasuredTexel words{};
            std::memcpy(words.data(), back.wait().data(), sizeof words);
            return words;
        };
        ReadMeasures measures(value_ ? texel(*value_) : MeasuredTexel{}, texel(count_)[0], tables_);
        return answer(wanted_, tables_, measures);
    }

  private:
    Wanted wanted_;
    Tables tables_;
    std::optional<pass::ReadBack> value_;
    pass::ReadBack count_;  // requested last
};

}  // namespace

std::unique_ptr<ValueLater> value_now(Value value) {
    return std::make_unique<ValueNow>(std::move(value));
}

std::unique_ptr<ValueLater> read_later(gl::Device& device, const GpuMeasure& measured, const Wanted& wanted,
                                       const Tables& tables) {
    return std::make_unique<ReadLater>(device, measured, wanted, tables);
}

}  // namespace quadmill::detail::query
