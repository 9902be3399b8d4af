package relevance

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/experience"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
)

// smallECO configures episodic curiosity on three numbers, with rounds that take milliseconds.
func smallECO() ECOConfig {
	return ECOConfig{
		Hidden: []int{5}, Features: 4, Comparator: []int{4, 3}, Entries: 6, Alpha: 0.03, Beta: 0.5, Percentile: 0.9,
		Near: 2, Far: 5, History: 80, Epochs: 2, Batch: 4, LR: 1e-2, Momentum: 0.1,
	}
}

func newECO(t testing.TB, c ECOConfig, copies int) *ECO {
	t.Helper()
	return newECOOf(t, c, Frames{}, copies)
}

// newECOOf makes episodic curiosity of frames.
func newECOOf(t testing.TB, c ECOConfig, f Frames, copies int) *ECO {
	t.Helper()
	m, err := NewECO(c, three, f, copies, newLog(c, three.Obs, f, copies), newDevice(t), 5)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// newLog makes the log that episodic curiosity of so many numbers, or of frames, reads.
func newLog(c ECOConfig, numbers int, f Frames, copies int) *experience.Log {
	s, steps := experience.Shape{Numbers: numbers, Act: 1, Copies: copies}, c.FirstRound(copies)
	if f.Side > 0 {
		s.Numbers, s.Bytes = 0, f.size()
	}
	return experience.NewLog(s, experience.Keep{Looks: copies * (steps + 2), Steps: steps})
}

// met gives m the next env step, then the log.
func met(t testing.TB, m *ECO, f []float32, at *Met) {
	t.Helper()
	l := m.history.log
	for i := range at.Ended {
		begins := l.Total() < uint64(len(at.Ended))
		if !begins {
			last, _ := l.Met(l.Last(i))
			begins = last.End != experience.Continues
		}
		if begins {
			l.Begin(i, at.before(i))
		}
	}
	if err := m.Meet(f, at); err != nil {
		t.Fatal(err)
	}
	for i, ended := range at.Ended {
		end := experience.Continues
		if ended {
			end = experience.Truncated
		}
		l.Add(i, experience.Step{Action: []float32{0}, Next: at.after(i), End: end})
	}
}

// load loads what m saved into another one, with its log.
func load(t testing.TB, other, m *ECO) {
	t.Helper()
	var looks, pinned, file bytes.Buffer
	if err := errors.Join(m.history.log.Save(&looks), experience.Pinned{Log: m.history.log}.Save(&pinned), m.Save(&file)); err != nil {
		t.Fatal(err)
	}
	file.WriteString("more")
	l := other.history.log
	if err := errors.Join(l.Load(&looks), experience.Pinned{Log: l}.Load(&pinned), other.Load(&file), l.Loaded()); err != nil {
		t.Fatal(err)
	}
	if file.String() != "more" {
		t.Fatalf("%d bytes are left", file.Len())
	}
}

// strolls makes the env steps of copies that walk on lines, each episode of a copy on another line;
// copy i's episodes have length+i steps.
type strolls struct {
	copies, length int
	step           uint64
	side           int // side of the frames that the copies see; 0: no frames
}

func (s *strolls) next() *Met {
	m := &Met{Step: s.step + 1, Obs: make([]float32, s.copies*3), Next: make([]float32, s.copies*3), Ended: make([]bool, s.copies)}
	for i := range s.copies {
		episode, at := int(s.step)/(s.length+i), int(s.step)%(s.length+i)
		for j, obs := range [][]float32{m.Obs, m.Next} {
			copy(obs[3*i:], []float32{float32(at+j) / 10, float32(episode) / 7, float32(i)})
		}
		m.Ended[i] = at == s.length+i-1
		if s.side > 0 {
			m.Seen, m.NextSeen = append(m.Seen, s.frame(at, episode)), append(m.NextSeen, s.frame(at+1, episode))
		}
	}
	s.step++
	return m
}

// frame draws a light line at the copy's position, on the colour of its episode.
func (s *strolls) frame(at, episode int) []byte {
	all := make([]byte, s.side*s.side*colours)
	for i := range all {
		if all[i] = byte(40 + 20*(episode%3)*(i%colours)); i/colours%s.side == at/2%s.side {
			all[i] = byte(150 + 100*(at%2))
		}
	}
	return all
}

// meet feeds m so many env steps, and runs the rounds that follow them.
func meet(t testing.TB, m *ECO, s *strolls, steps int) (f []float32) {
	t.Helper()
	f = make([]float32, s.copies)
	for range steps {
		met(t, m, f, s.next())
		learn(t, m, 0)
	}
	return f
}

// learn makes the remaining units of the round that is due.
func learn(t testing.TB, m *ECO, done int) {
	t.Helper()
	for ; m.RoundDue(); done++ {
		if done >= m.RoundUnits() {
			t.Fatalf("unit %d of %d", done, m.RoundUnits())
		}
		if _, err := m.LearnSlice(done); err != nil {
			t.Fatal(err)
		}
	}
}

// The percentile is numpy's: linear interpolation between two neighbours.
func TestPercentile(t *testing.T) {
	logit := func(p float64) float32 { return float32(math.Log(p / (1 - p))) }
	one := []float32{logit(0.25)}
	near(t, "of one", percentile(one, 0.9), 0.25, 1e-7)
	var eleven []float32
	for i := range 11 {
		eleven = append(eleven, logit(0.05+0.08*float64(i)))
	}
	near(t, "of eleven", percentile(eleven, 0.9), 0.05+0.08*9, 1e-7)
	near(t, "of five", percentile(eleven[:5], 0.9), 0.05+0.08*3.6, 1e-7)
	near(t, "median of four", percentile(eleven[:4], 0.5), 0.05+0.08*1.5, 1e-7)
}

// F agrees with a computation by hand. The test also checks what joins the memory, that a full
// memory stays full, and that an episode's end clears it.
func TestMemoryOfAnEpisode(t *testing.T) {
	c := smallECO()
	c.Comparator = []int{4}
	m := newECO(t, c, 2)
	m.programs.optimiser.T = 1   // the network counts as trained
	say := func(close float32) { // the network's output for every pair
		last := m.net.rest[len(m.net.rest)-1]
		clear(last.W.Data)
		copy(last.B.Data, []float32{0, close})
		if err := plan.Push(m.device, last.Params()...); err != nil {
			t.Fatal(err)
		}
	}
	s, f := &strolls{copies: 2, length: 12}, make([]float32, 2)
	step := func() *Met {
		t.Helper()
		at := s.next()
		met(t, m, f, at)
		return at
	}
	entries := func(i int) []float32 { return remembered(m, i) }

	say(float32(math.Log(0.25 / 0.75))) // a similarity of 0.25: novel
	first := step()
	near(t, "F", float64(f[0]), 0.03*(0.5-0.25), 1e-8)
	if want := append(slices.Clone(first.Obs[:3]), first.Next[:3]...); !slices.Equal(entries(0), want) {
		t.Errorf("the memory begins with %v, want the first observation and what was reached %v", entries(0), want)
	}
	if got := m.Familiarity(); got.Entries != 1 || math.Abs(got.P90-0.25) > 1e-7 || !math.IsNaN(got.Accuracy) {
		t.Errorf("%+v", got)
	}
	say(0) // a similarity of 0.5: not novel
	step()
	if f[0] != 0 || m.memories.n[0] != 2 {
		t.Errorf("F is %v of a similarity of 0.5, %d entries", f[0], m.memories.n[0])
	}
	say(float32(math.Log(0.75 / 0.25)))
	step()
	near(t, "F of what is known", float64(f[1]), 0.03*(0.5-0.75), 1e-8)
	if m.memories.n[1] != 2 {
		t.Errorf("%d entries, want 2", m.memories.n[1])
	}

	say(-1)
	var before []float32
	for m.memories.n[0] < c.Entries {
		step()
	}
	replaced := map[int]bool{}
	for s.step < 11 {
		before = slices.Clone(entries(0))
		at := step()
		if m.memories.n[0] != c.Entries {
			t.Fatalf("%d entries, want %d", m.memories.n[0], c.Entries)
		}
		changed := 0
		for slot := range c.Entries {
			if now := entries(0)[3*slot : 3*slot+3]; !slices.Equal(now, before[3*slot:3*slot+3]) {
				replaced[slot] = true
				if changed++; !slices.Equal(now, at.Next[:3]) {
					t.Errorf("slot %d holds %v, want what was reached, %v", slot, now, at.Next[:3])
				}
			}
		}
		if changed != 1 {
			t.Errorf("%d entries were replaced, want 1", changed)
		}
	}
	if len(replaced) < 2 {
		t.Errorf("slots %v were replaced, want any", replaced)
	}

	if at := step(); !at.Ended[0] || f[0] != 0 || m.memories.n[0] != 0 || f[1] == 0 || m.memories.n[1] == 0 {
		t.Errorf("at the first copy's end F is %v, the memories have %v", f, m.memories.n)
	}
	if at := step(); !slices.Equal(entries(0)[:3], at.Obs[:3]) || m.memories.n[0] != 2 {
		t.Errorf("the next episode begins with %v", entries(0))
	}
}

// remembered are the numbers of the entries of a copy's memory.
func remembered(m *ECO, i int) (all []float32) {
	for slot := range m.memories.n[i] {
		all = append(all, m.memories.look(i*m.memories.size+slot).Numbers...)
	}
	return all
}

// Before its first round F is 0 and nothing is remembered.
func TestNoFBeforeTheFirstRound(t *testing.T) {
	m, s := newECO(t, smallECO(), 2), &strolls{copies: 2, length: 13}
	for range 39 {
		if f := meet(t, m, s, 1); f[0] != 0 || f[1] != 0 || m.memories.n[0] != 0 || !math.IsNaN(m.Familiarity().P90) {
			t.Fatalf("step %d: F is %v, entries %v", s.step, f, m.memories.n)
		}
	}
	meet(t, m, s, 1) // the round is over
	if m.rounds != 1 || math.IsNaN(m.accuracy) {
		t.Errorf("%d rounds, accuracy %v", m.rounds, m.accuracy)
	}
	if f := meet(t, m, s, 1); f[0] == 0 && f[1] == 0 {
		t.Error("F is still 0")
	}
}

// If episodes are too short for distant pairs, a round makes no updates and F stays 0.
func TestARoundWithoutPairs(t *testing.T) {
	m, s := newECO(t, smallECO(), 2), &strolls{copies: 2, length: 1}
	if f := meet(t, m, s, 45); f[0] != 0 || m.rounds != 1 || m.Learned() {
		t.Errorf("F is %v after %d rounds", f, m.rounds)
	}
}

// Score refuses to compute F of episodes after the fact.
func TestFOfEpisodesIsNotAskedLater(t *testing.T) {
	m := newECO(t, smallECO(), 1)
	if err := m.Score(make([]float32, 1), replay.NewBatch(three, 1), 1); err == nil || !strings.Contains(err.Error(), "as it is met") {
		t.Errorf("%v", err)
	}
}

// The network learns to tell near from far on lines; there is nothing else to learn there.
func TestRNetworkLearns(t *testing.T) {
	c := smallECO()
	c.Hidden, c.Features, c.Comparator = []int{32}, 16, []int{32, 16}
	c.History, c.Batch, c.Epochs, c.LR = 4000, 32, 6, 3e-3
	m, s := newECO(t, c, 2), &strolls{copies: 2, length: 40}
	meet(t, m, s, 4*2000)
	if m.accuracy < 0.9 {
		t.Errorf("accuracy %v after 4 rounds, want 0.9", m.accuracy)
	}
}

// A run that is saved between any two units of a round, or anywhere else, goes on as if it had not
// been interrupted.
func TestECOGoesOnFromAnywhere(t *testing.T) {
	t.Run("numbers", func(t *testing.T) { goesOnFromAnywhere(t, smallECO(), Frames{}, 130) })
	t.Run("frames", func(t *testing.T) { goesOnFromAnywhere(t, smallECOOfFrames(), smallFrames, 60) })
}

func goesOnFromAnywhere(t *testing.T, c ECOConfig, f Frames, steps int) {
	whole, s := newECOOf(t, c, f, 2), &strolls{copies: 2, length: 13, side: f.Side}
	meet(t, whole, s, steps)
	var want bytes.Buffer
	if err := whole.Save(&want); err != nil {
		t.Fatal(err)
	}
	m, s := newECOOf(t, c, f, 2), &strolls{copies: 2, length: 13, side: f.Side}
	borders := 0
	again := func() {
		other := newECOOf(t, c, f, 2)
		load(t, other, m)
		m = other
		borders++
	}
	said := make([]float32, 2)
	for range steps {
		met(t, m, said, s.next())
		again()
		for done := 0; m.RoundDue(); done++ {
			if _, err := m.LearnSlice(done); err != nil {
				t.Fatal(err)
			}
			again()
		}
	}
	var got bytes.Buffer
	if err := m.Save(&got); err != nil {
		t.Fatal(err)
	}
	if borders < steps+4*int(whole.rounds) || whole.rounds == 0 || !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("after %d borders it is another one", borders)
	}
}

// Steady env steps and updates allocate nothing.
func TestECOAllocatesNothing(t *testing.T) {
	t.Run("numbers", func(t *testing.T) { allocatesNothing(t, smallECO(), Frames{}) })
	t.Run("frames", func(t *testing.T) { allocatesNothing(t, smallECOOfFrames(), smallFrames) })
}

func allocatesNothing(t *testing.T, c ECOConfig, of Frames) {
	m, s := newECOOf(t, c, of, 2), &strolls{copies: 2, length: 13, side: of.Side}
	meet(t, m, s, 45)
	steps, f, i := []*Met{}, make([]float32, 2), 0
	for range 20 {
		steps = append(steps, s.next())
	}
	if n := testing.AllocsPerRun(10, func() {
		met(t, m, f, steps[i])
		i++
	}); n != 0 {
		t.Errorf("%v allocations an env step", n)
	}
	meet(t, m, s, 0)
	for !m.RoundDue() {
		met(t, m, f, s.next())
	}
	if _, err := m.LearnSlice(0); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(3, func() {
		if _, err := m.LearnSlice(1); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations an update", n)
	}
}

// Invalid settings are refused in one line.
func TestRefusedSettingsOfECO(t *testing.T) {
	for want, set := range map[string]func(c *ECOConfig){
		"1 to 16 layers":       func(c *ECOConfig) { c.Comparator = nil },
		"widths of at least 1": func(c *ECOConfig) { c.Hidden = []int{4, 0} },
		"features is 0":        func(c *ECOConfig) { c.Features = 0 },
		"entries is 0":         func(c *ECOConfig) { c.Entries = 0 },
		"beta 1.5":             func(c *ECOConfig) { c.Beta = 1.5 },
		"percentile is 90":     func(c *ECOConfig) { c.Percentile = 90 },
		"near is 5 and far 4":  func(c *ECOConfig) { c.Near, c.Far = 5, 4 },
		"history is 0":         func(c *ECOConfig) { c.History = 0 },
		"epochs is 0":          func(c *ECOConfig) { c.Epochs = 0 },
		"batch is 1":           func(c *ECOConfig) { c.Batch = 1 },
		"lr is NaN":            func(c *ECOConfig) { c.LR = math.NaN() },
	} {
		c := DefaultECO()
		set(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), "eco: ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := NewECO(DefaultECO(), three, Frames{}, 200_000, newLog(smallECO(), 3, Frames{}, 1), newDevice(t), 1); err == nil || !strings.Contains(err.Error(), "200000 copies") {
		t.Errorf("%v", err)
	}
}

// Rows that were met before the network had learned get F of those that it has judged, one after
// another, and have none if it has judged none. Other functions' scores stay what they are.
func TestRowsThatNothingHasJudged(t *testing.T) {
	m, b := newECO(t, smallECO(), 2), replay.NewBatch(three, 4)
	b.Notes = []replay.Note{{Met: true, F: nan32}, {Met: true, F: -3}, {Met: true, F: nan32}, {Met: true, F: 1}}
	f := make([]float32, 4)
	if err := m.Score(f, b, 4); err != nil || f[0] == f[0] || f[1] != -3 {
		t.Fatalf("F is %v, %v", f, err)
	}
	note, others := func(i int) replay.Note { return b.Notes[i] }, []float32{-3, 1}
	if f = Of(m).Judge(f, note); !slices.Equal(f, []float32{others[replay.OneOf(0, 0, 2)], -3, others[replay.OneOf(1, 0, 2)], 1}) {
		t.Errorf("completed they are %v", f)
	}
	if f = Of(m).Judge([]float32{nan32}, note); f != nil {
		t.Errorf("of rows that nothing has judged F is %v", f)
	}
	if f = Of(tdError{}).Judge([]float32{nan32, 2}, note); len(f) != 2 || f[0] == f[0] {
		t.Errorf("F of another function is %v", f)
	}
}
