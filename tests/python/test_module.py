"""The module as a whole: its examples, its stub, its errors, its symbols, its wheel, and the interpreter's lock."""
import ast
import doctest
import inspect
import os
import pathlib
import pickle
import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import quadmill

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(quadmill.__file__).resolve().parents[2]
HERE = os.environ | {"PYTHONPATH": str(BUILD / "python")}  # for programs that run in another folder


def documented():
    """Each function, class and method, by name."""
    for name in quadmill.__all__:
        thing = getattr(quadmill, name)
        yield name, thing
        if isinstance(thing, type):
            yield from ((f"{name}.{member}", found) for member, found in vars(thing).items()
                        if not member.startswith("_") or member == "__init__")


def test_examples_of_docstrings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runner, examples = doctest.DocTestRunner(), 0
    for name, thing in documented():
        known = dict(quadmill=quadmill, numpy=np, pickle=pickle, pathlib=pathlib)
        test = doctest.DocTestParser().get_doctest(thing.__doc__ or "", known, name, None, 0)
        examples += len(test.examples)
        runner.run(test)
    assert runner.failures == 0 and examples > 50


def test_everything_says_what_it_does():
    assert [name for name, thing in documented()
            if not thing.__doc__ and not name.endswith((".dtype", ".eps", ".columns", ".offset"))] == []


def blocks(language):
    text = (ROOT / "docs/python.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_examples_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = dict(numpy=np, quadmill=quadmill)
    sessions = blocks("pycon")
    for session in sessions:
        test = doctest.DocTestParser().get_doctest(session, known, "docs/python.md", None, 0)
        known = test.globs
        runner = doctest.DocTestRunner()
        runner.run(test, clear_globs=False)
        assert runner.failures == 0
    assert len(sessions) >= 4


def test_the_page_draws(tmp_path):
    """The example of moderngl: discs that are half transparent, drawn from back to front."""
    (program,) = [block for block in blocks("python") if "moderngl" in block]
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=HERE, check=True, timeout=60)
    head, _, body = (tmp_path / "discs.ppm").read_bytes().partition(b"255\n")
    assert head == b"P6\n512 512\n"
    image = np.frombuffer(body, np.uint8).reshape(512, 512, 3)
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 100  # blended colours
    # In front of all others, so that its colour dominates where it is.
    assert image[256, 256, 0] > 2 * image[256, 256, 2]


def test_summaries_are_reduced_by_dask(tmp_path):
    (program,) = [block for block in blocks("python") if "dask" in block]
    (tmp_path / "reduce.py").write_text(program)
    done = subprocess.run([sys.executable, "reduce.py"], cwd=tmp_path, env=HERE, capture_output=True, text=True,
                          timeout=60)
    assert (done.returncode, done.stdout) == (0, "[0.1 0.5 0.9]\n"), done.stderr


def stub():
    """name -> its parameters in the stub, without self; None for anything that is not a function."""
    found = {}

    def visit(body, prefix):
        for node in body:
            if isinstance(node, ast.FunctionDef):
                names = [a.arg for a in node.args.args + node.args.kwonlyargs if a.arg != "self"]
                is_property = any(getattr(d, "id", "") == "property" for d in node.decorator_list)
                found[prefix + node.name] = None if is_property else names
            elif isinstance(node, ast.ClassDef):
                found[prefix + node.name] = None
                visit(node.body, f"{node.name}.")

    visit(ast.parse((ROOT / "python/quadmill/__init__.pyi").read_text()).body, "")
    return found


def test_the_stub_says_what_there_is():
    typed, real = stub(), dict(documented())
    assert {n for n in typed if not n.split(".")[-1].startswith("_")} == {n for n in real if not n.endswith("__init__")}
    checked = 0
    for name, parameters in typed.items():
        says = getattr(real.get(name), "__doc__", None)
        if parameters is None or not says or f"{name.split('.')[-1]}(" not in says:
            continue
        signature = says.split("\n")[0]
        if "(*args, **kwargs)" in signature:  # several forms; the stub's last one is compared
            signature = re.findall(r"^\d+\. (.*)", says, re.MULTILINE)[-1]
        given = re.sub(r"^\w+\((self: [\w.]+(, )?)?", "", signature).rsplit(") ->")[0]
        named = [w for w in re.findall(r"(?:^|, )(\w+)(?=: )", given) if w != "self"]
        if "arg0" not in named:
            assert named == parameters, signature
            checked += 1
    assert checked > 30


def test_signatures_are_known():
    checked = 0
    for name, thing in documented():
        if isinstance(thing, property) or not callable(getattr(thing, "__func__", thing)):
            continue
        if isinstance(thing, type) and issubclass(thing, Exception):
            continue
        if isinstance(thing, type) and "__init__" not in vars(thing):
            continue
        if isinstance(thing, staticmethod):
            thing = thing.__func__
        inspect.signature(thing)
        checked += 1
    assert checked > 80
    assert str(inspect.signature(quadmill.sort)) == (
        "(a, axis=None, *, order='asc', engine='auto', context=None, threads=0)")
    assert str(inspect.signature(quadmill.Context.argsort_texture)) == (
        "(self, keys, index, count=None, *, channel=0, plane=None, order='asc')")
    assert str(inspect.signature(quadmill.default_context().sort_texture)) == (
        "(input, output, *, all_as_one=False, order='asc')")
    assert str(inspect.signature(quadmill.TextureRegion)) == (
        "(texture, *, layer=0, x=0, y=0, width=0, height=0, count=None, counted=None)")
    assert list(inspect.signature(quadmill.Quantiles).parameters)[:2] == ["dtype", "eps"]


def test_errors_are_one_tree():
    e = quadmill
    for error, bases in {e.InvalidArgument: (e.Error, ValueError), e.SqlError: (e.InvalidArgument,),
                         e.GlError: (e.Error, RuntimeError), e.ContextError: (e.Error, RuntimeError),
                         e.IoError: (e.Error, OSError), e.SortStopped: (e.Error,)}.items():
        assert all(issubclass(error, base) for base in bases) and error.__module__ == "quadmill"


def test_only_the_door_is_seen_from_outside():
    (module,) = (BUILD / "python/quadmill").glob("_core*.so")
    symbols = subprocess.run(["nm", "-D", "--defined-only", module], check=True, capture_output=True, text=True).stdout
    assert [line.split()[-1] for line in symbols.splitlines()] == ["PyInit__core"]


def test_other_threads_go_on_meanwhile():
    # Where the module held Python's lock, one turn or two would fit in: those before and after the sort.
    a = np.random.default_rng(1).random(1 << 24)
    thread = threading.Thread(target=quadmill.sort, args=(a,), kwargs=dict(engine="cpu"))
    turns = 0
    thread.start()
    while thread.is_alive():
        time.sleep(0.001)
        turns += 1
    assert turns > 5 and (np.diff(a) >= 0).all()


def test_without_egl_the_cpu_sorts_and_others_say_why():
    program = """
import numpy, quadmill
a = numpy.random.default_rng(1).random(1 << 25, dtype=numpy.float32)
quadmill.sort(a, threads=1)  # enough keys for one thread that it would open a context
assert (numpy.diff(a) >= 0).all()
try:
    quadmill.sort(a, engine="merge")
except quadmill.ContextError as error:
    print(error)
"""
    environment = HERE | {"__EGL_VENDOR_LIBRARY_FILENAMES": "/nowhere"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "EGL" in done.stdout


def test_a_wheel_works_where_it_is_installed(tmp_path):
    environment = os.environ | {"QUADMILL_BUILD": str(BUILD)}
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    source = tmp_path / "tree" / "python"
    source.mkdir(parents=True)
    for name in ("pyproject.toml", "setup.py", "LICENSE", "README.md"):
        (source / name).write_bytes((ROOT / "python" / name).read_bytes())
    for folder in (ROOT / "python/quadmill", ROOT / "include/quadmill"):
        target = tmp_path / "tree" / folder.relative_to(ROOT)
        target.mkdir(parents=True)
        for file in folder.iterdir():
            if file.is_file():
                (target / file.name).write_bytes(file.read_bytes())
    subprocess.run([*pip, "wheel", source, "--no-build-isolation", "--no-deps", "-w", tmp_path / "wheels"], check=True,
                   env=environment)
    (wheel,) = (tmp_path / "wheels").iterdir()
    subprocess.run([*pip, "install", wheel, "--no-deps", "--target", tmp_path / "site"], check=True)
    (about,) = (tmp_path / "site").glob("quadmill-*.dist-info")
    metadata = (about / "METADATA").read_text()
    for field in ("License: MIT", "Author: The quadmill authors", "Description-Content-Type: text/markdown"):
        assert f"\n{field}\n" in metadata, metadata[:500]
    assert [*about.rglob("LICENSE")], "no licence"
    assert {"__init__.pyi", "py.typed"} <= {file.name for file in (tmp_path / "site/quadmill").iterdir()}
    program = "import quadmill, numpy; print(quadmill.__file__, quadmill.argsort(numpy.array([3, 1, 2])))"
    done = subprocess.run([sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": str(tmp_path / "site")},
                          cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout == f"{tmp_path}/site/quadmill/__init__.py [1 2 0]\n"


@pytest.mark.parametrize("says", [quadmill.sort.__doc__, quadmill.query.__doc__])
def test_help_shows_the_signature(says):
    assert says.split("\n")[0].endswith((" -> None", " -> dict"))
