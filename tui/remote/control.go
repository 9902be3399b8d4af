package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pgrlab/core/event"
	"pgrlab/core/shell"
	"pgrlab/tui/history"
	"pgrlab/tui/pane/system"
)

// Status is a running lab as `pgrlab ps` shows it.
type Status struct {
	PID       int       `json:"pid"`
	Host      string    `json:"host"`
	Dir       string    `json:"dir"` // unchanged; all other fields are safe to show
	Started   time.Time `json:"started"`
	Left      time.Time `json:"left,omitzero"` // when a screen that may drive was left last; zero: none was
	Task      string    `json:"task"`
	Method    string    `json:"method"`
	Scale     string    `json:"scale"`
	Seed      uint64    `json:"seed"`
	State     string    `json:"state"`
	Phase     string    `json:"phase"`
	Step      int       `json:"step"`
	Steps     int       `json:"steps"`
	Return    *float64  `json:"return"` // of the last evaluation, the mean over all seeds; null before the first
	Best      *float64  `json:"best"`
	StepsPerS float64   `json:"steps_per_s"`
	ETAS      float64   `json:"eta_s"` // 0: unknown
	Device    string    `json:"device"`
	Memory    int64     `json:"memory_bytes"` // resident; 0: unknown
	Screens   int       `json:"screens"`
	Driver    string    `json:"driver,omitempty"`
	Trouble   string    `json:"trouble,omitempty"` // why it failed or waits
	Answered  bool      `json:"answered"`          // false: the process lives but does not answer
}

// lookEvery is how often a request checks whether the lab has done it.
const lookEvery = 10 * time.Millisecond

// control answers a request.
func (s *Server) control(conn net.Conn, h hello) answer {
	if h.Want == "status" {
		status := s.status()
		return answer{Status: &status}
	}
	do, known := requests[h.Want]
	if !known {
		return answer{Error: fmt.Sprintf("that lab does not know %q", h.Want)}
	}
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	go func() { // do not wait for a client that leaves
		readFrame(conn, nil)
		cancel()
	}()
	said, err := do(ctx, s, h.Name)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Said: said}
}

// requests are what scripts may ask for; keys of a screen do the same.
var requests = map[string]func(ctx context.Context, s *Server, by string) (string, error){
	"pause": func(ctx context.Context, s *Server, by string) (string, error) {
		paused := func() bool {
			now := s.o.Lab.Snapshot()
			return now.State == event.PausedState && !now.Passing // such a pause ends by itself
		}
		if paused() {
			return s.at("was paused already"), nil
		}
		return s.ask(ctx, event.Pause{By: by}, "paused", paused)
	},
	"resume":     resume,
	"park":       park,
	"checkpoint": checkpoint,
	"analyse":    analyse,
	"stop":       stop,
}

// stop saves and ends the run, and waits for its end. A run that has ended meanwhile is stopped.
func stop(ctx context.Context, s *Server, by string) (string, error) {
	said, err := s.ask(context.WithoutCancel(ctx), event.Stop{By: by}, "stopped and saved", func() bool {
		select {
		case <-s.o.Ended:
			return true
		default:
			return false
		}
	})
	switch now := s.o.Lab.Snapshot(); {
	case err != nil:
		return "", err
	case now.HandedOver:
		return "", fmt.Errorf("the run has just moved to another process, and goes on there: pgrlab stop %s", shell.Word(s.dir()))
	case now.State == event.FailedState:
		return "", errors.New(now.Err)
	}
	return said, nil
}

// resume ends a pause. A parked run that cannot take its GPU again, one whose device is lost and one
// whose disk is still full go on waiting and say why.
func resume(ctx context.Context, s *Server, by string) (string, error) {
	if s.o.Lab.Snapshot().State == event.Running {
		return s.at("is running already"), nil
	}
	from, failed, resumed := len(s.o.Lab.Events(0)), "", false
	said, err := s.ask(ctx, event.Resume{By: by}, "resumed", func() bool {
		for _, e := range s.since(&from) {
			failed += event.Refusal(e, "resume")
			switch b := e.Body.(type) {
			case event.Resumed:
				resumed = resumed || b.By == by
			case event.Paused:
				if resumed || strings.HasPrefix(b.Reason, "still parked: ") {
					failed = cmp.Or(b.Reason, "paused again by "+b.By)
				}
			}
		}
		return failed != "" || s.o.Lab.Snapshot().State == event.Running
	})
	if err == nil && failed != "" {
		return "", errors.New(failed)
	}
	return said, err
}

// since returns the events from number *from on, and moves it past them.
func (s *Server) since(from *int) []event.Event {
	all := s.o.Lab.Events(*from)
	*from += len(all)
	return all
}

// park saves the run, gives its GPU back and pauses, and waits until the GPU's memory is free. On
// the CPU it only saves and pauses.
func park(ctx context.Context, s *Server, by string) (string, error) {
	snapshot, gpu := s.o.Lab.Snapshot(), s.o.Config.Device == "cuda"
	if gpu && snapshot.Parked {
		return s.at("was parked already"), nil
	}
	from, failed := len(s.o.Lab.Events(0)), ""
	done := "parked, its GPU memory is free,"
	if !gpu {
		done = "saved and paused (it has no GPU to give back)"
	}
	said, err := s.ask(ctx, event.Park{By: by}, done, func() bool {
		for _, e := range s.since(&from) {
			failed += event.Refusal(e, "park")
			if p, is := e.Body.(event.Paused); is && p.By == by && strings.HasPrefix(p.Reason, "park: ") {
				failed = p.Reason
			}
		}
		now := s.o.Lab.Snapshot()
		switch {
		case failed != "":
			return true
		case now.State != event.PausedState:
			return false
		case gpu:
			return now.Parked
		}
		c := s.savedAs(now)
		if c != nil && c.Error != "" {
			failed = "save: " + c.Error
		}
		return c != nil
	})
	if err == nil && failed != "" {
		return "", errors.New(failed)
	}
	return said, err
}

// savedAs is the last checkpoint of where the run is, or why it could not be made; nil: it is not on the
// disk yet.
func (s *Server) savedAs(now *event.Snapshot) *event.CheckpointObs {
	for _, e := range slices.Backward(s.o.Lab.Events(0)) {
		if c, is := e.Body.(event.Checkpointed); is && c.Obs.Position == now.Position {
			return &c.Obs
		}
	}
	return nil
}

// checkpoint saves the run and waits until the checkpoint is on the disk.
func checkpoint(ctx context.Context, s *Server, by string) (string, error) {
	from, ref := len(s.o.Lab.Events(0)), fmt.Sprintf("checkpoint %d", time.Now().UnixNano())
	var found *event.CheckpointObs
	failed := ""
	_, err := s.ask(ctx, event.Checkpoint{Ref: ref, By: by}, "", func() bool {
		for _, e := range s.since(&from) {
			if failed = event.Refusal(e, "checkpoint"); failed != "" {
				return true
			}
			if c, is := e.Body.(event.Checkpointed); is && slices.Contains(c.Obs.Refs, ref) {
				found = &c.Obs
				return true
			}
		}
		return false
	})
	switch {
	case err != nil:
		return "", err
	case failed != "":
		return "", errors.New(failed)
	case found == nil:
		return "", errors.New("the run ended before it was saved on request; it saves at its end")
	case found.Error != "":
		return "", fmt.Errorf("save: %s", found.Error)
	}
	return fmt.Sprintf("saved %s, %d bytes, training stood still for %.0f ms: %s", found.Position, found.Bytes, 1000*found.StallS,
		filepath.Join(s.dir(), "checkpoints", filepath.Base(found.Path))), nil
}

// analyse analyses the run in its present state, and waits until the findings are in the journal.
func analyse(ctx context.Context, s *Server, by string) (string, error) {
	from, found, refused := len(s.o.Lab.Events(0)), 0, ""
	said, err := s.ask(ctx, event.AnalyseNow{By: by}, "analysed", func() bool {
		for _, e := range s.since(&from) {
			one, why := event.Answers(e, by)
			if one != nil {
				found++
			}
			refused += why
		}
		return found >= s.o.Config.Members || refused != ""
	})
	if err == nil && refused != "" {
		err = errors.New(refused)
	}
	return said, err
}

// ask sends a command and waits until shows reports its effect, or the run is over.
func (s *Server) ask(ctx context.Context, c event.Command, done string, shows func() bool) (string, error) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	_, stops := c.(event.Stop)
	asked := false
	for {
		if !asked {
			switch err := s.o.Lab.Send(c); {
			case err == nil, stops && errors.Is(err, event.ErrEnded):
				asked = true
			case !errors.Is(err, event.ErrBusy):
				return "", err
			}
		}
		ended := over(s.o.Lab.Snapshot()) // read before shows is called for the last time
		if asked && shows() {
			return s.at(done), nil
		}
		if ended && !stops {
			return "", event.ErrEnded
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// at says what was done, and at which step.
func (s *Server) at(done string) string {
	snapshot := s.o.Lab.Snapshot()
	return fmt.Sprintf("%s at step %d of %d: %s", done, snapshot.Step, snapshot.Steps, s.dir())
}

func (s *Server) status() Status {
	snapshot, c := s.o.Lab.Snapshot(), s.o.Config
	st := Status{
		PID: s.notice.PID, Host: s.notice.Host, Dir: s.dir(), Started: s.notice.Started, Left: s.left(), Answered: true,
		Task: c.Task, Method: c.Method, Scale: c.Scale, Seed: c.Seed, Device: s.o.Device,
		State: snapshot.State.String(), Phase: snapshot.Phase.String(), Step: snapshot.Step, Steps: snapshot.Steps,
		StepsPerS: snapshot.StepsPerSec, ETAS: snapshot.ETA.Seconds(), Memory: max(0, int64(system.Resident())), Trouble: snapshot.Err,
	}
	st.Driver, st.Screens = s.o.Viewers.Who()
	for _, v := range s.evaluations() {
		st.Return = &v.Mean
		if st.Best == nil || v.Mean > *st.Best {
			st.Best = &v.Mean
		}
	}
	return st
}

// evaluations are those of the run so far. Requests come each second for as long as a run takes, and only what is
// new since the last one is read.
func (s *Server) evaluations() []history.Evaluation {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.returns.Versions == nil {
		s.returns = history.New(0, 0)
	}
	from := s.returns.Next
	events := s.o.Lab.Events(from)
	for _, e := range events {
		if _, is := e.Body.(event.Evaluated); is {
			s.returns.Take(e)
		}
	}
	s.returns.Next = from + len(events)
	return slices.Clone(s.returns.Evaluations)
}

// pidOf reads the process number from the name of a socket.
func pidOf(socket string) int {
	var pid, n int
	if _, err := fmt.Sscanf(filepath.Base(socket), "%d-%d.sock", &pid, &n); err != nil {
		return 0
	}
	return pid
}

// dead says whether no process listens on a socket.
func dead(socket string) bool {
	conn, err := net.DialTimeout("unix", socket, time.Second)
	if err == nil {
		conn.Close()
		return false
	}
	return refused(err) || os.IsNotExist(err)
}
