package sweep

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/runflags"
)

// varied is a knob or key that takes several values.
type varied struct {
	presets.Assignment          // its value holds all of the values
	values             []string // each as NAME=VALUE
}

// variant is one combination of values, each as NAME=VALUE; empty: nothing is varied.
type variant []string

// String is the variant as shown to people.
func (v variant) String() string { return strings.Join(v, " ") }

// parseVaried reads the values of --vary.
func parseVaried(texts []string) (all []varied, err error) {
	for _, text := range texts {
		a, err := runflags.ParseAssignment(text)
		if err != nil {
			return nil, cli.Usagef("sweep: --vary %s: %w", text, err)
		}
		name, is := a.Knob()
		if !is {
			name = a.Key
		}
		v := varied{Assignment: a}
		if slices.ContainsFunc(all, func(other varied) bool { return other.Key == v.Key }) {
			return nil, cli.Usagef("sweep: --vary %s: %s is varied twice", text, name)
		}
		for _, value := range splitValues(a.Value) {
			one := name + "=" + value
			if value == "" {
				return nil, cli.Usagef("sweep: --vary %s: a value is empty", text)
			}
			if slices.Contains(v.values, one) {
				return nil, cli.Usagef("sweep: --vary %s: %s stands there twice", text, value)
			}
			v.values = append(v.values, one)
		}
		all = append(all, v)
	}
	return all, nil
}

// splitValues splits at commas that are not inside brackets.
func splitValues(text string) (all []string) {
	depth, from := 0, 0
	for i, r := range text {
		switch {
		case r == '[' || r == '(':
			depth++
		case r == ']' || r == ')':
			depth--
		case r == ',' && depth == 0:
			all, from = append(all, strings.TrimSpace(text[from:i])), i+1
		}
	}
	return append(all, strings.TrimSpace(text[from:]))
}

// variants are the combinations for a method of the grid. A knob that one of several methods does
// not use is not varied with that method, and a line says so; other errors show when the job is
// made.
func (f *sweepFlags) variants(d cli.Deps, problem, method string, all []varied, stderr io.Writer) []variant {
	r := f.flags(problem, method, nil, 0)
	plain, _, err := r.ConfigureElsewhere(d)
	combined := []variant{nil}
	for _, v := range all {
		if err == nil && len(f.methods) > 1 && !runflags.Uses(&plain, v.Assignment) {
			name, _ := v.Knob()
			fmt.Fprintf(stderr, "%s is not varied with %s on %s, which has no use for it\n", name, plain.Method, plain.Task)
			continue
		}
		var more []variant
		for _, one := range combined {
			for _, value := range v.values {
				more = append(more, append(slices.Clone(one), value))
			}
		}
		combined = more
	}
	return combined
}
