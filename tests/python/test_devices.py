"""Several contexts on one device that work as a group, and the times within one."""
import numpy as np
import pytest

import quadmill


@pytest.fixture
def group():
    return quadmill.DeviceGroup([0, 0])


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "u8"])
def test_a_group_sorts_as_numpy_does(group, rng, dtype):
    a = (rng.random(600_000) * 60_000).astype(dtype)
    for order in ("asc", "desc"):
        b = a.copy()
        group.sort(b, order=order)
        assert np.array_equal(b, np.sort(a)[::1 if order == "asc" else -1])
    shares = group.shares()
    assert len(group) == len(shares) == 2 and repr(group) == "DeviceGroup(2 contexts)"
    assert sum(share["keys"] for share in shares) == 1_200_000
    assert all(share["batches"] > 0 and share["failure"] is None for share in shares)


def test_a_group_sorts_files_and_then_arrays_again(group, rng, tmp_path):
    keys = rng.integers(0, 1 << 20, 1_500_000, np.uint64)
    keys.tofile(tmp_path / "in")
    a = np.array([2, 1], np.float32)
    for _ in range(2):
        group.sort(a)
        stats = quadmill.terasort(tmp_path / "in", tmp_path / "out", record_bytes=8, key=[(0, "u64")], engine="merge",
                                  devices=group, memory=1 << 30, temp=[str(tmp_path)])
        assert stats["engine"] == "merge" and stats["records"] == 1_500_000
        assert np.array_equal(np.fromfile(tmp_path / "out", np.uint64), np.sort(keys))


def test_wrong_calls(group, context):
    with pytest.raises(quadmill.InvalidArgument, match="index"):
        quadmill.DeviceGroup([-1])
    with pytest.raises(quadmill.ContextError, match="99"):
        quadmill.DeviceGroup([99])
    with pytest.raises(quadmill.InvalidArgument, match="in place"):
        group.sort(np.zeros(4)[::2])
    with pytest.raises(quadmill.InvalidArgument, match="not both"):
        quadmill.terasort("in", "out", devices=group, context=context)


def test_a_profile_has_the_passes_within(context, rng):
    a = rng.random(5000, np.float32)
    with context.profile() as profile:
        quadmill.sort(a, engine="pbsn", context=context)
    names = [row["name"] for row in profile.rows]
    assert {"min", "max"} <= set(names) and len(set(names)) == len(names)
    for row in profile.rows:
        assert row["passes"] > 0 and row["gpu_ms"] >= 0 and row["blended"] == (row["name"] in ("min", "max"))
    before = profile.rows
    quadmill.sort(a[::-1].copy(), engine="pbsn", context=context)  # is not watched any more
    assert profile.rows == before
    with pytest.raises(ZeroDivisionError), context.profile(by_step=True) as steps:
        quadmill.sort(a, engine="pbsn", context=context)
        1 / 0
    assert len(steps.rows) > len(before)
