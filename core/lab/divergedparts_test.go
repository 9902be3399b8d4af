package lab

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/relevance"
	"pgrlab/core/run"
)

// blownUp are runs in which one part diverges, by the part, with the words that say so.
var blownUp = map[string]struct {
	set  func(*config.Config)
	want string // how the error begins and, after …, how it ends
}{
	"curiosity": {func(c *config.Config) {
		icm := relevance.DefaultICM()
		icm.Cadence, icm.Hidden, icm.Batch, icm.LR = relevance.Cadence{Every: 4, Warmup: 3}, 8, 8, 1e18
		c.Relevance = c.Relevance.With("curiosity", icm)
	}, "the curiosity model diverged at step …: lower curiosity.lr"},
	"rnd": {func(c *config.Config) {
		rnd := relevance.DefaultRND()
		rnd.Cadence, rnd.Hidden, rnd.Features, rnd.Batch, rnd.LR = relevance.Cadence{Every: 4, Warmup: 5}, 8, 4, 8, 1e18
		c.Relevance, c.Knobs.Relevance = c.Relevance.With("rnd", rnd), "rnd"
	}, "the rnd model diverged at step …: lower rnd.lr"},
	// F of rows that are far away overflows, though no update of the model has diverged.
	"scores": {func(c *config.Config) {
		icm := relevance.DefaultICM()
		icm.Cadence, icm.Hidden, icm.Batch, icm.LR = relevance.Cadence{Every: 40, Warmup: 1}, 8, 8, 1e12
		c.Relevance = c.Relevance.With("curiosity", icm)
	}, "the curiosity model diverged at step …: lower curiosity.lr"},
	"head": {func(c *config.Config) {
		c.Generator.Head = generative.HeadConfig{Kind: generative.HeadTransition, Width: 8, Layers: 1, Batch: 8, LR: 1e18}
	}, "the generator's head diverged at step 12 …: lower generator.head.lr"},
	"denoiser": {func(c *config.Config) {
		c.Knobs.LRGenerator, c.Generator.WeightDecay, c.Generator.ClipNorm = 1, 1e18, 0
	}, "the generator diverged at step 12 …: lower lr_generator"},
	"sampler": {func(c *config.Config) { c.Generator.Rho = 1e-18 }, // the noise levels overflow
		"the generator's sampler diverged at step 12 …: lower generator.sigma_max or guidance"},
	"vae": {func(c *config.Config) {
		c.Method, c.Generator.Kind, c.Knobs.LRGenerator, c.Knobs.GeneratorSteps = "pgr-vae", "vae", 1, 400
	}, "the generator diverged at step 12 …: lower lr_generator"},
	"agent": {func(c *config.Config) {
		withoutGenerator(c)
		c.Steps, c.Agent.Hidden = 200, []int{16, 16, 16, 16}
		c.Knobs.UTD, c.Knobs.LRActor, c.Knobs.LRCritic, c.Knobs.Tau = 20, 1, 1, 1
	}, "the agent diverged at step …: lower lr_actor or lr_critic"},
}

// Whatever part of a run that no one watches diverges, the run ends with what it was and what helps,
// and the run can be gone on with from there: nothing that was collected is lost.
func TestARunThatDivergesSaysWhatAndKeepsItsData(t *testing.T) {
	for part, c := range blownUp {
		t.Run(part, func(t *testing.T) {
			conf := realConfig()
			conf.Evaluation.Every = 0
			c.set(&conf)
			dev := testDevice(t)
			dir := t.TempDir() + "/run"
			folder := created(t, dir)
			l, err := New(context.Background(), conf, newWorld().task(), dev, folder)
			if err != nil {
				t.Fatal(err)
			}
			l.OnFault(FaultFail)
			err = l.Run(context.Background())
			begin, end, _ := strings.Cut(c.want, "…")
			if err == nil || !strings.HasPrefix(err.Error(), begin) || !strings.HasSuffix(err.Error(), end) {
				t.Fatalf("%v, want %s", err, c.want)
			}
			t.Log(err)
			found, _ := bodies[event.Diverged](l)
			if len(found) != 1 || found[0].Program == "" || found[0].Position.Step == 0 {
				t.Errorf("in the journal: %+v", found)
			}
			at, rows := l.Snapshot().Step, l.x.first().Real.Len()
			if folder, err = run.Open(dir); err != nil {
				t.Fatal(err)
			}
			again, _, err := Restore(context.Background(), conf, newWorld().task(), dev, folder, Resumption{Saving: Saving{Every: time.Hour}})
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			if got := fmt.Sprint(again.x.Step, again.x.first().Real.Len()); got != fmt.Sprint(at, rows) || rows == 0 {
				t.Errorf("it goes on from step and rows %s, want %d %d", got, at, rows)
			}
		})
	}
}
