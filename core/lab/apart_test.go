package lab

import (
	"regexp"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/device/cpu"
	"pgrlab/core/generative"
	"pgrlab/core/testing/mirrortest"
)

// aparts are small runs that together use all programs of a lab.
func aparts(t *testing.T) map[string]config.Config {
	t.Helper()
	all := map[string]config.Config{"every relevance function": everyFunction(t)}
	for method := range plainMethods {
		all[method] = plainMethod(method)
	}
	for method := range variants {
		c := variant(method)
		c.Schedule, _ = turns(&c)
		all[method] = c
	}
	turned := realConfig()
	turned.Generator.Preconditioning, turned.Generator.Init = generative.PreconditioningCovariance, generative.InitPrevious
	turned.Evaluation.AnalyseEvery = 26
	all["axes"] = turned
	return all
}

// weight is how tensors are named that layers compute with, and optimisers.
var weight = regexp.MustCompile(`(\.w|\.b|\.W|\.m|\.v|\.gamma|\.beta|\.running|\.fourier)$`)

// A device that has memory of its own writes the journal that the CPU writes, so
// that host code nowhere reads what it has not fetched, nor changes what it does
// not push. The host's weights are read never, but for the first time.
func TestADeviceApartWritesTheSameJournal(t *testing.T) {
	for name, c := range aparts(t) {
		_, want := realRun(t, c, 1)
		inner, err := cpu.New(cpu.Options{Threads: 1, Family: "go"})
		if err != nil {
			t.Fatal(err)
		}
		dev := mirrortest.New(inner)
		if _, got := runOn(t, c, dev); got != want {
			t.Errorf("%s: a device apart writes\n%s\nthe CPU\n%s", name, got, want)
		}
		for tensor, n := range dev.Reads() {
			if weight.MatchString(tensor) {
				t.Errorf("%s: runs read %d numbers of %s from the host", name, n, tensor)
			}
		}
		inner.Close()
	}
}

// Checkpoints have the device's numbers, and a device takes theirs.
func TestARunApartGoesOnFromBorders(t *testing.T) {
	inner, err := cpu.New(cpu.Options{Threads: 1, Family: "go"})
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	vae := plainMethod("vae")
	for name, c := range map[string]config.Config{"every relevance function": everyFunction(t), "vae": vae} {
		t.Log(name)
		resumeEverywhere(t, 13, func(r record) *Lab {
			p, err := newParts(&c, newWorld().task(), mirrortest.New(inner))
			if err != nil {
				t.Fatal(err)
			}
			l, err := newLab(c, newWorld().task(), r, p, inner.Name(), clock())
			if err != nil {
				t.Fatal(err)
			}
			return l
		})
	}
}
