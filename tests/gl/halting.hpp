// Ends a call in the middle, for tests.
#pragma once

#include "quadmill/context.hpp"

namespace quadmill::test {

struct Halt {};

// Throws at the k-th pass, counted from 1, before or after it is drawn.
class HaltingObserver final : public PassObserver {
  public:
    HaltingObserver(int pass, bool before) : left_(pass), before_(before) {}
    void before(const PassEvent&) override {
        if (before_ && --left_ == 0) throw Halt();
    }
    void after(const PassEvent&) override {
        if (!before_ && --left_ == 0) throw Halt();
    }
    // Whether it has thrown.
    [[nodiscard]] bool halted() const { return left_ <= 0; }

  private:
    int left_;
    bool before_;
};

}  // namespace quadmill::test
