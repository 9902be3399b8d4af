#!/usr/bin/env python3
"""Converts recorded transitions for pgrlab, and from it.

    python3 pgrlab_data.py to-npz SOURCE OUT.npz     what pgrlab --data OUT.npz reads
    python3 pgrlab_data.py to-minari IN.npz ID       an export of pgrlab as a dataset of Minari

SOURCE is

    a dataset of Minari          its name, as mujoco/hopper/expert-v0 (needs minari)
    an HDF5 file                 as D4RL's or robomimic's, in any layout (needs h5py)
    parquet, a file or a folder  columns as LeRobot's: observation.state, action, next.reward, next.done,
                                 episode_index (needs pyarrow)
    a replay buffer of SB3       a .pkl file (needs stable_baselines3): reading it runs code that is in
                                 it, so it must be asked for with --unpickle

An npz has observations [N,O], actions [N,A], rewards [N], next_observations [N,O], terminals [N] (1 at a
true end), timeouts [N] (1 where an episode was cut off) and, where the source says them, the bounds of the
actions, action_low and action_high [A]. A row whose own next observation is not in
the source is left out, and counted.

This file is part of pgrlab, under the MIT licence. It needs Python 3.8 or later and NumPy.
"""
import argparse
import json
import os
import sys

import numpy as np


class Refused(Exception):
    """What cannot be converted, in one line."""


class Rows:
    """The rows of a file, episode by episode."""

    def __init__(self):
        self.columns = {k: [] for k in ("observations", "actions", "rewards", "next_observations", "terminals", "timeouts")}
        self.dropped = 0
        self.bounds = None  # of the actions, (low [A], high [A]), if the source says them

    def episode(self, obs, act, rew, end, nxt=None, cut=None):
        """obs has a row more than the others if nxt is None and no row is to be dropped."""
        n = len(rew)
        if nxt is None and len(obs) == n:  # the last row has no successor
            n, self.dropped = n - 1, self.dropped + 1
            act, rew, end = act[:n], rew[:n], end[:n]
            cut = None if cut is None else cut[:n]
            if n == 0:
                return
        if nxt is None:
            obs, nxt = obs[:-1], obs[1:]
        if cut is None:
            cut = np.zeros(n)
            cut[-1] = not np.asarray(end).reshape(-1)[-1]
        for name, values in zip(self.columns, (obs, act, rew, nxt, end, cut)):
            values = np.asarray(values, dtype="<f4").reshape(n, -1)
            self.columns[name].append(values if name in ("observations", "actions", "next_observations") else values[:, 0])

    def write(self, out):
        if not self.columns["rewards"]:
            raise Refused("no row of it can be used")
        columns = {k: np.concatenate(v) for k, v in self.columns.items()}
        if self.bounds is not None:
            columns["action_low"], columns["action_high"] = self.bounds
        part = out + ".part"
        with open(part, "wb") as f:
            np.savez(f, **columns)
        os.replace(part, out)
        print(f"{out}: {len(columns['rewards'])} rows, {len(self.columns['rewards'])} episodes, {self.dropped} rows left out", file=sys.stderr)


def need(name):
    try:
        return __import__(name)
    except ImportError:
        raise Refused(f"reading it needs {name}, which {sys.executable} does not have: pip install {name}") from None


def flat(x):
    """Observations as numbers side by side: dicts in their order, tuples in theirs."""
    if isinstance(x, dict):
        x = list(x.values())
    if isinstance(x, (list, tuple)):
        return np.concatenate([flat(v) for v in x], axis=1)
    x = np.asarray(x)
    if x.ndim > 3:
        raise Refused("its observations are images, and pgrlab learns from recorded states only")
    return x.reshape(len(x), -1)


def bounds(space):
    """The bounds of a space of actions, side by side as flat puts them; None: it has none that are finite."""
    parts = getattr(space, "spaces", None)
    if parts is not None:
        both = [bounds(s) for s in (parts.values() if hasattr(parts, "values") else parts)]
        return None if any(b is None for b in both) else tuple(np.concatenate(x) for x in zip(*both))
    low, high = getattr(space, "low", None), getattr(space, "high", None)
    if low is None or high is None or not np.all(np.isfinite([low, high])):
        return None
    return np.ravel(low).astype("<f4"), np.ravel(high).astype("<f4")


def described(path):
    """The bounds of the actions in the description of a dataset of Minari; None: there is none, or it says none."""
    if not os.path.exists(path):
        return None
    with open(path) as f:
        space = json.load(f).get("action_space")
    space = json.loads(space) if isinstance(space, str) else space
    if not isinstance(space, dict) or space.get("type") != "Box":
        return None
    try:
        low, high = (np.ravel(np.asarray(space[k], float)) for k in ("low", "high"))
    except (KeyError, ValueError):
        return None
    return (low.astype("<f4"), high.astype("<f4")) if np.all(np.isfinite([low, high])) else None


def from_minari(source, rows, args):
    data = need("minari").load_dataset(source, download=True)
    rows.bounds = bounds(getattr(data, "action_space", None))
    for e in data.iterate_episodes():
        rows.episode(flat(e.observations), flat(e.actions), e.rewards, e.terminations)


def split(n, end, cut):
    """The places where episodes begin and end."""
    last = np.flatnonzero(np.asarray(end, bool) | np.asarray(cut, bool))
    begin = 0
    for i in [*last, n - 1]:
        if i >= begin:
            yield slice(begin, i + 1)
            begin = i + 1


def from_hdf5(source, rows, args):
    with need("h5py").File(source, "r") as f:
        if "data" in f:  # robomimic
            for g in f["data"].values():
                def obs(name):
                    return np.concatenate([flat(v[()]) for _, v in sorted(g[name].items()) if v.ndim <= 2], axis=1)
                done = dones(args, g["dones"][()])
                rows.episode(obs("obs"), flat(g["actions"][()]), g["rewards"][()], done, obs("next_obs") if "next_obs" in g else None)
            return
        if "observations" not in f:
            episodes = [n for n in f if n.startswith("episode_")]
            if not episodes:
                raise Refused("it has neither observations, data nor episode_0")
            rows.bounds = described(os.path.join(os.path.dirname(source), "metadata.json"))
            for name in sorted(episodes, key=lambda n: int(n[8:])):
                g = f[name]
                if not hasattr(g["observations"], "shape"):
                    raise Refused("its observations are dicts: give the name of the dataset, so that minari says their order")
                rows.episode(flat(g["observations"][()]), flat(g["actions"][()]), g["rewards"][()], g["terminations"][()])
            return
        obs, act, rew, end = (f[k][()] for k in ("observations", "actions", "rewards", "terminals"))
        nxt = f["next_observations"][()] if "next_observations" in f else None
        if "timeouts" in f:
            cut = f["timeouts"][()]
        elif args.episode_steps:
            cut, length = np.zeros(len(rew)), 0
            for i, e in enumerate(end):
                length += 1
                if e or length == args.episode_steps:
                    cut[i], length = not e, 0
        elif nxt is None:
            raise Refused("it has no timeouts: say with --episode-steps after how many steps time ends an episode")
        else:
            cut = np.append(np.any(nxt[:-1] != obs[1:], axis=1) & ~np.asarray(end[:-1], bool), False)
        for s in split(len(rew), end, cut):
            rows.episode(flat(obs[s]), flat(act[s]), rew[s], end[s], None if nxt is None else flat(nxt[s]))


def dones(args, values):
    if args.done is None:
        raise Refused("its dones may be true ends or limits of time: say which with --done terminal or --done timeout")
    return np.asarray(values) if args.done == "terminal" else np.zeros(len(values))


def from_parquet(source, rows, args):
    need("pyarrow")
    import pyarrow.dataset

    names = ["observation.state", "action", "next.reward", "next.done", "episode_index"]
    table = pyarrow.dataset.dataset(source, format="parquet")
    missing = [n for n in names if n not in table.schema.names]
    if missing:
        raise Refused(f"it has no columns {', '.join(missing)}: pgrlab learns from states with rewards")
    c = table.to_table(columns=names).to_pydict()
    episode = np.asarray(c["episode_index"])
    for k in np.unique(episode):
        i = np.flatnonzero(episode == k)
        obs, act = (np.stack([np.asarray(c[n][j], "f4") for j in i]) for n in names[:2])
        rows.episode(obs, act, np.asarray(c["next.reward"])[i], dones(args, np.asarray(c["next.done"])[i]))


def from_sb3(source, rows, args):
    if not args.unpickle:
        raise Refused("reading a .pkl file runs code that is in it: if you made it, add --unpickle")
    import pickle

    with open(source, "rb") as f:
        b = pickle.load(f)
    n = b.buffer_size if b.full else b.pos
    order = np.roll(np.arange(n), -b.pos if b.full else 0)
    for env in range(b.observations.shape[1]):
        def of(name):
            return getattr(b, name)[order, env]
        obs, nxt, act, rew, done, cut = (of(k) for k in ("observations", "next_observations", "actions", "rewards", "dones", "timeouts"))
        end = np.asarray(done, bool) & ~np.asarray(cut, bool)
        for s in split(n, end, cut):
            rows.episode(flat(obs[s]), flat(act[s]), rew[s], end[s], flat(nxt[s]))


def to_npz(args):
    rows, source = Rows(), args.source
    if os.path.isfile(os.path.join(source, "data", "metadata.json")):
        raise Refused("it is the folder of a dataset of Minari: give its name instead, or the folder to pgrlab --data")
    if not os.path.exists(source):
        from_minari(source, rows, args)
    elif source.endswith((".hdf5", ".h5")):
        from_hdf5(source, rows, args)
    elif source.endswith(".pkl"):
        from_sb3(source, rows, args)
    elif source.endswith(".parquet") or os.path.isdir(source):
        from_parquet(source, rows, args)
    else:
        raise Refused("want a name of Minari, or a file .hdf5, .h5, .parquet or .pkl")
    rows.write(args.out)


def to_minari(args):
    minari = need("minari")
    from gymnasium.spaces import Box
    from minari.data_collector import EpisodeBuffer

    z = np.load(args.source)
    obs, act, rew, nxt, end = (z[k] for k in ("observations", "actions", "rewards", "next_observations", "terminals"))
    cut = z["timeouts"] if "timeouts" in z else np.append(np.any(nxt[:-1] != obs[1:], axis=1), True)
    number = z["episode"] if "episode" in z else None
    if number is not None:  # rows of several copies of a task take turns
        order = np.argsort(number, kind="stable")
        obs, act, rew, nxt, end, cut, number = (x[order] for x in (obs, act, rew, nxt, end, cut, number))
        cut = cut.astype(bool) | np.append(number[1:] != number[:-1], True)
    buffers = []
    for s in split(len(rew), end, cut):
        if np.any(nxt[s][:-1] != obs[s][1:]):
            raise Refused("its rows do not follow one another, as generated ones do not: Minari has episodes only")
        last = np.arange(s.stop - s.start) == s.stop - s.start - 1
        ended = bool(end[s.stop - 1])
        buffers.append(EpisodeBuffer(id=len(buffers), observations=np.concatenate([obs[s], nxt[s][-1:]]), actions=act[s], rewards=rew[s],
                                     terminations=last & ended, truncations=last & (not ended), infos={}))
    minari.create_dataset_from_buffers(args.out, buffer=buffers, observation_space=Box(-np.inf, np.inf, obs.shape[1:], np.float32),
                                       action_space=Box(-1, 1, act.shape[1:], np.float32))
    print(f"{args.out}: {len(buffers)} episodes, {len(rew)} rows", file=sys.stderr)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="to-npz|to-minari")
    c = commands.add_parser("to-npz", help="an npz for pgrlab --data")
    c.add_argument("source", metavar="SOURCE")
    c.add_argument("out", metavar="OUT.npz")
    c.add_argument("--done", choices=["terminal", "timeout"], help="what dones are, where a source does not say")
    c.add_argument("--episode-steps", type=int, help="after how many steps time ends an episode, where a source does not say")
    c.add_argument("--unpickle", action="store_true", help="read a .pkl file, which runs code that is in it")
    c.set_defaults(do=to_npz)
    c = commands.add_parser("to-minari", help="an export of pgrlab as a dataset of Minari")
    c.add_argument("source", metavar="IN.npz")
    c.add_argument("out", metavar="ID")
    c.set_defaults(do=to_minari)
    args = parser.parse_args(argv)
    try:
        args.do(args)
    except (Refused, OSError, KeyError, ValueError) as e:
        sys.exit(f"pgrlab_data.py: {args.source}: {' '.join(str(e).split()) or type(e).__name__}")


if __name__ == "__main__":
    main()
