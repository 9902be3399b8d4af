package lab

import (
	"context"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/testing/racing"
	"pgrlab/core/testing/tiny"
)

// looking is a run in latent space whose relevance function reads the frames behind the latents.
func looking(relevant string) config.Config {
	c := tiny.Latents()
	c.Pixels.Side, c.Knobs.Relevance = 36, relevant
	return c
}

// TestRelevanceOfFrames runs RND and pseudo-counts of frames. One worker writes the same as two.
// Real rows have a histogram of F; generated rows have no frames and so no histogram. RND learns
// from frames between refits, and pseudo-counts see all rows before each refit.
func TestRelevanceOfFrames(t *testing.T) {
	racing.Skip(t)
	for _, relevant := range []string{"rnd", "count"} {
		var journals []string
		for threads := range 2 {
			if racing.On && threads == 0 {
				continue // one worker has nothing to race with
			}
			c := looking(relevant)
			c.Environment.Copies = 2
			folder := &memoryFolder{}
			l := framesLab(t, c, threads+1, folder)
			if err := l.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			journals = append(journals, folder.canonical(t))
			m := l.x.first()
			scores, _ := m.Synthesis.Scores()
			if len(scores) != m.Real.Len() || len(scores) != 2*22 || !(scores[0] > 0) {
				t.Errorf("%s: %d scores of %d rows: %v", relevant, len(scores), m.Real.Len(), scores)
			}
			if f := newestF(l); f == nil || f.Of != relevant || f.Achieved != nil {
				t.Errorf("%s: histograms of F %+v", relevant, f)
			}
		}
		if last := len(journals) - 1; journals[0] != journals[last] {
			t.Errorf("%s: one worker writes\n%s\ntwo write\n%s", relevant, journals[0], journals[last])
		}
		if learned := strings.Contains(journals[0], `"rnd":`); learned != (relevant == "rnd") {
			t.Errorf("%s: losses of rnd %v:\n%s", relevant, learned, journals[0])
		}
	}
}

// A side too small for RND's convolutions is refused: in the configuration before the run begins,
// or as a knob of a run, which then goes on unchanged.
func TestRNDOfFramesThatAreTooSmall(t *testing.T) {
	c := looking("rnd")
	c.Pixels.Side = 35
	const want = "want pixels.side 36 or more"
	if err := c.ValidateSettings(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	c.Knobs.Relevance, c.Schedule = "curiosity", []string{"10:relevance=rnd", "13:relevance=count"}
	l := framesLab(t, c, 1, nil)
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	refused, _ := bodies[event.Refused](l)
	if len(refused) != 1 || !strings.Contains(refused[0].Reason, want) {
		t.Errorf("refused are %+v", refused)
	}
	if name := l.x.first().F.Name(); name != "count" {
		t.Errorf("F is %s in the end", name)
	}
}
