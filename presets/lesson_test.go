package presets

import (
	"strings"
	"testing"

	"pgrlab/core/knob"
)

// Every lesson decodes strictly, and it sets only knobs, with values that they take.
func TestLessonsAreWhole(t *testing.T) {
	files, err := lessons.ReadDir("lessons")
	if err != nil || len(files) != len(lessonNames) {
		t.Fatalf("%d files of %d lessons: %v", len(files), len(lessonNames), err)
	}
	for _, l := range Lessons() {
		if l.Minutes < 1 || l.Minutes > 8 {
			t.Errorf("%s takes %d minutes", l.Name, l.Minutes)
		}
		if l.Needs != "" {
			if _, err := knob.Find(l.Needs); err != nil {
				t.Errorf("%s: %v", l.Name, err)
			}
		}
		reveals := 0
		for i, s := range l.Steps {
			sets := s.Set
			if s.Stage != "" {
				sets = append(sets, s.Stage)
			}
			for _, text := range sets {
				name, value, _ := strings.Cut(strings.TrimSuffix(text, "!"), "=")
				k, err := knob.Find(name)
				if err == nil {
					_, err = k.Parse(value)
				}
				if err != nil {
					t.Errorf("%s, step %d: %v", l.Name, i+1, err)
				}
			}
			if s.Reveal != nil {
				reveals++
			}
		}
		if reveals == 0 {
			t.Errorf("%s reveals nothing", l.Name)
		}
	}
}

func TestLessonsRefuseWhatDoesNotGoTogether(t *testing.T) {
	head := "title = \"a\"\ndoc = \"b\"\nminutes = 1\n[[step]]\n"
	for text, want := range map[string]string{
		"sya = \"x\"":                            "unknown key",
		"focus = \"return\"":                     "says nothing",
		"say = \"x\"\nwait = { for = \"rain\" }": "cannot wait for \"rain\"",
		"say = \"x\"\nkeep = [{ name = \"n\", of = \"luck\" }]":    "cannot keep \"luck\"",
		"reveal = { from = \"a\", to = \"b\", claim = \"rises\" }": "not both kept",
	} {
		if _, err := decodeLesson("made-up", head+text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// What a lesson compares of several evaluations comes from three on each side at least, and none is on both: the
// interval of two against two is 4.3 standard errors wide to either side, and decides nothing.
func TestLessonsMeasureOftenEnough(t *testing.T) {
	for _, l := range Lessons() {
		last, after, evaluated := map[string]int{}, map[string]int{}, 0
		for _, s := range l.Steps {
			if s.Wait != nil && s.Wait.For == "evaluated" {
				evaluated += max(1, s.Wait.Count)
			}
			for _, k := range s.Keep {
				last[k.Name], after[k.Name] = k.Last, evaluated
			}
			r := s.Reveal
			if r == nil || last[r.From] < 2 && last[r.To] < 2 {
				continue
			}
			if least := min(last[r.From], last[r.To]); least < 3 || after[r.To]-after[r.From] < last[r.To] {
				t.Errorf("%s: %s is of the last %d, and %s of %d, %d evaluations later", l.Name, r.From, last[r.From], r.To, last[r.To], after[r.To]-after[r.From])
			}
		}
	}
}
