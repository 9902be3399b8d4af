"""Fits and samples of the authors' own programs, to pgr-golden.json and synther-golden.json beside this
file, from what the test wrote (go test ./core/generative -run GoldenFits -golden).

The networks, losses, optimiser, average and sampler are those of the authors, imported from checkouts of

    PGR      https://github.com/renwang435/pgr at b52b41b
    SYNTHER  https://github.com/conglu1997/SynthER at e6835a5
    EMA      https://github.com/lucidrains/ema-pytorch at 0.2.3 (abb558d), which both use

Only what they take their random numbers from is replaced, and packages of theirs that compute nothing
here (gin, accelerate, progress bars) or little (two functions of einops). PyTorch is 1.13.1.

    python3 core/generative/testdata/golden.py PGR SYNTHER EMA
"""
import contextlib
import importlib
import json
import os
import sys
import types

import numpy as np
import torch

torch.set_num_threads(1)
HERE = os.path.dirname(os.path.abspath(__file__))


def module(name, **members):
    m = types.ModuleType(name)
    m.__dict__.update(members)
    sys.modules[name] = m


def rearrange(x, pattern):
    return {"b -> b 1": lambda: x[:, None], "d -> 1 d": lambda: x[None, :]}[pattern]()


def reduce(x, pattern, how):
    assert (pattern, how) == ("b ... -> b", "mean")
    return x.flatten(1).mean(1)


class Accelerator:
    """One process in float32."""
    device, scaler, is_main_process, is_local_main_process = torch.device("cpu"), None, True, True
    autocast = staticmethod(contextlib.nullcontext)
    clip_grad_norm_ = staticmethod(torch.nn.utils.clip_grad_norm_)

    def __init__(self, **_):
        pass

    def prepare(self, *all):
        return all

    def backward(self, loss):
        loss.backward()

    def wait_for_everyone(self):
        pass


def imported(root, ema):
    """The authors' modules: denoiser, diffusion, normalisers."""
    for name in [n for n in sys.modules if n.split(".")[0] in ("synther", "ema_pytorch")]:
        del sys.modules[name]
    module("gin", configurable=lambda f: f)
    module("einops", rearrange=rearrange, reduce=reduce)
    module("ipdb", set_trace=None)
    module("tqdm", tqdm=lambda x=None, **_: x)
    module("accelerate", Accelerator=Accelerator)
    module("wandb")
    module("torchdiffeq", odeint=None)
    module("redq")
    module("redq.algos")
    module("redq.algos.core", ReplayBuffer=object)
    sys.path[:0] = [root, ema]
    module("synther.online.utils", make_inputs_from_replay_buffer=None)
    packages = {"synther": [os.path.join(root, "synther")], "synther.diffusion": [os.path.join(root, "synther/diffusion")], "synther.online": []}
    for name, path in packages.items():
        module(name, __path__=path)
    denoiser = "denoiser_network_cond" if os.path.exists(os.path.join(root, "synther/diffusion/denoiser_network_cond.py")) else "denoiser_network"
    found = [importlib.import_module("synther.diffusion." + n) for n in (denoiser, "elucidated_diffusion", "norm")]
    del sys.path[:2]
    return found


# Our name of each layer, and theirs.
LAYERS = {
    "pgr": {"time0": "time_mlp.1", "time1": "time_mlp.3", "condition0": "cond_mlp.0", "condition1": "cond_mlp.2", "x": "residual_mlp.x_proj", "embedding": "residual_mlp.cond_proj", "block": "residual_mlp.network.%d.linear", "head": "residual_mlp.final_linear"},
    "synther": {"time0": "time_mlp.1", "time1": "time_mlp.3", "x": "proj", "embedding": "residual_mlp.network.0", "block": "residual_mlp.network.%d.linear", "head": "residual_mlp.final_linear"},
}


def parameter(architecture, net, name):
    """Their parameter of that name of ours, and whether it is transposed."""
    name = name.split(".", 1)[1]  # without that of the network
    if name == "fourier":
        return net.time_mlp[0].weights, False
    layer, part = name.split(".")
    if layer.startswith("block"):
        i = int(layer[5:])
        theirs = LAYERS[architecture]["block"] % (i if architecture == "pgr" else i + 1)
    else:
        theirs = LAYERS[architecture][layer]
    return dict(net.named_parameters())[theirs + {"w": ".weight", "b": ".bias"}[part]], part == "w"


def load(architecture, net, weights):
    with torch.no_grad():
        for w in weights:
            p, transposed = parameter(architecture, net, w["Name"])
            x = torch.tensor(w["Data"]).reshape(w["Shape"])
            p.copy_(x.T if transposed else x)


def stored(architecture, net, weights):
    out = []
    for w in weights:
        p, transposed = parameter(architecture, net, w["Name"])
        x = p.detach().T if transposed else p.detach()
        out.append({"Name": w["Name"], "Shape": w["Shape"], "Data": x.reshape(-1).tolist()})
    return out


class Given:
    """Random numbers that are given, in the place of torch.randn and randn_like."""

    def __init__(self, numbers):
        self.numbers = [torch.tensor(n) for n in numbers]

    def randn(self, shape, **_):
        return self.numbers.pop(0).reshape(shape)

    def randn_like(self, x):
        return self.randn(x.shape)

    @contextlib.contextmanager
    def used(self):
        saved = torch.randn, torch.randn_like
        torch.randn, torch.randn_like = self.randn, self.randn_like
        try:
            yield
        finally:
            torch.randn, torch.randn_like = saved
        assert not self.numbers


def main(architecture, root, ema):
    with open(os.path.join(HERE, architecture + "-input.json")) as f:
        given = json.load(f)
    networks, diffusion, norm = imported(root, ema)
    rows = torch.tensor(given["Rows"])
    conditional = given["Scores"] is not None
    width = given["Width"] // 2 if architecture == "pgr" else given["Width"]
    more = {"cond_dim": 1, "cfg_dropout": 0.25} if conditional else {}
    net = networks.ResidualMLPDenoiser(d_in=rows.shape[1], dim_t=given["Embedding"], mlp_width=width, num_layers=given["Blocks"], random_fourier_features=True, learned_sinusoidal_dim=16, activation=given["Activation"], layer_norm=False, **more)
    load(architecture, net, given["Weights"])
    kinds = {"normalizer": norm.normalizer_factory(given["Normaliser"], rows)}
    if conditional:
        padded = torch.tensor(given["Scores"] + [0.0])[:, None]  # their buffer is longer than what it holds
        kinds["cond_normalizer"] = norm.normalizer_factory(given["Normaliser"], padded)
    model = diffusion.ElucidatedDiffusion(net=net, event_shape=[rows.shape[1]], **kinds)
    trainer = diffusion.Trainer(model, train_batch_size=len(given["Steps"][0]["Rows"]), train_lr=given["LR"], lr_scheduler="cosine", train_num_steps=len(given["Steps"]), ema_update_every=given["EMAEvery"], save_and_sample_every=10**9, results_folder="/tmp")
    losses = []
    for step in given["Steps"]:
        data, condition = rows[step["Rows"]], {}
        if conditional:
            condition["cond"] = torch.tensor(given["Scores"])[step["Rows"]][:, None]
            net.cond_dropout.sample = lambda sample_shape, keep=step["Keep"]: torch.tensor(keep).reshape(sample_shape)
        elif architecture == "synther":
            condition["use_wandb"] = False
        with Given([step["Level"], step["Noise"]]).used():
            losses.append(trainer.train_on_batch(data, **condition))
    average = trainer.ema.ema_model
    average.eval()
    samples = []
    for strength in given["Guidance"]:
        condition = {}
        if conditional:
            condition = {"cond": np.array(given["Prompts"])[:, None], "cfg_scale": strength}
        average.S_churn = given["Churn"]
        with Given(given["Noise"]).used():
            x = average.sample(batch_size=len(given["Prompts"] or []) or len(given["Noise"][0]) // rows.shape[1], num_sample_steps=given["Levels"], clamp=given["Normaliser"] == "minmax", disable_tqdm=True, **condition)
        samples.append(x.tolist())
    with open(os.path.join(HERE, architecture + "-golden.json"), "w") as f:
        json.dump({"Losses": losses, "Model": stored(architecture, net, given["Weights"]), "Average": stored(architecture, average.net, given["Weights"]), "Samples": samples}, f)
        f.write("\n")


if __name__ == "__main__":
    main("pgr", sys.argv[1], sys.argv[3])
    main("synther", sys.argv[2], sys.argv[3])
