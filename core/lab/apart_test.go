package lab

import (
	"regexp"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/generative"
	"pgrlab/core/testing/mirrortest"
	"pgrlab/core/testing/racing"
	"pgrlab/core/testing/tiny"
)

// aparts returns small runs that together use all programs of a lab.
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

// weight matches the names of tensors that layers and optimisers compute with.
var weight = regexp.MustCompile(`(\.w|\.b|\.W|\.m|\.v|\.gamma|\.beta|\.running|\.fourier)$`)

// A device with memory of its own writes the same journal as the CPU. So host code nowhere reads
// what it has not fetched, nor changes what it does not push. After their initialisation the host's
// weights are never read.
func TestADeviceApartWritesTheSameJournal(t *testing.T) {
	racing.Skip(t)
	for name, c := range aparts(t) {
		_, want := realRun(t, c, 1)
		dev := mirrortest.New(testDevice(t))
		if _, got := runOn(t, c, dev); got != want {
			t.Errorf("%s: a device apart writes\n%s\nthe CPU\n%s", name, got, want)
		}
		for tensor, n := range dev.Reads() {
			if weight.MatchString(tensor) {
				t.Errorf("%s: runs read %d numbers of %s from the host", name, n, tensor)
			}
		}
	}
}

// Checkpoints hold the device's numbers, and loading puts them on the device.
func TestARunApartGoesOnFromBorders(t *testing.T) {
	inner := tiny.Device(t)
	frames := tiny.Latents()
	frames.Schedule = []string{"12/encode:0:tau=0.5", "14/learn:1:lr_actor=0.01"}
	for name, c := range map[string]config.Config{"every relevance function": everyFunction(t), "vae": plainMethod("vae"), "mbpo-curiosity": variant("mbpo-curiosity"), "max": variant("max"), "frames": frames} {
		t.Log(name)
		resumeEverywhere(t, 13, func(r record) *Lab { return framesOn(t, c, tiny.Task(), mirrortest.New(inner), r) })
	}
}
