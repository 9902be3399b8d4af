package pane

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"pgrlab/core/knob"
	"pgrlab/tui/format"
	"pgrlab/tui/history"
	"pgrlab/tui/theme"
)

func (r *Run) knobSymbol(name string) string {
	if k, err := knob.Find(name); err == nil {
		return Symbol(k)
	}
	return name
}

// KnobTitle is the symbol and the name of a knob.
func (r *Run) KnobTitle(name string) string {
	s := r.knobSymbol(name)
	if strings.EqualFold(s, name) { // such as UTD
		return s
	}
	return s + " " + name
}

// Since says how long a change has been in force.
func (r *Run) Since(c *history.Change) string {
	switch {
	case c.Overtaken > 0:
		return fmt.Sprintf("set at step %s, overtaken by #%d", format.Count(c.AppliedStep), c.Overtaken)
	case c.State != history.InForce:
		return "set at step " + format.Count(c.AppliedStep) + ", not in force yet"
	}
	if c.Rolling() {
		return fmt.Sprintf("in force since step %s, with %s of D_syn", format.Count(c.ForceStep), format.Percent(r.share(c)))
	}
	return "in force since step " + format.Count(c.ForceStep)
}

// share is the share of D_syn that was made with a change of which the rest is still to come.
func (r *Run) share(c *history.Change) float64 {
	if r.Snap != nil && r.Snap.Share > 0 {
		return r.Snap.Share
	}
	return c.Share
}

// MarkerText is the short text of a change, written beside its number.
func (r *Run) MarkerText(c *history.Change) string {
	return fmt.Sprintf("%s %s%s%s", r.knobSymbol(c.Knob), Readable(c.From), r.Theme.Glyphs.Arrow, Readable(c.To))
}

// ChangeText is a change with as many of its stamps as fit into w columns; of the last stamp there
// is at least a sign.
func (r *Run) ChangeText(c *history.Change, w int) string {
	stamps := r.Stamps(c)
	separator := r.Theme.Faint.On(" " + r.Theme.Glyphs.Separator + " ")
	for _, name := range []string{r.KnobTitle(c.Knob), r.knobSymbol(c.Knob)} {
		for i := range stamps {
			text := r.ChangeWhat(c, name) + "  " + strings.Join(stamps[i:], separator)
			if theme.Width(text) <= w {
				return text
			}
		}
	}
	if c.State == history.Refused { // the reason matters most, and its beginning says most of it
		what := r.ChangeWhat(c, r.knobSymbol(c.Knob)) + "  " + r.Theme.Bad.On(r.Theme.Glyphs.Cross) + " "
		return what + r.Theme.Bad.On(r.Theme.Clip(c.Why, max(8, w-theme.Width(what))))
	}
	brief := *c
	brief.Now, brief.Undoes, brief.Redoes = false, 0, 0
	what := r.ChangeWhat(&brief, r.knobSymbol(c.Knob))
	return theme.FirstFitting([]string{what + "  " + r.stampSign(c), what + " " + r.stampSign(c), what}, max(w, theme.Width(what)))
}

// stampSign is the stage that a change has reached, in a few columns.
func (r *Run) stampSign(c *history.Change) string {
	t := r.Theme
	switch {
	case c.State == history.Asked && c.At > 0:
		return t.Dim.On("@" + format.Count(c.At))
	case c.State == history.Asked:
		return t.Warn.On("pending")
	case c.State == history.Cancelled:
		return t.Dim.On("cancelled")
	case c.Rolling():
		return t.Good.On(t.Glyphs.Check) + " " + t.Warn.On(format.Percent(r.share(c)))
	case c.State == history.InForce:
		return t.Good.On(t.Glyphs.Check + " at " + format.Count(c.ForceStep))
	case c.Overtaken > 0:
		return t.Dim.On(fmt.Sprintf("overtaken by #%d", c.Overtaken))
	case c.Now && r.Remaking():
		return t.Warn.On(r.Phase().String())
	default:
		return t.Dim.On("waits")
	}
}

// ChangeWhat is the number, name and values of a change.
func (r *Run) ChangeWhat(c *history.Change, name string) string {
	t := r.Theme
	var b strings.Builder
	if c.Number > 0 {
		b.WriteString(t.MarkerNumber.On(fmt.Sprintf("#%d ", c.Number)))
	}
	fmt.Fprintf(&b, "%s %s %s %s", name, Readable(c.From), t.Glyphs.Arrow, Readable(c.To))
	if c.Now {
		b.WriteString(" now")
	}
	if c.Undoes > 0 {
		fmt.Fprintf(&b, " (undoes #%d)", c.Undoes)
	}
	if c.Redoes > 0 {
		fmt.Fprintf(&b, " (redoes #%d)", c.Redoes)
	}
	return b.String()
}

// rolling says how much of D_syn was made with a change, and when all of it is.
func (r *Run) rolling(c *history.Change) string {
	t := r.Theme
	text := t.Warn.On(format.Percent(r.share(c)) + " of D_syn" + t.Glyphs.Wait)
	if r.Snap != nil && r.Snap.WholeIn > 0 {
		text += t.Dim.On(" whole in " + format.Duration(r.Snap.WholeIn))
	}
	return text
}

// Stamps are the stages that a change has reached, in order.
func (r *Run) Stamps(c *history.Change) []string {
	t := r.Theme
	var out []string
	if c.AskedStep >= 0 {
		out = append(out, "asked "+format.Count(c.AskedStep))
	}
	switch c.State {
	case history.Asked:
		if c.At > 0 {
			return append(out, t.Dim.On("for step "+format.Count(c.At)))
		}
		return append(out, t.Warn.On("pending"+t.Glyphs.Wait))
	case history.Refused:
		return append(out, t.Bad.On(t.Glyphs.Cross+" "+c.Why))
	case history.Cancelled:
		return append(out, t.Dim.On("for step "+format.Count(c.At)), t.Warn.On(strings.TrimSpace("cancelled "+c.Why)))
	}
	out = append(out, "applied "+format.Count(c.AppliedStep))
	switch {
	case c.State == history.InForce:
		out = append(out, t.Good.On(t.Glyphs.Check+" in force "+format.Count(c.ForceStep)))
		switch {
		case c.WholeStep > 0:
			out = append(out, t.Good.On("whole "+format.Count(c.WholeStep)))
		case c.Never:
			out = append(out, t.Dim.On("never whole"))
		case c.Rolling():
			out = append(out, r.rolling(c))
		}
	case c.Overtaken > 0:
		out = append(out, t.Dim.On(fmt.Sprintf("overtaken by #%d", c.Overtaken)))
	case c.Now && r.Remaking():
		out = append(out, t.Warn.On("under way: "+r.Phase().String()))
	case c.Why != "":
		out = append(out, t.Dim.On(c.Why))
	case c.Class == knob.ClassGeneration:
		out = append(out, t.Dim.On("waits for the next generation"))
	case c.Class == knob.ClassRefit:
		out = append(out, t.Dim.On("waits for the next refit"))
	}
	return out
}

// Readable writes a value for people: 10,000 and 3e-4 rather than 10000 and 0.0003.
func Readable(v knob.Value) string {
	a := math.Abs(v.Number)
	switch {
	case v.Text != "":
		return v.Text
	case a >= 1000 && a < 1e12 && v.Number == math.Trunc(v.Number):
		return format.Count(int(v.Number))
	case a > 0 && a < 1e-2:
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v.Number, 'e', -1, 64), "e-")
		return mantissa + "e-" + strings.TrimLeft(exponent, "0")
	default:
		return v.String()
	}
}

// Symbol is the knob's letter in the paper, or its name.
func Symbol(k knob.Knob) string {
	if k.Symbol == "" {
		return k.Name
	}
	return k.Symbol
}
