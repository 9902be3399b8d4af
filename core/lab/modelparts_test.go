package lab

import (
	"bytes"
	"context"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/relevance"
	"pgrlab/core/testing/racing"
	"pgrlab/core/testing/tiny"
)

// distilling is a run whose F are RND's from frames, with updates of 8 rows in slices of at most that
// many; 0: uncut.
func distilling(slice int) config.Config {
	c := tiny.Latents()
	c.Pixels.Side, c.Pixels.Strides, c.Knobs.Relevance = 36, []int{4, 2}, "rnd"
	own := c.Relevance.Of("rnd").(relevance.RNDConfig)
	own.Slice = slice
	c.Relevance = c.Relevance.With("rnd", own)
	return c
}

// A model whose updates are made in parts makes as many as one whose updates are not, with the same
// losses to rounding, also where a warm-up makes up for updates that it missed. Only its updates have
// positions of their own.
func TestUpdatesInParts(t *testing.T) {
	racing.Skip(t)
	type said struct {
		learning
		losses []float64
		parts  map[int]int // borders by env step
	}
	of := func(slice int) (s said) {
		c := distilling(slice)
		c.Schedule = []string{"11:relevance=td", "19:relevance=rnd"}
		folder := &memoryFolder{}
		l := framesLab(t, c, 1, folder)
		s.parts = map[int]int{}
		borders(t, l, folder, func(_ int, p knob.Position) bool {
			if p.Phase == knob.Model {
				s.parts[p.Step]++
			}
			return false
		})
		s.learning = learningOf(l, "rnd")
		losses, _ := bodies[event.Losses](l)
		for _, line := range losses {
			if line.RND != nil {
				s.losses = append(s.losses, float64(*line.RND))
			}
		}
		return s
	}
	whole, cut := of(0), of(3)
	// Every fourth env step after the random start has an update. Those of 12 and 16 are missed.
	if cut.updates != whole.updates || cut.missed != whole.missed || whole.updates != 4 || len(whole.losses) == 0 {
		t.Errorf("%+v in parts, %+v at once", cut, whole)
	}
	for i, want := range whole.losses {
		if got := cut.losses[i]; got < want*0.999 || got > want*1.001 {
			t.Errorf("loss %d is %g in parts, %g at once", i, got, want)
		}
	}
	if len(whole.parts) != 0 {
		t.Errorf("updates at once have borders: %v", whole.parts)
	}
	if len(cut.parts) != 2 || cut.parts[20] != 3 || cut.parts[24] != 3 {
		t.Errorf("borders of updates in three parts by env step: %v", cut.parts)
	}
}

// A run goes on from every border of updates in parts and of a warm-up in parts, also where F is
// changed there.
func TestUpdatesInPartsGoOnFromEveryBorder(t *testing.T) {
	c := distilling(4)
	c.Steps, c.Evaluation.Every, c.Knobs.GeneratorSteps = 21, 0, 2
	c.Schedule = []string{"12/model:1:relevance=td", "17:relevance=rnd!", "18/score:1:relevance=rnd!", "20/model:0:tau=0.5"}
	phases := resumeFrom(t, func(_ int, p knob.Position) bool {
		return p.Step > 11 && p.I == 1 && (p.Phase == knob.Model || p.Phase == knob.Score)
	}, func(r record) *Lab { return framesLab(t, c, 1, r) })
	if phases[knob.Model] != 2 || phases[knob.Score] < 2 {
		t.Errorf("too few borders: %v", phases)
	}
}

// One worker and two write the same.
func TestUpdatesInPartsByAnyWorkers(t *testing.T) {
	var journals [2]string
	for i := range journals {
		c, folder := distilling(3), &memoryFolder{}
		c.Members, c.Steps, c.Evaluation.Every = 2, 14, 0
		if err := framesLab(t, c, i+1, folder).Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		journals[i] = folder.canonical(t)
	}
	if journals[0] != journals[1] {
		t.Errorf("one worker writes\n%s\ntwo write\n%s", journals[0], journals[1])
	}
}

// A model that has not learned anything looks at frames before it scores any: RND whitens by what it
// has seen. Without a warm-up, F that becomes RND's is scored before the model's first update.
func TestRNDSeesFramesBeforeItScoresThem(t *testing.T) {
	racing.Skip(t)
	c := distilling(0)
	own := c.Relevance.Of("rnd").(relevance.RNDConfig)
	own.Warmup, own.Every = 0, 1000
	c.Relevance = c.Relevance.With("rnd", own)
	c.Knobs.Relevance, c.Schedule = "td", []string{"17:relevance=rnd!"}
	l := framesLab(t, c, 1, nil)
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	m := l.x.first()
	if f, scored := m.Synthesis.Scores(); !scored || m.Synthesis.Bound() != "rnd" || learningOf(l, "rnd").updates != 0 {
		t.Fatalf("%d scores of %s, which has made %d updates", len(f), m.Synthesis.Bound(), learningOf(l, "rnd").updates)
	}
	fresh, err := m.Functions.NewModel("rnd")
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.State.Close()
	of := func(f *relevance.Model) string {
		var file bytes.Buffer
		if err := f.State.Save(&file); err != nil {
			t.Fatal(err)
		}
		return file.String()
	}
	scorer, err := m.Functions.Function("rnd")
	if err != nil {
		t.Fatal(err)
	}
	if of(scorer) == of(fresh) {
		t.Error("it has scored D_real without having seen any of it")
	}
}
