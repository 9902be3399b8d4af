package outside

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math"
)

// saved is an episode in a checkpoint. Without a state of the program it is played again.
type saved struct {
	Episode episode
	State   []byte // of the program; nil: it gave none
}

// stateMagic begins a saved episode; its last byte is the version of the layout.
const stateMagic = "pgr-outside\x01"

// save writes the episodes of all copies, one after the other.
func (f *fleet) save(w io.Writer) error {
	for _, r := range f.riders {
		kept := r.resuming
		if kept == nil {
			kept = &saved{Episode: r.episode, State: r.state()}
		}
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(kept); err != nil {
			return fmt.Errorf("save %s: %w", f.task.Name, err)
		}
		if _, err := fmt.Fprintf(w, "%s%s%s", stateMagic, le.AppendUint32(nil, uint32(b.Len())), b.Bytes()); err != nil {
			return fmt.Errorf("save %s: %w", f.task.Name, err)
		}
	}
	return nil
}

// state is what the program saves of a running episode; nil if it saves nothing. A program that cannot save this
// episode, has failed or fails now leaves it to be played again.
func (r *rider) state() []byte {
	if r.process == nil || r.process.broken() || !r.process.spec.State || !r.episode.Begun || r.episode.over() {
		return nil
	}
	state, _ := r.process.save(r.seat.copy) // nil after an error, which the next step reports if the program is gone
	return state
}

// load reads what save wrote, and no byte more. The episodes are taken up again when their next step is made.
func (f *fleet) load(from io.Reader) error {
	all := make([]*saved, len(f.riders))
	for i := range all {
		head := make([]byte, len(stateMagic)+4)
		if _, err := io.ReadFull(from, head); err != nil {
			return fmt.Errorf("load %s: %w", f.task.Name, err)
		}
		n := le.Uint32(head[len(stateMagic):])
		if string(head[:len(stateMagic)]) != stateMagic || n > 2*maxBody {
			return fmt.Errorf("load %s: not a state of this task, or made by another version of pgrlab", f.task.Name)
		}
		all[i] = new(saved)
		body := io.LimitReader(from, int64(n))
		if err := gob.NewDecoder(body).Decode(all[i]); err != nil {
			return fmt.Errorf("load %s: %w", f.task.Name, err)
		}
		io.Copy(io.Discard, body)
		e := &all[i].Episode
		if e.Begun && len(e.Obs) != f.task.ObsSize || len(e.Actions)%f.task.ActSize != 0 || len(e.Actions)/f.task.ActSize > f.task.limit {
			return fmt.Errorf("load %s: an episode with observations of %d numbers and %d numbers of actions is saved, the task has %d and %d", f.task.Name, len(e.Obs), len(e.Actions), f.task.ObsSize, f.task.ActSize)
		}
	}
	for i, r := range f.riders {
		r.resuming, r.process, r.episode = all[i], nil, all[i].Episode
	}
	return nil
}

// resume takes up the episode that was loaded, if there is one. An episode that does not come to the same observation
// is over; the error says so.
func (f *fleet) resume(r *rider) error {
	from := r.resuming
	r.resuming = nil
	if from == nil || !from.Episode.Begun || from.Episode.over() {
		return nil
	}
	p, err := f.crew.process(r.seat.process)
	if err != nil {
		return err
	}
	r.process = p
	if from.State != nil {
		return f.reload(p, r, from)
	}
	obs, err := f.replay(p, r, from.Episode)
	if err != nil {
		return err
	}
	for i, want := range from.Episode.Obs {
		if got := obs[i]; math.Float32bits(got) != math.Float32bits(want) {
			return notRepeated(fmt.Sprintf("its state could not be repeated: after %d steps with the same actions %s is %v and was %v", from.Episode.Steps, p.spec.name(i), got, want))
		}
	}
	return nil
}

// notRepeated is the loss of a saved episode.
func notRepeated(why string) error {
	return &Lost{text: why + ": the run is not repeated exactly", saved: true}
}

// reload gives the program the state that it saved. It has to have begun an episode before.
func (f *fleet) reload(p *process, r *rider, from *saved) error {
	obs := make([]float32, f.task.ObsSize)
	if err := p.reset([]start{{r.seat.copy, from.Episode.Seed, from.Episode.Number}}, obs); err != nil {
		return err
	}
	err := p.load(r.seat.copy, from.State)
	var said *refusal
	if errors.As(err, &said) && !said.Fatal {
		return notRepeated(fmt.Sprintf("the program cannot load what it saved: %s", said.Text))
	}
	return err
}

// replay plays an episode again and returns the observation to which it comes.
func (f *fleet) replay(p *process, r *rider, e episode) ([]float32, error) {
	obs, reward, flags := make([]float32, f.task.ObsSize), make([]float64, 1), make([]byte, 1)
	if err := p.reset([]start{{r.seat.copy, e.Seed, e.Number}}, obs); err != nil {
		return nil, err
	}
	var own []float32
	steps := 0
	for actions := e.Actions; len(actions) > 0; actions = actions[f.task.ActSize:] {
		own = f.task.own(own[:0], actions[:f.task.ActSize])
		for range f.task.repeat {
			if steps == e.Steps {
				return obs, nil
			}
			if err := p.step([]uint16{r.seat.copy}, own, reward, obs, flags); err != nil {
				return nil, err
			}
			if steps++; flags[0] != 0 {
				return nil, notRepeated(fmt.Sprintf("its state could not be repeated: with the same actions it ends after %d of %d steps", steps, e.Steps))
			}
		}
	}
	return obs, nil
}
