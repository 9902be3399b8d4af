package picker

import (
	"fmt"

	"pgrlab/tui/format"
)

// expects says in w columns what runs of this program with the present choice's settings reached,
// and what other methods reached on the task at that scale; it is empty if there were no such runs.
func (p *Picker) expects(w int) []string {
	own, beside := p.own, p.beside
	if own == nil && len(beside) == 0 {
		return nil
	}
	t := p.theme
	parts := []string{t.Dim.On("no runs of these settings were measured")}
	if own != nil {
		at := fmt.Sprintf(" over steps %s to %s", format.Count(own.From), format.Count(own.Steps))
		if own.Frames > 0 {
			at += ", frame " + format.Count(own.Frames)
		}
		parts = []string{t.Dim.On("expect ") + own.Spread(), t.Dim.On(fmt.Sprintf("%s (%d runs)", at, own.Runs))}
	}
	for _, e := range beside {
		parts = append(parts, t.Dim.On(fmt.Sprintf("; %s ", e.Method))+e.Spread())
	}
	if len(beside) > 0 && own == nil {
		parts = append(parts, t.Dim.On(" at this scale"))
	}
	return first([][]string{parts}, w)
}
