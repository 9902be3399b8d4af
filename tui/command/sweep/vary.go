package sweep

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"pgrlab/core/config"
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
		if presets.Judges(a.Key) {
			return nil, cli.Usagef("sweep: --vary %s: %s changes what is measured of a run and not the run: runs that differ in it alone count as one", text, name)
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

// setAndVaried refuses a key that --set gives one value and --vary several, because the former would
// have no effect.
func setAndVaried(set []string, all []varied) error {
	for _, text := range set {
		a, err := runflags.ParseAssignment(text)
		if err != nil {
			return cli.Usagef("sweep: --set %s: %w", text, err)
		}
		if slices.ContainsFunc(all, func(v varied) bool { return v.Key == a.Key }) {
			return cli.Usagef("sweep: --set %s: --vary gives it values too: leave one of them out", text)
		}
	}
	return nil
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

// variants are the combinations for a method of the grid. What a run of it has no use for is not varied
// there, and a line says so; what else cannot be is found with the job.
func (f *sweepFlags) variants(d cli.Deps, problem, method string, all []varied, stderr io.Writer) (variants []variant) {
	var keys, knobs []varied
	for _, v := range all {
		if _, is := v.Knob(); is {
			knobs = append(knobs, v)
		} else {
			keys = append(keys, v)
		}
	}
	said := map[string]bool{}
	for _, whole := range combinations(nil, keys) {
		combined, plain, err := f.useful(d, problem, method, whole)
		if err != nil || len(f.methods) < 2 && len(keys) == 0 {
			variants = append(variants, combinations(combined, knobs)...)
			continue
		}
		begun := strings.TrimSpace(plain.Method + " " + combined.String())
		if said[begun] { // another value of a key that it has no use for
			continue
		}
		said[begun] = true
		used := slices.DeleteFunc(slices.Clone(knobs), func(v varied) bool { return v.UsedBy(&plain) != nil })
		some := combinations(combined, used)
		variants = append(variants, some...)
		if idle := lacking(all, some[0]); len(idle) > 0 {
			fmt.Fprintf(stderr, "%s on %s has no use for %s: not varied there\n", begun, plain.Task, strings.Join(idle, " and "))
		}
	}
	return variants
}

// lacking names the knobs and keys to vary that a variant has no value of.
func lacking(all []varied, v variant) (names []string) {
	for _, one := range all {
		if !slices.ContainsFunc(one.values, func(value string) bool { return slices.Contains(v, value) }) {
			name, _, _ := strings.Cut(one.values[0], "=")
			names = append(names, name)
		}
	}
	return names
}

// useful returns the configuration of a combination of keys without those that it has no use for. What
// a grid of one method varies alone is left to be refused.
func (f *sweepFlags) useful(d cli.Deps, problem, method string, combined variant) (variant, config.Config, error) {
	for {
		r := f.flags(problem, method, combined, 0)
		plain, _, err := r.ConfigureElsewhere(d)
		var idle *presets.Unused
		if len(f.methods) < 2 && len(combined) < 2 || !errors.As(err, &idle) {
			return combined, plain, err
		}
		fewer := slices.DeleteFunc(slices.Clone(combined), func(v string) bool { return strings.HasPrefix(v, idle.Key+"=") })
		if len(fewer) == len(combined) { // it is one of --set
			return combined, plain, err
		}
		combined = fewer
	}
}

// combinations are those of all values, each after the assignments of begun.
func combinations(begun variant, all []varied) []variant {
	combined := []variant{begun}
	for _, v := range all {
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
