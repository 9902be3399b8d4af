package maze

import (
	"fmt"
	"math"
	"math/bits"
)

// The task.
const (
	ObsSize      = Rays * RaySize
	ActSize      = 9    // len(Actions)
	EpisodeSteps = 1800 // actions, 2 minutes
	goalReward   = 10
)

const notStarted = -1

// state is the part of an episode that is not a function of its position in its streams. It is
// what is saved.
type state struct {
	world
	Step    int32 // actions made; notStarted before the first Reset
	Starts  uint32
	Shots   uint32 // actions that fired
	Visited [(cells + 63) / 64]uint64
	Squares [(squares*squares + 63) / 64]uint64 // squares that were entered, in an episode with a bonus for them
	body
}

// episode is a maze with its player.
type episode struct {
	task   *Task
	split  Split
	seed   uint64
	draw   *draw
	layout layout
	look   look
	tv     TV
	walked float64 // sum of the displacements of the episode's actions, cells
	looks  float64 // number of actions that only looked to a side
	moved  bool    // the last action reached the goal and moved the player to another start
	trail  trail   // trail of the episode; if a loaded state has none, it begins there
	state
}

func newEpisode(t *Task, split Split, seed uint64) *episode {
	return &episode{task: t, split: split, seed: seed, draw: newDraw(), tv: t.tv, trail: newTrail(), state: state{Step: notStarted}}
}

// reset begins an episode.
func (e *episode) reset(number uint64) {
	e.state, e.moved, e.walked, e.looks = state{world: world{e.split, e.seed, number}}, false, 0, 0
	e.trail.begin()
	e.enter()
	e.start()
	e.explored()
}

// enter makes the maze of the episode.
func (e *episode) enter() { build(&e.layout, &e.look, e.draw, e.world) }

// build makes the maze of an episode.
func build(l *layout, k *look, d *draw, w world) {
	d.begin(w, forLayout, 0)
	l.build(d)
	d.begin(w, forLook, 0)
	k.choose(d, l)
}

// start puts the player at the next start, at rest.
func (e *episode) start() {
	e.draw.begin(e.world, forStart, uint64(e.Starts))
	e.Starts++
	cell := e.layout.start(e.draw, e.task.farStart)
	e.body = body{Heading: int32(e.draw.IntN(headings))}
	e.X, e.Y = centre(cell)
	e.trail.add(e.X, e.Y)
	e.visit()
}

func (e *episode) visit() {
	cell := e.cell()
	e.Visited[cell/64] |= 1 << (cell % 64)
}

// The squares counted by a bonus for new ones: google-research/episodic-curiosity's have 30
// units, 0.3 cells.
const (
	squareSize = 0.3
	squares    = 57 // number of squares along each side of a maze
)

// explored says whether the player is in a square for the first time in the episode.
func (e *episode) explored() bool {
	if e.task.cellBonus == 0 {
		return false
	}
	square := int(e.Y/squareSize)*squares + int(e.X/squareSize)
	word, bit := &e.Squares[square/64], uint64(1)<<(square%64)
	before := *word
	*word |= bit
	return before&bit == 0
}

// act makes an action and adds the task's bonus, if it has one, to the reward.
func (e *episode) act(action int) (reward float64) {
	reward = e.move(action)
	if e.explored() {
		reward += e.task.cellBonus
	}
	return reward
}

// move makes an action: its frames, or those up to the goal.
func (e *episode) move(action int) (reward float64) {
	e.Step++
	e.moved = false
	switch action {
	case fire:
		e.Shots++
	case lookLeft, lookRight:
		e.looks++
	}
	from := e.body
	for range framesPerAction {
		e.frame(&e.layout, action)
		if e.touches(e.layout.goal) {
			e.walked += e.from(from)
			e.trail.reach(e.X, e.Y)
			e.start()
			e.moved = true
			return goalReward
		}
	}
	e.walked += e.from(from)
	e.trail.walk(e.X, e.Y)
	e.visit()
	return 0
}

// from is the distance of a body from another one, in cells.
func (b *body) from(o body) float64 {
	x, y := b.X-o.X, b.Y-o.Y
	return math.Sqrt(float64(x*x) + float64(y*y))
}

// Exploration describes the episode so far: goals reached, cells in which an action ended, the sum of
// the actions' displacements relative to that at top speed, and the share of actions that look to a
// side or fire. The last two are NaN if the episode goes on from a state that was saved by a version
// which did not count them.
func (e *episode) Exploration() (goals, cells int, moved, onSpot float64) {
	for _, word := range e.Visited {
		cells += bits.OnesCount64(word)
	}
	if e.Step > 0 {
		moved = e.walked / (float64(e.Step) * framesPerAction * topSpeed / frameRate)
		onSpot = (e.looks + float64(e.Shots)) / float64(e.Step)
	}
	return max(0, int(e.Starts)-1), cells, moved, onSpot
}

// Place is the position of the player, in cells to the east and to the south.
func (e *episode) Place() (x, y float64) { return e.X, e.Y }

func (e *episode) over() bool { return e.Step == notStarted || e.Step >= EpisodeSteps }

// scene returns the present scene.
func (e *episode) scene() scene {
	return scene{&e.layout, &e.look, &e.body, e.tv.at(e.world, int(e.Step), int(e.Shots))}
}

func (e *episode) observe(obs []float32) {
	s := e.scene()
	s.rays(obs)
}

// step makes the action of a row. It is an error if the row is invalid or no episode is running.
func (e *episode) step(row []float32) (reward float64, err error) {
	action, err := index(row)
	switch {
	case err != nil:
		return 0, fmt.Errorf("step %s: %w", e.task.Name, err)
	case e.over():
		return 0, fmt.Errorf("step %s: the episode is over, or there is none: reset first", e.task.Name)
	}
	return e.act(action), nil
}

// index is the action that a row stands for: the index of its largest number, the first of equal
// ones.
func index(row []float32) (action int, err error) {
	if len(row) != ActSize {
		return 0, fmt.Errorf("action of length %d, want %d", len(row), ActSize)
	}
	for i, v := range row {
		if v != v {
			return 0, fmt.Errorf("action %v is not finite", row)
		}
		if v > row[action] {
			action = i
		}
	}
	return action, nil
}

// Env plays one maze after another. It belongs to one goroutine at a time.
type Env struct {
	*episode
	camera camera
}

// New makes an environment whose episodes are those of a split and a seed.
func (t Task) New(split Split, seed uint64) *Env { return &Env{episode: newEpisode(&t, split, seed)} }

// ObsSize returns the length of an observation.
func (e *Env) ObsSize() int { return ObsSize }

// ActSize returns the length of an action, a row with 1 at the chosen one.
func (e *Env) ActSize() int { return ActSize }

// Reset starts an episode and writes its first observation [ObsSize].
func (e *Env) Reset(episode uint64, obs []float32) error {
	if len(obs) != ObsSize {
		return fmt.Errorf("reset %s: room for %d observations, want %d", e.task.Name, len(obs), ObsSize)
	}
	e.reset(episode)
	e.observe(obs)
	return nil
}

// Step takes an action [ActSize], a row whose largest number is at the action's index in Actions,
// and writes the observation [ObsSize] that follows. The reward is 10 if the goal was touched and
// otherwise 0, plus the task's bonus for new cells if it has one (Options.CellBonus). An episode
// ends only by time, which is a truncation. An error changes nothing.
func (e *Env) Step(action, obs []float32) (reward float64, terminated, truncated bool, err error) {
	if len(obs) != ObsSize {
		return 0, false, false, fmt.Errorf("step %s: room for %d observations, want %d", e.task.Name, len(obs), ObsSize)
	}
	if reward, err = e.step(action); err != nil {
		return 0, false, false, err
	}
	e.observe(obs)
	return reward, false, e.over(), nil
}

// Respawned says whether the last Step reached the goal, so that the observation it wrote is
// from another start.
func (e *Env) Respawned() bool { return e.moved }

// Frame draws what the player sees: dst is [side,side,3], red, green and blue, the top line
// first. Equal states give equal bytes. It changes nothing.
func (e *Env) Frame(dst []byte, side int) error { return e.frameTo(&e.camera, dst, side) }

func (e *episode) frameTo(c *camera, dst []byte, side int) error {
	switch {
	case len(dst) != side*side*3 || side < 2:
		return fmt.Errorf("draw %s: %d bytes for a frame of %d by %d pixels", e.task.Name, len(dst), side, side)
	case e.Step == notStarted:
		return fmt.Errorf("draw %s: there is no episode yet", e.task.Name)
	}
	s := e.scene()
	c.draw(dst, side, &s)
	return nil
}

// Televise switches the TV from the next observation on.
func (e *episode) Televise(tv string) error {
	kind, err := ParseTV(tv)
	if err != nil {
		return fmt.Errorf("%s: %w", e.task.Name, err)
	}
	e.tv = kind
	return nil
}

// Close does nothing: there is nothing to free.
func (e *Env) Close() error { return nil }
