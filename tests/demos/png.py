"""Pictures that this project writes: 8 bits, RGB, not interlaced, no row filtered."""
import struct
import zlib


def read(path):
    """Width, height and rows of bytes."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert (depth, kind) == (8, 2), path
    packed, at = b"", 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at : at + 8])
        if name == b"IDAT":
            packed += data[at + 8 : at + 8 + length]
        at += length + 12
    raw, stride = zlib.decompress(packed), 1 + 3 * width
    assert not any(raw[::stride]), path
    return width, height, [raw[start + 1 : start + stride] for start in range(0, len(raw), stride)]
