"""One iteration of PPO by PyTorch 1.13, from testdata/NAME-input.json to NAME-golden.json.

Written for this test from Schulman et al. 2017 and 2016 and the order of openai/baselines:
ppo2.py. Weights are [in, out].

    go test ./core/agent/ppo -run PyTorch -golden
    python3 core/agent/ppo/testdata/golden.py
"""
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

    def networks(x):
        for i in range(1, len(given["Hidden"]) + 1):
            x = torch.tanh(layer(f"trunk.{i}", x))
        return layer("policy", x), layer("value", x).squeeze(-1)

    copies, rows = given["Copies"], len(given["Rewards"])
    states = torch.tensor(given["States"], dtype=torch.float32).reshape(rows, -1)
    actions = torch.tensor(given["Actions"]).reshape(rows, -1).argmax(1)
    ends = given["Ends"]
    with torch.no_grad():
        logits, old = networks(states)
        logp_old = torch.distributions.Categorical(logits=logits).log_prob(actions)
        last = networks(torch.tensor(given["Next"], dtype=torch.float32).reshape(copies, -1))[1]
        behind = iter(networks(torch.tensor(b, dtype=torch.float32))[1].item() for b in given["Behind"] or [])
        worth = [next(behind) if e == 2 else 0.0 for e in ends]
        advantages = torch.zeros(rows, dtype=torch.float64)
        for i in reversed(range(rows)):
            inner = i + copies < rows
            if ends[i]:
                value, follows = worth[i], 0.0
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
            loss = policy + s["ValueWeight"] * value - s["Entropy"] * choice.entropy().mean()
            adam.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(params.values(), s["MaxNorm"])
            adam.step()
            out["Policy"].append(policy.item())
            out["Value"].append(value.item())
            out["Mean"].append(v.mean().item())
    out["After"] = [[float(f"{v:.8g}") for v in p.detach().flatten().tolist()] for p in params.values()]
    return out


for name in ("baselines", "short"):
    given = json.load(open(os.path.join(here, name + "-input.json")))
    json.dump(iteration(given), open(os.path.join(here, name + "-golden.json"), "w"), separators=(",", ":"))
