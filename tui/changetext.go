package tui

import (
	"fmt"
	"math"
	"pgrlab/core/knob"
	"strconv"
	"strings"
)

func (m *runView) knobSymbol(name string) string {
	if k, err := knob.Find(name); err == nil {
		return symbol(k)
	}
	return name
}

// knobTitle is symbol and name.
func (m *runView) knobTitle(name string) string {
	s := m.knobSymbol(name)
	if strings.EqualFold(s, name) { // as UTD
		return s
	}
	return s + " " + name
}

// since says how long a change has been in force.
func (m *runView) since(c *change) string {
	if c.state != inForce {
		return "set at step " + count(c.appliedStep) + ", not in force yet"
	}
	return "in force since step " + count(c.forceStep)
}

// markerText is the short text of a change beside its number.
func (m *runView) markerText(c *change) string {
	return fmt.Sprintf("%s %s%s%s", m.knobSymbol(c.knob), readable(c.from), m.theme.glyphs.arrow, readable(c.to))
}

// changeText is a change with as many of its stamps as fit into w columns; of the
// last one there is at least a sign.
func (m *runView) changeText(c *change, w int) string {
	stamps := m.stamps(c)
	separator := m.theme.faint.on(" " + m.theme.glyphs.separator + " ")
	for _, name := range []string{m.knobTitle(c.knob), m.knobSymbol(c.knob)} {
		for i := range stamps {
			text := m.changeWhat(c, name) + "  " + strings.Join(stamps[i:], separator)
			if width(text) <= w {
				return text
			}
		}
	}
	if c.state == refused { // the reason is what matters; its beginning says most of it
		what := m.changeWhat(c, m.knobSymbol(c.knob)) + "  " + m.theme.bad.on(m.theme.glyphs.cross) + " "
		return what + m.theme.bad.on(m.theme.clip(c.why, max(8, w-width(what))))
	}
	brief := *c
	brief.now, brief.undoes, brief.redoes = false, 0, 0
	what := m.changeWhat(&brief, m.knobSymbol(c.knob))
	return firstFitting([]string{what + "  " + m.stampSign(c), what + " " + m.stampSign(c), what}, max(w, width(what)))
}

// stampSign is the stage that a change has reached, in few columns.
func (m *runView) stampSign(c *change) string {
	t := m.theme
	switch {
	case c.state == asked && c.at > 0:
		return t.dim.on("@" + count(c.at))
	case c.state == asked:
		return t.warn.on("pending")
	case c.state == inForce:
		return t.good.on(t.glyphs.check + " at " + count(c.forceStep))
	case c.now && m.remaking():
		return t.warn.on(m.phase().String())
	default:
		return t.dim.on("waits")
	}
}

// changeWhat is number, name and values of a change.
func (m *runView) changeWhat(c *change, name string) string {
	t := m.theme
	var b strings.Builder
	if c.number > 0 {
		b.WriteString(t.markerNumber.on(fmt.Sprintf("#%d ", c.number)))
	}
	fmt.Fprintf(&b, "%s %s %s %s", name, readable(c.from), t.glyphs.arrow, readable(c.to))
	if c.now {
		b.WriteString(" now")
	}
	if c.undoes > 0 {
		fmt.Fprintf(&b, " (undoes #%d)", c.undoes)
	}
	if c.redoes > 0 {
		fmt.Fprintf(&b, " (redoes #%d)", c.redoes)
	}
	return b.String()
}

// stamps are the stages a change has reached, in their order.
func (m *runView) stamps(c *change) []string {
	t := m.theme
	var out []string
	if c.askedStep >= 0 {
		out = append(out, "asked "+count(c.askedStep))
	}
	switch c.state {
	case asked:
		if c.at > 0 {
			return append(out, t.dim.on("for step "+count(c.at)))
		}
		return append(out, t.warn.on("pending"+t.glyphs.wait))
	case refused:
		return append(out, t.bad.on(t.glyphs.cross+" "+c.why))
	}
	out = append(out, "applied "+count(c.appliedStep))
	switch {
	case c.state == inForce:
		out = append(out, t.good.on(t.glyphs.check+" in force "+count(c.forceStep)))
	case c.now && m.remaking():
		out = append(out, t.warn.on("under way: "+m.phase().String()))
	case c.why != "":
		out = append(out, t.dim.on(c.why))
	case c.class == knob.ClassGeneration:
		out = append(out, t.dim.on("waits for the next generation"))
	case c.class == knob.ClassRefit:
		out = append(out, t.dim.on("waits for the next refit"))
	}
	return out
}

// readable writes a value for people: 10,000 and 3e-4 rather than 10000 and 0.0003.
func readable(v knob.Value) string {
	a := math.Abs(v.Number)
	switch {
	case v.Text != "":
		return v.Text
	case a >= 1000 && a < 1e12 && v.Number == math.Trunc(v.Number):
		return count(int(v.Number))
	case a > 0 && a < 1e-2:
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v.Number, 'e', -1, 64), "e-")
		return mantissa + "e-" + strings.TrimLeft(exponent, "0")
	default:
		return v.String()
	}
}

// symbol is the knob's letter in the paper, or its name.
func symbol(k knob.Knob) string {
	if k.Symbol == "" {
		return k.Name
	}
	return k.Symbol
}
