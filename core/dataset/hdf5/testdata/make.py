"""Writes the HDF5 files of this folder, and sums.json with what h5py reads from them.

    python3 make.py [FOLDER]

They were made with h5py 3.7.0, HDF5 1.10.8 and NumPy 1.24.2 (Debian's python3-h5py). The tests need
none of these.
"""
import json
import os
import sys

import h5py
import numpy as np

folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(7)


def create(name, **options):
    return h5py.File(os.path.join(folder, name), "w", **options)


def types(f):
    """Each kind of number, of either order of bytes, packed and not."""
    values = rng.normal(size=(23, 3)) * 100
    for kind in "<f2 >f2 <f4 >f4 <f8 >f8 |i1 |u1 <i2 >i2 <u2 >u2 <i4 >i4 <u4 >u4 <i8 >i8 <u8 >u8".split():
        data = np.abs(values).astype(kind) if "u" in kind else values.astype(kind)
        f.create_dataset("plain/" + kind.strip("|"), data=data)
        f.create_dataset("packed/" + kind.strip("|"), data=data, compression="gzip", shuffle=True, fletcher32=True, chunks=(5, 2))
    f.create_dataset("half", data=np.array([0, -0.0, 2**-24, 1023 * 2**-24, 2**-14, 65504, -1.5, np.inf, -np.inf], "f2"))
    f.create_dataset("bools", data=rng.random(77) < 0.3, compression="gzip")
    f.create_dataset("number", data=3.5)
    f.create_dataset("none", shape=(0, 4), maxshape=(None, 4), dtype="f4")
    f.create_dataset("cube", data=rng.normal(size=(4, 5, 6)).astype("f4"), chunks=(3, 2, 6))
    f.create_dataset("flattened", data=rng.normal(size=(40, 2)), chunks=(7, 2), fletcher32=True)
    small = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    small.set_layout(h5py.h5d.COMPACT)
    h5py.h5d.create(f.id, b"compact", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((6,)), small).write(
        h5py.h5s.ALL, h5py.h5s.ALL, np.arange(6, dtype="f4"))
    f["path"] = h5py.SoftLink("/number")
    f["elsewhere"] = h5py.ExternalLink("other.hdf5", "/x")
    f["text"] = "what is not a number is left alone"
    f["number"].attrs["about"] = "an attribute"


def refused(f):
    """Valid files that this reader does not take."""
    f.create_dataset("lzf", data=np.arange(100.0), compression="lzf")
    f.create_dataset("text", data=["a", "b"], dtype=h5py.string_dtype())
    f.create_dataset("fixed", data=np.array([b"ab", b"c"]))
    f.create_dataset("compound", data=np.zeros(3, [("a", "f4"), ("b", "i4")]))
    f.create_dataset("complex", data=np.zeros(3, "c8"))
    f.create_dataset("unwritten", shape=(10, 3), dtype="f4")
    f.create_dataset("gaps", shape=(40,), chunks=(10,), dtype="f4")[25:] = 1
    f.create_dataset("nothing", shape=(40,), chunks=(10,), dtype="f4")
    f["named"] = np.dtype("f4")
    f.create_dataset("ofnamed", data=np.arange(3, dtype="f4"), dtype=f["named"])
    f.create_dataset("outside", shape=(4,), dtype="f4", external=[("other.bin", 0, 16)])


def many(f):
    """More members than a header holds, with the order in which they were made (as Minari does):
    an index of three levels. They are names of seven arrays."""
    for i in range(7):
        f[f"x{i}"] = np.arange(i, dtype="f4") + i
    for i in range(2000):
        f[f"episode_{i}"] = f[f"x{i % 7}"]


def old(f):
    """More members than a node of a symbol table holds."""
    for i in range(60):
        f.create_dataset(f"demo_{i}", data=np.arange(3) + i)


def make():
    with create("types.hdf5") as f:
        types(f)
    with create("refused.hdf5") as f:
        refused(f)
    with create("ordered.hdf5", track_order=True) as f:
        many(f)
    with create("old.hdf5") as f:
        old(f)
    with create("userblock.hdf5", userblock_size=1024) as f:
        f["x"] = np.arange(5.0)
    with create("latest.hdf5", libver="latest") as f:
        f["plain"] = np.arange(5.0)
        f.create_dataset("chunks", data=np.arange(100.0), chunks=(10,))
        for i in range(30):
            f[f"group/x{i}"] = i
    with create("v108.hdf5", libver=("v108", "v108")) as f:
        f.create_dataset("chunks", data=np.arange(100.0), chunks=(10,), compression="gzip")


def sums():
    """What h5py reads: the shape, the sum, and the sum with each number times its place."""
    out = {}
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".hdf5") or name == "refused.hdf5":
            continue
        found = out[name] = {}

        def visit(path, x):
            if isinstance(x, h5py.Dataset) and x.dtype.kind in "fiub" and (name, path) != ("latest.hdf5", "chunks"):
                v = np.asarray(x[()]).astype("f4").astype("f8").ravel()
                v = v[np.isfinite(v)]
                found[path] = [list(x.shape), float(v.sum()), float((v * np.arange(1, len(v) + 1)).sum())]

        with h5py.File(os.path.join(folder, name)) as f:
            f.visititems(visit)
            if name == "ordered.hdf5":  # visititems skips further names
                for path in ("episode_0", "episode_6", "episode_1000", "episode_1999"):
                    visit(path, f[path])
    with open(os.path.join(folder, "sums.json"), "w") as f:
        json.dump(out, f, separators=(",", ":"))


make()
sums()
