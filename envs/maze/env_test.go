package maze

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

// shown is everything that an environment returns for a step.
type shown struct {
	obs    [ObsSize]float32
	frame  [3 * 20 * 20]byte
	reward float64
	over   bool
}

func (s *shown) look(t *testing.T, e *Env) {
	t.Helper()
	if err := e.Frame(s.frame[:], 20); err != nil {
		t.Fatal(err)
	}
}

func made(t *testing.T, name, tv string) *Env {
	t.Helper()
	task, _ := Find(name)
	task, err := task.With(Options{TV: tv})
	if err != nil {
		t.Fatal(err)
	}
	return task.New(Training, 3)
}

// tape plays steps of the player's actions from the state of e; after an end the next episode
// begins.
func tape(t *testing.T, e *Env, episode *uint64, steps int, p player) (all []shown) {
	t.Helper()
	for range steps {
		var s shown
		if e.over() {
			if err := e.Reset(*episode, s.obs[:]); err != nil {
				t.Fatal(err)
			}
			*episode++
		} else {
			var err error
			row := make([]float32, ActSize)
			row[p(e.episode)] = 1
			if s.reward, _, s.over, err = e.Step(row, s.obs[:]); err != nil {
				t.Fatal(err)
			}
		}
		s.look(t, e)
		all = append(all, s)
	}
	return all
}

// The same seed and actions give the same bytes, also from the middle of an episode on. The steps
// include goals and the end of an episode.
func TestSameSeedSameEpisodes(t *testing.T) {
	for _, tv := range TVs {
		e, again := made(t, "maze-sparse", tv), made(t, "maze-sparse", tv)
		var first, second uint64
		a, b := tape(t, e, &first, 300, oracle), tape(t, again, &second, 300, oracle)
		if !slices.Equal(a, b) {
			t.Fatalf("%s: two environments of a seed differ", tv)
		}
		for range 5 {
			var saved bytes.Buffer
			if err := e.Save(&saved); err != nil {
				t.Fatal(err)
			}
			saved.WriteString("more")
			loaded := made(t, "maze-sparse", tv)
			if err := loaded.Load(&saved); err != nil || saved.String() != "more" {
				t.Fatalf("load: %v, with %q after it", err, saved.String())
			}
			then := first
			a, b := tape(t, e, &first, 390, oracle), tape(t, loaded, &then, 390, oracle)
			if !slices.Equal(a, b) || first != then {
				t.Fatalf("%s: what was loaded goes on otherwise", tv)
			}
			e = loaded
		}
		if first < 2 {
			t.Errorf("%s: no second episode began", tv)
		}
	}
}

// An environment of another seed that loads a state goes on in the maze under way, and then enters
// its own ones. The children of a fork have seeds of their own.
func TestLoadKeepsTheSeed(t *testing.T) {
	task, _ := Find("maze-sparse")
	e, other, own := task.New(Training, 3), task.New(Training, 4), task.New(Training, 4)
	obs, want := make([]float32, ObsSize), make([]float32, ObsSize)
	if err := e.Reset(7, obs); err != nil {
		t.Fatal(err)
	}
	var saved bytes.Buffer
	e.Save(&saved)
	if err := other.Load(&saved); err != nil || other.state != e.state {
		t.Fatalf("the maze under way is %+v, want %+v (%v)", other.world, e.world, err)
	}
	action := make([]float32, ActSize)
	for range 50 {
		if _, _, _, err := e.Step(action, want); err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := other.Step(action, obs); err != nil || !slices.Equal(obs, want) {
			t.Fatalf("the episode under way has changed: %v", err)
		}
	}
	if other.Reset(8, obs) != nil || own.Reset(8, want) != nil || !slices.Equal(obs, want) {
		t.Error("the next episode is not that of its own seed")
	}
}

// Copies in lockstep behave like single environments of the same split, however many there are; a
// copy whose episode is over stands still.
func TestVecEnv(t *testing.T) {
	task, _ := Find("maze-very-sparse")
	task, _ = task.With(Options{TV: "noise"})
	const n, steps = 3, 40
	v, err := task.NewVec(n, Test, 9)
	if err != nil {
		t.Fatal(err)
	}
	obs, acts := make([]float32, n*ObsSize), make([]float32, n*ActSize)
	rewards, ended := make([]float64, n), make([]bool, n)
	if err := v.Reset(2, obs); err != nil {
		t.Fatal(err)
	}
	var alone [n]*Env
	own := make([]float32, ObsSize)
	for i := range alone {
		alone[i] = task.New(Test, 9)
		if err := alone[i].Reset(uint64(2*n+i), own); err != nil || !slices.Equal(own, obs[i*ObsSize:(i+1)*ObsSize]) {
			t.Fatalf("copy %d begins otherwise than by itself: %v", i, err)
		}
	}
	v.episodes[1].Step, alone[1].episode.Step = EpisodeSteps-7, EpisodeSteps-7
	p := randomPlayer(4)
	for step := range steps {
		clear(acts)
		for i := range n {
			acts[i*ActSize+p(nil)] = 1
		}
		if err := v.Step(acts, obs, rewards, ended); err != nil {
			t.Fatal(err)
		}
		for i, e := range alone {
			part := obs[i*ObsSize : (i+1)*ObsSize]
			if i == 1 && step >= 7 {
				if !ended[i] || rewards[i] != 0 {
					t.Fatalf("step %d: copy %d goes on after its end", step, i)
				}
				continue
			}
			reward, _, over, err := e.Step(acts[i*ActSize:(i+1)*ActSize], own)
			if err != nil || reward != rewards[i] || over != ended[i] || !slices.Equal(own, part) {
				t.Fatalf("step %d: copy %d differs from itself alone: %v", step, i, err)
			}
		}
	}
	frames := make([]byte, n*3*16*16)
	if err := v.Frames(frames, 16); err != nil {
		t.Fatal(err)
	}
	frame := make([]byte, 3*16*16)
	if err := alone[2].Frame(frame, 16); err != nil || !bytes.Equal(frame, frames[2*len(frame):]) {
		t.Errorf("a frame of copies differs from that of one: %v", err)
	}
	var saved bytes.Buffer
	if err := v.Save(&saved); err != nil {
		t.Fatal(err)
	}
	w, _ := task.NewVec(n, Test, 9)
	if err := w.Load(&saved); err != nil || *w.episodes[0].stateOf() != *v.episodes[0].stateOf() {
		t.Errorf("loaded %+v, %v", w.episodes[0].state, err)
	}
}

func (e *episode) stateOf() *state { return &e.state }

// Input that makes no sense gives an error of one line and changes nothing.
func TestRefusals(t *testing.T) {
	e := made(t, "maze-sparse", "off")
	obs, row := make([]float32, ObsSize), make([]float32, ActSize)
	step := func(row, obs []float32) error { _, _, _, err := e.Step(row, obs); return err }
	row[2] = 1
	lost := slices.Clone(row)
	lost[3] = float32(math.NaN())
	refused := func(want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, want)
		}
	}
	refused("there is none", step(row, obs))
	refused("no episode yet", e.Frame(make([]byte, 3*64), 8))
	if err := e.Reset(0, obs); err != nil {
		t.Fatal(err)
	}
	before := e.state
	refused("not finite", step(lost, obs))
	refused("length 8", step(row[:8], obs))
	refused("room for 3", step(row, obs[:3]))
	refused("room for 3", e.Reset(0, obs[:3]))
	refused("12 bytes", e.Frame(make([]byte, 12), 8))
	refused(`tv is "cinema", want one of off, noise`, func() error { _, err := tasks[0].With(Options{TV: "cinema"}); return err }())
	refused("a bonus of -1 for new places", func() error { _, err := tasks[0].With(Options{CellBonus: -1}); return err }())
	refused("0 copies", func() error { _, err := tasks[0].NewVec(0, Test, 1); return err }())
	if e.state != before {
		t.Error("what was refused changed the state")
	}
	var saved bytes.Buffer
	if err := made(t, "maze-very-sparse", "off").Save(&saved); err != nil {
		t.Fatal(err)
	}
	refused("not a state of this task", e.Load(bytes.NewReader(saved.Bytes())))
	saved.Reset()
	e.Save(&saved)
	refused("EOF", e.Load(io.LimitReader(bytes.NewReader(saved.Bytes()), int64(saved.Len()-1))))
	outside := e.state
	outside.X = -3
	refused("a player at (-3", outside.check())
	e.episode.Step = EpisodeSteps
	refused("over", step(row, obs))
}

// A step and a frame allocate no memory once they are warm.
func TestStepsTakeNoMemory(t *testing.T) {
	e := made(t, "maze-sparse", "noise")
	obs, row, frame := make([]float32, ObsSize), make([]float32, ActSize), make([]byte, 3*84*84)
	row[0] = 1
	if err := e.Reset(0, obs); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { e.Step(row, obs); e.Frame(frame, 84) }); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
}

// The bonus for new places applies only to the rewards of training, once for each square of an
// episode in which an action ends, also after the episode was saved and loaded.
func TestCellBonus(t *testing.T) {
	task, _ := Find("maze-sparse")
	task, err := task.With(Options{CellBonus: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	e, obs, row := task.New(Training, 3), make([]float32, ObsSize), make([]float32, ActSize)
	for episode := range uint64(2) {
		if err := e.Reset(episode, obs); err != nil {
			t.Fatal(err)
		}
		seen := map[[2]int]bool{{int(e.X / squareSize), int(e.Y / squareSize)}: true}
		bonuses := 0
		for step := range 400 {
			clear(row)
			row[oracle(e.episode)] = 1
			reward, _, _, err := e.Step(row, obs)
			if err != nil {
				t.Fatal(err)
			}
			square := [2]int{int(e.X / squareSize), int(e.Y / squareSize)}
			if math.Mod(reward, goalReward) == 0.5 == seen[square] {
				t.Fatalf("step %d: reward %v in a square that was entered before: %v", step, reward, seen[square])
			}
			if !seen[square] {
				bonuses++
			}
			seen[square] = true
			if step == 200 {
				var saved bytes.Buffer
				e.Save(&saved)
				e = task.New(Training, 3)
				if err := e.Load(&saved); err != nil {
					t.Fatal(err)
				}
			}
		}
		if bonuses < 100 {
			t.Errorf("%d bonuses", bonuses)
		}
	}
	v, err := task.NewVec(1, Test, 3)
	if err != nil {
		t.Fatal(err)
	}
	v.episodes[0].reset(0)
	for range 200 {
		if reward := v.episodes[0].act(oracle(v.episodes[0])); reward != 0 && reward != goalReward {
			t.Fatalf("a judge earns %v", reward)
		}
	}
}

// Respawned is true after a step that reached the goal, and after no other.
func TestRespawned(t *testing.T) {
	m, _ := Find("maze-sparse")
	e, obs, goals := m.New(Test, 3), make([]float32, ObsSize), 0
	if err := e.Reset(0, obs); err != nil || e.Respawned() {
		t.Fatalf("%v, at the beginning", err)
	}
	for range 600 {
		row := make([]float32, ActSize)
		row[oracle(e.episode)] = 1
		reward, _, _, err := e.Step(row, obs)
		if err != nil || e.Respawned() != (reward == goalReward) {
			t.Fatalf("%v: reward %v, respawned %v", err, reward, e.Respawned())
		}
		if reward > 0 {
			goals++
		}
	}
	if goals < 2 {
		t.Errorf("%d goals", goals)
	}
}
