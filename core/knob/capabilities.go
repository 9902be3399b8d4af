package knob

import (
	"fmt"
	"strings"
	"sync"
)

// Method is a built-in method and what its runs have, for lines that name the methods
// which use a knob. What a run has is said by its configuration.
type Method struct {
	Name string
	Has  Use
}

// methods are the built-in ones; see SetMethods.
var methods = func() []Method { return nil }

// SetMethods says what the built-in methods are, in the order in which lists show them:
// package presets has them, and what each has follows from its configuration. list is
// called when it is first needed.
func SetMethods(list func() []Method) { methods = sync.OnceValue(list) }

// Methods names the built-in methods that use the knob.
func (k Knob) Methods() []string {
	var names []string
	for _, m := range methods() {
		if m.Has&k.Use == k.Use {
			names = append(names, m.Name)
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
	names := k.Methods()
	if len(names) == 0 {
		return fmt.Errorf("%s: not used by %s", k.Name, method)
	}
	return fmt.Errorf("%s: not used by %s: %s use it", k.Name, method, someOf(names))
}

// someOf names a few and counts the rest, so that a refusal stays one line.
func someOf(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
