#!/usr/bin/env python3
"""pgrlab's workloads in PyTorch, for check.py, which runs it in a process of its own.

    python3 peer.py DEVICE HOW PRECISION SECONDS WORKLOAD...

DEVICE is cuda:0 or cpu; HOW is eager, graph (captured in a CUDA graph by hand) or
compile (torch.compile); PRECISION is fp32, tf32 or bf16 (autocast); a round takes
SECONDS. Each workload is a line of JSON as soon as it was timed. Gradient steps are
timed with both of PyTorch's quick Adams, foreach and fused, and the better one counts.
"""
import json
import math
import sys
import time

import frames

B, OBS, ACT, WIDTH = 256, 78, 12, 169  # the shapes of core/bench


class Torch:
    """The workloads on a device."""

    def __init__(self, device, round):
        import torch

        self.torch, self.device, self.round, self.kind = torch, torch.device(device), round, "foreach"
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)
            self.wait = torch.cuda.synchronize
        else:
            self.wait = lambda: None

    def normal(self, *shape):
        return self.torch.randn(*shape, device=self.device)

    def critic(self):
        nn = self.torch.nn
        return nn.Sequential(nn.Linear(OBS + ACT, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1)).to(self.device)

    def residual(self, dim, act):
        torch, nn = self.torch, self.torch.nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.last = nn.Linear(WIDTH, dim), nn.Linear(dim, WIDTH)
                self.blocks = nn.ModuleList(nn.Linear(dim, dim) for _ in range(6))

            def forward(self, x):
                h = self.first(x)
                for b in self.blocks:
                    h = h + b(act(h))
                return self.last(act(h))

        return Net().to(self.device)

    def adam(self, parameters, graph):
        return self.torch.optim.Adam(parameters, lr=3e-4, capturable=graph, **{self.kind: True})

    def fit(self, nets, x, y, how):
        """One gradient step of networks that each learn y from x."""
        f = self.torch.nn.functional
        step_of = [self.torch.compile(n) for n in nets] if how == "compile" else nets
        optimiser = self.adam([p for n in nets for p in n.parameters()], how == "graph")

        def step():
            loss = sum(f.mse_loss(n(x), y) for n in step_of)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()

        return step

    def critics(self, n, how):
        return self.fit([self.critic() for _ in range(n)], self.normal(B, OBS + ACT), self.normal(B, 1), how)

    def denoiser(self, dim, act, how):
        return self.fit([self.residual(dim, act)], self.normal(B, WIDTH), self.normal(B, WIDTH), how)

    def sample(self, dim, rows, act, how):
        net = self.residual(dim, act)
        f = self.torch.compile(net) if how == "compile" else net
        x = self.normal(rows, WIDTH)

        def step():
            with self.torch.no_grad():
                f(x)

        return step

    def sac(self, how):
        """A whole update: batch, target, critics, Polyak; policy and temperature at every 20th."""
        torch, f = self.torch, self.torch.nn.functional
        nn, graph = torch.nn, how == "graph"
        policy = nn.Sequential(nn.Linear(OBS, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 2 * ACT)).to(self.device)
        critics, targets = [self.critic() for _ in range(2)], [self.critic() for _ in range(2)]
        of_critics, of_targets = ([p for n in nets for p in n.parameters()] for nets in (critics, targets))
        temperature = torch.zeros(1, device=self.device, requires_grad=True)
        of_policy = list(policy.parameters())
        steps_critic, steps_policy, steps_alpha = (self.adam(p, graph) for p in (of_critics, of_policy, [temperature]))
        rows = 100_000
        s, a, r, s2 = self.normal(rows, OBS), self.normal(rows, ACT).tanh(), self.normal(rows, 1), self.normal(rows, OBS)

        def act(o):
            mean, log_std = policy(o).chunk(2, 1)
            log_std = log_std.clamp(-20, 2)
            noise = torch.randn_like(mean)
            t = (mean + log_std.exp() * noise).tanh()
            return t, (-0.5 * noise * noise - log_std - 0.5 * math.log(2 * math.pi)).sum(1, keepdim=True) - torch.log(1 - t * t + 1e-6).sum(1, keepdim=True)

        def update(with_policy):
            i = torch.randint(rows, (B,), device=self.device)
            o, u, reward, after = s[i], a[i], r[i], s2[i]
            with torch.no_grad():
                t, logp = act(after)
                pair = torch.cat([after, t], 1)
                y = reward + 0.99 * (torch.min(targets[0](pair), targets[1](pair)) - temperature.exp() * logp)
            if with_policy:
                t, logp = act(o)
                pair = torch.cat([o, t], 1)
                loss = (temperature.exp().detach() * logp - 0.5 * (critics[0](pair) + critics[1](pair))).mean()
                for p, g in zip(of_policy, torch.autograd.grad(loss, of_policy)):
                    p.grad = g
                steps_policy.step()
                temperature.grad = -(logp.detach() - ACT).mean().reshape(1)
                steps_alpha.step()
            pair = torch.cat([o, u], 1)
            loss = f.mse_loss(critics[0](pair), y) + f.mse_loss(critics[1](pair), y)
            steps_critic.zero_grad(set_to_none=True)
            loss.backward()
            steps_critic.step()
            with torch.no_grad():
                torch._foreach_mul_(of_targets, 0.995)
                torch._foreach_add_(of_targets, of_critics, alpha=0.005)

        if how == "compile":
            update = torch.compile(update)
        if not graph:
            count = [0]

            def step():
                count[0] += 1
                update(count[0] % 20 == 0)

            return step
        plain, full, count = self.captured(lambda: update(False)), self.captured(lambda: update(True)), [0]

        def replay():
            count[0] += 1
            (full if count[0] % 20 == 0 else plain)()

        return replay

    def captured(self, step):
        """A step as a CUDA graph, as the documentation of torch.cuda.graph does it."""
        torch = self.torch
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()

        def replay(kept=step):  # the graph has the addresses of what step holds, not a reference
            graph.replay()

        return replay

    def make(self, name, how):
        f = self.torch.nn.functional
        table = {
            "critic": lambda: self.critics(1, how), "twin": lambda: self.critics(2, how), "redq10": lambda: self.critics(10, how),
            "denoiser-1024": lambda: self.denoiser(1024, f.relu, how), "denoiser-2048": lambda: self.denoiser(2048, f.mish, how),
        }
        if name == "sac":
            return self.sac(how)
        if name == "ppo-act":
            return frames.Frames(self).acting(how)
        if name == "env-step":
            update = self.sac(how)
            return lambda: [update() for _ in range(20)]
        if name.startswith("sample-"):
            dim, rows = (int(n) for n in name[len("sample-"):].split("x"))
            step = self.sample(dim, rows, f.relu if dim == 1024 else f.mish, how)
        elif name in frames.WORKLOADS:
            step = frames.Frames(self).make(name, how)
        else:
            step = table[name]()
        return self.captured(step) if how == "graph" else step

    def time(self, step, rounds=3):
        found = []
        for _ in range(3):
            step()
        self.wait()
        for _ in range(rounds):
            n, start = 0, time.perf_counter()
            while time.perf_counter() - start < self.round or n < 3:
                step()
                n += 1
                if n % 20 == 0:
                    self.wait()
            self.wait()
            found.append((time.perf_counter() - start) / n * 1e3)
        return sorted(found)[len(found) // 2]

    def one(self, name, how, precision):
        """Milliseconds of a workload, with the better of two Adams where it has one."""
        torch, found = self.torch, {}
        both = self.device.type == "cuda" and not name.startswith("sample-") and name != "ppo-act"
        for self.kind in ["foreach", "fused"] if both else ["foreach"]:
            try:
                with torch.autocast(self.device.type, torch.bfloat16, enabled=precision == "bf16", cache_enabled=how != "graph"):
                    found[self.kind] = self.time(self.make(name, how))
            except Exception as e:  # one way must not hide the others
                found["error"] = f"{self.kind}: {type(e).__name__}: {e}".splitlines()[0][:200]
            if self.device.type == "cuda":
                torch.cuda.empty_cache()
        times = {k: v for k, v in found.items() if k != "error"}
        if times:
            found["ms"] = min(times.values())
        return found


def main():
    device, how, precision, round = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
    peer = Torch(device, round)
    peer.torch.backends.cuda.matmul.allow_tf32 = peer.torch.backends.cudnn.allow_tf32 = precision != "fp32"
    peer.torch.backends.cudnn.benchmark = True  # the quickest convolutions, found in the rounds that are not counted
    print(json.dumps({"torch": peer.torch.__version__}), flush=True)
    for name in sys.argv[5:]:
        print(json.dumps({"workload": name, **peer.one(name, how, precision)}), flush=True)


if __name__ == "__main__":
    main()
