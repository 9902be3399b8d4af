"""Writes recorded data in the layouts of D4RL, Minari, robomimic and SynthER, and expected.json with
the rows that follow from what h5py and NumPy read.

    python3 make.py                     the small files of this folder
    python3 make.py --episodes 2000 FOLDER

They were made with h5py 3.7.0, HDF5 1.10.8 and NumPy 1.24.2 (Debian's python3-h5py). The tests need
none of these. Larger sets are read with PGRLAB_DATASETS=FOLDER go test ./core/dataset -run H5py.
"""
import argparse
import json
import os

import h5py
import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
args = argparse.ArgumentParser()
args.add_argument("folder", nargs="?", default=here)
args.add_argument("--episodes", type=int, default=20)
args = args.parse_args()
rng = np.random.default_rng(49)
O, A = 3, 2


def path(*parts):
    p = os.path.join(args.folder, *parts)
    os.makedirs(os.path.dirname(p), exist_ok=True)
    return p


def episodes(high=1.0, obs=O, share=1):
    """Some end, some are cut off."""
    out = []
    for i in range(args.episodes // share):
        t = int(rng.integers(3, 9 if args.episodes < 100 else 200))
        end = bool(i % 3 == 0)
        out.append(dict(obs=rng.normal(size=(t + 1, obs)), act=rng.uniform(-high, high, (t, A)), rew=rng.normal(size=t),
                        end=np.arange(t) == (t - 1 if end else -1), cut=np.arange(t) == (t - 1 if not end else -1)))
    return out


expected = {}


def expect(name, rows, drop_ends=0, drop_cuts=0, episodes=None, returns=0.0):
    """rows are [s, a, r, s', d]."""
    rows = np.asarray(rows, "f4").astype("f8")
    v = rows.ravel()
    expected[name] = dict(rows=len(rows), width=rows.shape[1], ends=drop_ends, cuts=drop_cuts, episodes=episodes, returns=float(returns),
                          sum=float(v.sum()), weighted=float((v * (1 + np.arange(v.size) % 1009)).sum()))


def rows_of(s, a, r, n, d):
    return np.concatenate([s, a, np.asarray(r)[:, None], n, np.asarray(d, "f8")[:, None]], axis=1)


def d4rl(name, keep_next, **options):
    eps = episodes()
    with h5py.File(path(name), "w") as f:
        def put(key, values, kind):
            f.create_dataset(key, data=np.concatenate(values).astype(kind), **options)
        put("observations", [e["obs"][:-1] for e in eps], "f4")
        put("actions", [e["act"] for e in eps], "f4")
        put("rewards", [e["rew"] for e in eps], "f4")
        put("terminals", [e["end"] for e in eps], "bool")
        put("timeouts", [e["cut"] for e in eps], "bool")
        if keep_next:
            put("next_observations", [e["obs"][1:] for e in eps], "f4")
        f["metadata/algorithm"] = "SAC"
        f["infos/qpos"] = np.zeros((5, 4))
    with h5py.File(path(name)) as f:
        s, a, r, d, c = (f[k][()] for k in ("observations", "actions", "rewards", "terminals", "timeouts"))
        n = len(r)
        if keep_next:
            expect(name, rows_of(s, a, r, f["next_observations"][()], d), episodes=len(eps), returns=r.astype("f8").sum())
            return
        keep = [i for i in range(n - 1) if not d[i] and not c[i]]
        nexts = np.array([s[i + 1] for i in keep])
        last_cut = int(not d[n - 1])
        expect(name, rows_of(s[keep], a[keep], r[keep], nexts, d[keep]), int(d.sum()), int(c[:n - 1].sum()) + last_cut, len(eps), r.astype("f8").sum())
        both = [i for i in range(n - 1) if not c[i]]
        expect(name + ":keep", rows_of(s[both], a[both], r[both], np.array([s[i + 1] for i in both]), d[both]), int(d[n - 1]), int(c[:n - 1].sum()) + last_cut, len(eps), r.astype("f8").sum())


def box(low, high, n):
    return {"type": "Box", "dtype": "float32", "shape": [n], "low": [low] * n, "high": [high] * n}


def minari(name, dictionary, high):
    """As minari's HDF5Storage writes: growable arrays, one observation more than steps, the order in
    which members were made is kept."""
    eps = episodes(high, 2, 4) if dictionary else episodes(high)
    observations = box(float("-inf"), float("inf"), O)
    if dictionary:  # an order that is not the alphabet's
        observations = {"type": "Dict", "subspaces": {"observation": box(float("-inf"), float("inf"), 2), "goal": {
            "type": "Tuple", "subspaces": [box(-1.0, 1.0, 1), box(-1.0, 1.0, 1)]}}}
    with h5py.File(path(name, "data", "main_data.hdf5"), "a", track_order=True) as f:
        for i, e in enumerate(eps):
            g = f.create_group(f"episode_{i}")
            g.attrs["id"], g.attrs["total_steps"] = i, len(e["rew"])

            def put(where, key, values):
                where.create_dataset(key, data=values, chunks=True, maxshape=(None, *values.shape[1:]))
            if dictionary:
                goal = rng.normal(size=(len(e["obs"]), 2))
                e["goal"] = goal
                sub = g.create_group("observations")
                inner = sub.create_group("goal")
                put(inner, "_index_0", goal[:, :1])
                put(inner, "_index_1", goal[:, 1:])
                put(sub, "observation", e["obs"])
            else:
                put(g, "observations", e["obs"])
            put(g, "actions", e["act"].astype("f4"))
            put(g, "rewards", e["rew"])
            put(g, "terminations", e["end"])
            put(g, "truncations", e["cut"])
            if i == 0:
                text = g.create_dataset("infos", (len(e["rew"]),), dtype=h5py.string_dtype())
                text[:] = ["{}"] * len(e["rew"])
    with open(path(name, "data", "metadata.json"), "w") as f:
        json.dump({"dataset_id": name, "data_format": "hdf5", "observation_space": json.dumps(observations),
                   "action_space": json.dumps(box(-high, high, A)), "env_spec": "{}"}, f)
    rows, returns = [], 0.0
    with h5py.File(path(name, "data", "main_data.hdf5")) as f:
        for i in range(len(eps)):
            g = f[f"episode_{i}"]
            o = g["observations"]
            if dictionary:
                o = np.concatenate([o["observation"][()], o["goal/_index_0"][()], o["goal/_index_1"][()]], axis=1)
            o = np.asarray(o).astype("f4")
            a = g["actions"][()].astype("f4").astype("f8") / high
            rows.append(rows_of(o[:-1], a.astype("f4"), g["rewards"][()], o[1:], g["terminations"][()]))
            returns += float(g["rewards"][()].astype("f4").astype("f8").sum())
    expect(name, np.concatenate(rows), episodes=len(eps), returns=returns)


def robomimic(name):
    eps = episodes(share=4)
    rows, returns = [], 0.0
    with h5py.File(path(name), "w") as f:
        for i, e in enumerate(eps):
            g = f.create_group(f"data/demo_{i}")
            for key, o in (("obs", e["obs"][:-1]), ("next_obs", e["obs"][1:])):
                g[key + "/robot_pos"] = o[:, :2]
                g[key + "/object"] = o[:, 2:]
                g.create_dataset(key + "/camera", data=np.zeros((len(o), 2, 2, 3), "u1"), compression="gzip")
            g["actions"], g["rewards"] = e["act"], e["rew"]
            g["dones"] = (e["end"] | e["cut"]).astype("i8")
            turned = e["obs"][:, [2, 0, 1]].astype("f4")
            rows.append(rows_of(turned[:-1], e["act"].astype("f4"), e["rew"], turned[1:], e["end"] | e["cut"]))
            returns += float(e["rew"].astype("f4").astype("f8").sum())
    expect(name, np.concatenate(rows), episodes=len(eps), returns=returns)


def npz(name):
    """SynthER's, with the numbers that Python programs hand on by chance."""
    eps = episodes()
    s, n = (np.concatenate([e["obs"][k] for e in eps]) for k in (slice(0, -1), slice(1, None)))
    a, r, d = (np.concatenate([e[k] for e in eps]) for k in ("act", "rew", "end"))
    np.savez_compressed(path(name), observations=np.asfortranarray(s), actions=a.astype(">f4"), rewards=r[:, None], next_observations=n.astype("f8"), terminals=d)
    expect(name, rows_of(s.astype("f4"), a.astype("f4"), r.astype("f4"), n.astype("f4"), d), episodes=len(eps), returns=r.astype("f4").astype("f8").sum())


d4rl("d4rl.hdf5", False, compression="gzip")
d4rl("d4rl-next.hdf5", True)
minari("minari", False, 2.0)
minari("minari-dict", True, 1.0)
robomimic("robomimic.hdf5")
npz("synther.npz")
with open(path("expected.json"), "w") as f:
    json.dump(expected, f, indent=1)
