#!/usr/bin/env python3
"""pgrlab as check.py sees it: what the real one would say, without doing anything. It also
looks whether the checks are on the disk before anything is timed."""
import json
import os
import sys

command, arguments = sys.argv[1], sys.argv[2:]
if command == "list":
    print(json.dumps([{"name": "cpu", "usable": True}], indent=1))
elif command == "bench" and "--profile" in arguments:
    print("critic: 1.0 µs, one part after the other")
elif command == "bench":
    with open("gpu-check.json") as f:  # whole, and with all checks, several of which ran at a time
        checks = [name for name in json.load(f)["steps"] if name.startswith(("tile ", "test "))]
    if len(checks) != 5:
        sys.exit("the results of the checks are not on the disk: " + ", ".join(checks))
    print("a line for people", file=sys.stderr)
    print(json.dumps({"workload": arguments[-1], "ms": 0.5, "best_ms": 0.4, "gflops": 2.0}))
elif command == "train":
    out = arguments[arguments.index("--out") + 1]
    os.makedirs(out)
    with open(os.path.join(out, "events.jsonl"), "w") as f:
        for step, kind, more in [
            (1000, "evaluated", {}), (1000, "perf", {"spent_s": {"act": 2.0, "agent": 0}}),
            (1500, "refit", {}), (1500, "perf", {"spent_s": {"act": 1.0, "agent": 30.0, "fit": 4.0, "generate": 2.56}}),
            (2000, "evaluated", {}), (2000, "perf", {"spent_s": {"act": 1.0, "agent": 20.0, "evaluate": 3.0}}),
        ]:
            f.write(json.dumps({"type": kind, "step": step, **more}) + "\n")
        f.write('{"type": "cut o')
