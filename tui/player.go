package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"
)

// player winds a replay and changes its speed.
type player struct {
	*runView
	poll    func() // looks at the run at once
	rewinds int    // of the replay, as far as the history has them
}

// rewound starts the history anew when the replay went back; it says whether it did.
func (p *player) rewound() bool {
	r, ok := p.lab.(*Replay)
	if !ok || r.Rewinds() == p.rewinds {
		return false
	}
	p.rewinds = r.Rewinds()
	v := p.history.versions
	p.history = newHistory(p.about.Config)
	p.history.versions = v
	v.touchAll()
	p.changed()
	return true
}

// scrub moves a replay by a share of it.
func (p *player) scrub(by float64) tea.Cmd {
	if r, ok := p.lab.(*Replay); ok {
		r.Seek(by)
		p.poll()
		return nil
	}
	p.tell("only a replay can be wound: pgrlab replay DIR")
	return nil
}

func (p *player) back() tea.Cmd  { return p.scrub(-0.05) }
func (p *player) forth() tea.Cmd { return p.scrub(0.05) }

func (p *player) faster() tea.Cmd { return p.changeSpeed(2) }
func (p *player) slower() tea.Cmd { return p.changeSpeed(0.5) }

func (p *player) changeSpeed(by float64) tea.Cmd {
	if r, ok := p.lab.(*Replay); ok {
		p.tell(fmt.Sprintf("%g seconds of the run in a second", r.Faster(by)))
	} else {
		p.tell("only a replay has a speed: pgrlab replay DIR")
	}
	return nil
}

// replaySpeed is how fast the replay plays.
func replaySpeed(l Lab) float64 {
	if r, ok := l.(*Replay); ok {
		return r.Faster(1)
	}
	return 1
}
