"""Steps of a check: each a process of its own with a time limit, whose results are on
the disk before the next one begins."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

KEPT = 6_000  # characters of a step's output that its result has; the log has all


class Check:
    """A list of steps under way, and what they found.

    A step that fails, crashes or hangs ends nothing but itself. INJECTED, for
    rehearsals, names steps that are replaced by a process that does one of these.
    """

    def __init__(self, path, minutes, environment, injected=()):
        self.path, self.environment, self.injected = path, environment, dict(injected)
        self.end = time.monotonic() + 60 * minutes
        self.report = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "steps": {}, "ms": {}}
        self.log = open(os.path.splitext(path)[0] + ".log", "w", encoding="utf-8")
        self.lock = threading.RLock()  # of the report, the log and what is printed
        self.save()

    def save(self):
        """The report is on the disk as a whole, or the one before is."""
        fresh = self.path + ".tmp"
        with self.lock:
            with open(fresh, "w", encoding="utf-8") as f:
                json.dump(self.report, f, indent=1)
                f.flush()
                os.fsync(f.fileno())
            os.replace(fresh, self.path)

    def say(self, text):
        with self.lock:
            print(text, flush=True)
            self.log.write(text + "\n")
            self.log.flush()

    def steps(self, steps, jobs):
        """Runs steps, each a dict of step's arguments, as many at a time as JOBS says."""
        with ThreadPoolExecutor(jobs) as pool:
            for done in [pool.submit(self.step, **s) for s in steps]:
                done.result()

    def left(self):
        return self.end - time.monotonic()

    def step(self, name, command, limit, environment=None, read=None):
        """Runs a step and returns its result: status (None if it was killed), seconds, said,
        and what READ makes of its output. A step for which there is no time is left out, and one
        during which the check's time ends is cut off; neither has failed."""
        if self.left() < min(limit, 10):
            result = {"skipped": "there was no time left"}
            with self.lock:
                self.report["steps"][name] = result
                self.save()
                self.say(f"{name}: left out, there is no time")
            return result
        begins = at_once
        if name in self.injected:
            command = injection(self.injected[name])
            if self.injected[name] == "hang":
                limit, begins = 2, at_first_output
        left = max(1, self.left())
        result, output = run(command, min(limit, left), {**self.environment, **(environment or {})}, begins)
        if result.get("timed_out") and left < limit:
            result["skipped"] = "there was no time left for the rest"
        if read:
            try:
                result.update(read(output))
            except Exception as e:  # output cut off in the middle, say
                result["unread"] = f"{type(e).__name__}: {e}"
        result["ok"] = result["status"] == 0 and "unread" not in result
        if not result["ok"]:
            result["said"] = output[-KEPT:]
        with self.lock:
            self.log.write(f"\n==== {name}: {' '.join(command)}\n{output}\n")
            self.report["steps"][name] = result
            self.save()
            self.say(f"{name}: {verdict(result)}, {result['seconds']:.1f} s")
            if not result["ok"]:
                self.say("".join(f"    {line[:300]}\n" for line in output.splitlines()[-12:]).rstrip())
        return result

    def failed(self):
        return [name for name, r in self.report["steps"].items() if not r.get("ok") and "skipped" not in r]


def verdict(result):
    if "skipped" in result:
        return "cut off, there is no time"
    if result.get("timed_out"):
        return "HANGS, killed"
    if result.get("signal"):
        return f"CRASHED ({result['signal']})"
    if result["status"] != 0:
        return f"FAILED (status {result['status']})"
    if "unread" in result:
        return f"NOT UNDERSTOOD ({result['unread']})"
    return "ok"


def at_once(p, said):
    """When the time of a step begins."""


def at_first_output(p, said):
    """However long the process takes to start, what it prints before it hangs is to be reported."""
    while p.poll() is None and os.fstat(said.fileno()).st_size == 0:
        time.sleep(0.01)


def run(command, seconds, environment, begins=at_once):
    """A process in a session of its own, which is killed with all that it has started. BEGINS
    returns when its SECONDS begin."""
    start = time.monotonic()
    result = {"status": None, "seconds": 0.0}
    with tempfile.TemporaryFile() as said:
        try:
            p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, env=environment, start_new_session=True)
        except OSError as e:
            return {"status": 127, "seconds": 0.0}, str(e)
        try:
            begins(p, said)
            status = p.wait(seconds)
            result["status"] = status if status >= 0 else None
            if status < 0:
                result["signal"] = signal.Signals(-status).name
        except subprocess.TimeoutExpired:
            result["timed_out"] = True
        kill(p)
        said.seek(0)
        output = said.read().decode(errors="replace")
    result["seconds"] = round(time.monotonic() - start, 2)
    return result, output


def kill(p):
    """Ends a process and its children; one that is stuck in a driver is left behind."""
    try:
        os.killpg(p.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    try:
        p.wait(5)
    except subprocess.TimeoutExpired:
        pass


INJECTIONS = {
    "fail": "import sys; print('injected failure'); sys.exit(3)",
    "hang": "import time, subprocess; subprocess.Popen(['sleep', '600']); print('injected hang', flush=True); time.sleep(600)",
    "crash": "import os, signal; print('injected crash', flush=True); os.kill(os.getpid(), signal.SIGSEGV)",
}


def injection(kind):
    return [sys.executable, "-c", INJECTIONS[kind]]


def tested(output):
    """What Go's tests say with -test.v."""
    results = re.findall(r"^\s*--- (PASS|FAIL|SKIP): (\S+)", output, re.M)
    found = {"passed": sum(w == "PASS" for w, _ in results), "failed": [n for w, n in results if w == "FAIL"], "left_out": [n for w, n in results if w == "SKIP"]}
    launched = re.search(r"^launched: (.*)$", output, re.M)
    if launched:
        found["launched"] = launched.group(1).split()
    if not results:
        raise ValueError("no test ran")
    return found


def lines(output):
    """The objects of a program that writes one a line."""
    return [json.loads(line) for line in output.splitlines() if line.startswith("{") and line.endswith("}")]
