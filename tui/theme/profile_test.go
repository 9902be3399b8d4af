package theme

import (
	"testing"

	"github.com/muesli/termenv"
)

// variables are an environment.
type variables map[string]string

func (v variables) Environ() []string {
	var all []string
	for name, value := range v {
		all = append(all, name+"="+value)
	}
	return all
}
func (v variables) Getenv(name string) string { return v[name] }

// Terminals have the colours that their names stand for, unless the person wants none.
func TestColoursOfTerminals(t *testing.T) {
	for name, want := range map[string]termenv.Profile{
		"screen": termenv.ANSI, "screen-bce": termenv.ANSI, "screen.linux": termenv.ANSI, "screen.rxvt": termenv.ANSI, "tmux": termenv.ANSI, "rxvt-unicode": termenv.ANSI,
		"st": termenv.ANSI, "putty": termenv.ANSI, "xterm": termenv.ANSI, "linux": termenv.ANSI, "foot": termenv.ANSI, "SCREEN": termenv.ANSI,
		"screen-256color": termenv.ANSI256, "screen.xterm-256color": termenv.ANSI256, "tmux-256color": termenv.ANSI256, "xterm-256color": termenv.ANSI256, "xterm-kitty": termenv.TrueColor,
		"": termenv.Ascii, "dumb": termenv.Ascii, "vt100": termenv.Ascii, "vt220": termenv.Ascii, "xterm-mono": termenv.Ascii, "linux-m": termenv.Ascii, "screening": termenv.Ascii,
	} {
		if got := Profile(variables{"TERM": name}); got != want {
			t.Errorf("%q has profile %v, want %v", name, got, want)
		}
		if got := Profile(variables{"TERM": name, "NO_COLOR": "1"}); got != termenv.Ascii {
			t.Errorf("%q without colours has profile %v", name, got)
		}
	}
}
