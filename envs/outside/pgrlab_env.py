#!/usr/bin/env python3
"""Makes an environment a task of pgrlab: protocol 1 over standard input and output.

    python3 pgrlab_env.py gym:Ant-v5            an environment of Gymnasium
    python3 pgrlab_env.py dm:walker-walk        one of dm_control
    from pgrlab_env import serve; serve(make)   in a file of your own

make(**args) returns an environment of Gymnasium, one of dm_env, or any object with

    low, high      bounds of the actions, one number for each; or choices: how many there are
    reset(seed)    -> the first observation of an episode
    step(action)   -> observation, reward, terminated, and truncated if you have time limits

and, if it can, limit (steps of an episode), names (of the numbers of an observation), terminates
(False: only time ends an episode), get_state() -> bytes and set_state(bytes), and render() -> an
array of height x width x 3 bytes. args are those of --env-arg. Observations are numbers, or dicts
and tuples of numbers, which are put one after the other.

This file is part of pgrlab, under the MIT licence. It needs Python 3.8 or later and NumPy.
"""
import json
import math
import os
import signal
import struct
import sys
import traceback

PROTOCOL = 1
HELLO, SPEC, RESET, STEP, SAVE, LOAD, CLOSE, PICTURE, ERROR = 1, 2, 3, 4, 5, 6, 7, 8, 15
TERMINATED, TRUNCATED, LOST = 1, 2, 4
HEADER = struct.Struct("<IBBHI")  # length, kind, protocol, copies, sequence


class EpisodeLost(Exception):
    """Raise it in step where only the episode is gone: the next one begins as if nothing had happened."""


class Refused(Exception):
    """What an environment cannot be used for, in one line."""


def _channel():
    """The protocol gets the two descriptors for itself, so that a print, or a child process that
    reads, cannot disturb it: what reads finds nothing, and what prints prints to standard error."""
    read, write = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=True)  # in the order of what goes to standard error
    return os.fdopen(read, "rb", buffering=1 << 16), os.fdopen(write, "wb", buffering=0)


def _outlast_signals():
    """A signal to a whole job, as Slurm sends it, reaches this program too: it goes on, because pgrlab
    needs it to save the run. The handlers do nothing; SIG_IGN would be inherited by the programs that an
    environment starts. Processes that it forks can be ended as ever."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        was = signal.getsignal(number)
        if was == signal.SIG_IGN:
            continue
        try:
            signal.signal(number, lambda *_: None)
        except ValueError:  # this is not the main thread
            return
        signal.siginterrupt(number, False)  # libraries may not expect EINTR
        if number in (signal.SIGTERM, signal.SIGINT):
            os.register_at_fork(after_in_child=lambda number=number, was=was or signal.SIG_DFL: signal.signal(number, was))


def _kind(space):
    """The class of a space, by name, so that this file needs no package."""
    return next((c.__name__ for c in type(space).__mro__ if c.__name__ in _SPACES), type(space).__name__)


_SPACES = ("Box", "Discrete", "MultiDiscrete", "MultiBinary", "Dict", "Tuple")


def _parts(space, name=""):
    """The numbers of a space in order: (name, size, function from a value to numbers)."""
    kind, of = _kind(space), lambda key: "%s %s" % (name, key) if name else str(key)
    if kind == "Dict":
        return [(n, size, lambda v, k=key, f=f: f(v[k])) for key, s in space.spaces.items() for n, size, f in _parts(s, of(key))]
    if kind == "Tuple":
        return [(n, size, lambda v, k=i, f=f: f(v[k])) for i, s in enumerate(space.spaces) for n, size, f in _parts(s, of(i))]
    if kind == "Discrete":
        n, start = int(space.n), int(getattr(space, "start", 0))
        return [(name or "state", n, lambda v: np.eye(n)[int(v) - start])]
    if kind in ("Box", "MultiDiscrete", "MultiBinary"):
        if len(space.shape) == 3 and space.shape[-1] in (1, 3, 4) and str(space.dtype) == "uint8":
            raise Refused("observation %sis an image of %s bytes: pgrlab takes numbers from other programs: return numbers, or add a wrapper that makes some of the image" % (name and repr(name) + " ", "x".join(map(str, space.shape))))
        return [(name, int(np.prod(space.shape)), lambda v: np.asarray(v, np.float32).ravel())]
    raise Refused("observation %sis a %s: want numbers (Box), or Dict and Tuple of them" % (name and repr(name) + " ", kind))


def _names(parts):
    names = []
    for name, size, _ in parts:
        names += [name] if size == 1 and name else ["%s %d" % (name, i) if name else str(i) for i in range(size)]
    return names if any(name for name, _, _ in parts) else None


class _Copy:
    """One copy of an environment, whatever its interface."""

    limit = terminates = names = choices = low = high = None

    def __init__(self, env):
        self.env = env

    def action(self, numbers):
        return numbers

    def can(self):
        able = []
        if all(callable(getattr(self.env, m, None)) for m in ("get_state", "set_state")):
            able.append("state")
        if callable(getattr(self.env, "render", None)):
            able.append("picture")
        return able

    def picture(self):
        frame = self.env.render()
        return frame[-1] if isinstance(frame, list) and frame else frame


class _Plain(_Copy):
    def __init__(self, env):
        super().__init__(env)
        self.choices = getattr(env, "choices", None)
        if self.choices is None:
            self.low, self.high = (np.asarray(getattr(env, side), float).ravel() for side in ("low", "high"))
        self.limit, self.terminates, self.names = (getattr(env, a, None) for a in ("limit", "terminates", "names"))
        self.size = len(self.reset(0))

    def flat(self, value):
        if isinstance(value, dict):
            value = [self.flat(value[key]) for key in value]
        elif isinstance(value, (tuple, list)) and any(not np.isscalar(v) for v in value):
            value = [self.flat(v) for v in value]
        else:
            return np.asarray(value, np.float32).ravel()
        return np.concatenate(value)

    def action(self, numbers):
        return int(numbers[0]) if self.choices else numbers

    def reset(self, seed):
        got = self.env.reset(seed)
        return self.flat(got[0] if isinstance(got, tuple) and len(got) == 2 and isinstance(got[1], dict) else got)

    def step(self, action):
        obs, reward, terminated, *rest = self.env.step(action)
        truncated = bool(rest and isinstance(rest[0], (bool, np.bool_)) and rest[0])
        return self.flat(obs), reward, terminated, truncated


class _Gym(_Copy):
    def __init__(self, env):
        super().__init__(env)
        self.parts = _parts(env.observation_space)
        self.size, self.names = sum(size for _, size, _ in self.parts), _names(self.parts)
        space = env.action_space
        kind = _kind(space)
        if kind == "Discrete":
            self.choices, self.start = int(space.n), int(getattr(space, "start", 0))
        elif kind == "Box" and np.issubdtype(space.dtype, np.floating):
            self.shape, self.dtype = space.shape, space.dtype
            self.low, self.high = space.low.ravel().astype(float), space.high.ravel().astype(float)
            inner = env  # wrappers that clip actions hide the bounds
            while not np.all(np.isfinite([self.low, self.high])) and hasattr(inner, "env"):
                inner = inner.env
                if inner.action_space.shape == space.shape:
                    self.low, self.high = inner.action_space.low.ravel().astype(float), inner.action_space.high.ravel().astype(float)
        else:
            raise Refused("its actions are a %s: want numbers (Box of floats) or Discrete" % kind)
        spec = getattr(env, "spec", None)
        self.limit = getattr(spec, "max_episode_steps", None)

    def can(self):
        modes = getattr(self.env, "render_mode", None)
        return [c for c in super().can() if c != "picture" or modes in ("rgb_array", "rgb_array_list")]

    def flat(self, value):
        return np.concatenate([f(value) for _, _, f in self.parts]).astype(np.float32, copy=False) if len(self.parts) > 1 else self.parts[0][2](value)

    def action(self, numbers):
        if self.choices:
            return int(numbers[0]) + self.start
        return numbers.reshape(self.shape).astype(self.dtype, copy=False)

    def reset(self, seed):
        return self.flat(self.env.reset(seed=seed)[0])

    def step(self, action):
        obs, reward, terminated, truncated, _ = self.env.step(action)
        return self.flat(obs), reward, terminated, truncated


class _DM(_Copy):
    terminates = None

    def __init__(self, env):
        super().__init__(env)
        spec, observed = env.action_spec(), env.observation_spec()
        if getattr(spec, "num_values", None) is not None:
            self.choices = int(spec.num_values)
        else:
            self.shape, self.dtype = spec.shape, spec.dtype
            ones = np.ones(spec.shape)
            self.low, self.high = ((ones * getattr(spec, side, math.inf * sign)).ravel() for side, sign in (("minimum", -1), ("maximum", 1)))
        self.keys = list(observed) if hasattr(observed, "keys") else None  # in dm_control's order
        parts = [(k, observed[k]) for k in self.keys] if self.keys is not None else [("", observed)]
        for name, s in parts:
            if len(s.shape) == 3 and str(np.dtype(s.dtype)) == "uint8":
                raise Refused("observation %r is an image of %s bytes: pgrlab takes numbers from other programs" % (name, "x".join(map(str, s.shape))))
        parts = [(name, int(np.prod(s.shape)), None) for name, s in parts]
        self.size, self.names = sum(size for _, size, _ in parts), _names(parts)
        steps = getattr(env, "_step_limit", math.inf)
        self.limit = math.ceil(steps) if math.isfinite(steps) else None

    def can(self):
        return super().can() + (["picture"] if hasattr(self.env, "physics") else [])

    def picture(self):
        return self.env.physics.render(240, 320, camera_id=0) if hasattr(self.env, "physics") else super().picture()

    def flat(self, value):
        if self.keys is None:
            return np.asarray(value, np.float32).ravel()
        return np.concatenate([np.asarray(value[k], np.float32).ravel() for k in self.keys])

    def action(self, numbers):
        return int(numbers[0]) if self.choices else numbers.reshape(self.shape).astype(self.dtype, copy=False)

    def reset(self, seed):
        task = getattr(self.env, "task", None)
        if hasattr(task, "_random"):
            task._random = np.random.RandomState(seed)
        elif hasattr(self.env, "random_state"):
            self.env.random_state.seed(seed)
        elif callable(getattr(self.env, "seed", None)):
            self.env.seed(seed)
        else:
            raise Refused("this dm_env environment cannot be seeded: give it a method seed(n)")
        return self.flat(self.env.reset().observation)

    def step(self, action):
        t = self.env.step(action)
        last = t.last()
        return self.flat(t.observation), t.reward or 0.0, last and t.discount == 0, last and t.discount != 0


def _adapt(env):
    if hasattr(env, "num_envs") and hasattr(env, "single_action_space"):
        raise Refused("a %s is many environments: return one of them, pgrlab makes as many as it needs" % type(env).__name__)
    if hasattr(env, "action_space") and hasattr(env, "observation_space"):
        return _Gym(env)
    if callable(getattr(env, "action_spec", None)) and callable(getattr(env, "observation_spec", None)):
        return _DM(env)
    if hasattr(env, "step") and hasattr(env, "reset") and (hasattr(env, "choices") or hasattr(env, "low") and hasattr(env, "high")):
        return _Plain(env)
    raise Refused("a %s is no environment: want one of Gymnasium or dm_env, or an object with reset, step, low and high" % type(env).__name__)


_wanted = {"picture": False}  # what pgrlab will ask for


class _Server:
    def __init__(self, make, versions):
        self.make, self.versions, self.copies, self.spare, self.args = make, versions, {}, None, {}

    def fresh(self):
        if self.spare is not None:
            copy, self.spare = self.spare, None
            return copy
        return _adapt(self.make(**self.args))

    def hello(self, body):
        asked = json.loads(body)
        self.args = asked.get("options") or {}
        _wanted["picture"] = bool(asked.get("picture"))
        first = self.spare = self.fresh()
        bounds = lambda all: [float(x) if math.isfinite(x) else None for x in all]
        spec = {"protocol": PROTOCOL, "name": asked.get("task"), "obs": first.size, "limit": first.limit, "terminates": first.terminates,
                "names": list(first.names) if first.names else None, "can": first.can(), "versions": self.versions()}
        if first.choices:
            spec.update(act=1, actions="discrete(%d)" % first.choices)
        else:
            spec.update(act=len(first.low), low=bounds(first.low), high=bounds(first.high))
        self.size, self.act = first.size, spec["act"]
        return json.dumps(spec).encode()

    def reset(self, body, k):
        seeds, which = np.frombuffer(body, "<u8", k), np.frombuffer(body, "<u2", k, 16 * k)
        out = np.empty((k, self.size), "<f4")
        for row, (seed, c) in enumerate(zip(seeds.tolist(), which.tolist())):
            if c not in self.copies:
                self.copies[c] = self.fresh()
            out[row] = self.checked(self.copies[c].reset(seed))
        return out.tobytes()

    def checked(self, obs):
        if len(obs) != self.size:
            raise Refused("its observation has %d numbers, and had %d" % (len(obs), self.size))
        return obs

    def step(self, body, k):
        actions = np.frombuffer(body, "<f4", k * self.act).reshape(k, self.act).copy()  # an environment may change its own in place
        which = np.frombuffer(body, "<u2", k, 4 * k * self.act).tolist()
        out, rewards, flags = np.zeros((k, self.size), "<f4"), np.zeros(k, "<f8"), bytearray(k)
        for row, c in enumerate(which):
            copy = self.copies[c]
            try:
                obs, rewards[row], terminated, truncated = copy.step(copy.action(actions[row]))
                out[row] = self.checked(obs)
                flags[row] = (TERMINATED if terminated else 0) | (TRUNCATED if truncated else 0)
            except EpisodeLost:
                flags[row] = LOST
        return rewards.tobytes() + out.tobytes() + bytes(flags)

    def save(self, body):
        state = self.copies[struct.unpack("<H", body)[0]].env.get_state()
        if not isinstance(state, (bytes, bytearray)):
            raise Refused("get_state() returns a %s: want bytes" % type(state).__name__)
        return bytes(state)

    def load(self, body):
        self.copies[struct.unpack_from("<H", body)[0]].env.set_state(bytes(body[2:]))
        return b""

    def picture(self, body):
        c, width, height = struct.unpack("<HHH", body)
        frame = np.asarray(self.copies[c].picture())
        if frame.ndim != 3 or frame.shape[2] < 3:
            raise Refused("render() returns %s: want an array of height x width x 3 bytes" % (frame.shape,))
        rows, columns = (np.arange(n) * size // n for n, size in ((height, frame.shape[0]), (width, frame.shape[1])))
        return np.ascontiguousarray(frame[rows][:, columns, :3].astype(np.uint8)).tobytes()

    def answer(self, kind, body, k):
        if kind == HELLO:
            return SPEC, self.hello(body)
        if kind in (RESET, STEP):
            return kind, (self.reset if kind == RESET else self.step)(body, k)
        if kind in (SAVE, LOAD, PICTURE):
            return kind, {SAVE: self.save, LOAD: self.load, PICTURE: self.picture}[kind](body)
        raise Refused("a request of kind %d is not known here" % kind)


def _exactly(read, n):
    data = read.read(n)
    if len(data) < n:  # pgrlab has gone: nothing that an environment has started may stay
        if os.getpgrp() == os.getpid():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.killpg(0, signal.SIGTERM)
        os._exit(0)
    return data


def _serve(server, read, write):
    while True:
        length, kind, protocol, k, sequence = HEADER.unpack(_exactly(read, HEADER.size))
        body = _exactly(read, length)
        if kind == CLOSE:
            return
        try:
            if protocol != PROTOCOL:
                raise Refused("pgrlab speaks protocol %d, and this file %d: write it again with pgrlab env-adapter" % (protocol, PROTOCOL))
            kind, reply = server.answer(kind, body, k)
        except Exception as e:
            text = str(e) if isinstance(e, Refused) else "%s: %s" % (type(e).__name__, e)
            if not isinstance(e, Refused):
                traceback.print_exc()
            reply = json.dumps({"text": text, "trace": traceback.format_exc(), "fatal": kind == HELLO}).encode()
            kind = ERROR
        frame = memoryview(HEADER.pack(len(reply), kind, PROTOCOL, k, sequence) + reply)
        while frame:
            frame = frame[write.write(frame):]


def serve(make, versions=dict):
    """Serves environments that make(**args) returns, until pgrlab goes."""
    global np
    _outlast_signals()
    read, write = _channel()

    def all_versions():
        known = {"python": sys.version.split()[0], "numpy": np.__version__, **versions()}
        return {name: str(version) for name, version in known.items()}

    def prepared(**args):
        return make(**args)

    try:
        import numpy as np
    except ImportError:
        def prepared(**args):
            raise Refused("%s has no numpy: install it there, or choose another Python with --python" % sys.executable)
    try:
        _serve(_Server(prepared, all_versions), read, write)
    except (BrokenPipeError, KeyboardInterrupt):
        pass
    sys.stderr.flush()
    os._exit(0)


def _imported(name, package):
    try:
        return __import__(name, fromlist=["_"])
    except ImportError as e:
        raise Refused("%s cannot import %s (%s): pip install %s there, or choose another Python with --python" % (sys.executable, name, e, package))


def _gym(name):
    def make(**args):
        gym = _imported("gymnasium", "gymnasium")
        if _wanted["picture"]:
            args.setdefault("render_mode", "rgb_array")
        return gym.make(name, disable_env_checker=True, **args)
    return make, lambda: {"gymnasium": getattr(sys.modules.get("gymnasium"), "__version__", "unknown")}


def _dm(name):
    domain, _, task = name.partition("-")

    def make(**args):
        suite = _imported("dm_control.suite", "dm_control")
        for d, t in suite.ALL_TASKS:
            if name.replace("-", "_") == "%s_%s" % (d, t):
                return suite.load(d, t, **args)
        raise Refused("dm_control has no task %s: names are like walker-walk" % name)
    return make, lambda: {"dm_control": getattr(sys.modules.get("dm_control"), "__version__", "unknown")}


def main():
    name = sys.argv[1] if len(sys.argv) == 2 else ""
    kind, _, of = name.partition(":")
    if kind not in ("gym", "dm") or not of:
        sys.exit("usage: pgrlab_env.py gym:ID | dm:DOMAIN-TASK")
    sys.path.insert(0, os.getcwd())  # environments of your own beside you
    make, versions = (_gym if kind == "gym" else _dm)(of)
    serve(make, versions)


if __name__ == "__main__":
    main()
