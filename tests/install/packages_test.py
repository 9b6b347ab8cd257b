#!/usr/bin/env python3
"""The packages of a build: made by cpack, inspected, unpacked to a folder, and used from there.

usage: packages_test.py BUILD_FOLDER SOURCE_FOLDER CMAKE GENERATOR
"""
import gzip
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

build, source = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
cmake, generator = sys.argv[3:5]


def run(*args, **more):
    result = subprocess.run([str(arg) for arg in args], capture_output=True, **{"text": True, **more})
    assert result.returncode == 0, f"{args}: {result.returncode}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def check(found, what):
    assert found, what


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    # The same except for the compression level, since compression takes long.
    run(pathlib.Path(cmake).with_name("cpack"), "--config", build / "CPackConfig.cmake", "-B", folder / "made",
        "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip", cwd=build)
    packages = {run("dpkg-deb", "-f", deb, "Package").strip(): deb for deb in (folder / "made").glob("*.deb")}
    shared = [name for name in packages if re.fullmatch(r"libquadmill\d+\.\d+", name)]
    check({"quadmill", "libquadmill-dev"} | set(shared) == set(packages), packages)
    version = re.search(r'QUADMILL_VERSION "(.*)"', (source / "include/quadmill/version.hpp").read_text())[1]
    files = {}
    for name, deb in packages.items():
        control = run("dpkg-deb", "-f", deb)
        fields = dict(line.split(": ", 1) for line in control.splitlines() if ": " in line)
        check(fields["Version"] == version, fields)
        check(fields["Architecture"] == run("dpkg", "--print-architecture").strip(), fields)
        files[name] = {line.split(maxsplit=5)[5].lstrip(".").split(" -> ")[0]
                       for line in run("dpkg-deb", "-c", deb).splitlines() if not line.startswith("d")}
        check(all(file.startswith("/usr/") for file in files[name]), files[name])
        run("dpkg-deb", "-x", deb, folder / "root")
        # Required by Debian's policy.
        documents = folder / "root/usr/share/doc" / name
        licence = (source / "LICENSE").read_text()
        if name == "quadmill":  # whose pictures have letters
            licence += "\n" + (source / "src/show/FONT_LICENSE").read_text()
        check((documents / "copyright").read_text() == licence, name)
        changes = gzip.decompress((documents / "changelog.gz").read_bytes()).decode()
        check(changes.startswith(f"quadmill ({version}) "), changes)
        described = re.search(r"^Description: (.{1,80})\n(( .{1,79}\n?){2,})", control, re.MULTILINE)
        check(described, control)
        if name != "libquadmill-dev":
            check("libegl1" in fields["Depends"] and "libc6" in fields["Depends"], fields)
            # Rivals of `quadmill bench` are opened at run time.
            check(not re.search(r"tbb|sqlite|openblas", fields["Depends"]), fields)
        elif shared:
            check(f"{shared[0]} (= {version})" in fields["Depends"], fields)
    if shutil.which("lintian"):
        run("lintian", "--allow-root", "--fail-on", "error", *packages.values())
    check(sum(len(names) for names in files.values()) == len(set.union(*files.values())), "a file in two packages")
    check({"/usr/bin/quadmill", "/usr/share/man/man1/quadmill.1.gz",
           "/usr/share/bash-completion/completions/quadmill", "/usr/share/zsh/vendor-completions/_quadmill",
           "/usr/share/fish/vendor_completions.d/quadmill.fish"} <= files["quadmill"], files["quadmill"])
    check("/usr/include/quadmill/sort.hpp" in files["libquadmill-dev"], files["libquadmill-dev"])
    check(any(file.endswith("/quadmill/libquadmill_lapack.so") for file in files["quadmill"]), files["quadmill"])
    for name in shared:
        members = run("dpkg-deb", "--ctrl-tarfile", packages[name], text=False)
        with tarfile.open(fileobj=io.BytesIO(members)) as archive:
            check(archive.extractfile("./triggers").read() == b"activate-noawait ldconfig\n", name)
        check(all(".so." in file or file.startswith("/usr/share/doc/") for file in files[name]), files[name])

    # The command, and a project that finds the library there and nowhere else.
    usr = folder / "root/usr"
    said = run(usr / "bin/quadmill", "--version")
    check(said.startswith(f"quadmill {version}\n"), said)
    libraries = next(usr.rglob("libquadmill.*")).parent
    run(cmake, "-S", source / "tests/consumer/find_package", "-B", folder / "app", "-G", generator,
        f"-DCMAKE_PREFIX_PATH={usr}", f"-DWANTED_VERSION={version}", "-DCMAKE_BUILD_TYPE=Debug")
    check(f"quadmill_DIR:PATH={usr}" in (folder / "app/CMakeCache.txt").read_text(), "another library was found")
    run(cmake, "--build", folder / "app")
    print(run(folder / "app/consumer", env={**os.environ, "LD_LIBRARY_PATH": str(libraries)}).strip())
print("packages:", ", ".join(sorted(packages)))
