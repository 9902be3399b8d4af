"""Updates of the authors' own DrQ-v2, from input.json beside this file to golden.json.

The agent, its augmentation and its distribution are those of https://github.com/facebookresearch/drqv2
at c0c650b, imported from a checkout. Replaced are the sizes of the convolutions, which are constants there,
and what it takes shifts and noise from. PyTorch is 1.13.1. Weights are ours: convolutions [ky·kx·c, out],
layers [in, out], after the convolutions in the order (y, x, c); theirs is (c, y, x).

    go test ./core/agent/drqv2 -run PyTorch -golden
    python3 core/agent/drqv2/testdata/authors.py DRQV2
"""
import base64
import json
import os
import sys
import types

import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "input.json")) as f:
    given = json.load(f)
for name in ("hydra", "omegaconf"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["omegaconf"].OmegaConf = None
sys.path.insert(0, sys.argv[1])
import drqv2
import utils

side, channels, stack = given["Side"], given["Channels"], given["Stack"]
frames = [np.frombuffer(base64.b64decode(f), np.uint8).reshape(side, side, 3) for f in given["Frames"]]
flat = side
for stride in given["Strides"]:
    flat = (flat - 3) // stride + 1


class Encoder(drqv2.Encoder):
    def __init__(self, obs_shape):
        nn.Module.__init__(self)
        self.repr_dim, layers, c = channels * flat * flat, [], obs_shape[0]
        for stride in given["Strides"]:
            layers += [nn.Conv2d(c, channels, 3, stride=stride), nn.ReLU()]
            c = channels
        self.convnet = nn.Sequential(*layers)


drqv2.Encoder = Encoder
rates = given["Rates"]
assert rates["LRActor"] == rates["LRCritic"] and len(set(given["Hidden"])) == 1 and len(given["Hidden"]) == 2
actions = next(w["Shape"][1] for w in given["Weights"] if w["Name"] == "policy.3.w")
agent = drqv2.DrQV2Agent((3 * stack, side, side), (actions,), torch.device("cpu"), rates["LRCritic"], given["Feature"], given["Hidden"][0], rates["Tau"], 0, 1, "0", given["Clip"], True)
agent.aug = drqv2.RandomShiftsAug(given["Pad"])


def places(name):
    """Their tensors of that name of ours: for each critic or once."""
    part, layer = name.rsplit(".", 1)
    net, _, rest = part.partition(".")
    attribute = {"w": "weight", "b": "bias", "gamma": "weight", "beta": "bias"}[layer]
    if net == "encoder":
        layers = [agent.encoder.convnet[2 * (int(rest) - 1)]]
    elif net.endswith(" trunk"):
        owner = {"actor trunk": agent.actor, "critic trunk": agent.critic, "target trunk": agent.critic_target}[net]
        layers = [owner.trunk[1 if rest == "norm" else 0]]
    elif net == "policy":
        layers = [agent.actor.policy[2 * (int(rest) - 1)]]
    else:
        owner = {"critics": agent.critic, "target": agent.critic_target}[net]
        layers = [q[2 * (int(rest) - 1)] for q in (owner.Q1, owner.Q2)]
    return [getattr(l, attribute) for l in layers]


def theirs(name, x):
    """One member's numbers of ours in the shape of theirs."""
    if name.startswith("encoder") and name.endswith(".w"):
        return x.reshape(3, 3, -1, channels).permute(3, 2, 0, 1)
    if name.endswith("trunk.w"):
        return x.reshape(flat, flat, channels, -1).permute(3, 2, 0, 1).reshape(x.shape[1], -1)
    return x.T if name.endswith(".w") else x


def ours(name, x):
    if name.startswith("encoder") and name.endswith(".w"):
        return x.permute(2, 3, 1, 0)
    if name.endswith("trunk.w"):
        return x.reshape(-1, channels, flat, flat).permute(2, 3, 1, 0)
    return x.T if name.endswith(".w") else x


for w in given["Weights"]:
    params = places(w["Name"])
    x = torch.tensor(w["Data"]).reshape(w["Shape"])
    for p, member in zip(params, x if len(params) > 1 else [x]):
        p.data.copy_(theirs(w["Name"], member))


def column(rows, key):
    return torch.tensor([r[key] for r in rows], dtype=torch.float32).reshape(len(rows), -1)


def images(rows, key):
    x = np.stack([np.concatenate([frames[i] for i in r[key]], axis=2) for r in rows])
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2))


shifts, noise = [], []
torch.randint = lambda low, high, size, device, dtype: shifts.pop(0).reshape(size).to(dtype)
utils._standard_normal = lambda shape, dtype, device: noise.pop(0).reshape(shape)
out = {"Critic": [], "Actor": [], "QMean": [], "After": {}}
for number, update in enumerate(given["Updates"], 1):
    rows = update["Rows"]
    for at in (0, 2):  # theirs is across, down
        shifts.append(torch.tensor([[r["Shift"][at + 1], r["Shift"][at]] for r in rows], dtype=torch.float32))
    noise += [column(rows, "TargetNoise"), column(rows, "ActorNoise")]
    agent.stddev_schedule = str(update["Sigma"])
    batch = [images(rows, "Stack"), column(rows, "Action"), column(rows, "Return"), column(rows, "Discount"), images(rows, "Next")]
    values = []
    hook = agent.critic.register_forward_hook(lambda _, __, q: values.append((q[0].mean() + q[1].mean()).item() / 2))
    said = agent.update(iter([batch]), number)
    hook.remove()
    out["Critic"].append(said["critic_loss"]), out["Actor"].append(said["actor_loss"]), out["QMean"].append(values[0])
    if number in (1, len(given["Updates"])):
        after = []
        for w in given["Weights"]:
            x = torch.cat([ours(w["Name"], p.detach()).flatten() for p in places(w["Name"])])
            after.append([float(f"{v:.7g}") for v in x.tolist()])
        out["After"][str(number)] = after
with open(os.path.join(HERE, "golden.json"), "w") as f:
    json.dump(out, f, separators=(",", ":"))
