package session

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/lab"
	"pgrlab/core/run"
	"pgrlab/core/testing/tiny"
	"pgrlab/tui/command/forks"
	"pgrlab/tui/pane"
)

// The pause of a person goes to the new process, and one until there is room on the disk does not.
func TestWhichPausesAreHandedOver(t *testing.T) {
	for _, c := range []struct {
		left event.Snapshot
		want handoverOrder
	}{
		{event.Snapshot{State: event.Running}, handoverOrder{}},
		{event.Snapshot{State: event.PausedState, Err: "a loss"}, handoverOrder{Paused: true, Reason: "a loss"}},
		{event.Snapshot{State: event.PausedState, Err: "training waits for room", Passing: true}, handoverOrder{}},
	} {
		var got handoverOrder
		if got.leave(&c.left); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.left, got, c.want)
		}
	}
}

// A run that is paused while it is handed over is still paused in its new process.
func TestAPauseDuringAHandOverIsNotLost(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh to stand for the new process")
	}
	c, top := tiny.Config(), t.TempDir()
	c.Steps = 1_000_000
	folder, err := run.Create(filepath.Join(top, "run"), []byte("seed = 7\n"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.New(context.Background(), c, tiny.Task(), tiny.Device(t), folder)
	if err != nil {
		t.Fatal(err)
	}
	order := filepath.Join(top, "order")
	s := &session{config: c, folder: folder, lab: l, ended: make(chan struct{})}
	s.begin = func(...string) *exec.Cmd {
		return exec.Command("sh", "-c", `echo '{"said":"checking"}' >&5; echo '{"ready":true}' >&5; head -n 1 <&4 >"$0"; echo '{"started":true}' >&5`, order)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer close(s.ended)
		s.err = l.Run(ctx)
	}()
	_, err = s.handOver(ctx, func(said string) {
		if said == "checking" {
			if err := l.Send(event.Pause{By: "ana"}); err != nil {
				t.Error(err)
			}
		}
		if said == "saving" {
			_, _, err := s.forks.Add(forks.RoomAlone, func() ([]pane.Child, error) {
				t.Error("forks are made of a run that ends here, without a line of its journal")
				return nil, nil
			})
			if !errors.Is(err, errMoving) {
				t.Error(err)
			}
		}
	})
	cancel()
	<-s.ended
	if err != nil || !errors.Is(s.err, lab.ErrHandedOver) {
		t.Fatal(err, s.err)
	}
	if text, err := os.ReadFile(order); err != nil || !strings.Contains(string(text), `"paused":true`) {
		t.Errorf("the order is %s, %v", text, err)
	}
}
