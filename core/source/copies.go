package source

import (
	"cmp"
	"fmt"

	"pgrlab/core/event"
	"pgrlab/core/experience"
	"pgrlab/core/run"
	"pgrlab/core/task"
)

// Config says what a member trains in.
type Config struct {
	Task    task.Task
	Name    string // of the task
	Seed    uint64 // the member's
	Copies  int    // K
	Side    int    // of frames, in pixels; 0: none are seen
	Colours int    // bytes of a pixel
}

// Copies are the K copies of an environment. All take an action in each env step, and each begins its
// next episode by itself.
type Copies struct {
	Config
	State
	Action, Next []float32        // of the env step, [K,A] and [K,O]
	Rewards      []float32        // and so on, [K]
	Ends         []experience.End //
	Respawned    []bool           // whether the step put a copy elsewhere

	host   Host
	log    *experience.Log // gets the first look of each episode; nil: nothing reads it
	ended  func(copy int)  // is called when the episode of a copy has ended
	envs   []copyEnv
	made   []bool // which copies have made the step
	frames []byte // [K,size] after the env step
}

// State is what a checkpoint needs beside the environments themselves.
type State struct {
	Obs      []float32 // [K,O], the observations that the next actions answer
	Counters []Copy
	Places   []float32 // [K,2], where the copies are; nil if that is not kept, or the environment does not say
	Half     *Half     // nil: no env step is half made
	Broken   RuleBroken
}

// Copy are the counters of a copy of the environment.
type Copy struct {
	Episode uint64 // of the member's episodes; copy i of n has every n-th from i on
	Step    int    // of the episode
	Return  float64
}

// Number is which of the episodes of its copy, of n, this is: from 1 on.
func (c Copy) Number(n int) int { return int(c.Episode)/n + 1 }

type copyEnv struct {
	world
	failed error // why it cannot be used before it is made again
}

// New makes the copies, each before its first episode. ended is called with a copy whose episode has
// ended, before the next one begins. They must be closed.
func New(c Config, host Host, ended func(copy int)) (*Copies, error) {
	n := c.Copies
	s := &Copies{Config: c, host: host, ended: ended, envs: make([]copyEnv, 0, n), State: State{Counters: make([]Copy, n)}}
	for i := range n {
		env, err := c.Task.New(c.Seed)
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("start %s: %w", c.Name, err)
		}
		s.envs = append(s.envs, copyEnv{world: newWorld(env)})
		s.Counters[i].Episode = uint64(i)
	}
	obs, act := s.envs[0].ObsSize(), s.envs[0].ActSize()
	s.Obs, s.Next, s.Action = make([]float32, n*obs), make([]float32, n*obs), make([]float32, n*act)
	s.Rewards, s.Ends, s.made, s.Respawned = make([]float32, n), make([]experience.End, n), make([]bool, n), make([]bool, n)
	s.frames = make([]byte, n*s.FrameSize())
	return s, nil
}

// FrameSize is how many bytes a frame has; 0 if none are seen.
func (c *Config) FrameSize() int { return c.Side * c.Side * c.Colours }

// ObsSize is the number of numbers in an observation of a copy.
func (s *Copies) ObsSize() int { return len(s.Obs) / len(s.envs) }

// ActSize is the number of numbers in an action of a copy.
func (s *Copies) ActSize() int { return len(s.Action) / len(s.envs) }

// Begin begins the first episodes. log gets the first look of each episode; nil: nothing reads it.
func (s *Copies) Begin(log *experience.Log) error {
	s.log = log
	for i := range s.envs {
		if err := s.envs[i].Reset(s.Counters[i].Episode, s.Row(s.Obs, i)); err != nil {
			return fmt.Errorf("reset %s: %w", s.Name, err)
		}
		if err := s.open(i); err != nil {
			return fmt.Errorf("reset %s: %w", s.Name, err)
		}
	}
	return nil
}

// Row is copy i's part of the numbers of all copies.
func (s *Copies) Row(all []float32, i int) []float32 {
	n := len(all) / len(s.envs)
	return all[i*n : (i+1)*n : (i+1)*n]
}

// Frame is the frame of copy i after the env step, or at the beginning of its episode.
func (s *Copies) Frame(i int) []byte {
	size := s.FrameSize()
	return s.frames[i*size : (i+1)*size]
}

// Look is what copy i shows: its part of obs, or its frame.
func (s *Copies) Look(obs []float32, i int) experience.Look {
	if s.Side > 0 {
		return experience.Look{Frame: s.Frame(i)}
	}
	return experience.Look{Numbers: s.Row(obs, i)}
}

// draw draws copy i, if frames are seen.
func (s *Copies) draw(i int) error {
	if s.Side == 0 {
		return nil
	}
	return s.envs[i].draw(s.Frame(i), s.Side)
}

// open takes the first look of copy i's episode.
func (s *Copies) open(i int) error {
	if err := s.draw(i); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	if s.log != nil {
		s.log.Begin(i, s.Look(s.Obs, i))
	}
	return nil
}

// Step makes the env step in every copy, with the actions that act writes. If a copy's episode is lost, it
// tries once more in the next episode, so that every copy gives a transition. After ErrEnvironment it must
// be called again for the same step: the copies that have made it by then do not make it twice.
func (s *Copies) Step(act func() error) error {
	s.takeHalf()
	acted := false
	for i := range s.envs {
		for tries := 0; !s.made[i]; tries++ {
			err := s.envs[i].failed
			if err == nil && !acted {
				if err := act(); err != nil {
					return err
				}
				s.keepActions()
				acted = true
			}
			if err == nil {
				if err = s.step(i); err == nil {
					break
				}
			}
			if tries > 0 || !tolerates(s.host, err) {
				s.keepHalf()
				return s.replace(i, err)
			}
			s.end(i)
			acted = false // the copy has another observation now
		}
	}
	clear(s.made)
	s.Half = nil
	return nil
}

// step makes the env step in copy i.
func (s *Copies) step(i int) error {
	e := &s.envs[i]
	reward, terminated, truncated, err := e.Step(s.Row(s.Action, i), s.Row(s.Next, i))
	if err != nil {
		return err
	}
	if err := s.draw(i); err != nil {
		return err
	}
	c := &s.Counters[i]
	c.Step++
	c.Return += reward
	s.Rewards[i], s.Ends[i], s.made[i] = float32(reward), experience.Continues, true
	if e.respawned != nil {
		s.Respawned[i] = e.respawned()
	}
	switch { // a time limit is no true end, even where both come together
	case terminated && !truncated && c.Step != s.Task.EpisodeSteps:
		s.Ends[i] = experience.Terminated
	case terminated || truncated:
		s.Ends[i] = experience.Truncated
	}
	s.compareEnds(i)
	return nil
}

// Advance begins the next env step: its observations are those after this one, or the first ones of
// the next episode.
func (s *Copies) Advance() {
	copy(s.Obs, s.Next)
	s.Places = s.Locate(s.Places)
	for i, end := range s.Ends {
		if end != experience.Continues {
			s.end(i)
		}
	}
}

// end writes the line and starts the next episode of copy i. If that fails, the next env step says so.
func (s *Copies) end(i int) {
	c, e := &s.Counters[i], &s.envs[i]
	if c.Step > 0 { // else it was lost before it began
		s.host.Emit(event.TypeEpisode, event.Episode{Return: run.Float(c.Return), Length: c.Step, Copy: i, Explored: e.exploration()})
	}
	*c = Copy{Episode: c.Episode + uint64(len(s.envs))}
	s.ended(i)
	if e.failed = e.Reset(c.Episode, s.Row(s.Obs, i)); e.failed == nil {
		e.failed = s.open(i)
	}
	if e.failed != nil {
		e.failed = fmt.Errorf("reset: %w", e.failed)
	}
	s.locate(s.Places, i)
}

// replace handles an error of a copy that is more than a lost episode. The episode ends here; the
// environment is made again, because nothing is known of its state, and makes the env step in its next
// episode when Step is called again.
func (s *Copies) replace(i int, err error) error {
	s.host.Fault(Simulate, err)
	fresh, failed := s.Task.New(s.Seed)
	if failed != nil {
		s.envs[i].failed = startAgain(s.Name, failed) // and again at the next try
		return ErrEnvironment
	}
	s.envs[i].Close() // it had failed: its error does not matter
	s.envs[i].world = newWorld(fresh)
	s.end(i)
	return ErrEnvironment
}

// Failed returns why one of the copies cannot be used before it is made again; nil: all can go
// on.
func (s *Copies) Failed() (err error) {
	for i := range s.envs {
		err = cmp.Or(err, s.envs[i].failed)
	}
	return err
}

// Close releases the environments.
func (s *Copies) Close() error {
	for i := range s.envs {
		s.envs[i].Close()
	}
	return nil
}
