# SPDX-License-Identifier: Apache-2.0
"""Reads the test page's log of DOM events back from a screenshot.

The page (assets/guest/usr/share/dormouse/test-page/index.html) draws its log as a barcode; its first lines describe the
format. `decode(png_bytes)` returns the log as a dict; events come out as dicts with the DOM's own names.
"""

import io
import json
import zlib

from PIL import Image

CELL = 3
FINDER = 0xD0A305E51EE9CA7F
FINDER_BITS = 64
HEADER_BITS = 184
VERSION = 1

_TYPES = {
    "md": "mousedown", "mu": "mouseup", "cl": "click", "dc": "dblclick", "cm": "contextmenu", "mm": "mousemove",
    "au": "auxclick", "wh": "wheel", "kd": "keydown", "ku": "keyup", "in": "input", "ch": "change", "pa": "paste",
    "ds": "dragstart", "dp": "drop", "de": "dragend", "fo": "focus", "bl": "blur", "sc": "scroll", "su": "submit",
}
_MOUSE = ("screenX", "screenY", "clientX", "clientY", "button", "buttons", "modifiers")
_FIELDS = {
    **{code: _MOUSE for code in ("md", "mu", "cl", "dc", "cm", "mm", "au")},
    "wh": ("screenX", "screenY", "deltaX", "deltaY", "modifiers"),
    **{code: ("key", "code", "modifiers", "repeat") for code in ("kd", "ku")},
    **{code: ("inputType", "length", "value") for code in ("in", "ch", "pa")},
    "sc": ("x", "y"),
    **{code: ("screenX", "screenY", "data") for code in ("ds", "dp", "de")},
}

SHIFT, CONTROL, ALT, META = 1, 2, 4, 8


class PageLogError(Exception):
    """The picture holds no readable log."""


def decode(png_bytes):
    """Returns {seq, mode, query, values, focus, scroll, downs, keys, inner, total, events} as shown in the screenshot.

    Raises PageLogError where no barcode is in the picture, or where it is there but damaged (half drawn, or covered).
    """
    image = Image.open(io.BytesIO(png_bytes)).convert("L")
    width, height = image.size
    pixels = image.tobytes()
    # Row by row, 1 byte a pixel: b"1" dark, b"0" light. The finder is then a substring.
    dark = pixels.translate(bytes(0x31 if value < 128 else 0x30 for value in range(256)))
    finder = "".join(bit * CELL for bit in format(FINDER, f"0{FINDER_BITS}b")).encode()

    problem = "no barcode in the picture: is the test page open, in front and unscaled?"
    for top in range(height - CELL + 1):
        left = dark.find(finder, top * width, (top + 1) * width)
        if left < 0:
            continue
        try:
            return _read(dark, width, height, left - top * width, top)
        except PageLogError as error:
            problem = str(error)
    raise PageLogError(problem)


def _read(dark, width, height, left, top):
    def bits(columns, start, count):
        found = bytearray()
        for index in range(start, start + count):
            x = left + (index % columns) * CELL + 1
            y = top + (index // columns) * CELL + 1
            if x >= width or y >= height:
                raise PageLogError("the barcode reaches over the picture's edge")
            found.append(dark[y * width + x])
        return int(found, 2)

    # The length of a row is itself in the header, within the first row whatever that length is.
    columns = bits(1 << 20, 72, 16)
    if not 0 < columns <= width:
        raise PageLogError("damaged barcode: impossible size")
    version = bits(columns, 64, 8)
    if version != VERSION:
        raise PageLogError(f"barcode version {version}, this reader knows {VERSION}")
    rows = bits(columns, 88, 16)
    length = bits(columns, 104, 16)
    if HEADER_BITS + 8 * length > columns * rows:
        raise PageLogError("damaged barcode: impossible length")
    checked = bits(columns, 64, 88).to_bytes(11, "big")
    crc = bits(columns, 152, 32)
    payload = bits(columns, HEADER_BITS, 8 * length).to_bytes(length, "big")
    if zlib.crc32(checked + payload) != crc:
        raise PageLogError("damaged barcode: wrong checksum (half drawn, or something lies over it)")
    log = json.loads(payload)
    log["events"] = [_expand(event) for event in log["events"]]
    return log


def _expand(event):
    code, target, *rest = event
    return {"type": _TYPES.get(code, code), "target": target, **dict(zip(_FIELDS.get(code, ()), rest))}


def text_matches(shown, expected):
    """Whether a text value of the log, whole or abridged, is `expected`."""
    if isinstance(shown, str):
        return shown == expected
    encoded = expected.encode()
    return shown["bytes"] == len(encoded) and shown["crc32"] == zlib.crc32(encoded)


if __name__ == "__main__":
    import sys

    with open(sys.argv[1], "rb") as file:
        print(json.dumps(decode(file.read()), indent=1, ensure_ascii=False))
