package tui

import (
	"context"
	"image"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/testing/racing"
	"pgrlab/core/whatif"
	"pgrlab/tui/pane"
	"pgrlab/tui/pane/charts"
	"pgrlab/tui/picker"
)

var (
	// shownNumber is a number with its sign and its unit, as drawn on the screen.
	shownNumber = regexp.MustCompile(`[-+±×#]?\d[\d,.]*(e-?\d+)?([hmskM%]\d*)*`)
	// shownWord is a word that may name a number.
	shownWord = regexp.MustCompile(`[\pL_][\pL\pM_'/]*`)
	// cellBorder separates texts that stand side by side.
	cellBorder = regexp.MustCompile(`[│┤├╭╮╰╯]`)
	// eventStamp begins a line of EVENTS: the time, the step and the kind.
	eventStamp = regexp.MustCompile(`^[ │]*\d\d:\d\d:\d\d +[\d,]* *`)
)

// joining are the words that may stand between a name and its number, or between two numbers of the
// same name.
var joining = []string{"of", "at", "to", "in", "by", "from", "over", "and", "than", "about", "up", "is", "are", "the", "a", "s", "now", "so", "after", "kib", "mib", "gib", "ms", "w", "c", "was", "or", "with", "for", "not", "it", "below", "above", "only", "they", "down", "within", "σ"}

// label holds the words that may name a number: the last word before it, or else the first word
// after it and the last word of the lines above, if their text continues.
type label struct {
	names  []string // in small letters
	within string   // the number with both its neighbours, as a text that explains it would have it
	cell   string
}

var (
	endsInLetter = regexp.MustCompile(`[\pL_]$`)
	lastWord     = regexp.MustCompile(`\S+\s+$`)
	firstWord    = regexp.MustCompile(`^\S*\s*\S+`)
	clauseEnd    = regexp.MustCompile(`[.;] `)
)

// labelsOf returns the labels of all numbers in some lines.
func labelsOf(lines []string) (labels []label) {
	above := ""
	for _, line := range lines {
		line = eventStamp.ReplaceAllString(line, "")
		for _, cell := range cellBorder.Split(line, -1) {
			for _, at := range shownNumber.FindAllStringIndex(cell, -1) {
				before, after := cell[:at[0]], cell[at[1]:]
				if endsInLetter.MatchString(before) {
					continue // part of a name, such as s0
				}
				within := lastWord.FindString(before) + cell[at[0]:at[1]] + firstWord.FindString(after)
				if ends := clauseEnd.FindAllStringIndex(before, -1); ends != nil {
					before = before[ends[len(ends)-1][1]:]
				}
				names := namesIn(before)
				if n := len(names); n > 0 {
					names = names[n-1:]
				} else {
					names = append(namesIn(after)[:min(1, len(namesIn(after)))], above)
				}
				labels = append(labels, label{names, within, strings.TrimSpace(cell)})
			}
		}
		if words := namesIn(line); len(words) > 0 {
			above = words[len(words)-1]
		}
	}
	return labels
}

// namesIn returns the words of a text that may name a number.
func namesIn(text string) []string {
	words := shownWord.FindAllString(strings.ToLower(text), -1)
	return slices.DeleteFunc(words, func(w string) bool { return slices.Contains(joining, w) })
}

// Every number on the screen stands beside a word that the help defines as the name of a number, of
// a knob or of one of a knob's choices. A number that is drawn somewhere new, or under a new name,
// fails here until it is defined.
func TestEveryNumberIsDefined(t *testing.T) {
	racing.Skip(t)
	defined := definedWords(t)
	text := strings.Join(running(t, 160, 45, 1).help.Lines(10_000), "\n")
	missing := map[string]string{}
	seen := map[string]bool{}
	everything(t, func(s *screen, where string, lines []string) {
		named := definedNames(s)
		for _, l := range labelsOf(lines) {
			known := slices.ContainsFunc(l.names, func(n string) bool { return defined[n] || named[n] })
			if !known && !strings.Contains(text, strings.TrimSuffix(l.within, "…")) {
				missing[strings.Join(l.names, " or ")] = where + ": " + l.cell
			}
			for _, n := range l.names {
				seen[n] = true
			}
		}
	})
	for name, where := range missing {
		t.Errorf("%q has no definition (%s)", name, where)
	}
	// A number that is no longer shown must not have a definition either.
	for _, d := range running(t, 80, 24, 1).helpContents().Numbers {
		for _, words := range d.Shown {
			if !slices.ContainsFunc(shownWord.FindAllString(strings.ToLower(words), -1), func(w string) bool { return seen[w] }) {
				t.Errorf("%s: no number stands beside %q", d.Name, words)
			}
		}
	}
}

// definedWords returns the words beside which a defined number may stand.
func definedWords(t *testing.T) map[string]bool {
	words := map[string]bool{}
	add := func(text string) {
		for _, w := range shownWord.FindAllString(strings.ToLower(text), -1) {
			words[w] = !slices.Contains(joining, w)
		}
	}
	for _, d := range running(t, 80, 24, 1).helpContents().Numbers {
		add(d.Name)
		for _, w := range d.Shown {
			add(w)
		}
	}
	for _, k := range knob.All() {
		add(k.Name)
		add(k.Symbol)
		for _, c := range k.Choices {
			add(c)
		}
	}
	return words
}

// definedNames returns words that are names on this screen: of the run, and of what the task
// observes.
func definedNames(s *screen) map[string]bool {
	words := map[string]bool{}
	for _, text := range append([]string{s.options.Config.Task, s.options.Config.Method, s.options.Config.Scale, s.options.Folder}, s.options.Names...) {
		for _, w := range shownWord.FindAllString(strings.ToLower(text), -1) {
			words[w] = true
		}
	}
	return words
}

// everything shows all panes, full of data, at every size, and the dialogs that lie over them.
func everything(t *testing.T, look func(s *screen, where string, lines []string)) {
	for _, size := range [][2]int{{160, 45}, {80, 24}, {60, 15}, {40, 10}} {
		w, h := size[0], size[1]
		s, n := forking(t, w, h)
		s.options.Draw = func(_ []float64, w, h int) (*image.RGBA, error) { return image.NewRGBA(image.Rect(0, 0, w, h)), nil }
		s.options.GPU = func() *pane.GPU { return &pane.GPU{Busy: 0.8, Used: 4e9, Total: 80e9, Temperature: 61, Power: 320} }
		s.fake.moment = &event.Moment{Step: 24_000, Action: []float32{-0.41, 0.63}, Q: 41.7, F: 0.37, Reward: 0.81, Twin: &event.Twin{Distance: 0.66, Reward: 0.79, F: 0.42}, Pose: []float64{0}, Memory: &event.Memory{P90: 0.8, Entries: []event.Remembered{{X: 1, Y: 1, Similarity: 0.9}}}}
		s.fake.moment.Course = &event.Course{Of: event.CourseOfBonus, Values: []float64{0.01, -0.02}, Ended: make([]bool, 2)}
		s.options.Ground = func(w, h int) (image.Rectangle, float64) { return image.Rect(0, 0, w, h), 2 }
		s.fake.mapped = fakeMap(0, 1, 24_000)
		s.fake.dreamt = fakeTruths(event.MostDreams, 24_000)
		s.setLink(&link{took: 2 * time.Millisecond, bytes: 1e6})
		s.still()
		show := func(what string) {
			s.Update(polled{})
			s.fake.snapshot.Pose = []float64{0}
			for _, id := range s.paneIDs() {
				for _, w := range []int{w, 27} {
					title, note := s.titleOf(id, w)
					lines := []string{title + "  " + note}
					if !charts.IsChart(id) { // the rest of a chart is its axes
						lines = append(lines, s.pane(id).Body(w, max(1, h-3))...)
					}
					look(s, what+" "+string(id), lines)
				}
			}
			look(s, what+" header", []string{s.headline.line(w), s.headline.short(w)})
			if d := s.dialog; d != nil {
				lines := slices.Concat([]string{d.Title}, d.Lines, d.Below)
				for _, c := range d.Choices {
					lines = append(lines, c.Text())
				}
				look(s, what, lines)
			}
		}
		show("running")
		for _, here := range []float64{83, 320} {
			s.press("G")
			s.fake.ground(40)
			s.Update(polled{})
			look(s, "ground", s.ground.View(w, h))
			s.fake.grounded(here)
			s.Update(polled{})
			look(s, "grounded", s.ground.View(w, h))
		}
		s.press("esc")
		s.fake.emit(event.TypeRefit, fakeRollouts())
		show("rollouts")
		learner := s.options.Config.Agent.Learner
		s.options.Config.Agent.Learner = "dreamer"
		s.fake.emit(event.TypeOpenLoop, fakeOpenLoop())
		s.Update(polled{})
		look(s, "world model", s.pane(pane.Generator).Body(w, max(1, h-3)))
		s.options.Config.Agent.Learner = learner
		s.fake.setPhase(knob.Fit, 300, 1000)
		show("fit")
		s.fake.setPhase(knob.Collect, 0, 0)
		s.press("n", "l", "o", "o", "k", "enter", "down", "right", "right", "enter")
		show("cost")
		s.press("!")
		s.fake.advance(3_500)
		show("changed")
		s.press("right")
		show("staged")
		s.press("f")
		show("fork")
		s.Update(keyMsg("4"))
		s.settleForks()
		show("forked")
		for i, c := range n.children {
			n.live(c, 100, 100+10*float64(i))
		}
		s.settleForks()
		show("forks done")
		s.press("tab", "left")
		show("inspected")
		for i := range charts.Quantities { // one chart for each quantity
			s.charts.Quantity[pane.Chart1] = i
			title, note := s.titleOf(pane.Chart1, w)
			look(s, charts.Quantities[i].ID, []string{title + "  " + note})
		}
		s.press(" ")
		show("paused")
		f := &fakeWhatIf{at: &pane.WhatIfState{}}
		s.options.WhatIf = f
		show("what-if proposed")
		f.Begin()
		f.set(func(p *pane.WhatIfState) {
			p.Begun, p.Progress = s.clock.Add(-time.Minute), whatif.Progress{Doing: "real only", Done: 1, Total: 3}
		})
		show("what-if under way")
		s.press("q")
		show("leaving a what-if")
		s.press("esc")
		f.finish()
		show("what-if made")
		s = newScreen(t, w, h, describePixels)
		s.fake.dreamt, s.fake.sees = fakeDreamt(6, 24_000), true
		if err := s.fake.Send(event.Watch{}); err != nil {
			t.Fatal(err)
		}
		s.fake.advance(24_000)
		s.Update(started{lab: s.fake})
		show("learning from pixels")
	}
	p := newPickerScreen(t, 160, 45)
	try := p.picker.Try
	p.picker.Try = func(ctx context.Context, c config.Config) (picker.Forecast, error) {
		f, err := try(ctx, c)
		f.Free = 1e6
		return f, err
	}
	look(p, "picker", p.picker.View(160, 45))
	p.Update(p.forecast()())
	look(p, "picker", p.picker.View(160, 45))
}
