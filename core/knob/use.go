package knob

import (
	"fmt"
	"strings"
)

// generated and prompted are what methods with a diffusion model use.
const (
	generated = UseGenerator | UseDiffusion
	prompted  = generated | UsePrompts
)

// methods are the built-in ones and what each of them has, for lines that name
// the methods which use a knob. What a run has is said by its configuration.
var methods = []struct {
	name string
	has  Use
}{
	{"sac", UseAlways}, {"redq", UseAlways}, {"synther", generated},
	{"pgr-reward", prompted}, {"pgr-return", prompted}, {"pgr-td", prompted}, {"pgr-curiosity", prompted},
	{"pgr-rnd", prompted}, {"pgr-count", prompted}, {"pgr-noised-icm", prompted},
	{"redq-curiosity", UseBonus}, {"synther-curiosity", generated | UseBonus}, {"per-td", UseAlways}, {"per-curiosity", UseAlways},
	{"noisynets", UseAlways}, {"pgr-noisynets", prompted}, {"bootdqn", UseAlways}, {"pgr-bootdqn", prompted},
	{"vae", UseGenerator}, {"pgr-vae", UseGenerator | UsePrompts},
}

// Methods names the built-in methods that use the knob.
func (k Knob) Methods() []string {
	var names []string
	for _, m := range methods {
		if m.has&k.Use == k.Use {
			names = append(names, m.name)
		}
	}
	return names
}

// UsedBy says whether a run that has these uses the knob; the error names the methods
// which do. method is that of the run.
func (k Knob) UsedBy(method string, has Use) error {
	if has&k.Use == k.Use {
		return nil
	}
	return fmt.Errorf("%s: not used by %s: %s use it", k.Name, method, someOf(k.Methods()))
}

// someOf names a few and counts the rest, so that a refusal stays one line.
func someOf(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
