"""Updates of DrQ-v2 on batches with synthetic rows by PyTorch 1.13, from mixed-input.json beside this file
to mixed-golden.json. The synthetic rows are latents: they enter the heads, and nothing of their gradient goes
beyond them. There what tanh is taken of costs its square, too. Without them this is the authors' agent
(authors.py), to 1e-6 in ten updates.

Written for this test from the paper (Yarats et al. 2022) and the order of an update of
facebookresearch/drqv2: drqv2.py. Weights are ours: convolutions [ky·kx·c, out], layers
[in, out], after the convolutions in the order (y, x, c); PyTorch has (c, y, x).

    go test ./core/agent/drqv2 -run PyTorch -golden
    python3 core/agent/drqv2/testdata/golden.py
"""
import base64
import json
import os

import numpy as np
import torch
import torch.nn.functional as F

here = os.path.dirname(os.path.abspath(__file__))
kind = "mixed-"
given = json.load(open(os.path.join(here, kind + "input.json")))
torch.set_num_threads(1)

side, pad, stack, channels = given["Side"], given["Pad"], given["Stack"], given["Channels"]
frames = [np.frombuffer(base64.b64decode(f), np.uint8).reshape(side, side, 3) for f in given["Frames"]]

# The side of what the convolutions leave.
flat = side
for stride in given["Strides"]:
    flat = (flat - 3) // stride + 1


def ours_to_torch(name, data):
    if name.startswith("encoder") and name.endswith(".w"):
        return data.reshape(3, 3, -1, channels).permute(3, 2, 0, 1)  # ky kx c o -> o c ky kx
    if name.endswith("trunk.w"):
        return data.reshape(flat, flat, channels, -1).permute(2, 0, 1, 3).reshape(data.shape)  # y x c -> c y x
    return data


def torch_to_ours(name, data):
    if name.startswith("encoder") and name.endswith(".w"):
        return data.permute(2, 3, 1, 0)
    if name.endswith("trunk.w"):
        return data.reshape(channels, flat, flat, -1).permute(1, 2, 0, 3)
    return data


params = {}
for w in given["Weights"]:
    data = torch.tensor(w["Data"], dtype=torch.float32).reshape(w["Shape"])
    params[w["Name"]] = ours_to_torch(w["Name"], data).contiguous().requires_grad_(not w["Name"].startswith("target"))


def named(*prefixes):
    return [p for n, p in params.items() if n.startswith(prefixes)]


def augment(x, shifts):
    """Replicate padding and bilinear sampling of a grid that is moved by whole pixels."""
    x = F.pad(x, (pad,) * 4, "replicate")
    n = side + 2 * pad
    arange = torch.linspace(-1 + 1 / n, 1 - 1 / n, n)[:side]
    grid = torch.stack(torch.meshgrid(arange, arange, indexing="ij")[::-1], dim=-1)  # (x, y)
    move = torch.tensor([[across, down] for down, across in shifts], dtype=torch.float32) * 2 / n
    return F.grid_sample(x, grid[None] + move[:, None, None], padding_mode="zeros", align_corners=False)


def images(rows, key, at):
    x = np.stack([np.concatenate([frames[i] for i in r[key]], axis=2) for r in rows])
    x = torch.tensor(x, dtype=torch.float32).permute(0, 3, 1, 2)
    return augment(x, [r["Shift"][at : at + 2] for r in rows])


def encode(x):
    x = x / 255 - 0.5
    for i, stride in enumerate(given["Strides"], 1):
        x = F.relu(F.conv2d(x, params[f"encoder.{i}.w"], params[f"encoder.{i}.b"], stride=stride))
    return x.flatten(1)


def trunk(name, h):
    z = h @ params[name + ".w"] + params[name + ".b"]
    return torch.tanh(F.layer_norm(z, z.shape[1:], params[name + ".norm.gamma"], params[name + ".norm.beta"], 1e-5))


def mlp(name, x, member=...):
    layers = len(given["Hidden"]) + 1
    for i in range(1, layers + 1):
        x = x @ params[f"{name}.{i}.w"][member] + params[f"{name}.{i}.b"][member]
        if i < layers:
            x = F.relu(x)
    return x


def noisy(latent, noise, sigma):
    u = torch.tanh(mlp("policy", latent)) + torch.clamp(noise * sigma, -given["Clip"], given["Clip"])
    return u - u.detach() + torch.clamp(u, -1 + 1e-6, 1 - 1e-6).detach()


def values(kind, latent, action):
    z = torch.cat([latent, action], dim=1)
    return [mlp(kind, z, k) for k in range(2)]


rates = given["Rates"]
encoder_opt = torch.optim.Adam(named("encoder"), lr=rates["LRCritic"])
critic_opt = torch.optim.Adam(named("critic"), lr=rates["LRCritic"])
actor_opt = torch.optim.Adam(named("actor", "policy"), lr=rates["LRActor"])
follow = [n for n in params if n.startswith("target")]
lead = {n: n.replace("target trunk", "critic trunk") if "trunk" in n else n.replace("target", "critics") for n in follow}


def column(rows, key):
    return torch.tensor([r[key] for r in rows], dtype=torch.float32).reshape(len(rows), -1)


def joined(real, dreamt):
    """Real rows, and the synthetic ones after them."""
    return torch.cat([real, dreamt]) if len(dreamt) else real


out = {"Critic": [], "Actor": [], "QMean": [], "After": {}}
feature = given["Feature"]
for number, update in enumerate(given["Updates"], 1):
    rows, dreams, sigma = update["Rows"], update.get("Dreams", []), update["Sigma"]
    both = rows + dreams
    dreamt = {k: torch.clamp(column(dreams, k), -1 + 1e-6, 1 - 1e-6) for k in ("Z", "Next")} if dreams else {}

    def halves(key):
        z = dreamt.get(key, torch.zeros(0, 2 * feature))
        return z[:, :feature], z[:, feature:]

    h, action = encode(images(rows, "Stack", 0)), column(both, "Action")
    with torch.no_grad():
        after = encode(images(rows, "Next", 2))
        critic_next, actor_next = halves("Next")
        then = noisy(joined(trunk("actor trunk", after), actor_next), column(both, "TargetNoise"), sigma)
        value = torch.min(*values("target", joined(trunk("target trunk", after), critic_next), then))
        y = column(both, "Return") + column(both, "Discount") * value
    critic_z, actor_z = halves("Z")
    q = values("critics", joined(trunk("critic trunk", h), critic_z), action)
    loss = sum(F.mse_loss(k, y) for k in q)
    encoder_opt.zero_grad()
    critic_opt.zero_grad()
    loss.backward()
    critic_opt.step()
    encoder_opt.step()
    out["Critic"].append(loss.item())
    out["QMean"].append((sum(k.mean() for k in q) / 2).item())

    h = h.detach()  # of the encoder before its step
    latent = joined(trunk("actor trunk", h), actor_z)
    chosen = noisy(latent, column(both, "ActorNoise"), sigma)
    loss = -torch.min(*values("critics", joined(trunk("critic trunk", h), critic_z), chosen)).mean()
    loss = loss + given.get("Preactivation", 0) * mlp("policy", latent).square().sum(1).mean()
    actor_opt.zero_grad()
    loss.backward()
    actor_opt.step()
    out["Actor"].append(loss.item())
    with torch.no_grad():
        for n in follow:
            params[n].lerp_(params[lead[n]], rates["Tau"])
    if number in (1, len(given["Updates"])):
        out["After"][str(number)] = [[float(f"{v:.7g}") for v in torch_to_ours(n, p.detach()).flatten().tolist()] for n, p in params.items()]

json.dump(out, open(os.path.join(here, kind + "golden.json"), "w"), separators=(",", ":"))
