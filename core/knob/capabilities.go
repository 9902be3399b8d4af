package knob

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Method is a built-in method with the features of its runs, for messages that name the
// methods which use a knob. The features of an actual run follow from its configuration.
type Method struct {
	Name string
	Has  Use
}

// methods returns the built-in methods; see SetMethods.
var methods = func() []Method { return nil }

// SetMethods sets the built-in methods, in the order in which lists show them. Package
// presets defines them, and the features of each follow from its configuration. list is
// called when it is first needed.
func SetMethods(list func() []Method) { methods = sync.OnceValue(list) }

// fixedKeys returns the keys of a configuration that are no knobs; see SetFixedKeys.
var fixedKeys = func() []string { return nil }

// SetFixedKeys sets the dotted names of the keys of a configuration that are fixed for a run, for
// messages about a name that is no knob. Package presets has them. list is called when it is first
// needed.
func SetFixedKeys(list func() []string) { fixedKeys = sync.OnceValue(list) }

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

// UsedBy returns an error if a run with the features has does not use the knob; the error
// names the methods that do. method is the run's own.
func (k Knob) UsedBy(method string, has Use) error {
	if has&k.Use == k.Use {
		return nil
	}
	if k.Use == UsePrior { // which no method has by itself
		return fmt.Errorf("%s: not used by %s without pinned data: a run begins with some by --data FILE:SHARE", k.Name, method)
	}
	names := slices.DeleteFunc(k.Methods(), func(other string) bool { return other == method }) // in another configuration it may
	if len(names) == 0 {
		return fmt.Errorf("%s: not used by %s", k.Name, method)
	}
	return fmt.Errorf("%s: not used by %s: %s use it", k.Name, method, someOf(names))
}

// someOf names a few of names and counts the rest, so that an error stays one line.
func someOf(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
