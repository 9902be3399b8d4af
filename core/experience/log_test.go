package experience_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgrlab/core/experience"
)

// listed is a log beside a plain list of all that was added to it.
type listed struct {
	r     *rand.Rand
	shape experience.Shape
	keep  experience.Keep
	log   *experience.Log
	looks [][]experience.Look // of each copy, all that there were
	after [][]uint64          // of each copy, the look that each env step led to
	met   [][]experience.Met
	pins  map[experience.Ref]int
	loses int // one env step in so many comes after a lost episode
	first int // the first env step that the log could hold since it was to hold more
}

func newListed(seed uint64) *listed {
	r := rand.New(rand.NewPCG(seed, 25))
	w := &listed{r: r, shape: experience.Shape{Numbers: 2, Act: 2, Copies: 1 + r.IntN(3)}, pins: map[experience.Ref]int{}}
	if seed%2 == 0 {
		w.shape.Numbers, w.shape.Bytes = 0, 3
	}
	w.loses = []int{15, 2}[seed/2%2]
	w.keep.Steps = 1 + r.IntN(20)
	w.keep.Looks = w.shape.Copies * (2 + w.keep.Steps + r.IntN(5))
	w.log = experience.NewLog(w.shape, w.keep)
	w.looks, w.after, w.met = make([][]experience.Look, w.shape.Copies), make([][]uint64, w.shape.Copies), make([][]experience.Met, w.shape.Copies)
	for c := range w.shape.Copies {
		w.begin(c)
	}
	return w
}

func (w *listed) look() (l experience.Look) {
	if w.shape.Bytes > 0 {
		return experience.Look{Frame: []byte{byte(w.r.Uint32()), byte(w.r.Uint32()), byte(w.r.Uint32())}}
	}
	return experience.Look{Numbers: []float32{w.r.Float32(), w.r.Float32()}}
}

func (w *listed) begin(c int) {
	l := w.look()
	w.log.Begin(c, l)
	w.looks[c] = append(w.looks[c], l)
}

// step makes an env step of all copies, before which some lose their episode.
func (w *listed) step() {
	rewards := make([]float32, w.shape.Copies)
	for c := range w.shape.Copies {
		if w.r.IntN(w.loses) == 0 {
			w.begin(c)
		}
		s := experience.Step{
			Action: []float32{w.r.Float32(), w.r.Float32()}, Reward: max(0, w.r.Float32()-0.7), Next: w.look(), Respawned: w.r.IntN(5) == 0, F: w.r.Float32(),
			End: []experience.End{experience.Continues, experience.Continues, experience.Terminated, experience.Truncated}[w.r.IntN(4)],
		}
		w.log.Add(c, s)
		rewards[c] = s.Reward + 1
		m := experience.Met{
			After: experience.Ref{Copy: int32(c), Number: uint64(len(w.looks[c]))}, Seen: w.looks[c][len(w.looks[c])-1], Next: s.Next,
			Action: s.Action, Earned: s.Reward, Observed: rewards[c], End: s.End,
		}
		m.Note.Met, m.Note.Respawned, m.Note.F = true, s.Respawned, s.F
		w.after[c], w.met[c], w.looks[c] = append(w.after[c], uint64(len(w.looks[c]))), append(w.met[c], m), append(w.looks[c], s.Next)
	}
	w.log.SetRewards(rewards)
	for c := range w.shape.Copies {
		if m := w.met[c]; m[len(m)-1].End != experience.Continues {
			w.begin(c)
		}
	}
}

// more makes the log hold more, for another reader.
func (w *listed) more() {
	w.first = max(w.first, len(w.met[0])-w.keep.Steps)
	w.keep.Steps += w.r.IntN(20)
	w.keep.Looks += w.r.IntN(100)
	w.log.Keep(w.keep)
}

// pin pins or unpins an env step.
func (w *listed) pin() {
	for at := range w.pins {
		if w.r.IntN(3) == 0 {
			w.log.UnpinStep(at)
			if w.pins[at]--; w.pins[at] == 0 {
				delete(w.pins, at)
			}
			break
		}
	}
	n := len(w.met[0])
	m := w.met[w.r.IntN(w.shape.Copies)][n-1-w.r.IntN(min(n-w.first, w.keep.Steps))]
	w.log.PinStep(m.After)
	w.pins[m.After]++
}

// check compares all that must be held, and looks for what need not be.
func (w *listed) check(t *testing.T, l *experience.Log) {
	t.Helper()
	if got := l.Steps(); got != uint64(len(w.met[0])) {
		t.Fatalf("%d env steps, want %d", got, len(w.met[0]))
	}
	for c, all := range w.met {
		for step, want := range all {
			if _, pinned := w.pins[want.After]; (step+w.keep.Steps < len(all) || step < w.first) && !pinned {
				continue
			}
			if after := l.After(uint64(step), c); step+w.keep.Steps >= len(all) && step >= w.first && after != want.After {
				t.Fatalf("env step %d of %d of copy %d led to look %d, want %d", step, len(all), c, after.Number, want.After.Number)
			}
			if got, held := l.Met(want.After); !held || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("env step %d of copy %d is %v, want %v", step, c, got, want)
			}
		}
		for number := range w.looks[c] {
			met := slices.Contains(w.after[c], uint64(number))
			if _, held := l.Met(experience.Ref{Copy: int32(c), Number: uint64(number)}); held && !met {
				t.Fatalf("look %d of copy %d begins an episode, and an env step led to it", number, c)
			}
		}
	}
}

// A log holds the env steps that it is to hold, and those that are pinned, however short episodes are, and
// also if it is to hold more from some time on;
// also after it was loaded, from a section or from those rows that checkpoints have appended and that it
// needs.
func TestALogHoldsWhatItIsToHold(t *testing.T) {
	for seed := range uint64(30) {
		w := newListed(seed)
		var pieces [][]byte // of a log on the disk, and the total of all looks at the end of each
		var ends []uint64
		total := uint64(0)
		appended := func() {
			pieces, total = append(pieces, w.log.AppendSince(nil, total)), w.log.Total()
			ends = append(ends, total)
		}
		for range w.r.IntN(80) {
			w.step()
			if w.r.IntN(3) == 0 {
				w.pin()
			}
			if w.r.IntN(40) == 0 {
				w.more()
			}
			if w.r.IntN(10) == 0 {
				appended()
			}
			w.check(t, w.log)
		}
		appended()
		var rows []byte
		for i, piece := range pieces {
			if ends[i] > w.log.First() {
				rows = append(rows, piece...)
			}
		}
		var whole, pinned bytes.Buffer
		if err := w.log.Save(&whole); err != nil {
			t.Fatal(err)
		}
		if err := (experience.Pinned{Log: w.log}).Save(&pinned); err != nil {
			t.Fatal(err)
		}
		filed, logged := experience.NewLog(w.shape, w.keep), experience.NewLog(w.shape, w.keep)
		if err := filed.Load(bytes.NewReader(whole.Bytes())); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := logged.LoadLog(bytes.NewReader(rows), w.log.State()); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, l := range []*experience.Log{filed, logged} {
			if err := (experience.Pinned{Log: l}).Load(bytes.NewReader(pinned.Bytes())); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for at, n := range w.pins {
				for range n {
					l.PinStep(at)
				}
			}
			if err := l.Loaded(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			w.check(t, l)
			var again bytes.Buffer
			if err := l.Save(&again); err != nil || !bytes.Equal(again.Bytes(), whole.Bytes()) {
				t.Fatalf("seed %d: it is saved otherwise: %v", seed, err)
			}
		}
		w.log = logged
		for range 30 {
			w.step()
			w.check(t, w.log)
		}
	}
}

// A look that is pinned but was not saved is found as soon as everything is loaded.
func TestAPinnedLookThatWasNotSaved(t *testing.T) {
	w := newListed(1)
	w.step()
	w.log.Pin(experience.Ref{Copy: 0, Number: 99})
	if w.log.Loaded() == nil {
		t.Error("a look is pinned that there never was")
	}
}

// Adding env steps allocates nothing once the log is full.
func TestAddingDoesNotAllocate(t *testing.T) {
	l := experience.NewLog(experience.Shape{Bytes: 4, Act: 1, Copies: 1}, experience.Keep{Looks: 10, Steps: 5})
	s := experience.Step{Action: []float32{1}, Next: experience.Look{Frame: []byte{1, 2, 3, 4}}}
	l.Begin(0, s.Next)
	if n := testing.AllocsPerRun(50, func() { l.Add(0, s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
