"""A stand-in for Weights & Biases, with the calls of its documentation."""
import uploaded


class Run:
    def define_metric(self, name, step_metric=None):
        assert (name, step_metric) in (("env_step", None), ("*", "env_step"))

    def log(self, data):
        step = data.pop("env_step")
        assert data.pop("_timestamp") > 1.7e9
        for name, value in data.items():
            uploaded.number(step, name, value)

    def finish(self):
        uploaded.file.close()


def init(project, name, config):
    uploaded.head(project, name, config)
    return Run()
