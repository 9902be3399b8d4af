package replica

import (
	"bytes"
	"encoding/gob"
	"reflect"
	"testing"

	"pgrlab/core/generative"
	"pgrlab/core/relevance"
	"pgrlab/core/testing/tiny"
)

// Every part of a replica that can be saved is among its sections, so that no new part is left out
// of checkpoints by oversight.
func TestNoPartOfAReplicaIsForgotten(t *testing.T) {
	m, _ := newReplica(t, tiny.Config())
	known := map[uintptr]string{reflect.ValueOf(m.Real).Pointer(): SectionReal}
	for _, o := range m.owned {
		known[reflect.ValueOf(o.part).Pointer()] = o.name
	}
	plain, ofGenerator := reflect.TypeFor[Stateful](), reflect.TypeFor[generative.Generator]()
	v, found := reflect.ValueOf(m).Elem(), 0
	for i := range v.NumField() {
		f := v.Field(i)
		if f.Kind() == reflect.Interface {
			f = f.Elem()
		}
		if f.Type() == reflect.TypeFor[*relevance.Model]() && !f.IsNil() {
			f = f.Elem().FieldByName("State").Elem()
		}
		if f.Kind() != reflect.Pointer || f.IsNil() || !f.Type().Implements(plain) && !f.Type().Implements(ofGenerator) {
			continue
		}
		found++
		if known[f.Pointer()] == "" {
			t.Errorf("%s can be saved and is not: call own where it is made", v.Type().Field(i).Name)
		}
	}
	if found < 4 {
		t.Errorf("only %d parts found: the test looks in the wrong place", found)
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
