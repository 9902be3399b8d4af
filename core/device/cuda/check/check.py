#!/usr/bin/env python3
"""What a GPU makes of pgrlab: are all kernels right on it, and how fast are they beside PyTorch?

    python3 check.py [--gpu 0] [--minutes 8.5] [--compile]
    python3 check.py --study design|cycle
    python3 check.py --rehearse

It stands in a folder that `make gpu-bundle` made, beside pgrlab and cuda.test, and needs
a GPU and NVIDIA's driver; PyTorch for the comparison, nvidia-smi for a few words about
the card and compute-sanitizer for its checks, where they are there: no Go, no network, no
CUDA toolkit. What matters most comes first:

  1. what the machine is; all kernels compiled: time, registers, spilled bytes;
  2. every tile and whole gradient steps at their true sizes against the CPU, in fp32, tf32
     and bf16; then the tests of core/device/cuda one by one, and which kernels none of
     them has launched;
  3. the times of pgrlab's workloads and of PyTorch's in a CUDA graph, tf32 and bf16, and
     where the time of the large ones goes;
  4. two short runs of pgr-curiosity on cheetah-run, and what a whole one would take, and
     one from frames;
  5. compute-sanitizer on a few tests; the times in fp32, and of PyTorch without a graph.

Each step is a process of its own with a time limit, so that one that fails, crashes or
hangs does not keep the others from being seen. Results are in gpu-check.json after each
step, everything that was said in gpu-check.log. Status 1 if a step failed, or there was
no time for a check.

With --study it makes one of the studies of studies.py instead: what each way to need fewer
launches is worth, or a ninth of a run of scale release without a projection.

With --rehearse all of it runs without a GPU, in the interpreter and on the CPU, with a
failure, a hang and a crash of which everything else must be reported: what that says is
only that this program works.
"""
import argparse
import json
import os
import platform
import re
import shutil
import sys
import tempfile

from steps import Check, lines, tested
from studies import study

HERE = os.path.dirname(os.path.abspath(__file__))
WORKLOADS = ["nop", "critic", "twin", "redq10", "sac", "env-step", "act", "icm", "denoiser-1024", "denoiser-2048",
             "sample-2048x4096", "sample-1024x100000", "sample-2048x100000", "encoder-fit", "drqv2", "drqv2-demo", "ppo-rays", "ppo-rgb84", "ppo-act"]
OURS_ALONE = ("nop", "act", "icm")  # PyTorch has no counterpart here
PROFILED = ["denoiser-1024", "denoiser-2048", "redq10", "encoder-fit", "drqv2", "drqv2-demo", "ppo-rgb84", "sample-2048x4096", "nop"]
PAPER_HOURS = 4.35  # of a run of 100,000 steps, PGR (Wang et al. 2025), appendix on time and memory
STEPS = [f"{p}/{w}" for w in ("redq10", "denoiser-2048", "denoiser-1024", "encoder-demo", "encoder-fit") for p in ("tf32", "bf16", "fp32")]
LARGE = ["TestTiles", "TestSteps", "TestKernelsCompile"]  # tests that have steps of their own
SANITIZED = "^(TestFills|TestTensorsStayOnTheDevice|TestSampleBatch|TestStackFrames|TestASequence|TestSumsOfManyBlocks|TestDrQ|TestDrQOfStoredFrames|"\
            "TestGradientsTogether|TestResidualsStandInPlace|TestStacksOfLargeGradients|TestLaPropGolden|TestAProgramBesideOthers)$"

# What is trained: short forms of scales, what a whole run has of each part, and a run from
# frames. start is the scale's start_steps.
FRAMES = {"scale": "demo", "flags": ["--task", "cartpole-swingup", "--observation", "pixels"], "start": 499, "generator_steps": 300}
RUNS = {
    "cpu": {"steps": 6_000, "start": 5_000, "refit_every": 5_500, "generator_steps": 5_000, "samples": 50_000, "limit": 60, "whole_fit": 18_800, "whole_samples": 100_000},
    "frames": {**FRAMES, "steps": 750, "refit_every": 650, "samples": 10_000, "limit": 60},
    "release": {"steps": 6_000, "start": 5_000, "refit_every": 5_500, "generator_steps": 3_000, "samples": 100_000, "limit": 75, "whole_fit": 100_000, "whole_samples": 1_000_000},
}
REHEARSED = {
    "demo": {"steps": 2_000, "start": 1_000, "utd": 1, "refit_every": 1_500, "generator_steps": 20, "samples": 256, "sampler_steps": 4, "limit": 120, "whole_fit": 3_000, "whole_samples": 10_000},
    "frames": {**FRAMES, "steps": 512, "refit_every": 506, "generator_steps": 20, "samples": 256, "sampler_steps": 4, "limit": 120},
}
REFITS = 9  # of a whole run, every 10,000 of 100,000 env steps: the last one would be for no step
JOBS = max(1, min(4, (os.cpu_count() or 1) // 4))  # checks at a time; each computes on the CPU too
INJECTED = {"tile fp32/32x32": "fail", "test TestTemperature": "hang", "bench cpu critic": "crash"}


def at(name):
    return os.path.join(HERE, name)


def facts(check, gpu):
    """What the machine is; nothing of it is needed."""
    found = {"platform": platform.platform(), "python": sys.version.split()[0], "cpus": os.cpu_count()}
    fields = ["name", "uuid", "driver_version", "memory.total", "memory.free", "compute_cap", "clocks.max.sm", "clocks.sm", "power.limit", "pcie.link.gen.max"]
    if shutil.which("nvidia-smi") and gpu is not None:
        check.step("nvidia-smi", ["nvidia-smi", "-i", str(gpu), "--query-gpu=" + ",".join(fields), "--format=csv,noheader"], 20,
                   read=lambda said: dict(zip(fields, (v.strip() for v in said.strip().split(",")))))
    check.step("devices", [at("pgrlab"), "list", "devices", "--json"], 30, read=lambda said: {"devices": json.loads(said[said.index("["):said.rindex("]") + 1])})
    check.report["machine"] = found
    check.say(json.dumps(found))


def test(name, pattern, limit, read=tested):
    """A step that runs tests of core/device/cuda."""
    return {"name": name, "command": [at("cuda.test"), "-test.v", "-test.count=1", f"-test.timeout={limit + 5}s", "-test.run=" + pattern], "limit": limit, "read": read}


def compiled(said):
    files = [json.loads(line) for line in re.findall(r"compiled: (\{.*\})", said)]
    kernels = {k: v for f in files for k, v in f["kernels"].items()}
    spilled = {k: v["local"] for k, v in kernels.items() if v["local"] > 0}
    tiles = re.search(r"tiles: (\{.*\})", said)
    return {**tested(said), "tiles": json.loads(tiles.group(1)) if tiles else {}, "files": {f["file"]: f["seconds"] for f in files}, "kernels": kernels, "spilled": spilled}


def checks(check, device_limit, jobs, only_tiles=False):
    """Are all kernels right? After the first step, which fills the cache of compiled kernels,
    several are checked at a time: nothing here is timed."""
    found = check.step(**test("compile", "^TestKernelsCompile$", 90, compiled))
    if found.get("kernels"):
        check.say(f"    {len(found['kernels'])} kernels in {sum(found['files'].values()):.1f} s; with memory beside their registers: {found['spilled'] or 'none'}")
    listed = check.step("list tests", [at("cuda.test"), "-test.list=."], 30, read=lambda said: {"tests": re.findall(r"^Test\w+$", said, re.M)})
    steps = [test(f"tile {precision}/{name}", f"^TestTiles$/^{precision}$/^{name}$", device_limit) for precision, names in found.get("tiles", {}).items() for name in names]
    steps = steps or [test("tiles", "^TestTiles$", device_limit)]
    steps += [test("step " + name, "^TestSteps$/^" + "$/^".join(name.split("/")) + "$", device_limit) for name in ([] if only_tiles else STEPS)]
    steps += [test("test " + name, f"^{name}$", device_limit) for name in listed.get("tests", []) if name not in LARGE]
    check.steps(steps, jobs)
    launched = {k for r in check.report["steps"].values() for k in r.get("launched", [])}
    if launched:
        check.report["unlaunched"] = sorted(set(found.get("kernels", {})) - launched)
        check.say(f"kernels that no check has launched: {', '.join(check.report['unlaunched']) or 'none'}")


def on(device, precision):
    """pgrlab's flags; the CPU has one precision."""
    return ["--device", device] + (["--precision", precision] if device != "cpu" else [])


def ours(check, device, precision, workloads, round):
    """pgrlab's workloads in one precision, each by itself."""
    column = check.report["ms"].setdefault("pgrlab " + precision, {})
    for name in workloads:
        command = [at("pgrlab"), "bench", "--json", "--rounds", "3", "--round", f"{round}s", *on(device, precision), name]
        r = check.step(f"bench {device if device == 'cpu' else precision} {name}", command, 30, read=lambda said: {"result": lines(said)[-1]})
        column[name] = r.get("result", {"error": "see its step"})


def peer(check, device, how, precision, workloads, round):
    """PyTorch's in one way and precision; one that hangs or crashes does not take those after it along."""
    column, left, attempt = check.report["ms"].setdefault(f"{how} {precision}", {}), [w for w in workloads if w not in OURS_ALONE], 0
    while left and attempt < 3:
        name = f"torch {how} {precision}" + (f", from {left[0]} on" if attempt else "")
        r = check.step(name, [sys.executable, at("peer.py"), device, how, precision, str(round), *left], min(90, 20 + 7 * len(left)), read=lambda said: {"results": lines(said)})
        results = r.get("results", [])
        if not results:  # no PyTorch, or none that works: the log says why
            return
        check.report["torch"] = results[0].get("torch")
        for found in results[1:]:
            column[found.pop("workload")] = found
        if r.get("ok"):
            return
        stuck = left[len(results) - 1] if len(results) <= len(left) else left[-1]
        column.setdefault(stuck, {"error": "it crashed or hung: see its step"})
        left, attempt = left[left.index(stuck) + 1:], attempt + 1


def training(check, device, precision, name, sets):
    """A short run with one refit: what each part takes, and a whole run by that."""
    flags = sets.get("flags", ["--task", "cheetah-run"])
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "run")
        command = [at("pgrlab"), "train", *flags, "--method", "pgr-curiosity", "--scale", sets.get("scale", name), "--out", out, "--steps", str(sets["steps"]), *on(device, precision)]
        for knob in ("utd", "refit_every", "generator_steps", "samples", "sampler_steps"):
            if knob in sets:
                command += ["--set", f"{knob}={sets[knob]}"]
        r = check.step(f"train {name} {precision}", command, sets["limit"])
        if "seconds" not in r:
            return
        events = []
        try:
            with open(os.path.join(out, "events.jsonl"), encoding="utf-8") as f:
                events = [json.loads(line) for line in f if line.endswith("\n")]
        except (OSError, ValueError) as e:
            r["journal"] = str(e)
    r.update(parts(events, sets))
    check.save()
    if "each" in r:
        check.say("    seconds of one each: " + ", ".join(f"{k} {v:.4g}" for k, v in r["each"].items()))
    if "hours" in r:
        check.say(f"    a whole run by that: {r['hours']:.2f} h (the paper's: {PAPER_HOURS} h), of it " + ", ".join(f"{k} {v:.2f} h" for k, v in r["hours_of"].items()))


def parts(events, sets):
    """Seconds of each part, from what all perf lines of a journal say was spent since the
    one before; with all of them, hours of a whole run."""
    perf = [e for e in events if e.get("type") == "perf"]
    if not perf:
        return {}
    spent = {}
    for e in perf:
        for part, seconds in e["spent_s"].items():
            spent[part] = spent.get(part, 0) + seconds
    step = perf[-1]["step"]
    refits, evaluations = (sum(e.get("type") == kind and e.get("step", 0) <= step for e in events) for kind in ("refit", "evaluated"))
    counts = {"agent": step - sets["start"], "models": step - sets["start"], "fit": refits * sets["generator_steps"], "generate": refits * sets["samples"], "evaluate": evaluations, "act": step}
    each = {k: spent[k] / n for k, n in counts.items() if n > 0 and spent.get(k)}
    found = {"spent": spent, "each": each}
    if "fit" in each and "generate" in each and "whole_fit" in sets:
        whole = {"agent": 95_000, "models": 95_000, "fit": REFITS * sets["whole_fit"], "generate": REFITS * sets["whole_samples"], "evaluate": 100, "act": 100_000}
        found["hours_of"] = {k: v * whole[k] / 3600 for k, v in each.items()}
        found["hours"] = sum(found["hours_of"].values())
    return found


def sanitize(check):
    tool = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path="/usr/local/cuda/bin")
    for kind in ("memcheck", "racecheck") if tool else ():
        check.step("sanitizer " + kind, [tool, "--tool", kind, "--error-exitcode", "9", at("cuda.test"), "-test.v", "-test.run=" + SANITIZED], 60, read=tested)


def table(check):
    """Milliseconds of all, workloads downwards."""
    ms = check.report["ms"]
    columns = [c for c in ms if ms[c]]
    text = "\nmilliseconds a step\n" + " " * 20 + "".join(f"{c:>14}" for c in columns)
    for name in WORKLOADS:
        cells = [ms[c].get(name, {}) for c in columns]
        text += f"\n{name:20}" + "".join(f"{r['ms']:14.4f}" if "ms" in r else " " * 13 + ("!" if "error" in r else "-") for r in cells)
    for name in WORKLOADS:
        flops = next((r["gflops"] * r["ms"] * 1e6 for r in (ms[c].get(name, {}) for c in columns) if r.get("gflops")), 0)
        if name.startswith("sample-") and flops:
            text += f"\nTFLOP/s of {name}: " + ", ".join(f"{c} {flops / ms[c][name]['ms'] / 1e9:.0f}" for c in columns if "ms" in ms[c].get(name, {}))
    check.say(text)


def on_gpu(check, args):
    device = f"cuda:{args.gpu}"
    facts(check, args.gpu)
    checks(check, 40, JOBS)
    ours(check, device, "tf32", WORKLOADS, 0.3)
    peer(check, device, "graph", "tf32", WORKLOADS, 0.3)
    ours(check, device, "bf16", WORKLOADS, 0.3)
    peer(check, device, "graph", "bf16", WORKLOADS, 0.3)
    check.step("profile", [at("pgrlab"), "bench", "--profile", *on(device, "tf32"), *PROFILED], 30, read=lambda said: {"profile": said})
    for name, sets in RUNS.items():
        training(check, device, "tf32", name, sets)
    sanitize(check)
    ours(check, device, "fp32", WORKLOADS, 0.3)
    for how, precision in [("graph", "fp32")] + [(how, p) for how in ["eager"] + ["compile"] * args.compile for p in ("tf32", "bf16", "fp32")]:
        peer(check, device, how, precision, WORKLOADS, 0.3)


def rehearsal(check):
    small = ["nop", "critic", "act"]
    facts(check, None)
    checks(check, 120, 2, only_tiles=True)
    ours(check, "cpu", "fp32", small, 0.05)
    peer(check, "cpu", "eager", "fp32", small, 0.05)
    check.step("profile", [at("pgrlab"), "bench", "--profile", "critic", "nop"], 60, read=lambda said: {"profile": said})
    for name, sets in REHEARSED.items():
        training(check, "cpu", "fp32", name, sets)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--gpu", type=int, default=0, help="index, as nvidia-smi counts")
    p.add_argument("--minutes", type=float, default=8.5, help="begin no step after so many")
    p.add_argument("--compile", action="store_true", help="also torch.compile, which takes minutes by itself")
    p.add_argument("--json", default="gpu-check.json", help="where the results go; what was said goes beside it")
    p.add_argument("--study", choices=("design", "cycle"), help="one of two studies instead of the whole check")
    p.add_argument("--rehearse", action="store_true", help="everything without a GPU, with a failure, a hang and a crash")
    args = p.parse_args()
    # Kernels are compiled once, not in each process; with a home that cannot be written to, too.
    environment = dict(os.environ, CUDA_DEVICE_ORDER="PCI_BUS_ID", CUDA_CACHE_PATH=at("kernels"), CUDA_CACHE_MAXSIZE=str(1 << 30), PYTHONUNBUFFERED="1")
    environment.pop("PGRLAB_GPU", None)
    if not args.rehearse:
        environment["PGRLAB_GPU"] = str(args.gpu)
    check = Check(args.json, args.minutes, environment, INJECTED if args.rehearse else {})
    if args.rehearse:
        rehearsal(check)
    elif args.study:
        study(check, args.study, args, at, on, facts, peer, WORKLOADS)
    else:
        on_gpu(check, args)
    table(check)
    check.save()
    failed = check.failed()
    check.say(f"\n{len(check.report['steps'])} steps, {len(failed)} failed: {', '.join(failed) or 'none'}\nwritten: {args.json}")
    if args.rehearse:
        sys.exit(not as_injected(check, failed))
    unchecked = [name for name, r in check.report["steps"].items() if "skipped" in r and name.startswith(("compile", "tile", "step", "list", "test"))]
    if unchecked:
        check.say("unchecked: " + ", ".join(unchecked))
    sys.exit(bool(failed or unchecked or check.report.get("unlaunched")))


def as_injected(check, failed):
    """A rehearsal is right when what was injected, and PyTorch where there is none, is all that failed."""
    without_torch = "torch" not in check.report
    others = [name for name in failed if name not in INJECTED and not (without_torch and name.startswith("torch "))]
    steps = check.report["steps"]
    right = steps["tile fp32/32x32"].get("status") == 3 and steps["test TestTemperature"].get("timed_out") and steps["bench cpu critic"].get("signal") == "SIGSEGV"
    left_out = [name for name, r in steps.items() if "skipped" in r]
    check.say(f"the rehearsal {'went as it should' if right and not others and not left_out else 'went wrong: ' + ', '.join(others + left_out)}")
    return right and not others and not left_out


if __name__ == "__main__":
    main()
