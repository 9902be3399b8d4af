package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgrlab/core/event"
)

// lostDevice is the error of a lost device.
type lostDevice struct{}

func (lostDevice) Error() string {
	return "GPU 7: run the stream: unspecified launch failure: the device is lost"
}
func (lostDevice) DeviceFailed() bool { return true }

// deviceCalls are the parts of a run that use the device.
var deviceCalls = []string{"act", "update", "train curiosity", "score curiosity 20", "fit to 4", "generate 2"}

// Wherever the device is lost, a run that a user may watch pauses, says why and what to do, refuses
// what needs the device, and saves nothing more. Leaving it counts as a failure.
func TestALostDevicePausesTheRun(t *testing.T) {
	for _, call := range deviceCalls {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.fail[call] = fmt.Errorf("run q: %w", lostDevice{})
			folder := &memoryFolder{}
			l := w.lab(t, w.config(), folder)
			r := w.start(t, t.Context(), l, folder)
			synctest.Wait()
			s := l.Snapshot()
			if s.State != event.PausedState || !strings.Contains(s.Err, "the device is lost") || !strings.HasPrefix(s.Err, "the device is gone: leave and begin again, elsewhere with --device cpu: step ") {
				t.Fatalf("%s: it is %s: %q", call, s.State, s.Err)
			}
			for _, c := range []event.Command{
				event.Resume{}, event.Checkpoint{}, event.SetKnob{Knob: "ratio", Value: "0.25"}, event.Undo{ID: 1}, event.Cancel{Knob: "tau"}, event.AnalyseNow{}, event.HandOver{},
				event.Preview{Knob: "guidance", Value: "3"}, event.Map{X: 0, Y: 1}, event.Watch{}, event.Pause{}, event.Park{}, event.Note{Text: "a pity"}, event.Attach{By: "ana"}, event.Detach{By: "ana"},
			} {
				l.Send(c)
				synctest.Wait()
				if s := l.Snapshot(); s.State != event.PausedState {
					t.Errorf("%s: after %#v it is %s", call, c, s.State)
				}
			}
			refused, _ := bodies[event.Refused](l)
			var knobs []string
			for _, x := range refused {
				if knobs = append(knobs, x.Knob); !strings.Contains(x.Reason, "the device is lost") {
					t.Errorf("%s: refused because of %q", call, x.Reason)
				}
			}
			if want := []string{"resume", "checkpoint", "ratio", "", "tau", "analyse", event.HandedOver, "park"}; !slices.Equal(knobs, want) {
				t.Errorf("%s: refused %q, want %q", call, knobs, want)
			}
			l.Send(event.Stop{})
			err := <-r.ended
			var gone *DeviceGone
			if !errors.As(err, &gone) || gone.Saved || l.Snapshot().State != event.FailedState {
				t.Errorf("%s: it ended with %v", call, err)
			}
			if n := count(w.log, "save policy"); n != 0 {
				t.Errorf("%s: the policy was saved %d times without a device", call, n)
			}
			if text := folder.journal.String(); strings.Count(text, `"type":"pause"`) != 1 || strings.Count(text, `"type":"failed"`) != 1 || strings.Contains(text, `"type":"done"`) {
				t.Errorf("%s: the journal is\n%s", call, text)
			}
		})
	}
}

// A run without a terminal ends with its fault when the screens that have watched it are gone.
func TestAFaultEndsARunThatIsLeft(t *testing.T) {
	for name, fault := range map[string]error{"device": fmt.Errorf("run q: %w", lostDevice{}), "loss": notFinite()} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.fail["update"] = fault
			l := w.lab(t, w.config(), nil)
			r := w.start(t, t.Context(), l, nil)
			synctest.Wait()
			l.OnFault(FaultFail)
			l.Send(event.Attach{By: "bo"})
			synctest.Wait()
			if s := l.Snapshot(); s.State != event.PausedState {
				t.Errorf("%s: it is %s", name, s.State)
			}
			l.Send(event.Detach{By: "ana"})
			synctest.Wait()
			select {
			case err := <-r.ended:
				if s := l.Snapshot(); err == nil || s.State != event.FailedState {
					t.Errorf("%s: it is %s: %v", name, s.State, err)
				}
			default:
				t.Errorf("%s: it still waits", name)
				l.Send(event.Stop{})
				<-r.ended
			}
		})
	}
}

// A run without a watching user ends at once, with the same message.
func TestALostDeviceEndsAnUnwatchedRun(t *testing.T) {
	for _, call := range deviceCalls {
		w := newWorld()
		w.fail[call] = fmt.Errorf("run q: %w", lostDevice{})
		folder := &memoryFolder{}
		l := w.lab(t, w.config(), folder)
		l.OnFault(FaultFail)
		err := l.Run(context.Background())
		var gone *DeviceGone
		if !errors.As(err, &gone) || !strings.HasPrefix(err.Error(), "step ") || !strings.HasSuffix(err.Error(), "the device is lost: nothing was saved before") {
			t.Errorf("%s: %v", call, err)
		}
		if text := folder.journal.String(); strings.Contains(text, `"type":"pause"`) || strings.Count(text, `"type":"failed"`) != 1 || count(w.log, "save policy") != 0 {
			t.Errorf("%s: the journal is\n%s", call, text)
		}
	}
}
