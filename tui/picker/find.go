package picker

import (
	"fmt"
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/knob"
	"pgrlab/tui/pane"
)

// search asks for a part of an answer.
func (p *Picker) search() tea.Cmd {
	row := p.Row
	e := pane.NewEntry(pickNames[row]+": ", "up down choose  enter take  esc leave", func(text string) tea.Cmd { return p.found(row, text) })
	if !p.numeric() {
		e.Complete = func(text string) []pane.Candidate { return p.matches(row, text) }
		e.Chosen, e.Unchosen = p.at[row], 0
	}
	p.Open(e)
	return nil
}

// candidates are the answers of a row by name; a dash stands for the preset's answer.
func (p *Picker) candidates(row int) []pane.Candidate {
	var all []pane.Candidate
	for _, item := range p.items(row) {
		c := pane.Candidate{Text: item.Name, About: item.Doc}
		if c.Text == "" {
			c.Text = "-"
		}
		all = append(all, c)
	}
	return all
}

// matches are the answers of a row that have a text, the best first: the one that is called just
// that comes before longer ones.
func (p *Picker) matches(row int, text string) []pane.Candidate {
	all := pane.Best(p.candidates(row), text)
	if i := slices.IndexFunc(all, func(c pane.Candidate) bool { return c.Text == text }); i > 0 {
		same := all[i]
		copy(all[1:], all[:i])
		all[0] = same
	}
	return all
}

// found takes the answer that was typed, or the best match.
func (p *Picker) found(row int, text string) tea.Cmd {
	p.err = p.find(row, text)
	p.resolve()
	return p.Forecast()
}

func (p *Picker) find(row int, text string) error {
	if row == pickSeed {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is no seed: want a whole number from 0", text)
		}
		p.asksFor(row)
		p.Seed = seed
		return nil
	}
	if row == pickSteps {
		steps, err := knob.ParseCount(text)
		if text == "" || err == nil {
			p.asksFor(row)
			p.Steps = steps
			return nil
		}
		return err
	}
	found := p.matches(row, text)
	if len(found) == 0 {
		return fmt.Errorf("no %s has %q in its name", pickNames[row], text)
	}
	for i, c := range p.candidates(row) {
		if c.Text == found[0].Text {
			p.answer(row, i)
			break
		}
	}
	return nil
}
