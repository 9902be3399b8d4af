package ppo

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"pgrlab/core/experience"
	"pgrlab/core/replay"
)

// sightedLatent is smallLatent with frames instead of observations.
func sightedLatent() Config {
	c := sighted()
	c.Window, c.KeepRewarded, c.MaxNorm = 2, 5, 0.3
	return c
}

// bothLatent runs a test for an agent beside a generator, once with observations and once with
// frames.
func bothLatent(t *testing.T, test func(t *testing.T, c Config)) {
	for name, c := range map[string]Config{"observations": smallLatent(), "frames": sightedLatent()} {
		t.Run(name, func(t *testing.T) { test(t, c) })
	}
}

// newLog returns an empty log for an agent.
func newLog(c Config) *experience.Log {
	steps := c.Window * c.Steps
	return experience.NewLog(c.Looks(), experience.Keep{Looks: c.Copies * (2*steps + 2), Steps: steps})
}

// carry saves what an agent has observed, and then the agent, and loads both into another one.
func carry(t *testing.T, from, to stateful, a, b *experience.Log) {
	t.Helper()
	for _, part := range [][2]stateful{{a, b}, {experience.Pinned{Log: a}, experience.Pinned{Log: b}}, {from, to}} {
		var saved bytes.Buffer
		if err := part[0].Save(&saved); err != nil {
			t.Fatal(err)
		}
		saved.WriteString("more")
		if err := part[1].Load(&saved); err != nil || saved.String() != "more" {
			t.Fatalf("%T: %v, %d bytes are left", part[0], err, saved.Len())
		}
	}
	if err := b.Loaded(); err != nil {
		t.Fatal(err)
	}
}

type stateful interface {
	Save(w io.Writer) error
	Load(r io.Reader) error
}

// sameHistories compares what D_real of two agents is made of.
func sameHistories(t *testing.T, a, b *Latent) {
	t.Helper()
	var files [2]bytes.Buffer
	for i, l := range []*Latent{a, b} {
		if err := l.chosen.Save(&files[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Fatal("other transitions")
	}
}

// What a row was made from can be recalled until D_real is made again, also after loading: observations
// always, frames as long as they are kept.
func TestWhatRowsWereMadeFromIsRecalled(t *testing.T) {
	bothLatent(t, func(t *testing.T, c Config) {
		l := newLatentAgent(t, c, newDevice(t, 1))
		s := latentSession(l, nil)
		s.source.Mix = replay.Mix{Real: 6}
		for l.iterations < 4 {
			s.unit(t)
		}
		row := replay.NewFrameRows(1, 1)[0]
		if err := l.Recall(&row, nil, 0); err == nil {
			t.Error("a row is recalled before D_real was made")
		}
		total := encodeAll(t, l, s.source)
		var want []experience.Met
		for i := range total {
			m, err := l.chosen.Row(i)
			if err != nil {
				t.Fatal(err)
			}
			m.Seen.Numbers, m.Seen.Frame, m.Action = slices.Clone(m.Seen.Numbers), slices.Clone(m.Seen.Frame), slices.Clone(m.Action)
			want = append(want, m)
		}
		for l.iterations < 9 {
			s.unit(t)
		}
		again := newLatentAgent(t, c, newDevice(t, 1))
		carry(t, l, again, l.rollout.Log, again.rollout.Log)
		for _, l := range []*Latent{l, again} {
			forgotten := 0
			for i, m := range want {
				err := l.Recall(&row, nil, i)
				if err != nil && c.Side > 0 {
					forgotten++
					continue
				}
				if err != nil || !slices.Equal(row.Obs, m.Seen.Numbers) || c.Side > 0 && !bytes.Equal(row.Stack[0], m.Seen.Frame) || !slices.Equal(row.Action, m.Action) ||
					row.Return != m.Earned || row.Respawned != m.Note.Respawned {
					t.Fatalf("row %d: made from %+v, recalled as %+v, %v", i, m, row, err)
				}
			}
			if c.Side > 0 && forgotten < total/2 {
				t.Errorf("%d of %d rows are forgotten", forgotten, total)
			}
			if err := l.Recall(&row, nil, total); err == nil {
				t.Error("a row after the last is recalled")
			}
		}
	})
}
