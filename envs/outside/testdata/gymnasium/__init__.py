"""A stand-in for the parts of Gymnasium that the adapter meets, written for its tests."""
import numpy as np

__version__ = "0.stand-in"


class Box:
    def __init__(self, low, high, shape=(), dtype=np.float32):
        self.low, self.high = (np.broadcast_to(np.asarray(x, dtype), shape or np.shape(x)) for x in (low, high))
        self.shape, self.dtype = self.low.shape, np.dtype(dtype)


class Discrete:
    def __init__(self, n, start=0):
        self.n, self.start, self.shape, self.dtype = n, start, (), np.dtype(np.int64)


class Dict:
    def __init__(self, spaces):
        self.spaces = dict(sorted(spaces.items()))


class Spec:
    max_episode_steps = 30


class Env:
    spec, render_mode = Spec(), None


class Cart(Env):
    """Goes where it is pushed."""

    def __init__(self, force=1.0):
        self.force = force
        self.observation_space = Dict({"speed": Box(-9, 9, (1,)), "place": Box(-9, 9, (2,)), "gear": Discrete(2)})
        self.action_space = Box(-2, 2, (1,))

    def _obs(self):
        return {"place": self.place, "speed": self.speed, "gear": int(self.speed[0] > 0)}

    def reset(self, seed=None, options=None):
        assert type(seed) is int and 0 <= seed < 2**31, seed
        print("a print that must not disturb the protocol")
        self.elapsed, self.speed = 0, np.zeros(1, np.float32)
        self.place = np.random.default_rng(seed).uniform(-1, 1, 2).astype(np.float32)
        return self._obs(), {}

    def step(self, action):
        assert action.dtype == np.float32 and action.shape == (1,)
        self.elapsed += 1
        self.speed = (0.9 * self.speed + 0.1 * self.force * action).astype(np.float32)
        self.place = (self.place + self.speed).astype(np.float32)
        return self._obs(), float(-abs(self.place[0])), bool(abs(self.place[0]) > 5), self.elapsed >= 30, {}


class Switch(Env):
    """Has three actions, called 1, 2 and 3; the reward is the one that was chosen."""

    def __init__(self):
        self.observation_space, self.action_space = Box(0, 1, (1,), np.float64), Discrete(3, start=1)

    def reset(self, seed=None, options=None):
        return np.zeros(1), {}

    def step(self, action):
        assert type(action) is int
        return np.ones(1), action, False, False, {}


class Camera(Switch):
    def __init__(self):
        super().__init__()
        self.observation_space = Box(0, 255, (96, 96, 3), np.uint8)


def make(name, disable_env_checker=None, **args):
    assert disable_env_checker is True
    return {"Cart-v0": Cart, "Pendulum-v1": Cart, "Switch-v0": Switch, "Camera-v0": Camera}[name](**args)
