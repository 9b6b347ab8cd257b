#include "query/run/value_later.hpp"

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
    struct Backs {
        pass::ReadBack value, count;
    };
    const auto backs = std::make_shared<Backs>();
    const bool has_value = measured.value != nullptr;
    if (has_value) backs->value.request(device, *measured.value);
    backs->count.request(device, *measured.count);  // last: when it has arrived, both have
    return {.result =
                [=] {
                    ReadMeasures measures(has_value ? texel_of(backs->value) : MeasuredTexel{},
                                          texel_of(backs->count)[0], tables);
                    return answer(wanted, tables, measures);
                },
            .ready = [backs] { return backs->count.ready(); }};
}

}  // namespace quadmill::detail::query
