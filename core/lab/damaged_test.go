package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/run"
	"pgrlab/core/testing/racing"
)

// A cutting is what is left of the journal of a run with all hands whose end was cut off: its whole lines.
// Lines that are gone cannot be told from lines that were never written.
type cutting struct {
	t     *testing.T
	c     config.Config
	wants map[int]string // by the number of hands: the journal of a run that had the first of them
}

// compare says what a run that went on from what is left has otherwise than one with the hands that are left.
func (o *cutting) compare(what string, left []byte, got string) {
	o.t.Helper()
	left = left[:bytes.LastIndexByte(left, '\n')+1]
	n := bytes.Count(left, []byte(`"by":"ana"`))
	if o.wants[n] == "" {
		dir := filepath.Join(o.t.TempDir(), "uncut")
		diskRun(o.t, o.c, dir, 0, hands[:n]...)
		o.wants[n] = journalOf(o.t, dir)
	}
	if !strings.HasPrefix(got, canonical(o.t, left)) || got != o.wants[n] {
		o.t.Errorf("%s: %d hands are left; the journal is\n%s\nwant\n%s", what, n, got, o.wants[n])
	}
}

// A run whose journal was cut within the line of a change by hand goes on as one that had the changes
// before it.
func TestAJournalCutAtAChange(t *testing.T) {
	c := newWorld().config()
	c.Schedule = busySchedule
	broken := filepath.Join(t.TempDir(), "broken")
	diskRun(t, c, broken, 38, hands...)
	whole, err := os.ReadFile(filepath.Join(broken, run.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	o, cuts := &cutting{t, c, map[int]string{}}, 0
	for at := range whole {
		if !bytes.HasPrefix(whole[at:], []byte(`"by":"ana"`)) {
			continue
		}
		cuts++
		dir := filepath.Join(t.TempDir(), "cut")
		if err := errors.Join(os.CopyFS(dir, os.DirFS(broken)), os.Truncate(filepath.Join(dir, run.JournalName), int64(at))); err != nil {
			t.Fatal(err)
		}
		l, said, err := restored(t, c, dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		o.compare(fmt.Sprintf("cut at %d, said %q", at, said), whole[:at], journalOf(t, dir))
	}
	if cuts != len(hands) || len(o.wants) != len(hands) {
		t.Errorf("%d lines of %d hands", cuts, len(hands))
	}
}

// Bits flip and files end too early, at 200 places (fewer without PGRLAB_SOAK) of everything that a
// run has on disk. The run is refused in one line, or goes on to the same journal as without
// damage; with a journal that was cut, as without the changes that were cut off.
func TestDamageIsSaidOrMended(t *testing.T) {
	racing.Skip(t)
	c := newWorld().config()
	c.Schedule = busySchedule
	whole, broken := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "broken")
	diskRun(t, c, whole, 0, hands...)
	diskRun(t, c, broken, 38, hands...)
	want, o := journalOf(t, whole), &cutting{t, c, map[int]string{}}
	files := damageable(broken)
	r, places := rand.New(rand.NewPCG(1, 2)), 40
	refused, older, undisturbed := 0, 0, 0
	if os.Getenv("PGRLAB_SOAK") != "" {
		places = 200
	}
	for i := range places {
		dir := filepath.Join(t.TempDir(), "damaged")
		if err := os.CopyFS(dir, os.DirFS(broken)); err != nil {
			t.Fatal(err)
		}
		name := files[i%len(files)]
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil || len(text) == 0 {
			continue
		}
		place, how := r.IntN(len(text)), "flipped"
		if i/len(files)%2 == 0 {
			text[place] ^= 1 << r.IntN(8)
		} else {
			text, how = text[:place], "cut"
		}
		os.WriteFile(path, text, 0o644)
		l, said, err := restored(t, c, dir)
		if err != nil {
			refused++
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %s at %d: %v", name, how, place, err)
			}
			continue
		}
		if len(said) > 1 {
			older++
		} else {
			undisturbed++
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatalf("%s %s at %d: %v", name, how, place, err)
		}
		switch got := journalOf(t, dir); {
		case how == "cut" && name == run.JournalName:
			o.compare(fmt.Sprintf("cut at %d, said %q", place, said), text, got)
		case got != want && !strings.Contains(strings.Join(said, "\n"), "a change may be missing"):
			t.Errorf("%s %s at %d: said %q; the journal is\n%s\nwant\n%s", name, how, place, said, got, want)
		}
	}
	t.Logf("%d files: %d refused, %d went on with something said, %d as if nothing had been", len(files), refused, older, undisturbed)
	if older == 0 || undisturbed == 0 {
		t.Error("the damage is not where it should be")
	}
}

// damageable lists the files of a run that TestDamageIsSaidOrMended damages.
func damageable(dir string) (files []string) {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		name, _ := filepath.Rel(dir, path)
		if !d.IsDir() && name != "lock" && name != run.ConfigName {
			files = append(files, name)
		}
		return nil
	})
	return files
}
