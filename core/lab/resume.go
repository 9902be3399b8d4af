package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/core/task"
)

// Resumption says how a run is to go on.
type Resumption struct {
	Saving
	// DropTail forgets the changes that were made after the checkpoint; without it they are made
	// again at their positions.
	DropTail bool
	// At goes back to the last checkpoint at or before this position; nil: the last of all.
	// Later checkpoints are set aside together with the lines after it.
	At *knob.Position
	// Config is the content of config.toml from now on, if the run is made longer (see
	// Config.Longer); nil: it stays as it is.
	Config []byte
	// Say receives what Restore is doing when that takes time; nil: nothing is reported.
	Say func(text string)
}

// Restore makes a lab that goes on where the run in folder was saved last, or from the beginning
// if it never was saved. The part of the journal after that place moves to a file of its own,
// and the changes in it are scheduled again, so that the journal becomes that of a run which was
// never interrupted. said has lines that the user should see: checkpoints that cannot be used,
// another kind of device, damaged lines. On an error the folder is unchanged and still the
// caller's. The end of ctx ends Restore between two parts, with its cause.
func Restore(ctx context.Context, c config.Config, task task.Task, dev device.Device, folder *run.Folder, how Resumption) (l *Lab, said []string, err error) {
	p, err := newParts(&c, task, dev)
	if err != nil {
		return nil, nil, err
	}
	m := &making{ctx: ctx}
	defer m.done()
	l, said, err = restore(c, m.task(task), folder, m.parts(p), dev.Name(), time.Now, how)
	if err != nil && ctx.Err() != nil {
		return nil, nil, context.Cause(ctx) // and no word about checkpoints that could not be made a run
	}
	return l, said, err
}

func restore(c config.Config, task task.Task, folder *run.Folder, p parts, device string, now func() time.Time, how Resumption) (*Lab, []string, error) {
	found, err := folder.Checkpoints()
	if err != nil {
		return nil, nil, err
	}
	begin := func(p parts) (*Lab, error) {
		l, err := newLab(c, task, nil, p, device, now)
		if err == nil {
			l.x.say = how.Say
		}
		return l, err
	}
	r := resuming{folder: folder, said: folder.Said()}
	r.begin = func() (*Lab, error) {
		p, err := p.withData(&c, task)
		if err != nil {
			return nil, err
		}
		return begin(p)
	}
	r.blank = r.begin
	if c.Data.Seeds() { // a checkpoint has their rows, as part of D_real
		r.blank = func() (*Lab, error) { return begin(p) }
	}
	if found, err = r.upTo(r.before(found, c.Steps), how.At); err != nil {
		return nil, r.said, fmt.Errorf("resume %s: %w", folder.Dir(), err)
	}
	l, err := r.newest(found)
	if err != nil {
		return nil, r.said, fmt.Errorf("resume %s: %w", folder.Dir(), err)
	}
	if err := r.goOn(l, how); err != nil {
		l.Close()
		return nil, r.said, fmt.Errorf("resume %s: %w", folder.Dir(), err)
	}
	return l, r.said, nil
}

// resuming is the state of a Restore.
type resuming struct {
	folder *run.Folder
	begin  func() (*Lab, error) // makes a lab at its beginning, without a folder
	blank  func() (*Lab, error) // makes one for a checkpoint
	from   run.Header           // the checkpoint in use; zero: the run goes on from its beginning
	ended  bool                 // some checkpoints contain what only the end of a shorter run has
	passed bool                 // a later checkpoint of this run cannot be used
	said   []string
}

func (r *resuming) say(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

// before returns the checkpoints from which a run of that many steps can go on. It leaves out
// those that contain what only the end of a shorter run has.
func (r *resuming) before(found []run.Found, steps int) []run.Found {
	all := len(found)
	found = slices.DeleteFunc(found, func(f run.Found) bool { return f.Ended && f.Step < steps })
	r.ended = len(found) < all
	return found
}

// upTo returns the checkpoints at or before a position.
func (r *resuming) upTo(found []run.Found, at *knob.Position) ([]run.Found, error) {
	if at == nil {
		return found, nil
	}
	var kept []run.Found
	var all []string
	for _, f := range found {
		var p knob.Position
		if f.Err != nil || p.UnmarshalText([]byte(f.Position)) != nil {
			continue
		}
		if all = append(all, f.Position); !at.Before(p) {
			kept = append(kept, f)
		}
	}
	if len(kept) == 0 {
		slices.Reverse(all)
		return nil, fmt.Errorf("there is no checkpoint at or before %s: there are those at %s", at, first(strings.Join(all, ", "), "no position"))
	}
	return kept, nil
}

// first returns the first text that is not empty.
func first(texts ...string) string {
	i := slices.IndexFunc(texts, func(t string) bool { return t != "" })
	return texts[i]
}

// newest loads the latest checkpoint that can be used.
func (r *resuming) newest(found []run.Found) (*Lab, error) {
	var latest error
	for _, f := range found {
		l, err := r.load(f)
		if err == nil {
			return l, nil
		}
		r.say("checkpoint %s cannot be used: %s", filepath.Base(f.Path), err)
		r.passed = r.passed || f.Err == nil && !errors.Is(err, run.ErrOtherConfig)
		if latest == nil {
			latest = err
		}
	}
	if latest != nil {
		return nil, fmt.Errorf("none of its checkpoints can be used, nothing was changed: the latest: %w", latest)
	}
	if err := r.neverSaved(); err != nil {
		return nil, err
	}
	r.from.Journal = run.EmptyMark()
	return r.begin()
}

// neverSaved returns an error if the journal says that there was a checkpoint: the run was
// saved, or it is a fork, which begins with one.
func (r *resuming) neverSaved() error {
	var lost error
	err := r.folder.Tail(run.EmptyMark(), func(e run.Entry) {
		line, _ := event.Decode(e)
		switch b := line.Body.(type) {
		case event.Noted:
			if b.Obs.At == nil && strings.HasPrefix(b.Text, event.ForkedAt) {
				lost = fmt.Errorf("it is a fork without the checkpoint that it began with: remove it and fork %s again", b.Obs.By)
			}
		case event.Checkpointed:
			if b.Obs.Error == "" && lost == nil {
				lost = errors.New("its journal lists checkpoints, and there is none: its config.toml, as --preset, begins it again in another folder")
			}
		}
	}, func(int) {})
	if err != nil {
		return err
	}
	return lost
}

// load makes the lab that a checkpoint holds.
func (r *resuming) load(f run.Found) (*Lab, error) {
	if f.Err != nil {
		return nil, f.Err
	}
	if !r.folder.Made(f.Config) {
		return nil, run.ErrOtherConfig
	}
	if err := r.folder.CheckMark(f.Journal); err != nil {
		return nil, err
	}
	l, err := r.blank()
	if err != nil {
		return nil, err
	}
	remarks, err := l.x.into().Load(f.Path, r.folder.Dir())
	if err != nil {
		l.Close()
		return nil, err
	}
	l.x.loaded()
	r.from, r.said = f.Header, append(r.said, remarks...)
	if here := l.x.kernels(); here != f.Device {
		l.x.meter.Forget()
		r.say("saved by %s, goes on with %s: from here on the run may differ from one without a break", f.Device, here)
	}
	return l, nil
}
