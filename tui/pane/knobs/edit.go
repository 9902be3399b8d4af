package knobs

import (
	"errors"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/tui/format"
	"pgrlab/tui/history"
	"pgrlab/tui/pane"
	"pgrlab/tui/steer"
)

func (p *Pane) up() tea.Cmd   { return p.selectKnob(-1) }
func (p *Pane) down() tea.Cmd { return p.selectKnob(1) }

func (p *Pane) selectKnob(by int) tea.Cmd {
	p.Selected = min(max(p.Selected+by, 0), len(p.KnobList)-1)
	p.Say("")
	return nil
}

// edit starts typing a value; the choices of a knob complete it, and a formula is edited where it
// stands.
func (p *Pane) edit() tea.Cmd {
	k := p.KnobList[p.Selected]
	if !p.Usable(k) {
		return nil
	}
	read := func(text string) (knob.Value, error) { return k.Parse(p.About.Config.Written(k.Name, text)) }
	e := pane.NewEntry(pane.Symbol(k)+" = ", k.Range(), func(text string) tea.Cmd {
		if text == "" {
			return nil
		}
		if v, err := read(text); err == nil {
			p.Stage(k, v)
		}
		return nil
	})
	e.Check = func(text string) error {
		if text == "" {
			return nil
		}
		_, err := read(text)
		var where interface { // of a formula that is wrong
			error
			Column() int
		}
		if errors.As(err, &where) {
			e.Input.SetCursor(len(text) - len(strings.TrimLeft(text, " =")) + where.Column() - 1)
			return where
		}
		return err
	}
	if p.Visible(pane.Knobs) {
		e.Pane = pane.Knobs
	}
	if k.Kind == knob.KindChoice {
		e.Complete = func(text string) []pane.Candidate { return pane.ValueCandidates(k, text) }
	}
	if formula, is := strings.CutPrefix(p.Wanted(k.Name).Text, "="); is {
		e.Edit(formula)
	}
	p.Open(e)
	return nil
}

// CommandSet is "set KNOB VALUE"; it asks the same questions as the keys. Other knobs stay staged.
func (p *Pane) CommandSet(text string) error {
	a, err := p.ParseAssignment(text)
	if err != nil {
		return err
	}
	if err := p.Fixed(); err != nil {
		return err
	}
	if p.Ended() {
		return event.ErrEnded
	}
	p.choose(a.Knob)
	p.Stage(a.Knob, a.Value)
	values, when := map[string]knob.Value{a.Knob.Name: a.Value}, steer.WhenDue
	if a.Now {
		when = steer.AtOnce
	}
	switch _, differs := p.Staged[a.Knob.Name]; {
	case a.At != nil: // by then the knob may have another value than it has now
		p.Send(values, when, a.At)
	case !differs:
		p.Tell(a.Knob.Name + " is " + pane.Readable(a.Value) + " already")
	default:
		p.Apply(values, when)
	}
	return nil
}

// CommandStage is "stage KNOB VALUE": it stages a value and goes to the pane.
func (p *Pane) CommandStage(text string) error {
	a, err := p.ParseAssignment(text)
	if err == nil {
		err = p.Fixed()
	}
	if err == nil {
		p.choose(a.Knob)
		p.Stage(a.Knob, a.Value)
		p.GoTo(pane.Knobs)
	}
	return err
}

// Begin puts the cursor where a person begins: on ω, whose change is previewed and made within
// seconds, or on the first knob of a run without a generator.
func (p *Pane) Begin() {
	p.Selected, p.Top = 0, 0
	if k, err := p.FindKnob("guidance"); err == nil && p.KnobUse(k) == nil {
		p.choose(k)
	}
}

// choose selects a knob in its pane.
func (p *Pane) choose(k knob.Knob) {
	for i := range p.KnobList {
		if p.KnobList[i].Name == k.Name {
			p.Selected = i
		}
	}
}

// usedKnobs are the names of the knobs that the method uses.
func (p *Pane) usedKnobs() []string {
	var out []string
	for _, k := range p.KnobList {
		if p.KnobUse(k) == nil {
			out = append(out, k.Name)
		}
	}
	return out
}

// anyway warns who looks at the curve after a change: learning lifts it without one. Measured on
// untouched runs of cheetah-run (docs/evidence/study*.csv): at steps 9,000 to 17,000 the mean of
// three evaluations after a step is above that of the three before in 8 of 10 cases.
func (p *Pane) anyway() string {
	text := "the curve rises 8 times in 10 without any change"
	if p.About.Fork != nil {
		text += ": f tests it"
	}
	return text
}

// Exposure is what training has seen since a change came into force: how much of D_real is younger
// than the change, whether D_syn is, and the updates made.
func (p *Pane) Exposure() string {
	c := p.History.LastApplied()
	if p.Dreams() || c == nil || c.State != history.InForce || p.Snap == nil || p.Snap.Real == 0 {
		return ""
	}
	s := p.Snap
	young := min(s.Real, s.Step-c.ForceStep+1)
	text := fmt.Sprintf("since #%d: %s of D_real", c.Number, format.Percent(float64(young)/float64(s.Real)))
	if s.Synthetic > 0 {
		var renewed string
		switch {
		case c.Rolling():
			renewed = format.Percent(s.Share)
		default:
			renewed = format.Percent(min(1, float64(len(p.History.Refits)-c.Refits)/float64(p.About.Config.Generator.Generations())))
		}
		text += ", " + renewed + " of D_syn"
	}
	if s.Updates >= c.Updates {
		text += ", " + format.Count(int(s.Updates-c.Updates)) + " updates"
	}
	return text
}
