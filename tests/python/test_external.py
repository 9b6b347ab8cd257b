"""Files of records: sorting, progress, stopping, and wrong calls."""
import os
import signal
import threading

import numpy as np
import pytest

import quadmill


@pytest.fixture
def records(rng, tmp_path):
    """16 MB of keys, more than twice the memory of the sort."""
    made = rng.integers(0, 2**62, 1 << 21, dtype=np.uint64)
    made.tofile(tmp_path / "in")
    return made


def sort(tmp_path, **more):
    return quadmill.terasort(tmp_path / "in", tmp_path / "out", record_bytes=8, key=[(0, "u64")],
                             temp=[str(tmp_path)], **more)


def test_sorts_in_two_phases_and_tells(records, tmp_path):
    told = []
    stats = sort(tmp_path, memory=8 << 20, progress=told.append)
    assert np.array_equal(np.fromfile(tmp_path / "out", np.uint64), np.sort(records))
    assert stats["records"] == len(records) and stats["runs"] > 1 and stats["engine"] == "cpu"
    assert told and set(told[0]) == {"phase", "bytes", "total", "seconds"} and told[0]["phase"] == "runs"


def test_keys_lines_and_engines(tmp_path, context):
    pairs = np.array([(2, 1.5), (1, 2.5), (2, 3.5)], [("k", "<i4"), ("v", "<f8")])
    pairs.tofile(tmp_path / "in")
    quadmill.terasort(str(tmp_path / "in"), str(tmp_path / "out"), record_bytes=12,
                      key=[(0, "i32", "desc"), (4, "f64", "desc")], engine="merge")
    assert np.fromfile(tmp_path / "out", pairs.dtype).tolist() == [(2, 3.5), (2, 1.5), (1, 2.5)]
    (tmp_path / "in").write_text("b\na\nc")
    quadmill.terasort(str(tmp_path / "in"), str(tmp_path / "out"), lines=True)
    assert (tmp_path / "out").read_text() == "a\nb\nc\n"


def refuse(progress):
    raise RuntimeError("enough")


@pytest.mark.parametrize("progress, error, says", [(lambda p: False, quadmill.SortStopped, ""),
                                                   (refuse, RuntimeError, "enough"),
                                                   (lambda p: os.kill(os.getpid(), signal.SIGINT), KeyboardInterrupt,
                                                    "")])
def test_a_callback_stops_it(records, tmp_path, progress, error, says):
    (tmp_path / "out").write_text("before")
    with pytest.raises(error, match=says):
        sort(tmp_path, memory=8 << 20, progress=progress)
    assert (tmp_path / "out").read_text() == "before" and len(list(tmp_path.iterdir())) == 2


def test_ctrl_c_stops_it_without_a_callback(records, tmp_path):
    timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        while True:
            sort(tmp_path, memory=8 << 20)
    timer.join()


@pytest.mark.parametrize("arguments, error, says", [
    (dict(record_bytes=0), ValueError, "record"),
    (dict(key=[(0,)]), ValueError, "offset"),
    (dict(key=[(0, "u128")]), ValueError, "u16, i16"),
    (dict(key=[(0, 4, "down")]), ValueError, "asc, desc"),
    (dict(memory=1), ValueError, "memory"),
    (dict(progress=1), TypeError, "function"),
    (dict(engine="hybrid"), ValueError, ""),
])
def test_wrong_calls_are_refused(tmp_path, arguments, error, says):
    (tmp_path / "in").write_bytes(bytes(200))
    with pytest.raises(error, match=says):
        quadmill.terasort(str(tmp_path / "in"), str(tmp_path / "out"), **arguments)
    assert not (tmp_path / "out").exists()


def test_files_that_fail_say_where(tmp_path):
    with pytest.raises(quadmill.IoError, match="missing.*No such file") as caught:
        quadmill.terasort(str(tmp_path / "missing"), str(tmp_path / "out"))
    assert isinstance(caught.value, OSError) and caught.value.filename == str(tmp_path / "missing")
    (tmp_path / "in").write_bytes(bytes(150))
    with pytest.raises(quadmill.IoError) as caught:
        quadmill.terasort(str(tmp_path / "in"), str(tmp_path / "out"))
    assert caught.value.offset == 100
