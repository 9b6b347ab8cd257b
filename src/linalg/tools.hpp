// State that every object here keeps between calls.
#pragma once

#include <optional>
#include <utility>

#include "cpu/workers.hpp"
#include "gl/device.hpp"
#include "pass/programs.hpp"
#include "pass/transfer.hpp"

namespace quadmill::detail::linalg {

struct Tools {
    explicit Tools(Context with, unsigned threads = 0) : context(std::move(with)), workers(threads) {}
    // Made on first use. Pre: a session is open.
    pass::Programs& gpu_programs() { return programs ? *programs : programs.emplace(*Access::of(context)); }

    Context context;
    cpu::Workers workers;
    std::optional<pass::Programs> programs;
    pass::Uploader uploader;
};

}  // namespace quadmill::detail::linalg
