#!/usr/bin/env python3
"""What Doxygen reads of a header: the same lines, but

- what every type has (moves, copies, destructors and comparisons without anything to say) is left out;
- of variables declared together, each has the words that stand beside or above them, not just one.
"""
import re
import sys

EVERY_TYPE = re.compile(r"\s*((explicit )?(virtual )?~?(\w+)\((const \4&|\4&&)?\)( noexcept)?"
                        r"( override| = default| = delete)?;|"
                        r"\w+& operator=\(.*;|bool operator==\(.* = default;)\s*$")
TOGETHER = re.compile(r"(\s*)((?:[\w:]|<.*?>)+) (\w+(?: = [^,;{}]+)?(?:, \w+(?: = [^,;{}]+)?)+);(?:\s*///< (.*))?$")


def main():
    above = ""
    for line in open(sys.argv[1], encoding="utf-8"):
        line = line.rstrip("\n")
        code = re.match(r"\s*/// ?(.*)", line)
        together = TOGETHER.match(line)
        if EVERY_TYPE.match(line):
            line = ""
        elif together and (together[4] or above):
            one = "{} {}; /**< {} */".format(together[2], "{}", together[4] or above)
            line = together[1] + " ".join(one.format(name) for name in together[3].split(", "))
        print(line)
        above = (above + " " + code[1]).strip() if code and not line.strip().startswith("///<") else ""


if __name__ == "__main__":
    main()
