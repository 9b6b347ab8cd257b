// Counts the passes of a contender: a GPU contender without passes measured nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "quadmill/context.hpp"

namespace quadmill::detail::bench {

// Adds the context's passes to `passes` for the length of a scope. The previous observer still gets them.
class PassCount final : public PassObserver {
  public:
    PassCount(std::optional<Context> context, std::uint64_t& passes) : context_(std::move(context)), passes_(passes) {
        if (context_) next_ = context_->observe(this);
    }
    PassCount(const PassCount&) = delete;
    PassCount& operator=(const PassCount&) = delete;
    ~PassCount() override {
        if (context_) context_->observe(next_);
    }
    void before(const PassEvent& pass) override {
        ++passes_;
        if (next_) next_->before(pass);
    }
    void after(const PassEvent& pass) override {
        if (next_) next_->after(pass);
    }

  private:
    std::optional<Context> context_;
    std::uint64_t& passes_;
    PassObserver* next_ = nullptr;
};

}  // namespace quadmill::detail::bench
