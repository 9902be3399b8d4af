package outside

import (
	"cmp"
	"fmt"
	"math"
	"sync"
)

// Lost is an error that ends an episode and nothing else.
type Lost struct {
	text  string
	saved bool // what was lost is an episode that had been saved
}

func (l *Lost) Error() string { return l.text }

// EpisodeLost says that the next episode begins as if nothing had happened.
func (l *Lost) EpisodeLost() bool { return true }

// NotRepeated says that the episode was lost because it had been saved and cannot be taken up again.
func (l *Lost) NotRepeated() bool { return l.saved }

// rider is one copy of the environment, in a place of a process.
type rider struct {
	seat    seat
	process *process // in which the episode runs; nil: there is none

	seed     uint64 // of its episodes
	episode  episode
	resuming *saved // a saved episode that has not been taken up yet
}

// episode is what is needed to play an episode again.
type episode struct {
	Seed, Number uint64
	Begun        bool
	Steps        int       // control steps so far
	Terminated   bool      // it has ended by itself
	Truncated    bool      // its time is up, or it was lost
	Obs          []float32 // the last observation [O]
	Actions      []float32 // [steps,A], as the task takes them
}

func (e *episode) over() bool { return e.Terminated || e.Truncated }

// fleet are copies that are stepped together.
type fleet struct {
	task    *Task
	crew    *crew
	riders  []*rider
	batches []*batch // one for each process
}

// batch are the copies of a fleet in one process.
type batch struct {
	fleet  *fleet
	number int   // of the process
	riders []int // their numbers in the fleet
	err    error // the first one of the present request

	// The present request.
	asked   []int // the riders that it is about
	starts  []start
	copies  []uint16
	actions []float32
	rewards []float64
	obs     []float32
	flags   []byte
}

func newFleet(t *Task, c *crew, n int, seed uint64) (*fleet, error) {
	f := &fleet{task: t, crew: c}
	batches := map[int]*batch{}
	for i := range n {
		s, err := c.take()
		if err != nil {
			f.close()
			return nil, err
		}
		f.riders = append(f.riders, &rider{seat: s, seed: seed})
		b := batches[s.process]
		if b == nil {
			b = &batch{fleet: f, number: s.process}
			batches[s.process] = b
			f.batches = append(f.batches, b)
		}
		b.riders = append(b.riders, i)
	}
	return f, nil
}

func (f *fleet) close() {
	for _, r := range f.riders {
		f.crew.leave(r.seat)
	}
	f.riders = nil
}

// each does something in all processes at once, and returns the first error.
func (f *fleet) each(do func(b *batch) error) (err error) {
	if len(f.batches) == 1 {
		return do(f.batches[0])
	}
	var all sync.WaitGroup
	for _, b := range f.batches {
		all.Go(func() { b.err = do(b) })
	}
	all.Wait()
	for _, b := range f.batches {
		err = cmp.Or(err, b.err)
	}
	return err
}

// ask begins a request about some riders.
func (b *batch) ask() {
	b.asked, b.starts, b.copies, b.actions = b.asked[:0], b.starts[:0], b.copies[:0], b.actions[:0]
}

// room makes room for the reply.
func (b *batch) room() {
	k, size := len(b.asked), b.fleet.task.ObsSize
	if cap(b.flags) < k {
		b.flags, b.rewards, b.obs = make([]byte, k), make([]float64, k), make([]float32, k*size)
	}
	b.flags, b.rewards, b.obs = b.flags[:k], b.rewards[:k], b.obs[:k*size]
}

// row is what the reply says to the k-th rider that was asked.
func (b *batch) row(k int) []float32 {
	size := b.fleet.task.ObsSize
	return b.obs[k*size : (k+1)*size]
}

// reset begins an episode of each copy.
func (b *batch) reset(number func(rider int) uint64) error {
	p, err := b.fleet.crew.process(b.number)
	if err != nil {
		return err
	}
	b.ask()
	for _, i := range b.riders {
		r := b.fleet.riders[i]
		r.resuming, r.process = nil, nil
		r.episode = episode{Seed: r.seed, Number: number(i), Obs: r.episode.Obs, Actions: r.episode.Actions[:0]}
		b.asked, b.starts = append(b.asked, i), append(b.starts, start{r.seat.copy, r.seed, number(i)})
	}
	b.room()
	if err := p.reset(b.starts, b.obs); err != nil {
		return err
	}
	for k, i := range b.asked {
		r := b.fleet.riders[i]
		if text := p.spec.strange(b.row(k)); text != "" {
			return fmt.Errorf("%s begins an episode, but %s", b.fleet.task.Name, text)
		}
		r.process, r.episode.Begun = p, true
		r.episode.Obs = append(r.episode.Obs[:0], b.row(k)...)
	}
	return nil
}

// step makes an env step of each copy whose episode goes on: actions [n,A] and rewards [n] are those of the whole fleet.
func (b *batch) step(actions []float32, rewards []float64) (err error) {
	t := b.fleet.task
	for _, i := range b.riders {
		rewards[i] = 0
		r := b.fleet.riders[i]
		e := cmp.Or(b.fleet.resume(r), r.ready())
		if r.episode.over() {
			continue
		}
		if e != nil {
			r.episode.Truncated, err = true, cmp.Or(err, e)
			continue
		}
		r.episode.Actions = append(r.episode.Actions, actions[i*t.ActSize:(i+1)*t.ActSize]...)
	}
	for range t.repeat {
		if e := b.stepOnce(actions, rewards); e != nil {
			err = cmp.Or(err, e)
		}
	}
	return err
}

// ready says why a rider cannot make a step.
func (r *rider) ready() error {
	switch {
	case !r.episode.Begun:
		return fmt.Errorf("a step without an episode")
	case r.process == nil:
		return errGone
	case r.process.broken():
		return &Lost{text: fmt.Sprintf("%s: %v", errGone, r.process.failed)} // a save may have met it first, and said nothing
	}
	return nil
}

// stepOnce makes a control step of each copy whose episode goes on.
func (b *batch) stepOnce(actions []float32, rewards []float64) (err error) {
	t := b.fleet.task
	var p *process
	b.ask()
	for _, i := range b.riders {
		r := b.fleet.riders[i]
		if r.episode.over() || !r.episode.Begun {
			continue
		}
		p = r.process
		b.asked, b.copies = append(b.asked, i), append(b.copies, r.seat.copy)
		b.actions = t.own(b.actions, actions[i*t.ActSize:(i+1)*t.ActSize])
	}
	if len(b.asked) == 0 {
		return nil
	}
	b.room()
	if err := p.step(b.copies, b.actions, b.rewards, b.obs, b.flags); err != nil {
		for _, i := range b.asked {
			b.fleet.riders[i].episode.Truncated = true
		}
		return err
	}
	for k, i := range b.asked {
		r := &b.fleet.riders[i].episode
		text := p.spec.strange(b.row(k))
		if x := b.rewards[k]; !(math.Abs(x) <= largest) {
			text = fmt.Sprintf("its reward is %v: want a finite number of at most %g", x, float64(largest))
		}
		if b.flags[k]&flagLost != 0 {
			text = "the program gave the episode up"
		}
		if text != "" {
			r.Truncated = true
			err = cmp.Or(err, error(&Lost{text: fmt.Sprintf("step %d: %s", r.Steps+1, text)}))
			continue
		}
		rewards[i] += b.rewards[k]
		r.Obs = append(r.Obs[:0], b.row(k)...)
		r.Steps++
		r.Terminated = b.flags[k]&flagTerminated != 0
		r.Truncated = b.flags[k]&flagTruncated != 0 || r.Steps >= t.limit
	}
	return err
}
