package replica

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"reflect"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/experience"
	"pgrlab/core/generative"
	"pgrlab/core/relevance"
	"pgrlab/core/testing/tiny"
)

// Every part of a replica that can be saved is among its sections, so that no new part is left out
// of checkpoints by oversight, wherever in it the part is.
func TestNoPartOfAReplicaIsForgotten(t *testing.T) {
	prioritized, formula := tiny.Config(), tiny.Config()
	prioritized.Method, prioritized.Generator.Kind, prioritized.Generator.Conditional = config.MethodSAC, config.GeneratorNone, false
	prioritized.Knobs.Relevance, prioritized.Knobs.Ratio, prioritized.Replay.Priority = relevance.None, 0, config.PriorityTD
	formula.Knobs.Relevance = relevance.FormulaMark + "rank(curiosity) + rnd"
	for name, c := range map[string]config.Config{
		"generating": tiny.Config(), "prioritized": prioritized, "formula": formula, "frames": tiny.Pixels(), "latents": tiny.Latents(),
	} {
		m, now := newReplica(t, c)
		begun := partsOf(m)
		if len(begun) < 4 {
			t.Errorf("%s: only %d parts found: the test looks in the wrong place", name, len(begun))
		}
		allSaved(t, name, m, begun)
		if !c.Generates() || c.Sees() {
			continue
		}
		train(t, m, now.Settings, 1, 12)
		refit(t, m, now.Settings, 0)
		later := partsOf(m)
		if len(later) <= len(begun) { // D_syn
			t.Errorf("%s: %d parts, and %d after a refit", name, len(begun), len(later))
		}
		allSaved(t, name+", after a refit", m, later)
	}
}

// allSaved says which of the parts of m are in none of its sections.
func allSaved(t *testing.T, name string, m *Replica, all map[string]reflect.Value) {
	t.Helper()
	known := map[uintptr]bool{}
	for _, o := range m.owned { // also the judge, which is a section during an evaluation
		known[reflect.ValueOf(o.part).Pointer()] = true
	}
	for _, s := range m.Sections() {
		part := any(s.Part)
		switch of := part.(type) {
		case fitting:
			part = of.Generator
		case experience.Pinned:
			part = of.Log
		}
		known[reflect.ValueOf(part).Pointer()] = true
	}
	for where, part := range all {
		if !known[part.Pointer()] {
			t.Errorf("%s: %s, a %s, can be saved and is not: call own where it is made", name, where, part.Type())
		}
	}
}

// partsOf has pointers to all that can be saved below a replica, by where it is.
func partsOf(m *Replica) map[string]reflect.Value {
	p := &parts{map[string]reflect.Value{}, map[visit]bool{}}
	p.walk("a replica", reflect.ValueOf(m))
	return p.found
}

// parts are what a walk has found, and where it has been.
type parts struct {
	found map[string]reflect.Value
	seen  map[visit]bool
}

// visit has a type because the first field of a struct is where the struct is.
type visit struct {
	at uintptr
	of reflect.Type
}

// walk looks at v and at all that it holds. Parts of a part are its own affair.
func (p *parts) walk(where string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		p.walk(where, v.Elem())
	case reflect.Pointer:
		if been := (visit{v.Pointer(), v.Type()}); !v.IsNil() && !p.seen[been] {
			p.seen[been] = true
			p.walk(where, v.Elem())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[relevance.Model]() { // a formula that measures nothing has no state
			p.walk(where+".State", v.FieldByName("State"))
			return
		}
		if of := reflect.PointerTo(v.Type()); v.CanAddr() && (of.Implements(reflect.TypeFor[Stateful]()) || of.Implements(reflect.TypeFor[generative.Generator]())) {
			p.found[where] = v.Addr()
			return
		}
		for i := range v.NumField() {
			p.walk(where+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			p.walk(fmt.Sprintf("%s[%d]", where, i), v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			p.walk(fmt.Sprintf("%s[%v]", where, key), v.MapIndex(key))
		}
	}
}

// A last return of 0 is saved as one, and so is an accuracy; where there is none, none is restored.
func TestZerosAreSaved(t *testing.T) {
	for _, known := range []bool{true, false} {
		a, now := newReplica(t, tiny.Config())
		if known {
			a.LastReturn, a.Losses.Accuracy = new(float64), new(float64)
		}
		var file bytes.Buffer
		if err := gob.NewEncoder(&file).Encode(a.Saved(false)); err != nil {
			t.Fatal(err)
		}
		var saved Saved
		if err := gob.NewDecoder(&file).Decode(&saved); err != nil {
			t.Fatal(err)
		}
		b, _ := newReplica(t, tiny.Config())
		if err := b.Restore(saved, now.Settings.Relevance); err != nil {
			t.Fatal(err)
		}
		if (b.LastReturn != nil) != known || (b.Losses.Accuracy != nil) != known {
			t.Errorf("known %v: restored are %v and %v", known, b.LastReturn, b.Losses.Accuracy)
		}
	}
}
