package lab

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgrlab/core/event"
)

// garage is a device that can be parked.
type garage struct {
	did  []string
	fail error // result of the next call
}

func (g *garage) call(what string) error {
	g.did = append(g.did, what)
	err := g.fail
	g.fail = nil
	return err
}

func (g *garage) Park() error { return g.call("park") }
func (g *garage) Wake() error { return g.call("wake") }

// A parked run has given its device back. It stays parked while the device is not available, and
// then goes on as if nothing had happened.
func TestParkGivesTheDeviceBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, g := newWorld(), &garage{}
		var l *Lab
		w.on("fit to 4", send(t, &l, event.Park{By: "ana"}))
		folder := &memoryFolder{}
		c := w.config()
		c.Steps = 21
		p := w.parts()
		p.device = g
		l, err := newLab(c, w.task(), folder, p, "cuda test, 0 threads", clock())
		if err != nil {
			t.Fatal(err)
		}
		r := w.start(t, t.Context(), l, folder)
		synctest.Wait()
		if s := l.Snapshot(); s.State != event.PausedState || !s.Parked || s.Position.String() != "20/fit:4" || !strings.HasPrefix(s.Err, "parked: the GPU's memory is free") {
			t.Errorf("%s, parked %t, at %s: %q", s.State, s.Parked, s.Position, s.Err)
		}
		for _, c := range []event.Command{event.Park{}, event.Preview{ID: "p", Knob: "guidance", Value: "3"}, event.AnalyseNow{By: "bo"}, event.Map{X: 0, Y: 0}} {
			if err := l.Send(c); err != nil { // none of these may take the device
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if !slices.Equal(g.did, []string{"park"}) {
			t.Errorf("the device was asked to %v", g.did)
		}
		if refused, _ := bodies[event.Refused](l); len(refused) != 1 || refused[0].Reason != errParked.Error() {
			t.Errorf("an analysis: %+v", refused)
		}
		g.fail = errors.New("no room")
		l.Send(event.Resume{})
		synctest.Wait()
		if s := l.Snapshot(); s.State != event.PausedState || !s.Parked || s.Err != "still parked: no room" {
			t.Errorf("%s, parked %t: %q", s.State, s.Parked, s.Err)
		}
		l.Send(event.Resume{})
		if err := <-r.ended; err != nil {
			t.Fatal(err)
		}
		if want := []string{"park", "wake", "wake"}; !slices.Equal(g.did, want) {
			t.Errorf("the device was asked to %v, want %v", g.did, want)
		}
		twin := newWorld()
		_, undisturbed := play(t, twin, c)
		got := strings.ReplaceAll(folder.canonical(t), "cuda test", "cpu test")
		if got != undisturbed.canonical(t) {
			t.Errorf("the journal is\n%s\nwant\n%s", got, undisturbed.canonical(t))
		}
	})
}

// Park is a plain pause if there is nothing to give back or giving it back fails.
func TestParkPauses(t *testing.T) {
	for name, device := range map[string]parker{"cpu": nil, "lost": &garage{fail: errors.New("lost")}} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			var l *Lab
			w.on("fit to 4", send(t, &l, event.Park{By: "ana"}))
			folder := &memoryFolder{}
			c := w.config()
			c.Steps = 21
			p := w.parts()
			p.device = device
			l, err := newLab(c, w.task(), folder, p, "cpu test, 2 threads", clock())
			if err != nil {
				t.Fatal(err)
			}
			r := w.start(t, t.Context(), l, folder)
			synctest.Wait()
			s := l.Snapshot()
			if s.State != event.PausedState || s.Parked || (device != nil) != (s.Err == "park: lost") {
				t.Errorf("%s: %s, parked %t, %q", name, s.State, s.Parked, s.Err)
			}
			l.Send(event.Resume{})
			if err := <-r.ended; err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// A parked run builds no model for another F, which would take the GPU again.
func TestAParkedRunBuildsNoModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, g := newWorld(), &garage{}
		var l *Lab
		w.on("fit to 4", send(t, &l, event.Park{By: "ana"}))
		folder, c, p := &memoryFolder{}, w.config(), w.parts()
		c.Steps, p.device = 21, g
		l, err := newLab(c, w.task(), folder, p, "cuda test, 0 threads", clock())
		if err != nil {
			t.Fatal(err)
		}
		r := w.start(t, t.Context(), l, folder)
		synctest.Wait()
		l.Send(event.SetKnob{ID: "a", Knob: "relevance", Value: "rnd"})
		synctest.Wait()
		if refused, _ := bodies[event.Refused](l); count(w.log, "build rnd") != 0 || len(refused) != 1 || refused[0].Reason != errParked.Error() {
			t.Errorf("%+v, built: %d", refused, count(w.log, "build rnd"))
		}
		l.Send(event.Resume{})
		if err := <-r.ended; err != nil {
			t.Fatal(err)
		}
	})
}
