package experience_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgrlab/core/experience"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// slowFrames stores frames in the obvious way: every episode of every copy whole.
type slowFrames struct {
	capacity int // frames of a copy
	copies   [][]slowEpisode
	frames   []int // number of frames that each copy ever had
}

type slowEpisode struct {
	first   int // number of its first frame among the copy's
	frames  [][]byte
	actions [][]float32
	rewards []float32
	ended   bool
}

// forgotten returns how many of a copy's frames are no longer held.
func (s *slowFrames) forgotten(copy int) int { return max(0, s.frames[copy]-s.capacity) }

// stack returns the stack at frame t of an episode.
func (e *slowEpisode) stack(t, depth int) (all [][]byte) {
	for k := depth - 1; k >= 0; k-- {
		all = append(all, e.frames[max(0, t-k)])
	}
	return all
}

// rows returns all rows that may be drawn, each once, as text.
func (s *slowFrames) rows(n, depth int, gamma float64) (all []string) {
	for c, episodes := range s.copies {
		for _, e := range episodes {
			for t := range e.actions {
				if e.first+max(0, t-depth+1) < s.forgotten(c) {
					continue
				}
				steps := min(n, len(e.actions)-t)
				if steps < n && !e.ended {
					continue
				}
				r := replay.FrameRow{Stack: e.stack(t, depth), Next: e.stack(t+steps, depth), Action: e.actions[t]}
				sum, weight := 0.0, 1.0
				for k := range steps {
					sum, weight = sum+weight*float64(e.rewards[t+k]), weight*gamma
				}
				if t+steps == len(e.actions) && e.ended {
					weight = 0
				}
				r.Return, r.Discount = float32(sum), float32(weight)
				all = append(all, fmt.Sprint(r))
			}
		}
	}
	return all
}

// player adds the same frames to both implementations.
type player struct {
	r    *rand.Rand
	fast *experience.Log
	slow *slowFrames
	ends []bool // copies whose episode is over
}

const slowSize, slowAct = 3, 2

func newPlayer(r *rand.Rand, capacity, copies int) *player {
	p := &player{r: r, fast: experience.NewLog(experience.Shape{Bytes: slowSize, Act: slowAct, Copies: copies}, experience.Keep{Looks: capacity * copies}), ends: make([]bool, copies)}
	p.slow = &slowFrames{capacity, make([][]slowEpisode, copies), make([]int, copies)}
	for c := range copies {
		p.begin(c)
	}
	return p
}

func (p *player) frame() []byte {
	return []byte{byte(p.r.Uint32()), byte(p.r.Uint32()), byte(p.r.Uint32())}
}

func (p *player) begin(c int) {
	frame := p.frame()
	p.fast.Begin(c, experience.Look{Frame: frame})
	p.slow.copies[c] = append(p.slow.copies[c], slowEpisode{first: p.slow.frames[c], frames: [][]byte{frame}})
	p.slow.frames[c]++
	p.ends[c] = false
}

// step makes an env step in all copies, which then begin their next episodes.
func (p *player) step(endless bool) {
	for c, episodes := range p.slow.copies {
		e := &episodes[len(episodes)-1]
		frame, action, reward := p.frame(), []float32{p.r.Float32(), p.r.Float32()}, p.r.Float32()
		e.ended = p.r.IntN(9) == 0
		p.ends[c] = e.ended || !endless && p.r.IntN(7) == 0
		e.frames, e.actions, e.rewards = append(e.frames, frame), append(e.actions, action), append(e.rewards, reward)
		p.fast.Add(c, experience.Step{Action: action, Reward: reward, Next: experience.Look{Frame: frame}, End: endIf(e.ended)})
		p.slow.frames[c]++
	}
	for c, over := range p.ends {
		if over {
			p.begin(c)
		}
	}
}

// For any lengths of episodes, n, stack, capacity and number of copies, Draw draws exactly the rows
// of the slow frames, and all of them.
func TestFramesAreThoseOfTheSlowOnes(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 21))
		n, depth, copies := 1+r.IntN(4), 1+r.IntN(4), 1+r.IntN(3)
		p := newPlayer(r, depth+n+r.IntN(30), copies)
		draws := uint64(0)
		for range 4 {
			for range 1 + r.IntN(25) {
				p.step(seed%3 == 0)
			}
			want := p.slow.rows(n, depth, 0.9)
			sampler, seen := experience.Frames{Log: p.fast, Stream: rng.New(seed, "slow")}, map[string]bool{}
			got := row(depth)
			for i := range 40 * (len(want) + 1) {
				err := sampler.Draw(got, n, 0.9, draws, i)
				if len(want) == 0 {
					if err == nil {
						t.Fatalf("seed %d: a row of none: %v", seed, got)
					}
					break
				}
				if err != nil {
					t.Fatalf("seed %d: %v, of %d rows", seed, err, len(want))
				}
				text := fmt.Sprint(*got)
				if !slices.Contains(want, text) {
					t.Fatalf("seed %d, n %d, stack %d: %s is drawn, which is none of %q", seed, n, depth, text, want)
				}
				seen[text] = true
			}
			if len(seen) != len(want) {
				t.Fatalf("seed %d: %d of %d rows were drawn", seed, len(seen), len(want))
			}
			draws++
			for c := range copies {
				e := p.slow.copies[c][len(p.slow.copies[c])-1]
				stack := make([][]byte, depth)
				if p.fast.Newest(c, stack); fmt.Sprint(stack) != fmt.Sprint(e.stack(len(e.actions), depth)) {
					t.Fatalf("seed %d: copy %d sees %v", seed, c, stack)
				}
			}
		}
	}
}

func bytesOf(t *testing.T, f *experience.Log) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// logged plays and appends to a log as checkpoints do, sometimes so late that frames are
// overwritten before they reach the log.
func logged(seed uint64) (p *player, log []byte, capacity, copies int) {
	r := rand.New(rand.NewPCG(seed, 22))
	capacity, copies = 1+r.IntN(30), 1+r.IntN(3)
	p = newPlayer(r, capacity, copies)
	kept := uint64(0)
	for range r.IntN(6) {
		for range r.IntN(40) {
			p.step(false)
		}
		log, kept = p.fast.AppendSince(log, kept), p.fast.Total()
	}
	return p, p.fast.AppendSince(log, kept), capacity, copies
}

// Frames that are loaded from their log are the same bit for bit, and go on alike.
func TestFramesComeBackFromTheirLog(t *testing.T) {
	for seed := range uint64(80) {
		p, log, capacity, copies := logged(seed)
		loaded := experience.NewLog(experience.Shape{Bytes: slowSize, Act: slowAct, Copies: copies}, experience.Keep{Looks: capacity * copies})
		loaded.Begin(0, experience.Look{Frame: []byte{1, 2, 3}}) // LoadLog discards this frame
		if err := loaded.LoadLog(bytes.NewReader(log), p.fast.State()); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !bytes.Equal(bytesOf(t, loaded), bytesOf(t, p.fast)) || loaded.Total() != p.fast.Total() {
			t.Fatalf("seed %d: other frames are loaded", seed)
		}
		kept := loaded.Total()
		for _, f := range []*experience.Log{p.fast, loaded} {
			f.Add(0, experience.Step{Action: []float32{1, 2}, Reward: 3, Next: experience.Look{Frame: []byte{4, 5, 6}}, End: experience.Terminated})
			f.Begin(0, experience.Look{Frame: []byte{7, 8, 9}})
		}
		if !bytes.Equal(bytesOf(t, loaded), bytesOf(t, p.fast)) {
			t.Fatalf("seed %d: loaded frames go on otherwise", seed)
		}
		if a, b := p.fast.AppendSince(nil, kept), loaded.AppendSince(nil, kept); !bytes.Equal(a, b) {
			t.Fatalf("seed %d: loaded frames are logged otherwise", seed)
		}
	}
}

// A truncated log, a log with damaged row headers, and a state that does not match are refused; the
// frames are then empty and usable.
func TestDamagedLogsOfFrames(t *testing.T) {
	for seed, some := uint64(0), 0; some < 10; seed++ {
		if p, log, capacity, copies := logged(seed); copies > 1 && capacity > 2 && p.fast.Len() > 2*capacity/3 {
			some++
			damagedLogs(t, p, log, capacity, copies)
		}
	}
}

func damagedLogs(t *testing.T, p *player, log []byte, capacity, copies int) {
	state, width := p.fast.State(), p.fast.RowBytes()
	refused := func(what string, log []byte, s experience.LogState) {
		t.Helper()
		f := experience.NewLog(experience.Shape{Bytes: slowSize, Act: slowAct, Copies: copies}, experience.Keep{Looks: capacity * copies})
		err := f.LoadLog(bytes.NewReader(log), s)
		if err == nil || f.Len() != 0 || f.Total() != 0 {
			t.Errorf("%s: %v, %d frames", what, err, f.Len())
			return
		}
		f.Begin(0, experience.Look{Frame: []byte{1, 2, 3}})
		f.Add(0, experience.Step{Action: []float32{1, 2}, Reward: 3, Next: experience.Look{Frame: []byte{4, 5, 6}}})
	}
	for _, n := range []int{0, 1, width, len(log) - width, len(log) - 1} {
		refused(fmt.Sprintf("%d of %d bytes", n, len(log)), log[:n], state)
	}
	last := len(log) - width
	for name, at := range map[string]int{"copy": 0, "kind": 4, "number": 8, "first": 16} {
		damaged := slices.Clone(log)
		damaged[last+at] ^= 0x55
		refused(name, damaged, state)
	}
	refused("a row twice", slices.Concat(log, log[last:]), state)
	for name, change := range map[string]func(*experience.ReelState){
		"more frames": func(r *experience.ReelState) { r.Total++ }, "fewer held": func(r *experience.ReelState) { r.Held-- },
		"more held": func(r *experience.ReelState) { r.Held = capacity + 1 }, "negative": func(r *experience.ReelState) { r.Held = -1 },
	} {
		other := experience.LogState{Reels: slices.Clone(state.Reels)}
		change(&other.Reels[0])
		refused(name, log, other)
	}
	refused("fewer copies", log, experience.LogState{Reels: state.Reels[1:]})
}
