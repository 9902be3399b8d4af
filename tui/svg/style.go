package svg

import (
	"fmt"
	"strconv"
	"strings"
)

// style is the state set by escape sequences. Colours are in SVG form; "" is no colour.
type style struct {
	fore, back                              string
	bold, faint, italic, underline, inverse bool
}

// colours are the colours of the characters and of the background; "" is the ground.
func (s style) colours() (fore, back string) {
	fore, back = s.fore, s.back
	if fore == "" {
		fore = ink
	}
	if s.inverse {
		if back == "" {
			back = ground
		}
		return back, fore
	}
	return fore, back
}

func (s style) attributes() (a string) {
	if s.bold {
		a += ` font-weight="bold"`
	}
	if s.faint {
		a += ` opacity="0.6"`
	}
	if s.italic {
		a += ` font-style="italic"`
	}
	if s.underline {
		a += ` text-decoration="underline"`
	}
	return a
}

// apply applies the numbers of an SGR sequence (ECMA-48, 8.3.117).
func (s *style) apply(numbers string) {
	var all []int
	for _, n := range strings.FieldsFunc(numbers, func(r rune) bool { return r == ';' || r == ':' }) {
		v, _ := strconv.Atoi(n)
		all = append(all, v)
	}
	if len(all) == 0 {
		all = []int{0}
	}
	for len(all) > 0 {
		n := all[0]
		all = all[1:]
		switch {
		case n == 0:
			*s = style{}
		case n == 1:
			s.bold = true
		case n == 2:
			s.faint = true
		case n == 3:
			s.italic = true
		case n == 4:
			s.underline = true
		case n == 7:
			s.inverse = true
		case n == 22:
			s.bold, s.faint = false, false
		case n == 23:
			s.italic = false
		case n == 24:
			s.underline = false
		case n == 27:
			s.inverse = false
		case n >= 30 && n <= 37:
			s.fore = indexed(n - 30)
		case n >= 90 && n <= 97:
			s.fore = indexed(n - 90 + 8)
		case n >= 40 && n <= 47:
			s.back = indexed(n - 40)
		case n >= 100 && n <= 107:
			s.back = indexed(n - 100 + 8)
		case n == 39:
			s.fore = ""
		case n == 49:
			s.back = ""
		case n == 38:
			s.fore, all = extended(all)
		case n == 48:
			s.back, all = extended(all)
		}
	}
}

// extended reads a colour of 256 (5;n) or of 24 bits (2;r;g;b).
func extended(numbers []int) (colour string, rest []int) {
	switch {
	case len(numbers) >= 2 && numbers[0] == 5:
		return indexed(numbers[1]), numbers[2:]
	case len(numbers) >= 4 && numbers[0] == 2:
		return fmt.Sprintf("#%02x%02x%02x", numbers[1], numbers[2], numbers[3]), numbers[4:]
	}
	return "", nil
}

// sixteen are xterm's first 16 colours.
var sixteen = [16]string{
	"#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5",
	"#7f7f7f", "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff",
}

// indexed is one of xterm's 256 colours: 16, a cube of 6 × 6 × 6, and 24 grays.
func indexed(n int) string {
	switch {
	case n < 0 || n > 255:
		return ""
	case n < 16:
		return sixteen[n]
	case n >= 232:
		v := 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", v, v, v)
	}
	level := func(v int) int {
		if v == 0 {
			return 0
		}
		return 55 + 40*v
	}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
}
