package lab

import (
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/task"
	"pgrlab/core/testing/racing"
	"pgrlab/core/testing/tiny"
)

// mortal is the world of package tiny, in which the episodes of some seeds end early.
type mortal struct {
	task.Env
	life float32 // env steps; 0: without end
}

// Step ends an episode after its life; the second observed number is the time in the episode.
func (e mortal) Step(action, obs []float32) (reward float64, terminated, truncated bool, err error) {
	reward, terminated, truncated, err = e.Env.Step(action, obs)
	return reward, terminated || e.life > 0 && obs[1]*tiny.Episode >= e.life-0.5, truncated, err
}

func (e mortal) Frame(dst []byte, side int) error { return e.Env.(task.Seen).Frame(dst, side) }

// mortals is a task whose episodes have no end, or end after 2 or 7 steps, by the seed. Rows that
// span three env steps are then equally many in no two of three members.
func mortals() task.Task {
	t := tiny.Task()
	world := t.New
	t.New = func(seed uint64) (task.Env, error) {
		e, err := world(seed)
		return mortal{e, []float32{7, 0, 2}[seed%3]}, err
	}
	t.Terminates = true
	return t
}

// unevenConfig is a run whose members hold unequally many rows of D_real.
func unevenConfig(relevant string) config.Config {
	c := tiny.Latents()
	c.Seed, c.Steps, c.Knobs.Relevance = 30, 38, relevant
	c.Environment.Copies = 2
	c.Schedule = []string{"20:guidance=3!", "30:relevance=reward!"}
	return c
}

// Members whose D_real is of unequal length, because episodes end at different times, are the runs
// of their seeds: in encoding, in aligning, in scoring with models that count and that do not.
func TestMembersWithUnequallyManyRows(t *testing.T) {
	racing.Skip(t)
	for _, relevant := range []string{"curiosity", "count", "return"} {
		play := func(members int, seed uint64) (*Lab, string) {
			c := unevenConfig(relevant)
			c.Members, c.Seed = members, seed
			folder := &memoryFolder{}
			l := framesLabOf(t, c, mortals(), members, folder)
			if err := l.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			return l, folder.canonical(t)
		}
		l, all := play(3, 30)
		sizes := map[int]bool{}
		for i, m := range l.x.members {
			sizes[m.Real.Len()] = true
			if _, alone := play(1, 30+uint64(i)); linesAbout(t, all, i) != linesAbout(t, alone, -1) {
				t.Errorf("%s: member %d writes\n%s\nby itself\n%s", relevant, i, linesAbout(t, all, i), linesAbout(t, alone, -1))
			}
		}
		if len(sizes) < 3 || strings.Count(all, `"type":"refit"`) < 9 {
			t.Errorf("%s: D_real of sizes %v:\n%s", relevant, sizes, all)
		}
	}
}

// Such a cohort goes on from the borders within encoding and scoring.
func TestMembersWithUnequallyManyRowsGoOn(t *testing.T) {
	c := unevenConfig("count")
	c.Members = 3
	uneven := func(i int, p knob.Position) bool { return p.Phase == knob.Encode && i%5 == 0 || p.Phase == knob.Score }
	phases := resumeFrom(t, uneven, func(r record) *Lab { return framesLabOf(t, c, mortals(), 1, r) })
	if phases[knob.Encode] == 0 || phases[knob.Score] == 0 {
		t.Errorf("too few borders: %v", phases)
	}
}
