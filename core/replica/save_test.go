package replica

import (
	"reflect"
	"testing"

	"pgrlab/core/generative"
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
		if f.Kind() != reflect.Pointer || f.IsNil() || !f.Type().Implements(plain) && !f.Type().Implements(ofGenerator) {
			continue
		}
		found++
		if known[f.Pointer()] == "" {
			t.Errorf("%s can be saved and is not: call own where it is made", v.Type().Field(i).Name)
		}
	}
	if found < 5 {
		t.Errorf("only %d parts found: the test looks in the wrong place", found)
	}
}
