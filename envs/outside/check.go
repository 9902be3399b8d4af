package outside

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Finding is a line of a check.
type Finding struct {
	Wrong bool // a run would not be what one expects of it
	Text  string
}

// Check plays a program's environment in the ways in which a run does, and says what it found. The error says why it
// cannot be used at all.
func (p *Program) Check(ctx context.Context) ([]Finding, error) {
	spec, about, err := p.Meet()
	if err != nil {
		return nil, err
	}
	t := p.Task()
	c := &checker{ctx: ctx, task: t, low: slices.Repeat([]float32{float32(math.Inf(1))}, t.ObsSize), high: slices.Repeat([]float32{float32(math.Inf(-1))}, t.ObsSize)}
	c.say(false, "%s", versions(about))
	c.say(false, "observation: %s%s", numbers(t.ObsSize), named(t.Names))
	c.say(false, "action: %s", t.actions())
	limit := fmt.Sprintf("at most %d steps an episode", t.limit)
	if spec.Limit == 0 && p.options.EpisodeSteps == 0 {
		limit += ", because it does not say: --episode-steps sets them"
	}
	c.say(false, "%s", limit)
	for _, part := range []func() error{c.repeats, c.saves, c.speed} {
		if err := part(); err != nil {
			return c.found, err
		}
	}
	c.describe(&spec)
	return c.found, nil
}

// checkSteps is how many steps are compared.
const checkSteps = 200

// checker checks one task.
type checker struct {
	ctx   context.Context
	task  *Task
	found []Finding

	low, high       []float32 // of the observations
	episodes, steps int
	ended           int // episodes that ended by themselves
}

func (c *checker) say(wrong bool, format string, about ...any) {
	c.found = append(c.found, Finding{wrong, fmt.Sprintf(format, about...)})
}

func versions(a About) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(a.Versions)) {
		all = append(all, name+" "+a.Versions[name])
	}
	return cmp.Or(strings.Join(all, ", "), "it does not say what it runs with")
}

func named(names []string) string {
	const most = 12
	switch n := len(names); {
	case n == 0:
		return ""
	case n > most:
		return fmt.Sprintf(": %s and %d more", strings.Join(names[:most], ", "), n-most)
	}
	return ": " + strings.Join(names, ", ")
}

// actions describes the actions.
func (t *Task) actions() string {
	if t.Choices > 0 {
		return fmt.Sprintf("one of %d, which methods of PPO choose from", t.Choices)
	}
	low, high := slices.Compact(slices.Clone(t.low)), slices.Compact(slices.Clone(t.high))
	if len(low) == 1 && len(high) == 1 {
		return fmt.Sprintf("%s from %g to %g", numbers(t.ActSize), low[0], high[0])
	}
	return fmt.Sprintf("%s from %v to %v", numbers(t.ActSize), t.low, t.high)
}

func numbers(n int) string {
	if n == 1 {
		return "1 number"
	}
	return fmt.Sprintf("%d numbers", n)
}

// player plays a copy with random actions.
type player struct {
	*checker
	env     *Env
	random  *rand.Rand
	action  []float32
	obs     []float32
	episode uint64
	seen    []float32 // all observations and rewards
}

// start begins to play a copy: the same seed brings the same actions.
func (c *checker) start(env *Env, seed uint64) (*player, error) {
	env.rider().seed = seed
	p := &player{checker: c, env: env, random: rand.New(rand.NewPCG(seed, 0)), action: make([]float32, c.task.ActSize), obs: make([]float32, c.task.ObsSize)}
	return p, p.begin()
}

func (p *player) begin() error {
	if err := p.env.Reset(p.episode, p.obs); err != nil {
		return err
	}
	p.episode++
	p.episodes++
	p.see(p.obs)
	return nil
}

func (p *player) see(obs []float32) {
	p.seen = append(p.seen, obs...)
	for i, x := range obs {
		p.low[i], p.high[i] = min(p.low[i], x), max(p.high[i], x)
	}
}

func (p *player) step() error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	for i := range p.action {
		p.action[i] = 2*p.random.Float32() - 1
	}
	reward, terminated, truncated, err := p.env.Step(p.action, p.obs)
	if err != nil {
		return fmt.Errorf("after %d steps of episode %d: %w", p.env.rider().episode.Steps, p.episode, err)
	}
	p.steps++
	p.see(p.obs)
	p.seen = append(p.seen, float32(reward))
	if terminated {
		p.ended++
	}
	if terminated || truncated {
		return p.begin()
	}
	return nil
}

func (p *player) play(steps int) error {
	for range steps {
		if err := p.step(); err != nil {
			return err
		}
	}
	return nil
}

func same(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// repeats compares what the same seed and actions bring: in another process, in a copy that was used before, and beside
// another copy in the same process.
func (c *checker) repeats() error {
	one, err := c.task.New(1)
	if err != nil {
		return err
	}
	defer one.Close()
	elsewhere, err := newFleet(c.task, &c.task.program.judging, 1, 1)
	if err != nil {
		return err
	}
	defer elsewhere.close()
	beside, err := c.task.New(2)
	if err != nil {
		return err
	}
	defer beside.Close()

	first, err := c.once(one)
	if err != nil {
		return err
	}
	other, err := c.once(&Env{fleet: elsewhere})
	if err != nil {
		return err
	}
	if !same(first, other) {
		c.say(true, "another process does something else with the same seed and actions: runs with it do not repeat, and an episode that is under way when a run is resumed begins again")
		return nil
	}
	used, err := c.once(one)
	if err != nil {
		return err
	}
	if !same(first, used) {
		c.say(true, "after an episode the same seed brings another one: reset does not set back everything")
		return nil
	}
	mixed, err := c.interleaved(one, beside)
	if err != nil {
		return err
	}
	if !same(first, mixed) {
		c.say(true, "copies in one process disturb each other: give each a process of its own: --env-procs N, with as many as there are copies")
		return nil
	}
	c.say(false, "%d steps are the same again: in another process, in a used copy and beside another copy", checkSteps)
	return nil
}

// once plays a copy alone.
func (c *checker) once(env *Env) ([]float32, error) {
	p, err := c.start(env, 1)
	if err == nil {
		err = p.play(checkSteps)
	}
	if err != nil {
		return nil, err
	}
	return p.seen, nil
}

// interleaved plays a copy while another one is stepped in turn.
func (c *checker) interleaved(env, beside *Env) ([]float32, error) {
	p, err := c.start(env, 1)
	if err != nil {
		return nil, err
	}
	q, err := c.start(beside, 2)
	if err != nil {
		return nil, err
	}
	for range checkSteps {
		if err := cmp.Or(p.step(), q.step()); err != nil {
			return nil, err
		}
	}
	return p.seen, nil
}

// saves finds out how an episode is taken up again after a run was resumed.
func (c *checker) saves() error {
	if slices.ContainsFunc(c.found, func(f Finding) bool { return f.Wrong }) {
		return nil
	}
	from, err := c.task.New(3)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := c.task.New(3)
	if err != nil {
		return err
	}
	defer to.Close()
	p, err := c.start(from, 3)
	if err == nil {
		err = p.play(min(checkSteps/2, c.task.limit/2))
	}
	if err != nil {
		return err
	}
	kept := new(strings.Builder)
	if err := from.Save(kept); err != nil {
		return err
	}
	state := from.rider().state()
	if err := to.Load(strings.NewReader(kept.String())); err != nil {
		return err
	}
	q := *p
	q.env, p.random, q.random = to, rand.New(rand.NewPCG(9, 9)), rand.New(rand.NewPCG(9, 9))
	q.obs, q.seen, p.seen = slices.Clone(p.obs), nil, nil
	var lost *Lost
	how := "by its own state"
	if state == nil {
		how = "by playing it again: the program saves no state"
	}
	switch err := cmp.Or(p.play(checkSteps/2), q.play(checkSteps/2)); {
	case errors.As(err, &lost):
		c.say(true, "an episode cannot be taken up again: %s", lost)
	case err != nil:
		return err
	case !same(p.seen, q.seen):
		c.say(true, "an episode that is taken up again by its own state goes on otherwise: get_state leaves something out")
	default:
		c.say(false, "after a break an episode is taken up again %s", how)
	}
	return nil
}

// speed measures steps of one copy, and of ten together.
func (c *checker) speed() error {
	const steps, copies = 2000, 10
	env, err := c.task.New(4)
	if err != nil {
		return err
	}
	defer env.Close()
	p, err := c.start(env, 4)
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := p.play(steps); err != nil {
		return err
	}
	alone := steps / time.Since(begin).Seconds()
	fleet, err := newFleet(c.task, &c.task.program.training, copies, 5)
	if err != nil {
		return err
	}
	defer fleet.close()
	v := &VecEnv{fleet}
	obs, actions := make([]float32, copies*c.task.ObsSize), make([]float32, copies*c.task.ActSize)
	rewards, ended := make([]float64, copies), make([]bool, copies)
	if err := v.Reset(0, obs); err != nil {
		return err
	}
	made := 0
	begin = time.Now()
	for episode := uint64(1); made < steps; {
		if err := cmp.Or(c.ctx.Err(), v.Step(actions, obs, rewards, ended)); err != nil {
			return err
		}
		if made += copies; slices.Contains(ended, true) {
			if err := v.Reset(episode, obs); err != nil {
				return err
			}
			episode++
		}
	}
	c.say(false, "%.0f steps/s alone, %.0f in tens", alone, float64(made)/time.Since(begin).Seconds())
	return nil
}

// describe says what the numbers were like.
func (c *checker) describe(spec *Spec) {
	var constant, large []string
	for i := range c.low {
		switch {
		case c.low[i] == c.high[i]:
			constant = append(constant, fmt.Sprintf("%s (%g)", spec.name(i), c.low[i]))
		case max(-c.low[i], c.high[i]) > 1000:
			large = append(large, fmt.Sprintf("%s (%g to %g)", spec.name(i), c.low[i], c.high[i]))
		}
	}
	c.say(false, "%d episodes in %d random steps, %d ended by themselves; observations from %g to %g", c.episodes, c.steps, c.ended, slices.Min(c.low), slices.Max(c.high))
	if len(constant) > 0 {
		c.say(false, "always the same with random actions%s", named(constant))
	}
	if len(large) > 0 {
		c.say(false, "large numbers, which learn slowly%s", named(large))
	}
}
