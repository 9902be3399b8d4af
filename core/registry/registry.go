// Package registry holds the parts of one kind that declare themselves: learners, relevance
// functions, generators.
package registry

import (
	"fmt"
	"slices"
	"strings"

	"pgrlab/core/spelling"
)

// Part is what is registered, with settings of type C.
type Part[C any] interface {
	// Part returns the name, one line about the part, and its default settings, nil if it has none.
	Part() (name, doc string, settings C)
}

// List are the parts of a kind. It is filled while packages are initialised.
type List[P Part[C], C any] struct {
	What    string           // a sentence about an unknown name, which stands for %q
	Compare func(a, b P) int // their order; no two are equal
	Else    []string         // names that stand for no part
	parts   []P
}

// Add adds a part. It panics if its name is taken or if it lacks its name or doc.
func (l *List[P, C]) Add(p P) {
	name, doc, _ := p.Part()
	at, _ := slices.BinarySearchFunc(l.parts, p, l.Compare)
	if name == "" || doc == "" || slices.Contains(l.Names(), name) {
		panic(fmt.Sprintf("a part is called %q, which is taken, or lacks its name or doc %q", name, doc))
	}
	l.parts = slices.Insert(l.parts, at, p)
}

// All are the parts, in their order.
func (l *List[P, C]) All() []P { return slices.Clone(l.parts) }

// Names are their names.
func (l *List[P, C]) Names() []string {
	names := make([]string, len(l.parts))
	for i, p := range l.parts {
		names[i], _, _ = p.Part()
	}
	return names
}

// Find returns the part of that name. An unknown name is an error that asks whether a similar one was
// meant.
func (l *List[P, C]) Find(name string) (part P, err error) {
	for _, p := range l.parts {
		if n, _, _ := p.Part(); n == name {
			return p, nil
		}
	}
	names := append(l.Names(), l.Else...)
	if meant := spelling.Meant(name, names); meant != "" {
		return part, fmt.Errorf(l.What+"; %s (%s)", name, meant, strings.Join(names, ", "))
	}
	return part, fmt.Errorf(l.What+", want one of %s", name, strings.Join(names, ", "))
}

// Defaults are the default settings of every part that has settings, by name.
func (l *List[P, C]) Defaults() map[string]any {
	all := map[string]any{}
	for _, p := range l.parts {
		if name, _, settings := p.Part(); any(settings) != nil {
			all[name] = settings
		}
	}
	return all
}

// Settings are those of a name: its own if there are any, or else its defaults. They are nil if it
// has none.
func (l *List[P, C]) Settings(own map[string]C, name string) (settings C) {
	if settings, ok := own[name]; ok {
		return settings
	}
	if p, err := l.Find(name); err == nil {
		_, _, settings = p.Part()
	}
	return settings
}
