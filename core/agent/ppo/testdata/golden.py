"""One iteration of PPO by PyTorch 1.13, from testdata/NAME-input.json to NAME-golden.json.

Written for this test from Schulman et al. 2017 and 2016 and the order of openai/baselines:
ppo2.py. Weights are [in, out], those of convolutions [ky·kx·channel, out] as in TensorFlow.

    go test ./core/agent/ppo -run PyTorch -golden
    python3 core/agent/ppo/testdata/golden.py
"""
import base64
import json
import os

import torch

here = os.path.dirname(os.path.abspath(__file__))
torch.set_num_threads(1)


def iteration(given):
    s = given["Settings"]
    params = {w["Name"]: torch.tensor(w["Data"], dtype=torch.float32).reshape(w["Shape"]).requires_grad_() for w in given["Weights"]}

    def layer(name, x):
        return x @ params[name + ".w"] + params[name + ".b"]

    sees = given["Side"] > 0

    def networks(x):
        if sees:
            x = x.permute(0, 3, 1, 2)
            for i, (kernel, stride) in enumerate(zip(s["Kernels"], s["Strides"]), 1):
                w = params[f"encoder.{i}.w"].reshape(kernel, kernel, x.shape[1], -1).permute(3, 2, 0, 1)
                x = torch.relu(torch.nn.functional.conv2d(x, w, params[f"encoder.{i}.b"], stride))
            x = x.permute(0, 2, 3, 1).flatten(1)
        for i in range(1, len(given["Hidden"]) + 1):
            x = (torch.relu if sees else torch.tanh)(layer(f"trunk.{i}", x))
        return layer("policy", x), layer("value", x).squeeze(-1)

    def images(name):
        data = torch.tensor(list(base64.b64decode(given[name] or "")), dtype=torch.float32)
        return data.reshape(-1, given["Side"], given["Side"], 3) / 255

    def observed(numbers, frames):
        if sees:
            return images(frames)
        return torch.tensor(given[numbers] or [], dtype=torch.float32).reshape(-1, given["Obs"])

    copies, rows = given["Copies"], len(given["Rewards"])
    states = observed("States", "Frames")
    actions = torch.tensor(given["Actions"]).reshape(rows, -1).argmax(1)
    ends = given["Ends"]
    with torch.no_grad():
        logits, old = networks(states)
        logp_old = torch.distributions.Categorical(logits=logits).log_prob(actions)
        last = networks(observed("Next", "NextFrames"))[1]
        advantages = torch.zeros(rows, dtype=torch.float64)
        for i in reversed(range(rows)):
            inner = i + copies < rows
            if ends[i]:
                value, follows = 0.0, 0.0
            elif inner:
                value, follows = old[i + copies].item(), advantages[i + copies].item()
            else:
                value, follows = last[i % copies].item(), 0.0
            delta = s["RewardScale"] * given["Rewards"][i] + given["Gamma"] * value - old[i].item()
            advantages[i] = delta + given["Gamma"] * s["Lambda"] * follows
        returns = (advantages + old).float()
        advantages = advantages.float()

    clip = s["Clip"] * given["Left"]
    adam = torch.optim.Adam(params.values(), lr=given["Rate"] * given["Left"], eps=1e-5)
    out = {"Policy": [], "Value": [], "Mean": []}
    part = rows // s["Minibatches"]
    for order in given["Orders"]:
        for first in range(0, rows, part):
            at = torch.tensor(order[first : first + part])
            logits, v = networks(states[at])
            choice = torch.distributions.Categorical(logits=logits)
            a = advantages[at]
            a = (a - a.mean()) / (a.std(unbiased=False) + 1e-8)
            ratio = torch.exp(choice.log_prob(actions[at]) - logp_old[at])
            policy = -torch.min(ratio * a, torch.clamp(ratio, 1 - clip, 1 + clip) * a).mean()
            errors = (v - returns[at]) ** 2
            if s["ValueClip"] > 0:
                moved = torch.clamp(v - old[at], -clip * s["ValueClip"], clip * s["ValueClip"])
                errors = torch.max(errors, (old[at] + moved - returns[at]) ** 2)
            value = 0.5 * errors.mean()
            loss = policy + s["ValueWeight"] * value - given["Entropy"] * choice.entropy().mean()
            adam.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(params.values(), s["MaxNorm"])
            adam.step()
            out["Policy"].append(policy.item())
            out["Value"].append(value.item())
            out["Mean"].append(v.mean().item())
    out["After"] = [[float(f"{v:.8g}") for v in p.detach().flatten().tolist()] for p in params.values()]
    return out


for name in ("baselines", "frames", "short"):
    given = json.load(open(os.path.join(here, name + "-input.json")))
    json.dump(iteration(given), open(os.path.join(here, name + "-golden.json"), "w"), separators=(",", ":"))
