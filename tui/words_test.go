package tui

import (
	"regexp"
	"strings"
	"testing"
)

// spelledNumber is a number on the screen with the word before it.
var spelledNumber = regexp.MustCompile(`([\pL_][\pL\pM_']*)[ .:=(]*[-+]?\d`)

// Every number that a pane shows beside a word is explained: the word stands in the
// help, as a definition, a knob, a key, or within one of their texts.
func TestWordsBesideNumbersAreInTheHelp(t *testing.T) {
	s := running(t, 160, 45, 24_000)
	s.still()
	help := strings.ToLower(strings.Join(s.helpLines(1000), "\n"))
	names := strings.ToLower(s.options.Config.Task + " " + s.options.Config.Method)
	s.press("n", "l", "o", "o", "k", "enter", "down", "right", "right", "enter", "!")
	s.fake.advance(3_500)
	s.Update(polled{})
	missing := map[string]string{}
	look := func(where string) {
		for _, line := range strings.Split(s.View(), "\n") {
			for _, found := range spelledNumber.FindAllStringSubmatch(line, -1) {
				if word := strings.ToLower(found[1]); !strings.Contains(help, word) && !strings.Contains(names, word) {
					missing[word] = where + ": " + strings.TrimSpace(found[0])
				}
			}
		}
	}
	for id := range paneSentence {
		s.goTo(id)
		s.zoomed = true
		s.relayout()
		look(paneNames[id])
	}
	s.zoomed = false
	for v := range viewCount {
		s.setView(v)
		s.press("left") // the line about the layout goes
		look(v.String())
	}
	for word, where := range missing {
		t.Errorf("%q is not in the help (%s)", word, where)
	}
}
