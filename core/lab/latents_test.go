package lab

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgrlab/core/agent"
	"pgrlab/core/agent/drqv2"
	"pgrlab/core/checkpoint"
	"pgrlab/core/event"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/run"
	"pgrlab/core/testing/tiny"
)

// Prioritized generative replay runs in DrQ-v2's latent space with every relevance function. D_real
// is made from all windows of frames, in their order, D_syn has its shape, batches mix both, and
// one worker writes the same as two.
func TestARunInTheLatentSpaceOfFrames(t *testing.T) {
	for _, relevant := range []string{"curiosity", "reward", "return", "td", "none"} {
		var journals []string
		for threads := range 2 {
			c := tiny.Latents()
			c.Environment.Copies, c.Knobs.Relevance = 2, relevant
			if relevant == "none" {
				c.Generator.Conditional = false
			}
			folder := &memoryFolder{}
			l := framesLab(t, c, threads+1, folder)
			if err := l.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			journals = append(journals, folder.canonical(t))
			m := l.x.first()
			// In each copy's 24 env steps the last two begin no window of three.
			if want := (replay.Shape{Obs: 8, Act: 1}); m.Real.Shape() != want || m.Synthetic.Shape() != want || m.Real.Len() != 2*22 || m.Synthetic.Len() != c.Knobs.Samples {
				t.Fatalf("D_real of %v with %d rows, D_syn of %v with %d", m.Real.Shape(), m.Real.Len(), m.Synthetic.Shape(), m.Synthetic.Len())
			}
			if m.Mix != (replay.Mix{Real: 4, Synthetic: 4}) {
				t.Errorf("the last batch is %+v", m.Mix)
			}
		}
		if journals[0] != journals[1] {
			t.Errorf("%s: one worker writes\n%s\ntwo write\n%s", relevant, journals[0], journals[1])
		}
		if relevant == "curiosity" && !strings.Contains(journals[0], `"curiosity":`) {
			t.Errorf("curiosity has learned nothing:\n%s", journals[0])
		}
	}
}

// Row i of D_real is the learner's encoding of window i of the frames: the latents of s and s′ from
// unshifted frames, the action, the n-step return, and no true end.
func TestDRealIsMadeOfTheFrames(t *testing.T) {
	c := tiny.Latents()
	c.Steps, c.Schedule = 25, []string{"24:batch=2"} // the last refit is the second, and no update follows it
	l := framesLab(t, c, 1, nil)
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	m := l.x.first()
	learner := m.Agent.Learner.(*drqv2.Latent)
	encoded, frames := m.Frames().Windows(3, 3, 100), m.Frames() // one env step later
	if encoded.Len() != m.Real.Len()+1 || m.Real.Len() != 22 {
		t.Fatalf("%d windows, D_real has %d rows", encoded.Len(), m.Real.Len())
	}
	row, recalled := replay.NewFrameRows(1, 3)[0], replay.NewFrameRows(1, 3)[0]
	for i := range m.Real.Len() {
		if err := frames.Window(&row, &encoded, i, c.Agent.Gamma); err != nil {
			t.Fatal(err)
		}
		if err := learner.Recall(&recalled, frames, i); err != nil || fmt.Sprint(recalled) != fmt.Sprint(row) {
			t.Fatalf("row %d is recalled as %v, %v", i, recalled, err)
		}
		z, err := learner.Encode([][][]byte{row.Stack, row.Next})
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint(z[:8], row.Action[0], row.Return, z[8:], 0)
		have := m.Real.Row(i)
		if got := fmt.Sprint(have[:8], have[8], have[9], have[10:18], have[18]); got != want {
			t.Fatalf("row %d is\n%s\nwant\n%s", i, got, want)
		}
	}
}

// Frames that were overwritten no longer give rows of D_real.
func TestARunInLatentSpaceOfFewFrames(t *testing.T) {
	c := tiny.Latents()
	c.Buffer, c.Knobs.Samples = 16, 16
	resumeEverywhere(t, 7, func(r record) *Lab { return framesLab(t, c, 1, r) })
	l := framesLab(t, c, 1, nil)
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if rows := l.x.first().Real.Len(); rows < 8 || rows > 14 {
		t.Errorf("D_real of 16 frames has %d rows", rows)
	}
}

// Latents drift between refits: right after a refit the drift is 0, and then it grows with the updates.
func TestLatentsDrift(t *testing.T) {
	c := tiny.Latents()
	c.Evaluation.Every = 3
	l := framesLab(t, c, 1, nil)
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	found, steps := bodies[event.Latents](l)
	if len(found) != 6 || steps[0] != 12 || steps[5] != 26 {
		t.Fatalf("lines at steps %v: %+v", steps, found)
	}
	for i, b := range found {
		// Before the first refit there is no D_real; before the second one it is old.
		if first := steps[i] == 12; first != (b.Drift == 0) || !(b.Size > 0 && b.Size < 1) || b.Aligned != 0 {
			t.Errorf("step %d: %+v", steps[i], b)
		}
	}
}

// On disk, where D_real and the frames are logs, a run is resumed, and forked, in the middle of
// making D_real again, and writes the same journal as without the interruption.
func TestARunInLatentSpaceIsResumedAndForked(t *testing.T) {
	c, top := tiny.Latents(), t.TempDir()
	whole := &memoryFolder{}
	if err := framesLab(t, c, 1, whole).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := whole.canonical(t)
	parent := filepath.Join(top, "parent")
	folder := created(t, parent)
	var l *Lab
	dev := tiny.Device(t)
	p, err := newParts(&c, tiny.Task(), dev)
	if err != nil {
		t.Fatal(err)
	}
	made := p.Learner
	p.Learner = func(log *experience.Log, seed uint64) (*agent.Made, error) {
		x, err := made(log, seed)
		if err != nil {
			return nil, err
		}
		encode := &x.Phases[1]
		slice := encode.Slice
		encode.Slice = func(w *agent.Work, done int) (int, []agent.UpdateResult, error) {
			if w.Step == 24 && done == 8 {
				send(t, &l, event.Checkpoint{By: "ana"})()
				send(t, &l, event.Stop{})()
			}
			return slice(w, done)
		}
		return x, nil
	}
	if l, err = newLab(c, tiny.Task(), folder, p, dev.Name(), clock()); err != nil {
		t.Fatal(err)
	}
	l.Saving(Saving{Every: time.Nanosecond}) // so that the previous D_real is on the disk as well
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	found, err := run.Checkpoints(parent)
	if err != nil || len(found) == 0 || found[0].Position != "24/encode:16" {
		t.Fatalf("checkpoints %+v, %v, want one at 24/encode:16", found, err)
	}
	fork := filepath.Join(top, "fork")
	if _, err := checkpoint.Fork(c, []byte("seed = 7\n"), found[0], nil, fork); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{fork, parent} {
		l, said, err := restoredPixels(t, c, dir)
		if err != nil {
			t.Fatal(err)
		}
		if rows := l.x.first().Real.Len(); rows != 16 {
			t.Errorf("D_real has %d rows, want 16 (%v)", rows, said)
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		got := strings.Replace(journalOf(t, dir), `{"type":"note","step":24,"text":"forked at 24/encode:16"}`+"\n", "", 1)
		if got != want {
			t.Errorf("%s writes\n%s\nwant\n%s", filepath.Base(dir), got, want)
		}
	}
}

// What is changed inside an update, which has its batch and has stepped by then, is in force in the
// next one.
func TestAChangeInsideAnUpdateOfFramesWaits(t *testing.T) {
	c := tiny.Latents()
	c.Schedule = []string{"18/learn:0:tau=0.5", "18/learn:1:ratio=0.75", "18/learn:1:batch=4", "18/learn:2:lr_critic=0.01"}
	l := framesLab(t, c, 1, nil)
	updates := map[int]replay.Mix{}
	publish := l.x.control.publish
	l.x.control.publish = at(publish, func() { updates[l.x.Step] = l.x.first().Mix })
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	_, steps := bodies[event.InForce](l)
	if fmt.Sprint(steps) != "[18 20 20 20]" {
		t.Errorf("in force at steps %v", steps)
	}
	if updates[18] != (replay.Mix{Real: 4, Synthetic: 4}) || updates[20] != (replay.Mix{Real: 1, Synthetic: 3}) {
		t.Errorf("the batch at step 18 is %+v, at step 20 %+v", updates[18], updates[20])
	}
}

// The last env step does not make D_real again for a refit that is left out: D_real and D_syn stay
// those of one encoder. A longer run makes both.
func TestTheLastStepEncodesForNoRefit(t *testing.T) {
	c, dir := tiny.Latents(), filepath.Join(t.TempDir(), "run")
	whole := &memoryFolder{}
	if err := framesLab(t, c, 1, whole).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	c.Steps = 24
	folder := createdWith(t, dir, docOf(c))
	l := framesLab(t, c, 1, folder)
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	found, _ := bodies[event.Latents](l)
	if rows := l.x.first().Real.Len(); rows != 10 || len(found) == 0 || !(found[len(found)-1].Drift > 0) {
		t.Errorf("D_real has %d rows, want the 10 of step 12: %+v", rows, found)
	}
	c, err := c.Longer(26)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := run.Checkpoints(dir)
	if err != nil || len(saved) == 0 || saved[0].Position != "24/encode:0" {
		t.Fatalf("checkpoints %+v, %v", saved, err)
	}
	if l, said, err := restoredPixels(t, c, dir); err != nil {
		t.Fatal(said, err)
	} else if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	differ(t, "24, then 26 steps", dir, whole.canonical(t))
}
