package picker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/knob"
	"pgrlab/tui/pane"
)

// search asks for a part of an answer, of whichever question; of seed and steps it asks for the number.
func (p *Picker) search() tea.Cmd {
	row := p.Row
	e := pane.NewEntry(pickNames[row]+": ", "up down choose  enter take  esc leave", func(text string) tea.Cmd { return p.found(row, text) })
	e.Complete = func(text string) []pane.Candidate { return p.matches(row, text) }
	e.Chosen, e.Unchosen = p.at[row], 0
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

// matches are the answers that have a text, the best first: the one that is called just that comes
// before longer ones. Those of other rows than the one that the search began in stand after the
// names of their rows.
func (p *Picker) matches(row int, text string) []pane.Candidate {
	if _, err := number(row, text); err == nil {
		return nil
	}
	all := p.candidates(row)
	for other := range pickRows {
		if other == row || text == "" {
			continue
		}
		for _, c := range p.candidates(other) {
			if name := pickNames[other] + ": " + c.Text; c.Text != "-" && (contains(c.Text, text) || strings.EqualFold(name, text)) {
				all = append(all, pane.Candidate{Text: name, About: c.About})
			}
		}
	}
	all = pane.Best(all, text)
	if i := slices.IndexFunc(all, func(c pane.Candidate) bool { return c.Text == text }); i > 0 {
		same := all[i]
		copy(all[1:], all[:i])
		all[0] = same
	}
	return all
}

func contains(name, text string) bool {
	return strings.Contains(strings.ToLower(name), strings.ToLower(text))
}

// found takes the answer that was typed, or the best match.
func (p *Picker) found(row int, text string) tea.Cmd {
	p.err = p.find(row, text)
	if k, is := p.unnamed(); is && p.err == nil && p.Row == pickTask {
		p.resolve()
		return p.ask(k)
	}
	p.resolve()
	return p.Forecast()
}

// number is a text as the answer of a row that asks for a number; no steps are the preset's.
func number(row int, text string) (uint64, error) {
	switch row {
	case pickSeed:
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is no seed: want a whole number from 0", text)
		}
		return seed, nil
	case pickSteps:
		if text == "" {
			return 0, nil
		}
		steps, err := knob.ParseCount(text)
		return uint64(steps), err
	}
	return 0, fmt.Errorf("no answer has %q in its name", text)
}

func (p *Picker) find(row int, text string) error {
	typed, wrong := number(row, text)
	if wrong == nil {
		p.asksFor(row)
		if row == pickSeed {
			p.Seed = typed
		} else {
			p.Steps = int(typed)
		}
		return nil
	}
	found := p.matches(row, text)
	if len(found) == 0 {
		return wrong
	}
	for at := range pickRows {
		for i, c := range p.candidates(at) {
			if at == row && c.Text == found[0].Text || at != row && pickNames[at]+": "+c.Text == found[0].Text {
				p.Row = at
				p.answer(at, i)
				return nil
			}
		}
	}
	return nil
}
