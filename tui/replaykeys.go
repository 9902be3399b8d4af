package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"pgrlab/tui/pane"
)

// player winds a replay and changes its speed.
type player struct {
	*pane.Run
	poll    func() // looks at the run at once
	rewinds int    // of the replay, as far as the history reflects them
}

// rewound starts the history again if the replay went back; it says whether it did.
func (p *player) rewound() bool {
	r, ok := p.Lab.(*Replay)
	if !ok || r.Rewinds() == p.rewinds {
		return false
	}
	p.rewinds = r.Rewinds()
	v := p.History.Versions
	p.History = p.NewHistory()
	p.History.Versions = v
	v.TouchAll()
	p.Changed()
	return true
}

// scrub moves a replay by a share of its length.
func (p *player) scrub(by float64) tea.Cmd {
	if r, ok := p.Lab.(*Replay); ok {
		r.Seek(by)
		p.poll()
		return nil
	}
	p.Tell("only a replay can be wound: pgrlab replay " + p.FolderWord())
	return nil
}

func (p *player) back() tea.Cmd  { return p.scrub(-0.05) }
func (p *player) forth() tea.Cmd { return p.scrub(0.05) }

func (p *player) faster() tea.Cmd { return p.changeSpeed(2) }
func (p *player) slower() tea.Cmd { return p.changeSpeed(0.5) }

func (p *player) changeSpeed(by float64) tea.Cmd {
	if r, ok := p.Lab.(*Replay); ok {
		p.Tell(fmt.Sprintf("%g seconds of the run in a second", r.Faster(by)))
	} else {
		p.Tell("only a replay has a speed: pgrlab replay " + p.FolderWord())
	}
	return nil
}

// replaySpeed is how fast the replay plays.
func replaySpeed(l pane.Lab) float64 {
	if r, ok := l.(*Replay); ok {
		return r.Speed()
	}
	return 1
}
