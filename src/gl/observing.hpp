// Observes passes for a while.
#pragma once

#include "quadmill/context.hpp"

namespace quadmill::detail::gl {

// Observes a context's passes for the length of a scope.
class Observing {
  public:
    Observing(Context& context, PassObserver& observer) : context_(context), before_(context.observe(&observer)) {}
    Observing(const Observing&) = delete;
    Observing& operator=(const Observing&) = delete;
    ~Observing() { context_.observe(before_); }

  private:
    Context& context_;
    PassObserver* before_;
};

}  // namespace quadmill::detail::gl
