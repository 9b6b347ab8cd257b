#!/usr/bin/env python3
"""The pages can be followed: what CONTRIBUTING.md names exists, its code stands in the file that is named at its fence,
every link of every page leads to a file and to a heading, CITATION.cff cites the papers, and the lines that the first
comment of a public header names have these classes and functions. No line of Python has more than 120 columns,
and no file that an example wrote is in the top folder.

    tests/contributing.py       checks; prints what is wrong, exit status 1
    tests/contributing.py --write       puts the right numbers of lines into the headers
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/notes/*.md")]
FENCE = re.compile(r"^( *)```(\S*) ?(\S*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
FOLDERS = "src|shaders|tests|include|docs|demos|python"


def words(text):
    return " ".join(text.split())


def anchors(page):
    """The names of headings in links, as on GitHub."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", page.read_text())):
        if re.match(r"https?:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            yield f"there is no {target}"
        elif anchor and anchor not in anchors(file):
            yield f"no heading is called {target}"


def faults_of_recipes(text):
    for _, language, path, code in FENCE.findall(text):
        if language == "cpp" and words(code) not in words((ROOT / path).read_text()):
            yield f"{path} does not have: {words(code)}"
    plain = FENCE.sub("", text)
    for path in set(re.findall(rf"`((?:{FOLDERS})(?:/[\w./-]+)?)`", plain)):
        if not (ROOT / path).exists():
            yield f"there is no {path}"
    tests = (ROOT / "tests/CMakeLists.txt").read_text()
    for target in set(re.findall(r"\btest_([a-z]\w*)`", text)):
        if not re.search(rf"quadmill_test\({target} |add_executable\(test_{target} ", tests):
            yield f"there is no target test_{target}"
    for path, target in re.findall(r"\(`tests/([\w/]+_test\.cpp)`, target `(\w+)`\)", words(plain)):
        room = target.removeprefix("test_")
        if not re.search(rf"quadmill_test\({room} [^)]*\b{re.escape(path)}", tests):
            yield f"{target} does not have {path}"
    for source in set(re.findall(r"`(src/[\w/]+\.cpp)`", plain)):
        room = ROOT / "/".join(source.split("/")[:2])
        name = source.removeprefix(f"src/{room.name}/")
        if (ROOT / source).exists() and name not in (room / "CMakeLists.txt").read_text():
            yield f"src/{room.name}/CMakeLists.txt does not have {source}"


def with_lines(header):
    """The text of a header with the right line of each name, as in "Sorter (line 135)", in its first comment."""
    text = header.read_text()
    top, once, rest = text.partition("#pragma once")

    def right(match):
        name = match[2]
        found = re.search(rf"^(class QUADMILL_API {name} |QUADMILL_API .*\b{name}\()", text, re.MULTILINE)
        return f"{match[1]}{text.count(chr(10), 0, found.start()) + 1 if found else 0})"

    return re.sub(r"((\w+)(?:\(\))? \(line )\d+\)", right, top) + once + rest


def faults_of_headers():
    for header in sorted((ROOT / "include/quadmill").glob("*.hpp")):
        if header.read_text() != with_lines(header):
            yield f"include/quadmill/{header.name}: a line has another number now; use tests/contributing.py --write"


def long_lines_of_python():
    for folder in (".ci", "demos", "docs", "python", "tests"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            for number, line in enumerate(file.read_text().split("\n"), 1):
                if len(line) > 120:
                    yield f"{file.relative_to(ROOT)}:{number} has more than 120 columns"


def faults_of_citations():
    """CITATION.cff has this version, and each paper of docs/errata.md with all its authors."""
    cited = (ROOT / "CITATION.cff").read_text()
    version = re.search(r'QUADMILL_VERSION "(.*)"', (ROOT / "include/quadmill/version.hpp").read_text())[1]
    if f"\nversion: {version}\n" not in cited:
        yield f"the version is not {version}"
    papers = re.findall(r"^\| [^|]+ \| ([A-Z][\w, ]+): (.*) \|$", (ROOT / "docs/errata.md").read_text(), re.MULTILINE)
    found = cited.split("  - type: ")[1:]
    if len(papers) < 5 or len(papers) != len(found):
        yield f"{len(found)} papers, and errata.md has {len(papers)}"
    for authors, title in papers:
        matches = [one for one in found if title.lower() in one.partition("title: ")[2].partition("\n")[0].lower()]
        if not matches or re.findall(r"family-names: (\w+), given-names: \w", matches[0]) != authors.split(", "):
            yield f"the authors and title of {title}"


def files_left_in_root():
    """Those of Git that an example wrote there."""
    known = {"CHANGELOG.md", "CITATION.cff", "CMakeLists.txt", "CMakePresets.json", "CONTRIBUTING.md", "LICENSE",
             "README.md", "SECURITY.md"}
    listed = subprocess.run(["git", "ls-files", "*"], cwd=ROOT, text=True, stdout=subprocess.PIPE, check=False).stdout
    for name in listed.splitlines():
        if "/" not in name and not name.startswith(".") and name not in known:
            yield f"{name} does not belong in the top folder"


def main():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    faults = [f"{page.relative_to(ROOT)}: {fault}" for page in PAGES for fault in broken_links(page)]
    faults += [f"CONTRIBUTING.md: {fault}" for fault in faults_of_recipes(text)]
    faults += [f"CITATION.cff: {fault}" for fault in faults_of_citations()]
    faults += [*faults_of_headers(), *long_lines_of_python(), *files_left_in_root()]
    recipes = re.findall(r"^## Add (.*)$", text, re.MULTILINE)
    if len(recipes) < 4:
        faults.append("CONTRIBUTING.md: four recipes are wanted")
    print(*faults, f"{len(PAGES)} pages, {len(recipes)} recipes, {len(faults)} faults", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        for one in (ROOT / "include/quadmill").glob("*.hpp"):
            one.write_text(with_lines(one))
    sys.exit(main())
