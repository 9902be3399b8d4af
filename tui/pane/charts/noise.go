package charts

import (
	"fmt"
	"math"

	"pgrlab/tui/chart"
	"pgrlab/tui/format"
	"pgrlab/tui/history"
)

// The least size of a chart with a band of noise: in a smaller one the band would cover all.
const (
	bandWidth  = 56
	bandHeight = 8
)

// banded is half the height of the band, in flickers.
const banded = 2

// noise is the band of returns that the run's noise explains, and the falls that it does not.
func (m *Charts) noise(w, h int) (band chart.Band, falls []chart.Point) {
	for i, e := range m.History.Evaluations {
		x := m.placeStep(e.Step)
		if m.History.Below(i) >= history.FallMarked {
			falls = append(falls, chart.Point{X: x, Y: e.Mean})
		}
		if n, ok := m.History.Noise(e.Step); ok && !m.bandOff && !m.Projected && len(m.Others) == 0 && w >= bandWidth && h >= bandHeight {
			band.Low = append(band.Low, chart.Point{X: x, Y: n.Level - banded*n.Flicker})
			band.High = append(band.High, chart.Point{X: x, Y: n.Level + banded*n.Flicker})
		}
	}
	return band, falls
}

// noiseNote is how much the return of a policy varies by itself, for the border of the chart.
func (m *Charts) noiseNote(e history.Evaluation) string {
	n, ok := m.History.Noise(e.Step)
	if !ok {
		return ""
	}
	t := m.Theme
	_, flicker := format.SpreadOf(e.Mean, n.Flicker)
	text := t.Dim.On(" "+t.Glyphs.Separator+" ") + t.Glyphs.PlusMinus + flicker + t.Dim.On(" policy")
	if n.AtMost {
		text += t.Dim.On(" at most")
	}
	return text
}

// noiseUnknown says why there is no such number yet; "": there is, or there will be none.
func (m *Charts) noiseUnknown(step int) string {
	if _, ok := m.History.Noise(step); ok || m.History.Members() > 1 {
		return ""
	}
	return fmt.Sprintf("noise unknown before %d evaluations", history.NoiseFrom)
}

// Pointed is the evaluation under the cursor as a sentence; "": there is none.
func (m *Charts) Pointed() string {
	if !m.CursorOn {
		return ""
	}
	text := m.said(m.Cursor)
	if text == "" {
		return ""
	}
	return "The cursor: return " + text + "."
}

// said puts the evaluation under the cursor into words.
func (m *Charts) said(step int) string {
	text := m.noiseSaid(step)
	for _, e := range m.History.Evaluations {
		if e.Step == step {
			if ghost := m.GhostSaid(e); ghost != "" {
				text += "; " + ghost
			}
		}
	}
	return text
}

// noiseSaid puts the evaluation under the cursor into words.
func (m *Charts) noiseSaid(step int) string {
	for i, e := range m.History.Evaluations {
		if e.Step != step || m.History.Members() > 1 {
			continue
		}
		at := fmt.Sprintf("%s at %s: ", format.Number(e.Mean), format.Count(step))
		below := m.History.Below(i)
		switch once := history.Once(below); {
		case math.IsNaN(below):
			return at + fmt.Sprintf("noise unknown before %d evaluations", history.NoiseFrom)
		case below >= banded:
			return at + fmt.Sprintf("%.1f flickers below the level; 1 in %d evaluations of recorded runs is", below, once)
		case below <= -banded:
			return at + fmt.Sprintf("%.1f flickers above the level before it", -below)
		}
		return at + fmt.Sprintf("%.1f flickers from the level before it: within the run's noise", math.Abs(below))
	}
	return ""
}

// commandBand shows the band of noise on the chart of returns, or hides it.
func (m *Charts) commandBand(text string) error {
	switch text {
	case "on":
		m.bandOff = false
	case "off":
		m.bandOff = true
	default:
		return fmt.Errorf("band: want on or off")
	}
	m.redrawCharts()
	return nil
}
