#include "query/run/value_later.hpp"

#include <array>
#include <memory>

#include "pass/transfer.hpp"

namespace quadmill::detail::query {

namespace {

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

}  // namespace

Later<Value> read_later(gl::Device& device, const GpuMeasure& measured, const Wanted& wanted, const Tables& tables) {
    const auto backs = std::make_shared<std::array<pass::ReadBack, 2>>();  // of the value and the count
    const bool has_value = measured.value != nullptr;
    if (has_value) (*backs)[0].request(device, *measured.value);
    (*backs)[1].request(device, *measured.count);
    return {.result =
                [=] {
                    ReadMeasures measures(has_value ? texel_of((*backs)[0]) : MeasuredTexel{}, texel_of((*backs)[1])[0],
                                          tables);
                    return answer(wanted, tables, measures);
                },
            .ready = [backs] { return (*backs)[1].ready(); }};
}

}  // namespace quadmill::detail::query
