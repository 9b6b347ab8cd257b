"""Pictures that this project writes: 8 bits, RGB, not interlaced."""
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
    return width, height, unfilter(zlib.decompress(packed), 3 * width)


def unfilter(raw, stride):
    rows, above = [], bytearray(stride)
    for start in range(0, len(raw), stride + 1):
        kind, row = raw[start], bytearray(raw[start + 1 : start + 1 + stride])
        if kind:
            for i in range(stride):
                left = row[i - 3] if i >= 3 else 0
                up, corner = above[i], above[i - 3] if i >= 3 else 0
                if kind == 1:
                    row[i] = (row[i] + left) & 255
                elif kind == 2:
                    row[i] = (row[i] + up) & 255
                elif kind == 3:
                    row[i] = (row[i] + (left + up) // 2) & 255
                else:
                    guess = left + up - corner
                    _, best = min((abs(guess - p), n) for n, p in enumerate((left, up, corner)))
                    row[i] = (row[i] + (left, up, corner)[best]) & 255
        rows.append(bytes(row))
        above = row
    return rows
