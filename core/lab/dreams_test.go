package lab

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/replay"
	"pgrlab/core/testing/racing"
	"pgrlab/core/testing/tiny"
)

// A run in latent space shows rows of its D_syn beside the frames that the nearest rows of D_real
// were made from, with every kind of F on latents and with one on frames. Looking at them changes
// nothing.
func TestDreamsOfARun(t *testing.T) {
	for relevant, order := range map[string]string{"curiosity": event.DreamsByF, "reward": event.DreamsByF, "count": event.DreamsByAsked, "none": event.DreamsByReturn} {
		var journals []string
		for _, looks := range []bool{false, true} {
			c, folder := tiny.Latents(), &memoryFolder{}
			c.Knobs.Relevance = relevant
			if relevant == "none" {
				c.Generator.Conditional = false
			}
			l := framesLab(t, c, 1, folder)
			if looks {
				publish := l.x.control.publish
				l.x.control.publish = at(publish, func() { l.x.asides.showDreams(event.Dreams{Rows: 3}) })
			}
			if err := l.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			journals = append(journals, folder.canonical(t))
			if looks {
				l.x.asides.showDreams(event.Dreams{Rows: 5})
				checkDreams(t, l, order)
			}
		}
		if journals[0] != journals[1] {
			t.Errorf("%s: a look at dreams changes\n%s\ninto\n%s", relevant, journals[0], journals[1])
		}
	}
}

// at returns publish with look called before it.
func at[T any](publish func(T), look func()) func(T) {
	return func(now T) {
		look()
		publish(now)
	}
}

func checkDreams(t *testing.T, l *Lab, order string) {
	t.Helper()
	m, got := l.x.first(), l.x.asides.dreamt
	if got.Unknown != "" || got.Order != order || len(got.Rows) != 5 || got.Looked != m.Synthetic.Len() || got.Real != m.Real.Len() || got.Side != 9 {
		t.Fatalf("by %q with %d rows, of %d and %d: %s", got.Order, len(got.Rows), got.Looked, got.Real, got.Unknown)
	}
	for _, r := range got.Rows {
		nearest, frame := math.Inf(1), []byte(nil)
		var row []float32
		for i := range m.Synthetic.Len() { // the row is found by its distance, since rewards may be equal
			z := m.Synthetic.Row(i)
			slot, d := -1, math.Inf(1)
			for k := range m.Real.Len() {
				sum := 0.0
				for j, v := range m.Real.Row(k)[:8] {
					sum += math.Pow(float64(v-z[j]), 2)
				}
				if sum < d {
					slot, d = k, sum
				}
			}
			if off := math.Abs(math.Sqrt(d) - r.Z.Distance); off < nearest {
				seen := replay.NewFrameRows(1, 3)[0]
				if err := m.Real.Seen(&seen, slot); err != nil {
					t.Fatal(err)
				}
				nearest, row, frame = off, z, seen.Stack[2]
			}
		}
		if nearest > 1e-5 || float64(row[9]) != r.Return || !bytes.Equal(frame, r.Z.Frame) || len(r.Next.Frame) != 3*9*9 {
			t.Errorf("%s: row %d, at %g, is not beside its nearest frame", order, r.Rank, r.Z.Distance)
		}
	}
}

// While D_real comes from a newer encoder than D_syn, there is no answer, or the previous one
// stays.
func TestNoDreamsInARefit(t *testing.T) {
	l := framesLab(t, tiny.Latents(), 1, nil)
	asked := func(p knob.Phase) *event.Dreamt {
		l.x.position.Phase = p
		l.x.asides.showDreams(event.Dreams{Rows: 3})
		return l.x.asides.dreamt
	}
	if got := asked(knob.Collect); !strings.Contains(got.Unknown, "no synthetic rows yet") {
		t.Errorf("before the first generation: %+v", got)
	}
	if got := asked(knob.Fit); !strings.Contains(got.Unknown, "a refit is under way") {
		t.Errorf("in the first refit: %+v", got)
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	found := asked(knob.Collect)
	for _, p := range []knob.Phase{knob.Encode, knob.Score, knob.Fit, knob.Generate} {
		if got := asked(p); got != found || found.Unknown != "" {
			t.Errorf("in phase %s: %+v", p, got)
		}
	}
	states := framesLab(t, tiny.Pixels(), 1, nil)
	states.x.asides.showDreams(event.Dreams{Rows: 3})
	if got := states.x.asides.dreamt; !strings.Contains(got.Unknown, "no synthetic rows yet") {
		t.Errorf("of a run without latents: %+v", got)
	}
}

// While D_real comes from a newer encoder than D_syn, no map shows both: the previous one of the same
// dimensions stays.
func TestNoMapInARefit(t *testing.T) {
	l := framesLab(t, tiny.Latents(), 1, nil)
	asked := func(p knob.Phase, y int) *event.Mapped {
		l.x.position.Phase = p
		l.x.asides.showMap(event.Map{X: 0, Y: y})
		return l.x.asides.mapped
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	found := asked(knob.Collect, 1)
	if found.Unknown != "" || found.RealN == 0 || found.SynN == 0 {
		t.Fatalf("after the last refit: %+v", found)
	}
	for _, p := range []knob.Phase{knob.Encode, knob.Score, knob.Fit, knob.Generate} {
		if got := asked(p, 1); got != found {
			t.Errorf("in phase %s: %+v", p, got)
		}
	}
	if got := asked(knob.Fit, 2); got.Y != 2 || got.RealN != 0 || !strings.Contains(got.Unknown, "a refit is under way") {
		t.Errorf("of other dimensions, in a refit: %+v", got)
	}
	if got := asked(knob.Fit, 2); got.Unknown == "" {
		t.Errorf("asked again: %+v", got)
	}
	if got := asked(knob.Collect, 2); got.Y != 2 || got.Unknown != "" || got.RealN == 0 {
		t.Errorf("of other dimensions, after it: %+v", got)
	}
}

// While D_real comes from a newer encoder than D_syn, nothing compares the two: previews are to be asked
// for again, analyses are refused, and none is due.
func TestNoComparisonsInARefit(t *testing.T) {
	racing.Skip(t)
	c := tiny.Latents()
	c.Evaluation.AnalyseEvery = 1
	l := framesLab(t, c, 1, nil)
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	x := l.x
	ask := func(p knob.Phase) (preview *event.Previewed, refused string, due bool) {
		x.position.Phase = p
		x.asides.preview(event.Preview{ID: "a-1", Knob: "guidance", Value: "3"})
		x.asides.drop(errAnalysing)
		x.asides.analyseNow("bo")
		x.asides.drop(errAnalysing)
		all, _ := bodies[event.Previewed](l)
		refusals, _ := bodies[event.Refused](l)
		return &all[len(all)-1], refusals[len(refusals)-1].Reason, x.analyses.due()
	}
	for _, p := range []knob.Phase{knob.Encode, knob.Score, knob.Fit, knob.Generate} {
		if preview, refused, _ := ask(p); preview.Err != errRefitting.Error() || !preview.Busy || refused != errRefitting.Error() {
			t.Errorf("in phase %s: %q, %q", p, preview.Err, refused)
		}
	}
	if preview, refused, due := ask(knob.Collect); preview.Err != errAnalysing.Error() || refused != errAnalysing.Error() || !due {
		t.Errorf("after it: %q, %q, due %v", preview.Err, refused, due)
	}
}

// A refit that is given up leaves a D_real of a newer encoder than D_syn's: until the next one the
// last answer stays.
func TestDreamsAfterARefitThatIsGivenUp(t *testing.T) {
	c := tiny.Latents()
	c.Schedule = []string{"24/score:16:relevance=reward!"}
	l := framesLab(t, c, 1, nil)
	asked := func(rows int) *event.Dreamt {
		l.x.asides.showDreams(event.Dreams{Rows: rows})
		return l.x.asides.dreamt
	}
	var before, after, unanswered *event.Dreamt
	publish := l.x.control.publish
	l.x.control.publish = at(publish, func() {
		switch l.x.position {
		case knob.After(23):
			before = asked(3)
		case knob.After(24):
			after, l.x.asides.dreamt = asked(5), nil
			unanswered = asked(5)
		}
	})
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if before == nil || before.Unknown != "" || after != before || !strings.Contains(unanswered.Unknown, "a refit was given up") {
		t.Fatalf("before %+v\nafter it %+v\nwithout an answer %+v", before, after, unanswered)
	}
	if got := asked(5); got.Unknown != "" || len(got.Rows) != 5 || l.x.loop().Loop.FittedTo != l.x.first().Real.Total() {
		t.Errorf("after the next refit: %+v", got)
	}
}
