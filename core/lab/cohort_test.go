package lab

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/testing/tiny"
)

// Each member of a cohort is the run of its seed, bit for bit: its lines are those that the
// run by itself writes, and changes of knobs are for all.
func TestMembersAreRunsOfTheirSeeds(t *testing.T) {
	cohort := func(members int) config.Config {
		c := realConfig()
		c.Members, c.Seed = members, 30
		c.Schedule = []string{"18:guidance=3!", "22:ratio=0.75", "26:relevance=td!"}
		return c
	}
	single := map[int]string{}
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

// linesAbout are those lines of a canonical journal that are about a member; of a run of one
// seed, those that a cohort writes for each.
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
			continue // of the whole run
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

// The same of learners that see frames.
func TestMembersThatSeeFramesAreRunsOfTheirSeeds(t *testing.T) {
	play := func(members int, seed uint64) string {
		c := tiny.Pixels()
		c.Members, c.Seed = members, seed
		folder := &memoryFolder{}
		l := framesLab(t, c, 1, folder)
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
