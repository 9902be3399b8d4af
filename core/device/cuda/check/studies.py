"""Two studies of check.py, each for one visit to a card, where a whole check would take the time.

design: which of the ways to need fewer launches is worth how much (pgrlab bench --without), what a
launch costs, how many processes fill the card under MPS, what each kernel takes by Nsight Compute where it is there, and what a
short release run takes beside the host's part of it.

cycle: the checks that matter, then a ninth of a run of scale release as it is, from step 5,000 to 15,001
with its whole refit, which projects nothing; the same short in bf16, and what its generator makes beside tf32's; then PyTorch.

A row of a study is written as soon as it is there, with the model's time beside it (pgrlab bench --estimate).
"""
import json
import os
import shutil
import statistics
import tempfile

from steps import lines, tested

# What each workload is timed without, one at a time, and without all.
VARIANTS = {
    "env-step": ["several", "sums", "rows"],
    "icm": ["uses", "several", "sums"],
    "env-step-icm": ["beside"],
    "fit-release": ["stacks", "several", "sums", "squares", "places"],
    "ppo-rays": ["several", "sums", "rows"],
    "denoiser-2048": ["stacks", "several", "sums"],
    "denoiser-1024": ["stacks", "several", "sums"],
    "call-release": ["made", "places"],
    "call-release-2048": ["places"],
    "call-release-8192": ["places"],
    "sample-2048x4096": [],
    "launches": [],
    "copy-32": [],
    "copy-800": [],
}
CHECKED = [
    "TestFitsTogether", "TestGradientsTogether", "TestStacksStandTogether", "TestASequence", "TestOwnNumbers",
    "TestAgents", "TestGenerators", "TestPPO", "TestSamplingOnPackedOperands", "TestResidualsStandInPlace",
    "TestMergedProgramsAgree", "TestAProgramBesideOthers", "TestCuriosityInEachPrecision", "TestStacksOfLargeGradients",
    "TestOperationsAgreeWithTheCPU", "TestLaPropGolden", "TestImagination",
]
PROCESSES = (1, 2, 4, 6, 8, 10, 14)
RUN = ["--task", "cheetah-run", "--method", "pgr-curiosity", "--scale", "release"]


class Study:
    """A study with CHECK on a device; AT finds the programs, ON gives pgrlab's flags for a device and precision."""

    def __init__(self, check, at, on, device, variants=VARIANTS, round=0.2):
        self.check, self.at, self.on, self.device, self.variants, self.round = check, at, on, device, variants, round

    def right(self, names, jobs):
        """The tests of what is timed here, several at a time."""
        self.check.steps([{"name": f"test {n}", "command": [self.at("cuda.test"), "-test.v", "-test.count=1", "-test.timeout=65s", f"-test.run=^{n}$"], "limit": 60, "read": tested} for n in names], jobs)

    def once(self, precision, workload, without, turn):
        """The milliseconds of a workload, in a process of its own; None if it failed."""
        off = ["--without", ",".join(without)] if without else []
        command = [self.at("pgrlab"), "bench", "--json", "--rounds", "3", "--round", f"{self.round}s", *self.on(self.device, precision), *off, workload]
        name = f"{precision} {workload} without {','.join(without) or 'nothing'}, turn {turn}"
        return self.check.step(name, command, 30, read=lambda said: {"result": lines(said)[-1]}).get("result", {}).get("ms")

    def design(self, precision):
        """Each variant twice and not in a row: the times of a card drift."""
        found = self.check.report.setdefault("variants", {}).setdefault(precision, {})
        for workload, switches in self.variants.items():
            variants = [[]] + [[s] for s in switches] + ([switches] if len(switches) > 1 else [])
            times = found.setdefault(workload, {})
            for turn in (1, 2):
                for without in variants:
                    ms = self.once(precision, workload, without, turn)
                    times.setdefault("+".join(without) or "as it is", []).append(ms)
                    self.check.save()
            plain = known(times["as it is"])
            for name, all in times.items():
                if known(all) and plain:
                    self.check.say(f"    {precision} {workload} {'as it is' if name == 'as it is' else 'without ' + name}: {statistics.median(known(all)):.4f} ms, {statistics.median(known(all)) / statistics.median(plain):.3f} of as it is, turns {known(all)}")

    def counted(self, precision):
        """The model's table, to be read beside what was timed."""
        command = [self.at("pgrlab"), "bench", "--json", "--estimate", "--precision", precision, *RUN[:6]]
        self.check.step(f"counted {precision}", command, 60, read=lambda said: {"programs": lines(said)})

    def profiled(self):
        """What each kernel takes, by Nsight Compute; nothing where it is not there."""
        if not shutil.which("ncu"):
            self.check.say("no ncu: kernels are not profiled one by one")
            return
        for workload in ("fit-release", "call-release", "env-step", "icm"):
            command = ["ncu", "--graph-profiling", "node", "--clock-control", "none", "--csv", "--metrics", "gpu__time_duration.sum,dram__bytes.sum",
                       "--launch-count", "400", self.at("pgrlab"), "bench", "--rounds", "1", "--round", "1ms", *self.on(self.device, "tf32"), workload]
            self.check.step(f"ncu {workload}", command, 40)

    def filled(self, precision, seconds=5):
        """How many env steps of updates several processes make in a second, under MPS if it runs."""
        for n in PROCESSES:
            command = " & ".join([f"'{self.at('pgrlab')}' bench --json --rounds 1 --round {seconds}s {' '.join(self.on(self.device, precision))} env-step"] * n) + " & wait"
            self.check.step(f"{n} processes", ["sh", "-c", command], 20 + 4 * seconds, read=lambda said: {"each": [r["ms"] for r in lines(said)], "a second": sum(1e3 / r["ms"] for r in lines(said))})

    def trained(self, precision, steps, limit, *more):
        """A run of scale release; returns the lines of its journal, and what it generated."""
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "run")
            command = [self.at("pgrlab"), "train", *RUN, "--steps", str(steps), "--out", out, *self.on(self.device, precision), *more]
            self.check.step(f"release to {steps} {precision}", command, limit, read=lambda said: journal(out))

    def cycle(self, precision, steps=15_001, limit=300):
        self.trained(precision, steps, limit)
        r = self.check.report["steps"][f"release to {steps} {precision}"]
        if r.get("spent"):
            self.check.say("    seconds of " + ", ".join(f"{k} {v:.1f}" for k, v in r["spent"].items() if v))


def known(times):
    return [t for t in times if t is not None]


def journal(out):
    """Seconds of each part, and what the newest generation was like."""
    with open(os.path.join(out, "events.jsonl"), encoding="utf-8") as f:
        events = [json.loads(line) for line in f if line.endswith("\n")]
    spent = {}
    for e in events:
        for part, seconds in e.get("spent_s", {}).items() if e.get("type") == "perf" else ():
            spent[part] = spent.get(part, 0) + seconds
    made = [e for e in events if e.get("type") in ("refit", "generated")]
    return {"spent": spent, "made": made[-2:]}


def study(check, which, args, at, on, facts, peer, workloads):
    """The study of that name on a GPU."""
    s = Study(check, at, on, f"cuda:{args.gpu}")
    facts(check, args.gpu)
    s.right(CHECKED, 6)
    if which == "design":
        for precision in ("tf32", "bf16"):
            s.counted(precision)
            s.design(precision)
        s.profiled()
        s.filled("tf32")
        for precision in ("tf32", "bf16"):
            s.trained(precision, 5_501, 75, "--set", "refit_every=5500", "--set", "generator_steps=3000", "--set", "samples=100000")
        return
    s.cycle("tf32")
    for precision in ("tf32", "bf16"):
        s.trained(precision, 5_502, 60, "--set", "refit_every=5500", "--set", "generator_steps=3000", "--set", "samples=100000")
    for precision in ("tf32", "bf16"):
        peer(check, s.device, "graph", precision, workloads, 0.3)
