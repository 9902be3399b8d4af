"""DreamerV3 of states by PyTorch in float64, for updates.py beside this file: networks, losses and the optimiser.

Written for this test from Hafner et al. 2025 and what is recorded of danijar/dreamerv3, slow and plain. All losses
of an update are one graph that is unrolled over the sequence, and all gradients are those that autograd takes of
their sum. Parameters have the names of the recorded file, kernels are [in, out], or [blocks, in, out].
"""
import math

import torch

UNIMIX, FREE, DISCOUNT, LAMBDA, ENTROPY = 0.01, 1.0, 1 - 1 / 333, 0.95, 3e-4
CLIP, LEAST, BETA1, BETA2, EPS = 0.3, 1e-3, 0.9, 0.999, 1e-20
SCALES = {"obs": 1, "rew": 1, "con": 1, "dyn": 1, "rep": 0.1, "policy": 1, "value": 1, "repval": 0.3}


def symlog(x):
    return torch.sign(x) * torch.log1p(x.abs())


def symexp(x):
    return torch.sign(x) * torch.expm1(x.abs())


def linear(p, name, x):
    return x @ p[name + "/kernel"] + p[name + "/bias"]


def normed(p, name, x):
    """RMS norm, then SiLU."""
    x = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-4) * p[name + "/scale"]
    return x * torch.sigmoid(x)


def layer(p, name, x):
    return normed(p, name + "norm", linear(p, name, x))


def stack(p, name, count, x):
    for i in range(count):
        x = normed(p, f"{name}/mlp/norm{i}", linear(p, f"{name}/mlp/linear{i}", x))
    return x


def of_blocks(p, name, x):
    """A linear layer of blocks: [R, blocks, in] to [R, blocks, out]."""
    kernel = p[name + "/kernel"]
    return torch.einsum("rbi,bio->rbo", x, kernel) + p[name + "/bias"].reshape(kernel.shape[0], -1)


def core(p, deter, stoch, action):
    """The next deterministic part [R, D] of a latent, after an action."""
    blocks = p["dyn/dynhid0/kernel"].shape[0]
    action = action / action.abs().clamp(min=1).detach()
    enters = torch.cat([layer(p, "dyn/dynin0", deter), layer(p, "dyn/dynin1", stoch), layer(p, "dyn/dynin2", action)], -1)
    before = deter.reshape(len(deter), blocks, -1)
    x = of_blocks(p, "dyn/dynhid0", torch.cat([before, enters[:, None].expand(-1, blocks, -1)], -1))
    x = normed(p, "dyn/dynhid0norm", x.flatten(1)).reshape(len(deter), blocks, -1)
    reset, candidate, update = of_blocks(p, "dyn/dyngru", x).chunk(3, -1)
    update = torch.sigmoid(update - 1)
    return (update * torch.tanh(torch.sigmoid(reset) * candidate) + (1 - update) * before).flatten(1)


def encode(p, obs):
    x = symlog(obs)
    for i in range(3):
        x = layer(p, f"enc/mlp{i}", x)
    return x


def prior(p, z, deter):
    x = layer(p, "dyn/prior1", layer(p, "dyn/prior0", deter))
    return linear(p, "dyn/priorlogit", x).reshape(*deter.shape[:-1], z["stoch"], z["classes"])


def posterior(p, z, deter, tokens):
    x = layer(p, "dyn/obs0", torch.cat([deter, tokens], -1))
    return linear(p, "dyn/obslogit", x).reshape(*deter.shape[:-1], z["stoch"], z["classes"])


def chances(logits):
    return (1 - UNIMIX) * torch.softmax(logits, -1) + UNIMIX / logits.shape[-1]


def one_hot(index, classes):
    return torch.nn.functional.one_hot(index, classes).double()


def policy(p, feature):
    x = stack(p, "pol", 3, feature)
    return torch.tanh(linear(p, "pol/head/action/mean", x)), 0.9 * torch.sigmoid(linear(p, "pol/head/action/stddev", x) + 2) + 0.1


def reward(p, feature):
    return linear(p, "rew/head/logits", stack(p, "rew", 1, feature))


def goes_on(p, feature):
    return linear(p, "con/head/logit", stack(p, "con", 1, feature))[..., 0]


def value(p, feature, name="val"):
    return linear(p, name + "/head/logits", stack(p, name, 3, feature))


def bins(count):
    half = symexp(torch.linspace(-20, 0, count // 2 + 1))
    return torch.cat([half, -half[:-1].flip(0)])


def expected(logits):
    """Mean of bins; their sum goes from the middle outwards, in pairs."""
    each = torch.softmax(logits, -1) * bins(logits.shape[-1])
    half = each.shape[-1] // 2
    return each[..., half] + (each[..., :half].flip(-1) + each[..., half + 1 :]).sum(-1)


def two_hot_loss(logits, target):
    """Cross-entropy against the two bins around a target, which share it linearly."""
    b = bins(logits.shape[-1])
    target = target.clamp(b[0], b[-1])[..., None]
    below = ((b <= target).sum(-1) - 1).clamp(max=len(b) - 2)
    share = (target[..., 0] - b[below]) / (b[below + 1] - b[below])
    weights = (1 - share)[..., None] * one_hot(below, len(b)) + share[..., None] * one_hot(below + 1, len(b))
    return -(weights * torch.log_softmax(logits, -1)).sum(-1)


def divergence(a, b):
    """KL of all groups together."""
    return (a * (a.log() - b.log())).sum((-1, -2))


def lambda_returns(rewards, goes, lam, boot, last):
    """Returns at each step but the last, backwards: goes is the discount where the episode goes on, boot what
    cuts them off, last the return at the last step. All are [R, steps], lam too."""
    out = [last]
    for i in reversed(range(rewards.shape[1] - 1)):
        out.append(rewards[:, i + 1] + goes[:, i + 1] * ((1 - lam[:, i + 1]) * boot[:, i + 1] + lam[:, i + 1] * out[-1]))
    return torch.stack(out[:0:-1], 1)


class Range:
    """The range of returns, as it moves."""

    def __init__(self, lo, hi):
        self.lo, self.hi = lo, hi

    def move(self, returns):
        ordered = returns.flatten().sort().values
        for name, share in (("lo", 0.05), ("hi", 0.95)):
            at = share * (len(ordered) - 1)
            below = int(at)
            above = min(below + 1, len(ordered) - 1)
            percentile = ordered[below] + (at - below) * (ordered[above] - ordered[below])
            setattr(self, name, 0.99 * getattr(self, name) + 0.01 * percentile.item())

    def scale(self):
        return max(1.0, self.hi - self.lo)


class LaProp:
    """Per tensor: clip to a share of the parameters' norm, scale by RMS, then momentum."""

    def __init__(self, params, rate, warmup):
        self.rate, self.warmup, self.steps = rate, warmup, 0
        self.nu = {name: torch.zeros_like(w) for name, w in params.items()}
        self.mu = {name: torch.zeros_like(w) for name, w in params.items()}

    def step(self, params, gradients):
        self.steps += 1
        now = self.rate * min(1, (self.steps - 1) / self.warmup)
        with torch.no_grad():
            for name, w in params.items():
                g, most = gradients[name], CLIP * max(LEAST, w.norm().item())
                if g.norm() > most:
                    g = g * (most / g.norm())
                self.nu[name] = BETA2 * self.nu[name] + (1 - BETA2) * g * g
                g = g / ((self.nu[name] / (1 - BETA2**self.steps)).sqrt() + EPS)
                self.mu[name] = BETA1 * self.mu[name] + (1 - BETA1) * g
                w -= now * self.mu[name] / (1 - BETA1**self.steps)


def observe(p, z, batch, draws):
    """Tokens and latents of a replayed sequence, [B, T, …], and the posterior's logits."""
    tokens = encode(p, batch["obs"])
    deter, stoch = batch["deter"], batch["stoch"]
    deters, stochs, logits = [], [], []
    for t in range(z["T"]):
        more = (1 - batch["is_first"][:, t])[:, None]
        deter, stoch, action = deter * more, stoch * more, batch["prevact"][:, t] * more
        deter = core(p, deter, stoch, action)
        logit = posterior(p, z, deter, tokens[:, t])
        probabilities = chances(logit)
        drawn = one_hot(draws.posterior(t, probabilities.detach()), z["classes"])
        # The gradient goes straight to the probabilities.
        stoch = (drawn + probabilities - probabilities.detach()).flatten(1)
        deters.append(deter), stochs.append(stoch), logits.append(logit)
    return tokens, torch.stack(deters, 1), torch.stack(stochs, 1), torch.stack(logits, 1)


def imagine(p, z, deter, stoch, draws):
    """Latents and actions [B·T, imagined steps, …] from latents on; nothing of it has a gradient."""
    deters, stochs, actions = [], [], []
    with torch.no_grad():
        for step in range(z["imagine"] + 1):
            mean, deviation = policy(p, torch.cat([deter, stoch], -1))
            action = mean + deviation * draws.eps(step)
            deters.append(deter), stochs.append(stoch), actions.append(action)
            if step < z["imagine"]:
                deter = core(p, deter, stoch, action)
                stoch = one_hot(draws.prior(step, chances(prior(p, z, deter))), z["classes"]).flatten(1)
    return torch.stack(deters, 1), torch.stack(stochs, 1), torch.stack(actions, 1)


def losses(p, slow, span, z, batch, draws):
    """All losses of an update, as recorded: per env step, or per step of what was imagined. It moves the range of
    returns. The other results are what was computed on the way."""
    it, loss = {}, {}
    tokens, deter, stoch, post = observe(p, z, batch, draws)
    feature = torch.cat([deter, stoch], -1)
    before = prior(p, z, deter)
    decoded = linear(p, "dec/vec/obs/pred", stack(p, "dec", 3, torch.cat([stoch, deter], -1)))
    loss["obs"] = ((decoded - symlog(batch["obs"])) ** 2).sum(-1)
    loss["rew"] = two_hot_loss(reward(p, feature), batch["reward"])
    logit, target = goes_on(p, feature), (1 - batch["is_terminal"]) * DISCOUNT
    loss["con"] = -target * torch.nn.functional.logsigmoid(logit) - (1 - target) * torch.nn.functional.logsigmoid(-logit)
    loss["dyn"] = divergence(chances(post).detach(), chances(before)).clamp(min=FREE)
    loss["rep"] = divergence(chances(post), chances(before).detach()).clamp(min=FREE)
    it["kl"] = divergence(chances(post), chances(before)).detach()
    it.update(tokens=tokens, deter=deter, stoch=stoch, post_logits=post, prior_logits=before, decoder=decoded)
    it.update(continue_prob=torch.sigmoid(logit), reward_pred=expected(reward(p, feature)))

    # What is imagined. Rows are [B·T]; nothing of it reaches the latents that it begins with.
    rows = z["B"] * z["T"]
    deters, stochs, actions = imagine(p, z, deter.detach().reshape(rows, -1), stoch.detach().reshape(rows, -1), draws)
    imagined = torch.cat([deters, stochs], -1)
    with torch.no_grad():
        r, c = expected(reward(p, imagined)), torch.sigmoid(goes_on(p, imagined))
        v, follows = expected(value(p, imagined)), expected(value(slow, imagined, "slowval"))
        weight = c.cumprod(1)
        ret = lambda_returns(r, c, torch.full_like(c, LAMBDA), v, v[:, -1])
        span.move(ret)
        advantage = (ret - v[:, :-1]) / span.scale()
    mean, deviation = policy(p, imagined)
    logp = (-0.5 * ((actions - mean) / deviation) ** 2 - deviation.log() - 0.5 * math.log(2 * math.pi)).sum(-1)
    entropy = (deviation.log() + 0.5 * math.log(2 * math.pi * math.e)).sum(-1)
    loss["policy"] = -weight[:, :-1] * (logp[:, :-1] * advantage + ENTROPY * entropy[:, :-1])
    logits = value(p, imagined[:, :-1])
    loss["value"] = weight[:, :-1] * (two_hot_loss(logits, ret) + two_hot_loss(logits, follows[:, :-1]))
    it["imagined"] = dict(actions=actions, deter=deters[:, 1:], policy_mean=mean, policy_std=deviation, logp=logp, entropy=entropy)
    it["imagined"].update(reward=r, cont=c, value=v, slow=follows, ret=ret, weight=weight, policy_loss=loss["policy"], value_loss=loss["value"])

    # Returns along the replayed steps; what is cut off is the first imagined return there.
    boot = ret[:, 0].reshape(z["B"], z["T"])
    along = lambda_returns(batch["reward"], (1 - batch["is_terminal"]) * DISCOUNT, (1 - batch["is_last"]) * LAMBDA, boot, boot[:, -1])
    logits, slowly = value(p, feature), expected(value(slow, feature, "slowval")).detach()
    both = two_hot_loss(logits[:, :-1], along) + two_hot_loss(logits[:, :-1], slowly[:, :-1])
    loss["repval"] = (1 - batch["is_last"][:, :-1]) * both
    it.update(replay={"ret": along, "repval": loss["repval"]}, value_pred=expected(logits), slow_pred=slowly)
    return loss, it


def total(loss):
    return sum(SCALES[name] * each.mean() for name, each in loss.items())


def gradients(p, of):
    """The gradient of each parameter, 0 where it has none. The graph is kept for further ones."""
    every = torch.autograd.grad(of, list(p.values()), allow_unused=True, retain_graph=True)
    return {name: torch.zeros_like(w) if g is None else g for (name, w), g in zip(p.items(), every)}
