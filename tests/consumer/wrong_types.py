#!/usr/bin/env python3
"""The compiler's errors for types that the library does not accept: a few lines, which name the accepted types.

usage: wrong_types.py CXX INCLUDE_FOLDER
"""
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

compiler, include = sys.argv[1:3]
KEYS = ["Half", "float", "double", "int32_t", "uint32_t", "int64_t", "uint64_t"]
# A line of code, and the names in the message; nothing for lines that compile.
CASES = [
    ("std::vector<long long> v; sorter.sort(v);", KEYS),
    ("std::vector<short> v; sorter.sort_with_index(v, index);", KEYS),
    ("std::vector<short> v; sorter.argsort(v, index);", KEYS),
    ("const std::vector<long long> v; sorter.top(v, best);", KEYS),
    ("std::vector<bool> v; sorter.sort(v);", KEYS),
    ("const std::vector<float> v; sorter.sort(v);", ["const std::vector<float>"]),
    ("(void)sorter.sample_texture<double>({}, 0.1);", ["float", "int32_t", "uint32_t"]),
    ("Quantiles<unsigned char> q;", KEYS),
    ("Frequencies<long long> f;", KEYS),
    ("SlidingQuantiles<short> s(SlidingOptions{});", KEYS),
    ("SlidingFrequencies<bool> s(SlidingOptions{});", KEYS),
    ("CorrelatedSums<char> c;", KEYS),
    ("HeavyPrefixes<int> h(HeavyPrefixOptions{});", ["uint32_t", "uint64_t"]),
    ("Sketch<int> s(SketchOptions{});", ["uint32_t", "uint64_t", "float", "string_view"]),
    ("HeavyHitters<double> h({}, {});", ["uint32_t", "uint64_t", "float"]),
    ("Table().add(\"x\", std::vector<short>{});", ["float", "double", "int32_t", "int64_t", "string"]),
    ("(void)QueryResult().column<int>(0);", ["int64_t", "double", "string"]),
    # Arguments that are only read may be const, and temporaries.
    ("""
        const std::vector<float> v;
        const float array[3]{};
        sorter.argsort(v, index);
        sorter.argsort(std::span<const double>(), index);
        sorter.argsort(std::vector{Half{}}, index);
        sorter.top(array, best);
        top_on_cpu(v, best);
        const Keys keys(best);
        sorter.top(keys, best, index, Order::Descending);
        static_assert(!std::is_convertible_v<const std::vector<float>&, Keys>);
        static_assert(!std::is_convertible_v<std::vector<short>&, Keys>);
        static_assert(!std::is_convertible_v<std::vector<short>&, ConstKeys>);""", []),
]
HEADERS = """#include <array>
#include <quadmill/query.hpp>
#include <quadmill/sketch.hpp>
#include <quadmill/sort.hpp>
#include <quadmill/stream.hpp>
#include <span>
#include <type_traits>
#include <vector>
"""
PROGRAM = """using namespace quadmill;
void f([[maybe_unused]] Sorter& sorter, [[maybe_unused]] std::array<float, 3>& best,
       [[maybe_unused]] std::vector<std::uint32_t>& index) {{
    {}
}}
"""


def compile(*flags, program=""):
    found = subprocess.run([compiler, "-std=c++20", "-I", include, *flags, "-x", "c++", "-"], input=program,
                           capture_output=True, text=True)
    return found.returncode, found.stderr


def check(headers, code, names):
    status, said = compile("-fsyntax-only", "-include", headers, program=PROGRAM.format(code))
    assert (status != 0) == bool(names), f"{code}\nexit status {status}\n{said}"
    lines = [line for line in said.splitlines() if not re.match(r"(In file included| +) ?from ", line)]
    assert len(lines) <= 15, f"{code}\nis answered by {len(lines)} lines:\n{said}"
    for name in names:
        assert re.search(rf"(\W|^){re.escape(name)}(\W|$)", said), f"{code}\n{name} is not in\n{said}"


def check_debug():
    """Containers of another layout are refused, unless this standard library has the same layout."""
    program = "#include <quadmill/stream.hpp>"
    status, said = compile("-fsyntax-only", "-D_GLIBCXX_DEBUG", program=program)
    assert status != 0 and "-D_GLIBCXX_ASSERTIONS" in said and "QUADMILL_GLIBCXX_DEBUG" in said, said
    for flags in (["-D_GLIBCXX_ASSERTIONS"], ["-D_GLIBCXX_DEBUG", "-DQUADMILL_GLIBCXX_DEBUG"]):
        status, said = compile("-fsyntax-only", *flags, program=program)
        assert status == 0, said


with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
    headers = pathlib.Path(folder, "headers.hpp")  # compiled once, for all
    headers.write_text(HEADERS)
    subprocess.run([compiler, "-std=c++20", "-I", include, "-x", "c++-header", headers], check=True)
    checks = [pool.submit(check, headers, *case) for case in CASES] + [pool.submit(check_debug)]
    for done in checks:
        done.result()
print(len(CASES), "pieces of code")
