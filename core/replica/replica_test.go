package replica

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/generative"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/replay"
	"pgrlab/core/source"
	"pgrlab/core/task"
	"pgrlab/core/testing/tiny"
)

// recorder is a host that records its calls.
type recorder struct {
	lines   []string
	sampled int
}

func (h *recorder) Emit(kind string, member int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	h.lines = append(h.lines, fmt.Sprintf("%d %s %s", member, kind, text))
}
func (h *recorder) Sampled(int, replay.Mix, int) { h.sampled++ }
func (h *recorder) Diverged(member int, doing string, err error) error {
	return fmt.Errorf("replica %d: %s: %w", member, doing, err)
}
func (h *recorder) Fault(member int, doing string, err error) {
	h.lines = append(h.lines, fmt.Sprintf("%d fault: %s: %v", member, doing, err))
}

var tinyShape = replay.Shape{Obs: tiny.Obs, Act: tiny.Act}

// newReplica makes a replica of the real parts, at the beginning of a run.
func newReplica(t *testing.T, c config.Config) (*Replica, Now) {
	t.Helper()
	return newReplicaOn(t, c, tiny.Task())
}

func newReplicaOn(t *testing.T, c config.Config, on task.Task) (*Replica, Now) {
	t.Helper()
	p, err := NewParts(&c, on, tiny.Device(t))
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(Cohort{Config: &c, Task: on, Parts: p, Host: &recorder{}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m, Now{Settings: &c.Knobs}
}

// train makes env steps with their updates.
func train(t *testing.T, m *Replica, s *knob.Settings, first, last int) {
	t.Helper()
	for step := first; step <= last; step++ {
		now := Now{Step: step, Settings: s}
		if err := m.EnvStep(now); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < s.UTD && m.Enough(); i++ {
			made, err := m.Update(now, 1, i == s.UTD-1)
			if err != nil {
				t.Fatal(err)
			}
			for k := range made {
				if err := m.Learned(&made[k]); err != nil {
					t.Fatal(err)
				}
			}
			if err := m.Functions.Train(now, i == s.UTD-1); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// refit scores, fits and generates.
func refit(t *testing.T, m *Replica, s *knob.Settings, number uint64) {
	t.Helper()
	for done, owed := 0, m.Functions.Owed(s.Relevance, m.Real.Len()); done < owed; {
		n, err := m.Functions.Warm(s.Relevance, done, owed, m.Real.Len())
		if err != nil {
			t.Fatal(err)
		}
		done += n
	}
	m.Synthesis.StartScoring(s.Relevance)
	if err := m.Synthesis.Score(0, m.Real.Len()); err != nil {
		t.Fatal(err)
	}
	scores, _ := m.Synthesis.Scores()
	if err := m.Synthesis.StartFit(scores, generative.FitKnobs{Steps: 4, LR: s.LRGenerator, PUncond: s.PUncond}, number); err != nil {
		t.Fatal(err)
	}
	for done, ended := 0, false; !ended; done += 2 {
		var err error
		if ended, err = m.Synthesis.FitSteps(done, 2); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Synthesis.StartGenerate(s.Generation(), number); err != nil {
		t.Fatal(err)
	}
	for complete := false; !complete; {
		var err error
		if _, complete, _, err = m.Synthesis.GenerateSlice(); err != nil {
			t.Fatal(err)
		}
	}
	m.Synthesis.FinishGeneration()
}

// evaluate runs an evaluation.
func evaluate(t *testing.T, m *Replica, now Now, number uint64) {
	t.Helper()
	if err := m.Trial.Start(now, number); err != nil {
		t.Fatal(err)
	}
	for over := false; !over; {
		var err error
		if over, err = m.Trial.Step(7); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Trial.Finish(m.View(now, true, inspect.Prompts{}), number); err != nil {
		t.Fatal(err)
	}
}

// A replica that is saved and loaded into another one goes on as if nothing had happened. Without a
// run around it, it steps, learns, refits and evaluates.
func TestAReplicaGoesOnWhereItWasSaved(t *testing.T) {
	a, now := newReplica(t, tiny.Config())
	s := now.Settings
	train(t, a, s, 1, 12)
	refit(t, a, s, 0)
	if a.Synthetic.Len() != s.Samples || a.Synthesis.Fit.Mean() == nil {
		t.Fatalf("%d synthetic transitions, a fit with loss %v", a.Synthetic.Len(), a.Synthesis.Fit.Mean())
	}
	train(t, a, s, 13, 15)
	if a.Mix != (replay.Mix{Real: 4, Synthetic: 4}) {
		t.Errorf("the latest batch has %+v", a.Mix)
	}
	if err := a.Trial.Start(now, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Trial.Step(4); err != nil {
		t.Fatal(err)
	}
	b, _ := newReplica(t, tiny.Config())
	var file bytes.Buffer
	if err := gob.NewEncoder(&file).Encode(a.Saved(false)); err != nil {
		t.Fatal(err)
	}
	var saved Saved
	if err := gob.NewDecoder(&file).Decode(&saved); err != nil {
		t.Fatal(err)
	}
	if err := saved.Validate(b.Config, b.Task); err != nil {
		t.Fatal(err)
	}
	if err := b.Restore(saved, s.Relevance); err != nil {
		t.Fatal(err)
	}
	parts := map[string][]byte{}
	for _, part := range a.Sections() {
		var text bytes.Buffer
		if err := part.Part.Save(&text); err != nil {
			t.Fatal(err)
		}
		parts[part.Name] = text.Bytes()
	}
	for _, part := range b.Sections() {
		if err := part.Part.Load(bytes.NewReader(parts[part.Name])); err != nil {
			t.Fatalf("%s: %v", part.Name, err)
		}
		delete(parts, part.Name)
	}
	if len(parts) > 0 || !b.Trial.Begun() {
		t.Errorf("%d parts are left, an evaluation is under way: %v", len(parts), b.Trial.Begun())
	}
	var tales []string
	for _, m := range []*Replica{a, b} {
		h := &recorder{}
		m.Host = h
		for over := false; !over; {
			var err error
			if over, err = m.Trial.Step(7); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Trial.Finish(m.View(Now{Step: 15, Settings: s}, true, inspect.Prompts{}), 1); err != nil {
			t.Fatal(err)
		}
		train(t, m, s, 16, 20)
		refit(t, m, s, 1)
		train(t, m, s, 21, 70) // after the end of an episode
		evaluate(t, m, Now{Step: 70, Settings: s}, 2)
		tale := fmt.Sprintln(strings.Join(h.lines, "\n"), h.sampled, m.Updates, m.Real.Row(69), m.Synthetic.Row(0), *m.LastReturn)
		tales = append(tales, tale)
	}
	if tales[0] != tales[1] || !strings.Contains(tales[0], `0 episode {"return":`) || strings.Count(tales[0], "0 evaluated") != 2 {
		t.Errorf("without a break it reports\n%s\nwith one\n%s", tales[0], tales[1])
	}
}

// If an environment fails, the host is notified once, a new environment takes its place, and the
// same env step gives its transition when it is made again.
func TestAnEnvironmentThatFailsIsReplaced(t *testing.T) {
	m, now := newReplicaOn(t, tiny.Config(), shakyTask(4))
	h := m.Host.(*recorder)
	train(t, m, now.Settings, 1, 3)
	now.Step = 4
	if err := m.EnvStep(now); !errors.Is(err, source.ErrEnvironment) || m.Stepped != 3 || m.World.Failed() != nil {
		t.Fatalf("%v, at step %d, %v", err, m.Stepped, m.World.Failed())
	}
	if err := m.EnvStep(now); err != nil || m.Real.Len() != 4 {
		t.Errorf("%v, %d transitions", err, m.Real.Len())
	}
	if err := m.EnvStep(now); err != nil || m.Real.Len() != 4 {
		t.Errorf("the step is made twice: %v, %d transitions", err, m.Real.Len())
	}
	if said := strings.Join(h.lines, "; "); !strings.HasPrefix(said, "0 fault: simulate: the simulator is gone; 0 episode") || len(h.lines) != 2 {
		t.Errorf("the host got %s", said)
	}
}
