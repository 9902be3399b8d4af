"""A stand-in for dm_control's suite, written for the tests of the adapter."""
import collections

import numpy as np

ALL_TASKS = (("ball_in_cup", "catch"), ("walker", "walk"))
Step = collections.namedtuple("Step", "reward discount observation last")
Array = collections.namedtuple("Array", "shape dtype minimum maximum")


class Task:
    _random = None


class Environment:
    def __init__(self, time_limit):
        self.task, self._step_limit = Task(), time_limit * 50

    def action_spec(self):
        return Array((1,), np.dtype(np.float64), -1.0, 1.0)

    def observation_spec(self):
        return {"position": Array((2,), np.dtype(np.float64), 0, 0)}

    def reset(self):
        return Step(None, None, {"position": self.task._random.uniform(size=2)}, lambda: False)

    def step(self, action):
        return Step(0.5, 1.0, {"position": self.task._random.uniform(size=2)}, lambda: False)


def load(domain, task, task_kwargs=None):
    assert (domain, task) in ALL_TASKS
    return Environment(**(task_kwargs or {"time_limit": 20}))
