package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"strings"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/testing/commandtest"
)

// partial is a CPU that cannot run one kind of program.
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

func partialDeps(t *testing.T, without string) cli.Deps {
	d := commandtest.Deps()
	d.Tasks = nil // no physics
	d.Device = func(cli.DeviceRequest) (cli.Device, error) {
		c, err := cpu.New(cpu.Options{Threads: 1, Family: "go"})
		return partial{c, without}, err
	}
	return d
}

// A workload that fails is reported and counted; the others are timed nevertheless.
func TestBenchGoesOn(t *testing.T) {
	d := partialDeps(t, "critics")
	run := func(args ...string) (int, string, string) {
		var out, stderr bytes.Buffer
		status := Main(context.Background(), d, append([]string{"bench", "--rounds", "1", "--round", "1us"}, args...), strings.NewReader(""), &out, &stderr)
		return status, out.String(), stderr.String()
	}
	status, out, said := run("critic", "twin", "act")
	if status != cli.StatusFailed || !strings.Contains(out, "\nact ") || strings.Contains(out, "critic ") {
		t.Errorf("status %d\n%s", status, out)
	}
	if strings.Count(said, "no memory for it") != 2 || !strings.Contains(said, "bench critic: ") || !strings.Contains(said, "2 of 3 workloads failed") {
		t.Errorf("it says %q", said)
	}
	if !strings.Contains(out, "; a product of 256×256×256 reaches ") || !strings.Contains(out, "OF PEAK") || !regexp.MustCompile(`act .* \d+%\n`).MatchString(out) {
		t.Errorf("without the machine's peak and the share of it:\n%s", out)
	}
	status, out, _ = run("--json", "critic", "act")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if status != cli.StatusFailed || len(lines) != 2 {
		t.Fatalf("status %d\n%s", status, out)
	}
	for i, want := range []struct{ workload, err string }{{"critic", "no memory for it"}, {"act", ""}} {
		var got struct {
			Workload, Error   string
			MS, Share, GFLOPS float64
			Peak              *struct {
				Product float64 `json:"product_gflops"`
				Threads int
			}
		}
		if err := json.Unmarshal([]byte(lines[i]), &got); err != nil || got.Workload != want.workload || !strings.HasSuffix(got.Error, want.err) || (got.MS > 0) != (want.err == "") {
			t.Errorf("%s: %+v, %v", lines[i], got, err)
		}
		if p := got.Peak; want.err == "" && (p == nil || p.Threads != 1 || p.Product <= 0 || math.Abs(got.Share*p.Product/got.GFLOPS-1) > 1e-6) {
			t.Errorf("%s: share of the peak %+v", lines[i], p)
		}
	}
}

// Products have a list of their own.
func TestBenchProductsAreAListOfTheirOwn(t *testing.T) {
	var out, stderr bytes.Buffer
	status := Main(context.Background(), partialDeps(t, ""), []string{"bench", "--products", "act"}, strings.NewReader(""), &out, &stderr)
	if status != cli.StatusUsage || !strings.Contains(stderr.String(), "act is no product of a large layer: leave --products out") {
		t.Errorf("status %d, %q", status, stderr.String())
	}
}

// A profile names the parts of a program; several programs together have no profile.
func TestBenchProfiles(t *testing.T) {
	var out, stderr bytes.Buffer
	status := Main(context.Background(), partialDeps(t, ""), []string{"bench", "--profile", "nop", "act"}, strings.NewReader(""), &out, &stderr)
	if status != cli.StatusFailed || !strings.Contains(out.String(), "nop: ") || !strings.Contains(out.String(), "scale b1") || !strings.Contains(stderr.String(), "profile act: it is several programs") {
		t.Errorf("status %d\n%s%s", status, out.String(), stderr.String())
	}
}
