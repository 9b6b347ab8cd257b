// Calls from JavaScript: plain C functions that return whether they succeeded.
#pragma once

#include <cstdint>
#include <exception>
#include <stdexcept>

#include "quadmill/error.hpp"

#define QUADMILL_EXPORT(name) extern "C" __attribute__((export_name(#name)))

namespace quadmill::detail::web {

// What a call says of its end. JavaScript turns it into an error's code.
enum class Outcome : int { Done, Argument, Gl, Memory, Other };

// Keeps the message of a failure for qm_message().
void keep_message(const char* text) noexcept;

// Runs `work` and tells how it ended. An exception of JavaScript, from an import, goes on to JavaScript.
template <class Work>
int call(const Work& work) {
    const auto failed = [](Outcome outcome, const char* text) {
        keep_message(text);
        return static_cast<int>(outcome);
    };
    try {
        work();
        return static_cast<int>(Outcome::Done);
    } catch (const InvalidArgument& error) {
        return failed(Outcome::Argument, error.what());
    } catch (const GlError& error) {
        return failed(Outcome::Gl, error.what());
    } catch (const std::bad_alloc&) {
        return failed(Outcome::Memory, "out of memory: a module has at most 4 GB");
    } catch (const std::exception& error) {
        return failed(Outcome::Other, error.what());
    }
}

}  // namespace quadmill::detail::web
