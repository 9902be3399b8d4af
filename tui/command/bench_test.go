package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
)

// partial is a CPU that cannot do one kind of program.
type partial struct {
	*cpu.Device
	without string
}

func (p partial) Compile(program *device.Program) (device.Executable, error) {
	if program.Name == p.without {
		return nil, errors.New("no memory\nfor it")
	}
	return p.Device.Compile(program)
}

func partialDeps(t *testing.T, without string) Deps {
	d := testDeps()
	d.Tasks = nil // no physics
	d.Device = func(DeviceRequest) (Device, error) {
		c, err := cpu.New(cpu.Options{Threads: 1, Family: "go"})
		return partial{c, without}, err
	}
	return d
}

// A workload that fails is said and counted; the others are timed all the same.
func TestBenchGoesOn(t *testing.T) {
	d := partialDeps(t, "critics")
	run := func(args ...string) (int, string, string) {
		var out, stderr bytes.Buffer
		status := Main(context.Background(), d, append([]string{"bench", "--rounds", "1", "--round", "1us"}, args...), strings.NewReader(""), &out, &stderr)
		return status, out.String(), stderr.String()
	}
	status, out, said := run("critic", "twin", "act")
	if status != StatusFailed || !strings.Contains(out, "\nact ") || strings.Contains(out, "critic ") {
		t.Errorf("status %d\n%s", status, out)
	}
	if strings.Count(said, "no memory for it") != 2 || !strings.Contains(said, "bench critic: ") || !strings.Contains(said, "2 of 3 workloads failed") {
		t.Errorf("it says %q", said)
	}
	status, out, _ = run("--json", "critic", "act")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if status != StatusFailed || len(lines) != 2 {
		t.Fatalf("status %d\n%s", status, out)
	}
	for i, want := range []struct{ workload, err string }{{"critic", "no memory for it"}, {"act", ""}} {
		var got struct {
			Workload, Error string
			MS              float64
		}
		if err := json.Unmarshal([]byte(lines[i]), &got); err != nil || got.Workload != want.workload || !strings.HasSuffix(got.Error, want.err) || (got.MS > 0) != (want.err == "") {
			t.Errorf("%s: %+v, %v", lines[i], got, err)
		}
	}
}
