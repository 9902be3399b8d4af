"""Environments of plain Python, and one in the manner of dm_env, for tests of the adapter."""
import collections
import os
import signal
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.environ["PGRLAB_ADAPTER"])
from pgrlab_env import EpisodeLost, serve

Step = collections.namedtuple("Step", "reward discount observation last")
Array = collections.namedtuple("Array", "shape dtype minimum maximum")


class Plain:
    low, high, limit, names = [0, 0], [10, 1], 40, ["a", "b"]

    def reset(self, seed):
        self.at = np.array([seed % 7, 0], float)
        return list(self.at)

    def step(self, action):
        self.at += action
        return tuple(self.at), self.at[0], self.at[0] > 300, False


class Clips(Plain):
    """Works on its action in place."""

    def step(self, action):
        np.clip(action, 0, 5, out=action)
        return super().step(action)


class Saves(Plain):
    def get_state(self):
        return self.at.tobytes()

    def set_state(self, state):
        self.at = np.frombuffer(state).copy()


class Forgets(Saves):
    """Saves a part of its state."""

    def set_state(self, state):
        self.at = np.frombuffer(state).copy() * [1, 0]


class Global(Plain):
    """Draws from NumPy's one generator, which all copies share."""

    def reset(self, seed):
        np.random.seed(seed)
        return super().reset(seed)

    def step(self, action):
        self.at += np.random.uniform(size=2)
        return super().step(action)


class Clock(Plain):
    def reset(self, seed):
        return super().reset(os.getpid())


class Weary(Plain):
    """Its episodes become shorter: reset does not set back everything."""

    used = 0

    def step(self, action):
        self.used += 1
        return super().step(action)[0], float(self.used), False


class Shrinks(Plain):
    def step(self, action):
        return [1.0], 0.0, False


class Spawns(Plain):
    """Starts a process that would stay, and holds a pipe open as long as it does."""

    def reset(self, seed):
        if not hasattr(self, "child"):
            self.child = subprocess.Popen(["sh", "-c", 'exec 3>"$HELD"; sleep 1000'])
        return super().reset(seed)


class Signalled(Plain):
    """Ends processes that it has started and forked."""

    def step(self, action):
        started = subprocess.Popen(["sleep", "1000"])
        started.terminate()
        assert started.wait() == -signal.SIGTERM
        reads, writes = os.pipe()
        forked = os.fork()
        if forked == 0:
            os.write(writes, b"!")
            signal.pause()
            os._exit(0)
        os.read(reads, 1)
        os.kill(forked, signal.SIGTERM)
        assert os.waitpid(forked, 0) == (forked, signal.SIGTERM)
        return super().step(action)


class Raises(Plain):
    def step(self, action):
        raise ValueError("no such joint")


class Loses(Plain):
    def step(self, action):
        raise EpisodeLost()


class Reads(Plain):
    """Prints, from a child process too, and reads: nothing of it reaches the protocol."""

    def step(self, action):
        print("hello")
        assert sys.stdin.read() == ""
        assert subprocess.run(["cat"], stdout=subprocess.PIPE).stdout == b""
        subprocess.run(["echo", "hello"])
        return super().step(action)


class Draws(Plain):
    def render(self):
        return np.arange(2 * 4 * 3, dtype=np.uint8).reshape(2, 4, 3)


class DM:
    """In the manner of dm_env."""

    _step_limit = 24.5

    def seed(self, n):
        self.n = n

    def action_spec(self):
        return Array((2,), np.dtype(np.float64), -1.0, np.array([1.0, 2.0]))

    def observation_spec(self):
        return collections.OrderedDict(z=Array((2,), np.dtype(np.float64), 0, 0), a=Array((), np.dtype(np.float64), 0, 0))

    def _step(self, reward, discount, last):
        return Step(reward, discount, {"a": 3.0, "z": self.at.copy()}, lambda: last)

    def reset(self):
        self.at, self.t = np.array([self.n % 5, 0.0]), 0
        return self._step(None, None, False)

    def step(self, action):
        assert action.dtype == np.float64
        self.at, self.t = self.at + action, self.t + 1
        far = self.at[1] > 9
        return self._step(1.0, 0.0 if far else 1.0, bool(far or self.t >= 25))


class Nothing:
    pass


serve(globals()[sys.argv[1]])
