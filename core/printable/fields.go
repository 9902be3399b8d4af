package printable

import "reflect"

// Fields turns every string reachable from v into a Line: fields, elements, and keys and
// values of maps, also behind pointers and interfaces. Unexported fields stay as they are.
func Fields(v any) { each(Line).in(reflect.ValueOf(v)) }

// Foreign returns the first string reachable from v that Fields would change; "" if there
// is none.
func Foreign(v any) (text string) {
	each(func(s string) string {
		if text == "" && Line(s) != s {
			text = s
		}
		return s
	}).in(reflect.ValueOf(v))
	return text
}

// each is the function that replaces every string.
type each func(string) string

func (e each) in(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(e(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			e.in(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				e.in(v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		if numbers(v.Type().Elem()) {
			return
		}
		for i := range v.Len() {
			e.in(v.Index(i))
		}
	case reflect.Map:
		e.inMap(v)
	case reflect.Interface:
		if !v.IsNil() && v.CanSet() {
			v.Set(e.of(v.Elem()))
		}
	}
}

// inMap replaces the strings of a map, whose elements cannot be set in place.
func (e each) inMap(v reflect.Value) {
	for _, key := range v.MapKeys() {
		value := e.of(v.MapIndex(key))
		v.SetMapIndex(key, reflect.Value{})
		v.SetMapIndex(e.of(key), value)
	}
}

// of returns a copy of v with its strings replaced.
func (e each) of(v reflect.Value) reflect.Value {
	own := reflect.New(v.Type()).Elem()
	own.Set(v)
	e.in(own)
	return own
}

// numbers says whether t is a type of bools or numbers, which cannot hold text.
func numbers(t reflect.Type) bool {
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Complex128
}
