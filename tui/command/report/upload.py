"""Hands the numbers of pgrlab's runs to Weights & Biases, MLflow or Trackio, through their own clients.

    python3 upload.py wandb|mlflow|trackio [--project NAME] [RUN...]
"""
import argparse
import datetime
import importlib
import json
import os
import re

RUNS = []  # those of which pgrlab export --uploader was given the name

# Lines of a journal that measure nothing, and fields that only say where a line belongs.
SILENT = []
NO_NUMBERS = {"type", "step", "member", "wall_s", "id"}


def numbers(name, value):
    """The numbers of a value of a line, by name: type/field, as TensorBoard and CSV have them."""
    if isinstance(value, dict):
        return {k: v for key, inner in value.items() for k, v in numbers(name if key == "obs" else f"{name}/{key}", inner).items()}
    if isinstance(value, list):
        above = name.rpartition("/")[0]
        if name.endswith("/quantiles") and len(value) == 3:
            return {k: v for q, inner in zip(("q10", "q50", "q90"), value) for k, v in numbers(f"{above}/{q}", inner).items()}
        return {}
    if isinstance(value, (int, float)) and not isinstance(value, bool) or value in ("NaN", "Inf", "-Inf"):
        return {name: float(value)}
    return {}


def read(folder):
    """What a run was started with, and its lines: (seconds since 1970, env step, numbers)."""
    start, lines = {}, []
    with open(os.path.join(folder, "events.jsonl"), encoding="utf-8") as journal:
        for text in journal:
            if not text.endswith("\n"):
                break  # it is being written
            line = json.loads(text)
            kind = line["type"]
            start = start or (line if kind == "start" else {})
            if kind in SILENT:
                continue
            found = numbers(kind, {k: v for k, v in line.items() if k not in NO_NUMBERS})
            if line.get("member", -1) >= 0 and start.get("members", 1) > 1:
                found = {f"{name}/member {line['member']}": v for name, v in found.items()}
            if found:
                lines.append((line.get("wall_s", 0), line["step"], found))
    begun = start.get("obs", {}).get("time", "1970-01-01T00:00:00Z").replace("Z", "+00:00")
    since = datetime.datetime.fromisoformat(begun).timestamp()
    config = {k: v for k, v in start.items() if k not in ("type", "step", "wall_s", "obs")}
    return config, [(since + wall, step, found) for wall, step, found in lines]


def to_wandb(wandb, project, name, config, lines):
    run = wandb.init(project=project, name=name, config=config)
    run.define_metric("env_step")
    run.define_metric("*", step_metric="env_step")
    for at, step, found in lines:
        run.log({**found, "env_step": step, "_timestamp": at})
    run.finish()


def to_trackio(trackio, project, name, config, lines):
    trackio.init(project=project, name=name, config=config)
    for _, step, found in lines:
        trackio.log(found, step=step)
    trackio.finish()


def to_mlflow(mlflow, project, name, config, lines):
    mlflow.set_experiment(project)
    with mlflow.start_run(run_name=name) as run:
        mlflow.log_params(config)
        every = [mlflow.entities.Metric(re.sub(r"[^\w\-. /]", "_", key), v, int(1000 * at), step) for at, step, found in lines for key, v in found.items()]
        for first in range(0, len(every), 1000):  # the most that a batch may have
            mlflow.MlflowClient().log_batch(run.info.run_id, metrics=every[first:first + 1000])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("client", choices=["wandb", "mlflow", "trackio"])
    p.add_argument("runs", nargs="*", metavar="RUN", help="run folders")
    p.add_argument("--project", default="pgrlab", help="project, or experiment of MLflow")
    a = p.parse_args()
    if not (a.runs or RUNS):
        p.error("name a run folder")
    for folder in a.runs or RUNS:
        if not os.path.isfile(os.path.join(folder, "events.jsonl")):
            p.error(f"{folder} is no run folder: it has no events.jsonl")
    try:
        client = importlib.import_module(a.client)
    except ImportError as why:
        p.error(f"{a.client} cannot be imported ({why}): python3 -m pip install {a.client}")
    for folder in a.runs or RUNS:
        config, lines = read(folder)
        globals()["to_" + a.client](client, a.project, os.path.basename(os.path.abspath(folder)), config, lines)
        print(f"{folder}: {len(lines)} lines to {a.client}, project {a.project}")


if __name__ == "__main__":
    main()
