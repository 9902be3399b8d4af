#!/usr/bin/env python3
"""What a GPU makes of pgrlab: are all kernels right on it, and how fast are they beside PyTorch?

    python3 check.py [--gpu 0] [--compile] [--minutes 7.5]

It stands in a folder that `make gpu-bundle` made, beside pgrlab and cuda.test, and needs
a GPU, NVIDIA's driver and, for the comparison, PyTorch: no Go, no network, no CUDA
toolkit. In under eight minutes it

  1. runs the tests of core/device/cuda on the GPU: every operation with its gradients,
     whole programs of every method, memory, checks;
  2. times pgrlab's workloads in fp32, tf32 and bf16;
  3. trains some 6,000 steps of pgr-curiosity on cheetah-run at scales cpu and release, with
     a short refit and generation, and says what the journal has of each part, and what a
     whole run of 100,000 steps would take by that;
  4. times the workloads of 2 in PyTorch: eager, captured in a CUDA graph by hand, and with
     --compile under torch.compile, each in the precisions that PyTorch has for it.

It prints tables and writes gpu-check.json. Status 1 if a test failed. With --rehearse all
of it runs on the CPU in short rounds, without the tests: what that says is only that this
program works.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = ["critic", "twin", "redq10", "sac", "env-step", "act", "icm", "denoiser-1024", "denoiser-2048", "sample-1024x100000", "sample-2048x100000"]
PRECISIONS = ["fp32", "tf32", "bf16"]
SAMPLED = 100_000  # rows of one network call when sampling
PAPER_HOURS = 4.35  # of a run of 100,000 steps, PGR (Wang et al. 2025), appendix on time and memory
B, OBS, ACT, WIDTH = 256, 78, 12, 169  # the shapes of core/bench


class Clock:
    """The minutes that there are."""

    def __init__(self, minutes):
        self.end = time.monotonic() + 60 * minutes

    def left(self, most):
        return max(0.0, min(most, self.end - time.monotonic()))


def run(command, seconds, **more):
    """A command's exit status, output and seconds; status None: it took too long."""
    start = time.monotonic()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=max(1, seconds), text=True, **more)
        return done.returncode, done.stdout, time.monotonic() - start
    except subprocess.TimeoutExpired as e:
        said = e.stdout or ""
        return None, said if isinstance(said, str) else said.decode(errors="replace"), time.monotonic() - start
    except OSError as e:
        return 127, str(e), 0.0


def on(device, precision):
    """pgrlab's flags; the CPU has one precision."""
    return ["--device", device] + (["--precision", precision] if device != "cpu" else [])


def describe(gpu):
    fields = ["name", "uuid", "driver_version", "memory.total", "memory.free", "compute_cap", "clocks.max.sm"]
    status, said, _ = run(["nvidia-smi", "-i", str(gpu), "--query-gpu=" + ",".join(fields), "--format=csv,noheader"], 20)
    if status != 0:
        return {"error": said.strip()}
    return dict(zip(fields, (v.strip() for v in said.strip().split(","))))


def tests(gpu, clock):
    """The tests of core/device/cuda on the GPU."""
    status, said, seconds = run([os.path.join(HERE, "cuda.test"), "-test.v", "-test.timeout=170s"], clock.left(180), env=dict(os.environ, PGRLAB_GPU=str(gpu)))
    results = re.findall(r"^\s*--- (PASS|FAIL|SKIP): (\S+)", said, re.M)
    failed = [name for what, name in results if what == "FAIL"]
    passed = sum(what == "PASS" for what, _ in results)
    print(f"\ntests on the GPU: {passed} passed, {len(failed)} failed, {seconds:.0f} s")
    if status != 0:
        print("\n".join(said.splitlines()[-40:]))
    return {"status": status, "passed": passed, "failed": failed, "seconds": seconds, "output": said if status != 0 else ""}


def ours(device, precision, workloads, round, clock):
    """pgrlab's workloads in one precision, rounds of so many seconds."""
    command = [os.path.join(HERE, "pgrlab"), "bench", "--json", "--rounds", "3", "--round", f"{round}s", *on(device, precision), *workloads]
    status, said, _ = run(command, clock.left(60))
    found = {}
    for line in said.splitlines():
        if line.startswith("{"):
            r = json.loads(line)
            found[r["workload"]] = r
    if status != 0:
        print(f"pgrlab bench {precision}: " + "\n".join(said.splitlines()[-3:]))
    return found


class Torch:
    """The same workloads in PyTorch."""

    def __init__(self, device, round):
        import torch

        self.torch, self.device, self.round = torch, torch.device(device), round
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
        return self.torch.optim.Adam(parameters, lr=3e-4, foreach=True, capturable=graph)

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

    def sample(self, dim, act, how):
        net = self.residual(dim, act)
        f = self.torch.compile(net) if how == "compile" else net
        x = self.normal(SAMPLED, WIDTH)

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
        return graph.replay

    def make(self, name, how):
        f = self.torch.nn.functional
        table = {
            "critic": lambda: self.critics(1, how), "twin": lambda: self.critics(2, how), "redq10": lambda: self.critics(10, how),
            "denoiser-1024": lambda: self.denoiser(1024, f.relu, how), "denoiser-2048": lambda: self.denoiser(2048, f.mish, how),
            "sample-1024x100000": lambda: self.sample(1024, f.relu, how), "sample-2048x100000": lambda: self.sample(2048, f.mish, how),
        }
        if name == "sac":
            return self.sac(how)
        if name == "env-step":
            update = self.sac(how)
            return lambda: [update() for _ in range(20)]
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

    def all(self, how, precision, workloads, clock):
        torch, found = self.torch, {}
        torch.backends.cuda.matmul.allow_tf32 = precision != "fp32"
        for name in workloads:
            if name in ("act", "icm") or clock.left(20) < 10:
                continue
            try:
                with torch.autocast(self.device.type, torch.bfloat16, enabled=precision == "bf16", cache_enabled=how != "graph"):
                    found[name] = {"ms": self.time(self.make(name, how))}
            except Exception as e:  # one workload must not hide the others
                found[name] = {"error": f"{type(e).__name__}: {e}".splitlines()[0][:200]}
            if self.device.type == "cuda":
                torch.cuda.empty_cache()
        return found


def training(device, precision, scale, sets, clock):
    """A short run with one refit: what each part takes, and a whole run by that."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "run")
        command = [os.path.join(HERE, "pgrlab"), "train", "--task", "cheetah-run", "--method", "pgr-curiosity", "--scale", scale,
                   "--out", out, "--steps", str(sets["steps"]), *on(device, precision)]
        for knob in ("utd", "refit_every", "generator_steps", "samples", "sampler_steps"):
            if knob in sets:
                command += ["--set", f"{knob}={sets[knob]}"]
        status, said, seconds = run(command, clock.left(sets["seconds"]))
        events = []
        try:
            with open(os.path.join(out, "events.jsonl")) as f:
                events = [json.loads(line) for line in f if line.endswith("\n")]
        except (OSError, ValueError):
            pass
    found = {"status": status, "seconds": seconds, "said": said.splitlines()[-5:] if status not in (0, None) else []}
    print(f"\npgr-curiosity on cheetah-run, scale {scale}, {device}, {precision}: {seconds:.0f} s")
    for line in found["said"]:
        print("  " + line)
    perf = [e for e in events if e.get("type") == "perf"]
    if perf:
        found.update(parts(perf[-1], sets, sum(e.get("type") == "evaluated" for e in events)))
        print("  " + ", ".join(f"{k} {v:.4g}" for k, v in found["each"].items()))
        if "hours" in found:
            print(f"  a whole run by that: {found['hours']:.2f} h (the paper's: {PAPER_HOURS} h), of it " + ", ".join(f"{k} {v:.2f} h" for k, v in found["hours_of"].items()))
        else:
            print("  too short for a refit: no projection")
    return found


def parts(perf, sets, evaluations):
    """Seconds of each part, from the journal's last line of what was spent on what; with all of them, hours of a whole run."""
    spent, learning = perf["spent_s"], perf["step"] - sets["start"]
    counts = {"agent": learning, "models": learning, "fit": sets["generator_steps"], "generate": sets["samples"], "evaluate": evaluations, "act": perf["step"]}
    each = {k: spent[k] / n for k, n in counts.items() if n > 0 and spent.get(k)}
    found = {"perf": perf, "each": each}
    if "fit" in each and "generate" in each:
        whole = {"agent": 95_000, "models": 95_000, "fit": 10 * sets["whole_fit"], "generate": 10 * sets["whole_samples"], "evaluate": 100, "act": 100_000}
        found["hours_of"] = {k: v * whole[k] / 3600 for k, v in each.items()}
        found["hours"] = sum(found["hours_of"].values())
    return found


# What is trained: short forms of two scales, and what a whole run has of each part.
RUNS = {
    "cpu": {"steps": 6_000, "start": 5_000, "refit_every": 5_500, "generator_steps": 5_000, "samples": 50_000, "seconds": 60, "whole_fit": 20_000, "whole_samples": 100_000},
    "release": {"steps": 6_000, "start": 5_000, "refit_every": 5_500, "generator_steps": 3_000, "samples": 100_000, "seconds": 75, "whole_fit": 100_000, "whole_samples": 1_000_000},
}


def table(report):
    """Milliseconds of all, workloads downwards."""
    columns = list(report["ms"])
    print("\nmilliseconds a step\n" + " " * 20 + "".join(f"{c:>16}" for c in columns))
    for name in OURS:
        cells = []
        for c in columns:
            r = report["ms"][c].get(name, {})
            cells.append(f"{r['ms']:16.4f}" if "ms" in r else " " * 15 + ("!" if "error" in r else "-"))
        print(f"{name:20}" + "".join(cells))
    for name in OURS:
        flops = next((r["gflops"] * r["ms"] * 1e6 for r in (report["ms"][c].get(name, {}) for c in columns) if r.get("gflops")), 0)
        if name.startswith("sample-") and flops:
            rates = [f"{c} {flops / report['ms'][c][name]['ms'] / 1e9:.0f}" for c in columns if "ms" in report["ms"][c].get(name, {})]
            print(f"TFLOP/s of {name}: " + ", ".join(rates))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--gpu", type=int, default=0, help="index, as nvidia-smi counts")
    p.add_argument("--minutes", type=float, default=7.5, help="stop after so many")
    p.add_argument("--compile", action="store_true", help="also torch.compile, which takes minutes by itself")
    p.add_argument("--json", default="gpu-check.json", help="where the numbers go")
    p.add_argument("--rehearse", action="store_true", help="everything but the tests, briefly, on the CPU")
    args = p.parse_args()
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    clock = Clock(args.minutes)
    report = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "ms": {}}
    if args.rehearse:
        rehearse(report, clock)
    else:
        check(report, args, clock)
    table(report)
    with open(args.json, "w") as f:
        json.dump(report, f, indent=1)
    print(f"\nwritten: {args.json}")
    sys.exit(report.get("tests", {"status": 0})["status"] != 0)


def check(report, args, clock):
    device = f"cuda:{args.gpu}"
    report["gpu"] = describe(args.gpu)
    print(json.dumps(report["gpu"]))
    report["tests"] = tests(args.gpu, clock)
    for precision in PRECISIONS:
        report["ms"]["pgrlab " + precision] = ours(device, precision, OURS, 0.3, clock)
    report["training"] = {scale: training(device, "tf32", scale, sets, clock) for scale, sets in RUNS.items()}
    pytorch(report, device, ["graph", "eager"] + (["compile"] if args.compile else []), PRECISIONS, OURS, 0.3, clock)


def rehearse(report, clock):
    global SAMPLED
    SAMPLED = 1_000
    few = [w for w in OURS if not w.startswith("sample-")]
    report["ms"]["pgrlab fp32"] = ours("cpu", "fp32", few, 0.1, clock)
    shorter = {"utd": 2, "steps": 6_000, "refit_every": 5_500, "generator_steps": 100, "samples": 512, "sampler_steps": 4}
    report["training"] = {"cpu": training("cpu", "fp32", "cpu", {**RUNS["cpu"], **shorter, "seconds": 200}, clock)}
    pytorch(report, "cpu", ["eager"], ["fp32", "bf16"], OURS, 0.1, clock)


def pytorch(report, device, ways, precisions, workloads, round, clock):
    try:
        torch = Torch(device, round)
        report["torch"] = torch.torch.__version__
        for how in ways:
            for precision in precisions:
                report["ms"][f"{how} {precision}"] = torch.all(how, precision, workloads, clock)
    except Exception as e:  # no PyTorch, or one without CUDA
        report["torch"] = f"{type(e).__name__}: {e}"
        print("without PyTorch: " + report["torch"])


if __name__ == "__main__":
    main()
