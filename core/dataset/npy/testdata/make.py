"""Writes arrays.npz and packed.npz, and sums.json with what NumPy reads from them.

    python3 make.py [FOLDER]

They were made with NumPy 1.24.2 (Debian's python3-numpy). The tests do not need it.
"""
import io
import json
import os
import sys
import zipfile

import numpy as np

folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(11)

arrays = {}
values = rng.normal(size=(23, 3)) * 100
for kind in "<f2 >f2 <f4 >f4 <f8 >f8 |i1 |u1 <i2 >i2 <u2 >u2 <i4 >i4 <u4 >u4 <i8 >i8 <u8 >u8".split():
    arrays[kind.strip("|<>") + ("_big" if ">" in kind else "")] = (np.abs(values) if "u" in kind else values).astype(kind)
arrays["bools"] = rng.random(77) < 0.3
arrays["fortran"] = np.asfortranarray(values)
arrays["fortran3"] = np.asfortranarray(rng.normal(size=(4, 5, 6)).astype("f4"))
arrays["number"] = np.float64(3.5)
arrays["none"] = np.zeros((0, 4), "f4")
np.savez(os.path.join(folder, "arrays.npz"), **arrays)


def text(array, version):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


with zipfile.ZipFile(os.path.join(folder, "packed.npz"), "w", zipfile.ZIP_DEFLATED) as z:
    for version in ((1, 0), (2, 0), (3, 0)):
        with z.open(f"version{version[0]}.npy", "w", force_zip64=True) as f:
            f.write(text(values, version))
    z.writestr("about.txt", "no array")
    z.writestr("objects.npy", text(np.array([None, {}], dtype=object), (1, 0)))
    z.writestr("text.npy", text(np.array(["a", "bc"]), (1, 0)))
    z.writestr("records.npy", text(np.zeros(2, [("a", "f4"), ("b", "i4")]), (1, 0)))
    z.writestr("complex.npy", text(np.zeros(2, "c8"), (1, 0)))
    z.writestr("long.npy", text(np.zeros(2, "f4"), (1, 0))[:-3])

sums = {}
for name in ("arrays.npz", "packed.npz"):
    z = np.load(os.path.join(folder, name))
    for key in z.files:
        if key in ("objects", "text", "records", "complex", "long", "about.txt"):
            continue
        v = np.asarray(z[key]).astype("f4").astype("f8").ravel()
        sums[name + ":" + key] = [list(z[key].shape), float(v.sum()), float((v * np.arange(1, v.size + 1)).sum())]
with open(os.path.join(folder, "sums.json"), "w") as f:
    json.dump(sums, f, separators=(",", ":"))
