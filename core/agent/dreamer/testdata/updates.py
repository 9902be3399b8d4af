"""Five updates of the small DreamerV3 agent by PyTorch 1.13 (Debian's python3-torch) in float64, as dreamer.py
beside this file makes them. They begin with dreamer_agent.json in a folder, this one unless another is named, and
are written to dreamer_updates.json there.

The first update has the recorded batch and draws; the others have batches and draws that are written beside the
results. Written are classes and normal numbers, not what they were drawn by: rounding cannot change a draw.

All that it reads is recorded of danijar/dreamerv3, so that the test has nothing to write first. It holds
dreamer.py to that: all results and gradients of the first update (dreamer_agent.json, dreamer_agent_gradients.json),
and steps of the optimiser and of the range of returns (dreamer_parts.json). Unless they agree it writes nothing.

    python3 core/agent/dreamer/testdata/updates.py [FOLDER]
"""
import json
import math
import os
import sys

import numpy as np
import torch

sys.dont_write_bytecode = True
from dreamer import ENTROPY, FREE, LaProp, Range, gradients, losses, total

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
UPDATES = 5

# With the original's rates (4e-5, 1000, 0.02) five updates would move parameters by less than float32 resolves.
RATE, WARMUP, TAU = 0.01, 2, 0.1

# What may be between this and the recorded numbers, which have 10 digits, as a share of the largest magnitude. A KL
# that is nearer than ROOM to the free nats is refused: whether it has a gradient would be for rounding to say.
NEAR, ROOM = 1e-7, 1e-4


def read(name):
    with open(os.path.join(FOLDER, name)) as f:
        return json.load(f)


def given(a):
    """An input: a float32 number, as float64."""
    return torch.tensor(np.array(a["data"], np.float32).astype(np.float64).reshape(a["shape"]))


def recorded(a):
    """A result, or a number that was computed from one."""
    return torch.tensor(np.array(a["data"], np.float64).reshape(a["shape"]))


def digits(v):
    return float(f"{v:.10g}")


def array(x):
    return {"shape": list(x.shape), "data": [digits(v) for v in x.flatten().tolist()]}


def single(x):
    """Numbers as a file keeps them: float32."""
    return x.detach().float().double()


agreed = 0


def agree(what, got, want):
    """Ends the program if numbers differ."""
    global agreed
    got, want = torch.as_tensor(got), torch.as_tensor(want)
    if got.shape != want.shape or not (got - want).abs().max() <= NEAR * want.abs().max():
        sys.exit(f"{what} is {got.tolist()}, recorded is {want.tolist()}: nothing is written")
    agreed += 1


class Recorded:
    """The draws of an update, as given; a draw is [B, T or B·T, …] at a step."""

    def __init__(self, posterior, eps, prior):
        self.of_posterior, self.of_actions, self.of_prior = posterior, eps, prior

    def posterior(self, step, probabilities):
        return self.of_posterior[:, step]

    def eps(self, step):
        return self.of_actions[:, step]

    def prior(self, step, probabilities):
        return self.of_prior[:, step]


class Drawn:
    """Draws, kept in the form of Recorded."""

    def __init__(self, random, rows, actions):
        self.random, self.shape = random, (rows, actions)
        self.of_posterior, self.of_actions, self.of_prior = [], [], []

    def classes(self, probabilities):
        u = torch.tensor(self.random.random(probabilities.shape[:-1]))
        return (u[..., None] >= probabilities.cumsum(-1)[..., :-1]).sum(-1)

    def posterior(self, step, probabilities):
        self.of_posterior.append(self.classes(probabilities))
        return self.of_posterior[-1]

    def eps(self, step):
        self.of_actions.append(single(torch.tensor(self.random.standard_normal(self.shape))))
        return self.of_actions[-1]

    def prior(self, step, probabilities):
        self.of_prior.append(self.classes(probabilities))
        return self.of_prior[-1]

    def written(self):
        posterior, eps, prior = (array(torch.stack(x, 1)) for x in (self.of_posterior, self.of_actions, self.of_prior))
        return {"stoch_index": posterior, "imagined": {"eps": eps, "stoch_index": prior}}


def held(agent, p, loss, it, span):
    """Holds the first update to the recorded one: what it computes, its losses, and which of them moves what."""
    for name in ("tokens", "deter", "post_logits", "prior_logits", "continue_prob", "reward_pred", "value_pred", "slow_pred"):
        agree(name, it[name], recorded(agent[name]))
    agree("decoder", it["decoder"], recorded(agent["decoder"]["obs"]))
    for part in ("imagined", "replay"):
        for name, x in it[part].items():
            agree(f"{part} {name}", x, recorded(agent[part][name]))
    shape = (agent["sizes"]["B"], agent["sizes"]["T"], -1)
    for name, x in loss.items():
        if name in ("policy", "value"):  # recorded is the mean over what was imagined from there
            x = x.reshape(shape).mean(-1)
        agree("loss " + name, x, recorded(agent["losses"][name]))
    agree("total", total(loss), agent["total"])
    for name, x in (("lo", span.lo), ("hi", span.hi), ("scale", span.scale())):
        agree("range of returns, " + name, x, agent["retnorm_after"][name])
    every = gradients(p, total(loss))
    for name, want in read("dreamer_agent_gradients.json")["gradients"].items():
        agree("gradient of " + name, every.pop(name), recorded(want))
    if every:
        sys.exit(f"no gradient is recorded of {sorted(every)}")
    for name, norms in agent["gradient_norm_of_mean_loss_by_module"].items():
        for module, norm in modules(gradients(p, loss[name].mean())).items():
            agree(f"gradient of {name} in {module}", norm, norms[module])


def modules(every):
    """The norm of the gradients of each module."""
    out = {}
    for name, g in every.items():
        module = name.split("/")[0]
        out[module] = math.hypot(out.get(module, 0), g.norm().item())
    return out


def held_parts():
    """Holds the optimiser and the range of returns to recorded steps."""
    parts = read("dreamer_parts.json")
    of = parts["optimiser"]
    params = {name: given(w) for name, w in of["params"].items()}
    optimiser = LaProp(params, of["lr"], of["warmup"])
    for step in of["steps"]:
        before = {name: w.clone() for name, w in params.items()}
        optimiser.step(params, {name: given(g) for name, g in step["grad"].items()})
        for name, w in params.items():
            agree("second moment of " + name, optimiser.nu[name], recorded(step["nu"][name]))
            agree("first moment of " + name, optimiser.mu[name], recorded(step["mu"][name]))
            agree("update of " + name, w - before[name], recorded(step["update"][name]))
    span = Range(0, 0)
    for moved in parts["return_scale"]["updates"]:
        span.move(given(moved["x"]))
        for name, x in (("lo", span.lo), ("hi", span.hi), ("scale", span.scale())):
            agree("range of returns, " + name, x, moved[name])


def first_batch(agent):
    batch = {name: given(a) for name, a in agent["batch"].items()}
    batch.update(prevact=given(agent["prevact"]), deter=given(agent["carry"]["deter"]), stoch=given(agent["carry"]["stoch"]).flatten(1))
    return batch


def next_batch(random, z, before, it):
    """What follows a batch in its streams: it begins in the latents in which that ended, and with an episode's first
    step if that ended with a last one."""
    B, T = z["B"], z["T"]

    def normal(scale, *shape):
        return single(torch.tensor(scale * random.standard_normal((B, T, *shape))))

    def flags(share):
        return torch.tensor(random.random((B, T)) < share).double()

    batch = {"obs": normal(3, before["obs"].shape[-1]), "prevact": normal(1, z["action"]), "is_last": flags(0.3)}
    batch["is_terminal"] = batch["is_last"] * flags(0.5)
    batch["is_first"] = torch.cat([before["is_last"][:, -1:], batch["is_last"][:, :-1]], 1)
    batch["reward"] = normal(1.5) * (1 - batch["is_first"])
    batch["deter"], batch["stoch"] = single(it["deter"][:, -1]), it["stoch"][:, -1].detach().round()
    return batch


def written(batch, draws):
    out = {"batch": {name: array(batch[name]) for name in ("obs", "reward", "is_first", "is_last", "is_terminal")}}
    out.update(prevact=array(batch["prevact"]), carry={name: array(batch[name]) for name in ("deter", "stoch")})
    out.update(draws.written())
    return out


def main():
    held_parts()
    agent = read("dreamer_agent.json")
    z = agent["sizes"]
    p = {name: given(w).requires_grad_() for name, w in agent["params"].items()}
    slow = {name: given(w) for name, w in agent["slow"].items()}
    span = Range(agent["retnorm_before"]["lo"], agent["retnorm_before"]["hi"])
    optimiser, random = LaProp(p, RATE, WARMUP), np.random.default_rng(1)
    batch = first_batch(agent)
    draws = Recorded(recorded(agent["stoch_index"]).long(), recorded(agent["imagined"]["eps"]), recorded(agent["imagined"]["stoch_index"]).long())
    out = {"origin": "core/agent/dreamer/testdata/updates.py of pgrlab", "total_of_the_recorded": agent["total"]}
    out.update(settings={"rate": RATE, "warmup": WARMUP, "tau": TAU, "entropy": ENTROPY}, served=[], updates=[])
    for i in range(UPDATES):
        loss, it = losses(p, slow, span, z, batch, draws)
        if i == 0:
            held(agent, p, loss, it, span)
        if not (it["kl"] - FREE).abs().min() > ROOM:
            sys.exit("a KL is at the free nats: nothing is written; draw with another seed")
        every = gradients(p, total(loss))
        out["updates"].append({
            "losses": {name: digits(x.mean().item()) for name, x in loss.items()},
            "retnorm": {"lo": digits(span.lo), "hi": digits(span.hi)},
            "gradient_norms": {name: digits(g.norm().item()) for name, g in every.items()},
        })
        if i > 0:
            out["served"].append(written(batch, draws))
        optimiser.step(p, every)
        with torch.no_grad():
            for name, w in slow.items():
                w += TAU * (p[name.replace("slowval/", "val/")] - w)
        batch, draws = next_batch(random, z, batch, it), Drawn(random, z["B"] * z["T"], z["action"])
    out["params"] = {name: array(w) for name, w in p.items()}
    out["slow"] = {name: array(w) for name, w in slow.items()}
    print(f"{agreed} recorded arrays agree")
    with open(os.path.join(FOLDER, "dreamer_updates.json"), "w") as f:
        json.dump(out, f, separators=(",", ":"))
        f.write("\n")


main()
