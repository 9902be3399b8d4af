package theme

import "github.com/charmbracelet/lipgloss"

// projected are colours for a projector, which washes out what is dim: each differs from a dark ground
// of #1e1e1e or a light one of #f4f4f4 by a contrast of 7:1 or more (WCAG 2.2, success criterion 1.4.6).
// What the sixteen colours of a terminal look like, the terminal decides; the brightest and the darkest
// are taken.
var projected = palette{
	"sky":    {{TrueColor: "#7CC7F5", ANSI256: "117", ANSI: "14"}, {TrueColor: "#00466E", ANSI256: "18", ANSI: "4"}},
	"orange": {{TrueColor: "#F2B13C", ANSI256: "215", ANSI: "11"}, {TrueColor: "#6B4200", ANSI256: "52", ANSI: "0"}},
	"green":  {{TrueColor: "#5AD8AC", ANSI256: "79", ANSI: "10"}, {TrueColor: "#004F3B", ANSI256: "22", ANSI: "0"}},
	"yellow": {{TrueColor: "#F5EB62", ANSI256: "227", ANSI: "11"}, {TrueColor: "#524900", ANSI256: "236", ANSI: "0"}},
	"red":    {{TrueColor: "#FF9C75", ANSI256: "216", ANSI: "11"}, {TrueColor: "#7E2D00", ANSI256: "88", ANSI: "1"}},
	"purple": {{TrueColor: "#E6A6CB", ANSI256: "182", ANSI: "13"}, {TrueColor: "#6E2852", ANSI256: "53", ANSI: "5"}},
	"violet": {{TrueColor: "#BDB4FF", ANSI256: "147", ANSI: "14"}, {TrueColor: "#382D94", ANSI256: "54", ANSI: "4"}},
	"grey":   {{TrueColor: "#CFD4DB", ANSI256: "188", ANSI: "15"}, {TrueColor: "#3D434A", ANSI256: "238", ANSI: "0"}},
	"faint":  {{TrueColor: "#B9C0C9", ANSI256: "250", ANSI: "15"}, {TrueColor: "#474D55", ANSI256: "239", ANSI: "0"}},
	"bar":    {{TrueColor: "#1E1E1E", ANSI256: "234", ANSI: "0"}, {TrueColor: "#F4F4F4", ANSI256: "255", ANSI: "15"}},
}

// Projected is New for a projector: nothing is dim.
func Projected(r *lipgloss.Renderer, set CharacterSet) *Theme {
	t := inked(r, set, projected)
	t.Selected = t.Cursor // a tint would be lost
	for i := range t.Ramp {
		t.Ramp[i] = t.Text
	}
	return t
}
