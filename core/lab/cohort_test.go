package lab

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/device/cpu"
	"pgrlab/core/event"
	"pgrlab/core/testing/cputest"
	"pgrlab/core/testing/tiny"
)

// Each member of a cohort is the run of its seed, bit for bit: its lines are those that a run of
// that seed alone writes, and changes of knobs apply to all members.
func TestMembersAreRunsOfTheirSeeds(t *testing.T) {
	cohort := func(members int) config.Config {
		c := realConfig()
		c.Members, c.Seed = members, 30
		c.Schedule = []string{"18:guidance=3!", "22:ratio=0.75", "26:relevance=td!"}
		return c
	}
	single := map[int]string{}
	_, both := realRun(t, explorers(2, 30), 2)
	for i := range 2 {
		_, alone := realRun(t, explorers(1, 30+i), 1)
		if got, want := linesAbout(t, both, i), linesAbout(t, alone, -1); got != want {
			t.Errorf("member %d of two with an explorer each writes\n%s\nby itself\n%s", i, got, want)
		}
	}
	for _, members := range []int{2, 3, 4} {
		_, journal := realRun(t, cohort(members), 2)
		for i := range members {
			if single[i] == "" {
				c := cohort(1)
				c.Seed += uint64(i)
				_, alone := realRun(t, c, 1)
				single[i] = linesAbout(t, alone, -1)
			}
			if got := linesAbout(t, journal, i); got != single[i] {
				t.Errorf("member %d of %d writes\n%s\nby itself\n%s", i, members, got, single[i])
			}
		}
	}
	if n := strings.Count(single[0], "\n"); n < 10 {
		t.Errorf("a run of %d lines about its agent", n)
	}
}

// explorers are so many members of MAX.
func explorers(members, seed int) config.Config {
	c := variant("max")
	c.Members, c.Seed = members, uint64(seed)
	c.Schedule = []string{"18:horizon=2!", "22:ratio=0.75"}
	return c
}

// linesAbout returns the lines of a canonical journal about one member. From the journal of a run
// of one seed it returns the lines that a cohort writes for each member.
func linesAbout(t *testing.T, journal string, member int) string {
	t.Helper()
	var out strings.Builder
	for text := range strings.Lines(journal) {
		var l map[string]any
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		switch l["type"] {
		case "start", "knob", "in_force", "note", "done":
			continue // about the whole run
		}
		of, has := l["member"]
		if has != (member >= 0) {
			t.Fatalf("member %v in %s", of, text)
		}
		if has && of != float64(member) {
			continue
		}
		delete(l, "member")
		fmt.Fprintln(&out, l)
	}
	return out.String()
}

// The same holds for learners that see frames.
func TestMembersThatSeeFramesAreRunsOfTheirSeeds(t *testing.T) {
	play := func(members int, seed uint64) string {
		c := tiny.Pixels()
		c.Members, c.Seed = members, seed
		folder := &memoryFolder{}
		l := framesLab(t, c, members, folder)
		if err := l.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return folder.canonical(t)
	}
	both := play(2, 40)
	for i := range 2 {
		if got, want := linesAbout(t, both, i), linesAbout(t, play(1, 40+uint64(i)), -1); got != want || got == "" {
			t.Errorf("member %d writes\n%s\nby itself\n%s", i, got, want)
		}
	}
}

// sideBySide makes a lab of scripted members, each in a world of its own, that run in turns of the
// given sizes.
func sideBySide(t *testing.T, folder record, turns []int, worlds ...*world) *Lab {
	t.Helper()
	c, p := worlds[0].config(), worlds[0].parts()
	c.Members, p.turns = len(worlds), turns
	for _, w := range worlds {
		p.shared = append(p.shared, w.parts().Parts)
	}
	l, err := newLab(c, worlds[0].task(), folder, p, "cpu test, 2 threads", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// If two of three members diverge in the same slice, the journal and the members that go on are the
// same, whichever members compute side by side.
func TestMembersDivergeSideBySide(t *testing.T) {
	for call, doing := range map[string]string{"update": "train agent", "train curiosity": "train curiosity", "fit to 4": "fit model", "generate 2": "generate"} {
		var first string
		for _, turns := range [][]int{{1, 1, 1}, {3}, {2, 1}} {
			synctest.Test(t, func(t *testing.T) {
				worlds, folder := []*world{newWorld(), newWorld(), newWorld()}, &memoryFolder{}
				worlds[0].on("evaluate episodes 1", func() { worlds[1].fail[call], worlds[2].fail[call] = notFinite(), notFinite() })
				l := sideBySide(t, folder, turns, worlds...)
				ended := make(chan error, 1)
				go func() { ended <- l.Run(t.Context()) }()
				synctest.Wait()
				if s := l.Snapshot(); s.State != event.PausedState || !strings.Contains(s.Err, " diverged at step ") {
					t.Fatalf("%s, turns of %v: it is %s: %q", call, turns, s.State, s.Err)
				}
				for _, w := range worlds[1:] {
					delete(w.fail, call)
				}
				l.Send(event.Resume{})
				if err := <-ended; err != nil {
					t.Error(err)
				}
				journal := folder.canonical(t)
				if first == "" {
					first = journal
				}
				if journal != first || strings.Count(journal, `"type":"diverged"`) != 1 || !strings.Contains(journal, `"member":1,"doing":"`+doing) {
					t.Errorf("%s, turns of %v:\n%s\none by one:\n%s", call, turns, journal, first)
				}
			})
		}
	}
}

func TestAPanicOfAMemberBesideAnother(t *testing.T) {
	worlds := []*world{newWorld(), newWorld()}
	worlds[1].on("fit to 4", func() { panic("index out of range") })
	err := sideBySide(t, nil, []int{2}, worlds...).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "step 20: fit: panic: index out of range (cohort_test.go:") {
		t.Errorf("%v", err)
	}
}

// On a device of several workers, as many members as workers run side by side. A last turn of
// fewer members divides all workers among them.
func TestTurnsOfMembers(t *testing.T) {
	for _, d := range []struct {
		members, threads int
		turns            []int
	}{{1, 2, nil}, {4, 1, nil}, {4, 2, []int{2, 2}}, {3, 2, []int{2, 1}}, {2, 8, []int{2}}, {6, 4, []int{4, 2}}} {
		dev := cputest.New(t, cpu.Options{Threads: d.threads, Family: "go"})
		c := realConfig()
		c.Members = d.members
		p, err := newParts(&c, newWorld().task(), dev)
		if err != nil || !slices.Equal(p.turns, d.turns) {
			t.Errorf("%d members on %d threads: turns of %v, %v, want %v", d.members, d.threads, p.turns, err, d.turns)
		}
	}
}
