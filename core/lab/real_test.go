package lab

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/tiny"
)

// realConfig is a run of the real parts, as small as possible.
func realConfig() config.Config { return tiny.Config() }

// realRun plays a run of the real parts in a folder on disk. The work is divided among all workers,
// however little it is.
func realRun(t *testing.T, c config.Config, threads int) (*Lab, string) {
	t.Helper()
	dev := cputest.New(t, cpu.Options{Threads: threads, Family: "go", LeastShare: 1})
	return runOn(t, c, dev)
}

func runOn(t *testing.T, c config.Config, dev device.Device) (*Lab, string) {
	t.Helper()
	dir := t.TempDir() + "/run"
	folder := created(t, dir)
	l, err := New(context.Background(), c, worldOf(&c), dev, folder)
	if err != nil {
		t.Fatal(err)
	}
	l.OnFault(FaultFail)
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return l, journalOf(t, dir)
}

// everyFunction is a run in which every relevance function has its turn.
func everyFunction(t *testing.T) config.Config {
	t.Helper()
	c := realConfig()
	chosen, err := knob.Find("relevance")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range c.Offered(chosen).Choices {
		c.Schedule = append(c.Schedule, fmt.Sprintf("%d:relevance=%s!", 12+2*i, name))
	}
	c.Schedule = append(c.Schedule, "25:ratio=0.75", "12/fit:4:guidance=3")
	c.Knobs.Relevance = "td"
	return c
}

// Every relevance function is used in one run that switches between them; the number of workers
// makes no difference.
func TestRealPartsTogether(t *testing.T) {
	c := everyFunction(t)
	l, first := realRun(t, c, 1)
	for _, threads := range []int{2, 5} {
		if _, other := realRun(t, c, threads); first != other {
			t.Errorf("one worker writes\n%s\n%d write\n%s", first, threads, other)
		}
	}
	refits, _ := bodies[event.Refit](l)
	if len(refits) < 6 {
		t.Errorf("%d refits: %s", len(refits), sequence(l))
	}
	for _, r := range refits {
		if r.Generated != 24 || r.Steps != 12 || !finite(float64(*r.Loss)) {
			t.Errorf("refit %+v", r)
		}
	}
	if refused, _ := bodies[event.Refused](l); len(refused) != 1 || refused[0].Reason != "relevance is td already" && !strings.HasSuffix(refused[0].Reason, "already") {
		t.Logf("refused: %+v", refused)
	}
	if s := l.Snapshot(); s.MixSynthetic != 6 || s.Synthetic != 24 || s.State != event.Finished {
		t.Errorf("in the end: %+v", s)
	}
}

// plainMethods are the methods without a relevance function.
var plainMethods = map[string]func(*config.Config){
	config.MethodSAC: withoutGenerator,
	config.MethodREDQ: func(c *config.Config) {
		withoutGenerator(c)
		c.Method, c.Agent.Critics = config.MethodREDQ, 4
	},
	config.MethodSynthER: func(c *config.Config) { c.Generator.Architecture = generative.ArchitectureSynthER },
	"vae":                func(c *config.Config) { c.Generator.Kind = "vae" },
	"resample":           func(c *config.Config) { c.Generator.Kind = "resample" },
}

// withoutGenerator changes a configuration to plain SAC.
func withoutGenerator(c *config.Config) {
	c.Method, c.Generator.Kind, c.Generator.Conditional = config.MethodSAC, config.GeneratorNone, false
	c.Knobs.Relevance, c.Knobs.Ratio = relevance.None, 0
}

func plainMethod(method string) config.Config {
	c := realConfig()
	c.Method, c.Generator.Conditional, c.Knobs.Relevance = method, false, relevance.None
	plainMethods[method](&c)
	return c
}

func TestMethodsOfRealParts(t *testing.T) {
	for method := range plainMethods {
		c := plainMethod(method)
		l, journal := realRun(t, c, 1)
		if _, other := realRun(t, c, 3); other != journal {
			t.Errorf("%s: one worker writes\n%s\nthree write\n%s", method, journal, other)
		}
		if refits, _ := bodies[event.Refit](l); (len(refits) > 0) != (c.Generator.Kind != config.GeneratorNone) {
			t.Errorf("%s: %d refits", method, len(refits))
		}
		if refits, _ := bodies[event.Refit](l); len(refits) > 0 {
			if learns := refits[0].Steps > 0 && refits[0].Loss != nil; learns != (method != "resample") {
				t.Errorf("%s: %+v", method, refits[0])
			}
		}
		if n := strings.Count(journal, `"type":"evaluated"`); n != 2 {
			t.Errorf("%s: %d evaluations", method, n)
		}
	}
}

func TestWrongPartsAreSaidBeforeARun(t *testing.T) {
	dev := testDevice(t)
	for want, change := range map[string]func(*config.Config){
		"agent: hidden is empty": func(c *config.Config) { c.Agent.Hidden = nil },
		"configuration: generator.noise_share is 0.2, but resample learns nothing": func(c *config.Config) {
			*c = plainMethod("resample")
			c.Generator.NoiseShare, c.Generator.NoiseStd = 0.2, 0.2
		},
		"generator: width is 1":      func(c *config.Config) { c.Generator.Width = 1 },
		"curiosity: hidden is 0":     func(c *config.Config) { changeICM(c, func(i *relevance.ICMConfig) { i.Hidden = 0 }) },
		"configuration: steps is -1": func(c *config.Config) { c.Steps = -1 },
	} {
		c := realConfig()
		change(&c)
		if _, err := New(context.Background(), c, newWorld().task(), dev, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// withVAE changes the generator to a variational autoencoder of other sizes.
func withVAE(c *config.Config, change func(*generative.VAEConfig)) {
	vae := c.Generator.Kinds.Of("vae").(generative.VAEConfig)
	change(&vae)
	c.Generator.Kind, c.Generator.Kinds = "vae", generative.Kinds{"vae": vae}
}
