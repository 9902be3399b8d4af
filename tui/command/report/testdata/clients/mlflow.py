"""A stand-in for MLflow, with the calls of its documentation."""
import contextlib
import types

import uploaded

opened = types.SimpleNamespace(info=types.SimpleNamespace(run_id="0123"))


class Metric:
    def __init__(self, key, value, timestamp, step):
        assert timestamp > 1.7e12
        self.key, self.value, self.step = key, value, step


entities = types.SimpleNamespace(Metric=Metric)


def set_experiment(name):
    opened.project = name


@contextlib.contextmanager
def start_run(run_name):
    opened.name = run_name
    yield opened
    uploaded.file.close()


def log_params(params):
    uploaded.head(opened.project, opened.name, params)


class MlflowClient:
    def log_batch(self, run_id, metrics):
        assert run_id == "0123" and len(metrics) <= 1000
        for m in metrics:
            uploaded.number(m.step, m.key, m.value)
