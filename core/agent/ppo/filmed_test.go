package ppo

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// sightedLatent configures a small agent that learns from frames beside a generator.
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

// twin is a history of observations and one of frames that observe the same env steps.
type twin struct {
	c      Config
	rows   *rowHistory
	filmed *filmed
	film   *experience.Log
	step   uint64
	bonus  float32 // the largest bonus that is observed with a reward
}

func newTwin(window, keep int, bonus float32) *twin {
	c := sightedLatent()
	c.Window, c.KeepRewarded, c.Bonus = window, keep, bonus > 0
	film := experience.NewLog(experience.Shape{Bytes: c.frame(), Act: c.Shape.Act, Copies: c.Copies}, experience.Keep{Looks: c.Copies * (window*c.Steps + 4)})
	return &twin{c: c, rows: newRowHistory(c), filmed: newFilmed(c), film: film, bonus: bonus}
}

// frame makes a frame that tells its step, its copy and its number.
func (w *twin) frame(copied int, number byte) []byte {
	return bytes.Repeat([]byte{byte(w.step), byte(w.step >> 8), byte(copied), number}, w.c.frame())[:w.c.frame()]
}

// make makes an env step. In rewarded of a hundred env steps a copy has a reward; episodes meet
// their time limit every eleventh step.
func (w *twin) make(rewarded int) {
	c := w.c
	e := agent.Experience{
		Copies: c.Copies, Step: w.step, Obs: make([]float32, c.Copies*c.Shape.Obs), Next: make([]float32, c.Copies*c.Shape.Obs),
		Actions: make([]float32, c.Copies*c.Shape.Act), Rewards: make([]float32, c.Copies), Ends: make([]agent.End, c.Copies),
		Respawned: make([]bool, c.Copies), F: make([]float32, c.Copies), Earned: make([]float32, c.Copies),
	}
	for i := range c.Copies {
		q := rng.New(6, "twin").At(w.step*uint64(c.Copies) + uint64(i))
		e.Actions[i*c.Shape.Act+q.IntN(c.Shape.Act)] = 1
		if e.F[i] = float32(q.Float64()); q.IntN(100) < rewarded {
			e.Earned[i] = 1 + e.F[i]
		}
		e.Rewards[i] = e.Earned[i]
		if w.bonus > 0 {
			e.Rewards[i] += w.bonus * float32(q.Float64())
		}
		e.Respawned[i] = q.IntN(4) == 0
		if w.step%11 == 10 {
			e.Ends[i] = agent.Truncated
		}
		if e.Seen = append(e.Seen, w.frame(i, 0)); w.step%11 == 0 {
			w.film.Begin(i, experience.Look{Frame: e.Seen[i]})
		} else {
			var newest [1][]byte
			w.film.Newest(i, newest[:])
			e.Seen[i] = slices.Clone(newest[0])
		}
		e.NextSeen = append(e.NextSeen, w.frame(i, 1))
		w.film.Add(i, experience.Step{Action: e.Actions[i*c.Shape.Act : (i+1)*c.Shape.Act], Reward: e.Earned[i], Next: experience.Look{Frame: e.NextSeen[i]}, Respawned: e.Respawned[i]})
		copy(e.Obs[i*c.Shape.Obs:], stamp(e.Seen[i]))
		copy(e.Next[i*c.Shape.Obs:], stamp(e.NextSeen[i]))
	}
	w.rows.observe(&e)
	w.filmed.observe(&e)
	w.step++
}

// stamp returns the numbers that frame wrote.
func stamp(frame []byte) (numbers []float32) {
	for _, b := range frame[:4] {
		numbers = append(numbers, float32(b))
	}
	return numbers
}

// From frames, D_real has the same transitions, in the same order and with the same notes and
// rewards, as from observations: for any experience, with and without a bonus, and after loading
// from a file.
func TestFramesHaveTheHistoryOfObservations(t *testing.T) {
	for _, size := range []struct {
		window, keep, most, rewarded int
		bonus                        float32
	}{
		{2, 5, 1000, 10, 0}, {1, 3, 1000, 40, 0}, {3, 0, 1000, 10, 0}, {2, 1000, 1000, 50, 0}, {2, 5, 30, 20, 0}, {1, 40, 1000, 100, 0},
		{2, 5, 1000, 10, 0.25}, {2, 5, 30, 20, 0.25}, {3, 0, 1000, 10, 0.25},
	} {
		w := newTwin(size.window, size.keep, size.bonus)
		from := agent.BatchSource{Real: replay.NewRing(w.c.latents(), size.most), Frames: experience.Frames{Log: w.film}}
		for w.step < uint64(5*size.window*w.c.Steps) {
			if w.make(size.rewarded); w.step%7 != 0 {
				continue
			}
			var file bytes.Buffer
			if err := w.filmed.save(&file); err != nil {
				t.Fatal(err)
			}
			w.filmed = newFilmed(w.c)
			if err := w.filmed.load(&file); err != nil || file.Len() > 0 {
				t.Fatal(err, file.Len())
			}
			if err := w.rows.save(&file); err != nil {
				t.Fatal(err)
			}
			w.rows = newRowHistory(w.c)
			if err := w.rows.load(&file); err != nil || file.Len() > 0 {
				t.Fatal(err, file.Len())
			}
			n, err := w.filmed.list(&from)
			want, _ := w.rows.list(&from)
			if err != nil || n != want || n != w.filmed.listed() {
				t.Fatalf("%+v, step %d: %d rows, %v, want %d", size, w.step, n, err, want)
			}
			for i := range n {
				a, err := w.filmed.read(i, &from)
				if err != nil {
					t.Fatal(err)
				}
				b, _ := w.rows.read(i, &from)
				if got, want := fmt.Sprint(stamp(a.seen.frames), stamp(a.next.frames), a.action, a.earned, a.reward, a.note), fmt.Sprint(b.seen.numbers, b.next.numbers, b.action, b.earned, b.reward, b.note); got != want {
					t.Fatalf("%+v, step %d, row %d: %s, want %s", size, w.step, i, got, want)
				}
				if more := a.reward - a.earned; more < 0 || more > size.bonus || (size.bonus > 0) != (more > 0) {
					t.Fatalf("%+v, step %d, row %d: a reward of %v is observed as %v", size, w.step, i, a.earned, a.reward)
				}
			}
		}
	}
}

// The frames that a row of D_real was made from can be recalled while they are held.
func TestWhatRowsWereMadeFromIsRecalled(t *testing.T) {
	c := sightedLatent()
	l := newLatentAgent(t, c, newDevice(t, 1))
	s := latentSession(l, nil)
	s.source.Mix = replay.Mix{Real: 6}
	row := replay.NewFrameRows(1, 1)[0]
	if err := l.Recall(&row, s.source.Frames, 0); err == nil {
		t.Error("there is something before D_real was made")
	}
	for l.iterations < 4 {
		s.unit(t)
	}
	total, real, h := encodeAll(t, l, s.source), s.source.Real, c.latents().Obs
	if total != c.Window*c.rows() || l.history.(*filmed).made.kept != 5 {
		t.Fatalf("%d rows, %d of them kept", total, l.history.(*filmed).made.kept)
	}
	for i := range total {
		if err := l.Recall(&row, s.source.Frames, i); err != nil {
			t.Fatal(err)
		}
		has := real.Row(i)
		if !slices.Equal(row.Action, has[h:][:c.Shape.Act]) || row.Return != has[h+c.Shape.Act] || row.Respawned != real.Note(i).Respawned {
			t.Fatalf("row %d is %v, recalled as %+v", i, has, row)
		}
		// V of a latent, computed by hand, equals V of its frame when the agent acts on it.
		for k, frame := range [][]byte{row.Stack[0], row.Next[0]} {
			v, z := float64(l.nets.value.B.Data[0]), has[k*(h+c.Shape.Act+1):][:h]
			for j, w := range l.nets.value.W.Data {
				v += float64(w) * float64(z[j])
			}
			acting := agent.Acting{Copies: 1, Obs: make([]float32, 4), Stacks: [][][]byte{{frame}}, Actions: make([]float32, 3), Episodes: []uint64{0}, Mode: agent.Explore}
			if err := l.Act(&acting); err != nil {
				t.Fatal(err)
			}
			if _, want := l.Chances(); math.Abs(v-want) > 1e-5 {
				t.Fatalf("row %d: V of its latents is %v, of its frames %v", i, v, want)
			}
		}
	}
	z, err := l.Encode([][][]byte{row.Stack, row.Next})
	if last := real.Row(total - 1); err != nil || !slices.Equal(z[:h], last[:h]) || !slices.Equal(z[h:], last[h+c.Shape.Act+1:][:h]) {
		t.Errorf("made now they are %v, %v", z, err)
	}
	for l.iterations < 9 {
		s.unit(t)
	}
	for _, slot := range []int{0, total - 1, total} {
		if err := l.Recall(&row, s.source.Frames, slot); err == nil {
			t.Errorf("row %d is recalled for ever", slot)
		}
	}
}

// A file is read whole or not at all, and a file that contradicts itself is refused.
func TestFilesOfHistoriesOfFrames(t *testing.T) {
	w := newTwin(2, 5, 0.25)
	from := agent.BatchSource{Real: replay.NewRing(w.c.latents(), 1000), Frames: experience.Frames{Log: w.film}}
	for w.step < 40 {
		w.make(20)
	}
	if _, err := w.filmed.list(&from); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := w.filmed.save(&file); err != nil {
		t.Fatal(err)
	}
	whole := file.Bytes()
	for length := 0; length < len(whole); length += 97 {
		if err := newFilmed(w.c).load(bytes.NewReader(whole[:length])); err == nil {
			t.Errorf("%d bytes of %d are a history", length, len(whole))
		}
	}
	for at, want := range map[int]string{16: "want at most", 24: "D_real is of transition", 32: "want at most"} {
		bad := slices.Clone(whole)
		bad[at+3] = 1 // 16 million more
		if err := newFilmed(w.c).load(bytes.NewReader(bad)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("byte %d: %v, want %q", at, err, want)
		}
	}
}

// sameHistories checks that two agents save the same history.
func sameHistories(t *testing.T, a, b *Latent) {
	t.Helper()
	var files [2]bytes.Buffer
	for i, l := range []*Latent{a, b} {
		if err := l.history.save(&files[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Fatal("other transitions")
	}
}
