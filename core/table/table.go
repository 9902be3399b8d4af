// Package table makes one document of a configuration and of the tables that parts of
// the program bring along. A part that registers itself, a relevance function for
// example, has settings of its own type, and no struct can have a field for each of
// them; so a configuration has one field that is a Set, and Of makes a struct type
// with a field for each table in its place. What decodes, encodes, checks and lists
// settings by reflection then sees nothing but a struct.
package table

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Set is a map from the names of tables to their settings, structs with toml tags. A
// table that a map lacks has its default settings. Only maps implement it.
type Set interface {
	// Defaults are the default settings of every table there is.
	Defaults() map[string]any
}

var setType = reflect.TypeFor[Set]()

// Of returns a pointer to a document that holds what the struct at config holds. The
// fields of its embedded structs are the document's own, and so is a field for each
// table of its Sets. Its lists are copies: who sets an element of one sets nobody's
// defaults.
func Of(config any) any {
	from := reflect.ValueOf(config).Elem()
	doc := reflect.New(reflect.StructOf(fields(from.Type())))
	w := walk{field: func(v, d reflect.Value) { d.Set(copied(v)) }, set: fill}
	w.structs(from, doc.Elem())
	return doc.Interface()
}

// Take writes what a document of Of holds into the struct at config, which has the
// type that the document was made of.
func Take(config, doc any) {
	w := walk{field: func(v, d reflect.Value) { v.Set(d) }, set: empty}
	w.structs(reflect.ValueOf(config).Elem(), reflect.ValueOf(doc).Elem())
}

// fields are those of a document of t.
func fields(t reflect.Type) []reflect.StructField {
	var all []reflect.StructField
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case !f.IsExported():
		case f.Type.Implements(setType):
			defaults := defaultsOf(f.Type)
			for n, name := range slices.Sorted(maps.Keys(defaults)) {
				tag := reflect.StructTag(fmt.Sprintf("toml:%q", name))
				all = append(all, reflect.StructField{Name: fmt.Sprintf("%sTable%d", f.Name, n), Type: reflect.TypeOf(defaults[name]), Tag: tag})
			}
		case inlined(f):
			all = append(all, fields(f.Type)...)
		case f.Type.Kind() == reflect.Struct && hasSet(f.Type):
			all = append(all, reflect.StructField{Name: f.Name, Type: reflect.StructOf(fields(f.Type)), Tag: f.Tag})
		default:
			all = append(all, reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag})
		}
	}
	return all
}

// inlined says whether the fields of f are those of the struct around it.
func inlined(f reflect.StructField) bool {
	return f.Anonymous && f.Tag.Get("toml") == "" && f.Type.Kind() == reflect.Struct
}

func hasSet(t reflect.Type) bool {
	for i := range t.NumField() {
		f := t.Field(i).Type
		if f.Implements(setType) || f.Kind() == reflect.Struct && hasSet(f) {
			return true
		}
	}
	return false
}

func defaultsOf(set reflect.Type) map[string]any {
	return reflect.Zero(set).Interface().(Set).Defaults()
}

// walk visits the fields of a struct beside those of its document.
type walk struct {
	field func(v, doc reflect.Value)
	set   func(v reflect.Value, name string, settings any, doc reflect.Value)
	next  int // field of the document
}

func (w *walk) structs(v, doc reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch {
		case !f.IsExported():
		case f.Type.Implements(setType):
			w.tables(v.Field(i), doc)
		case inlined(f):
			w.structs(v.Field(i), doc)
		case f.Type.Kind() == reflect.Struct && hasSet(f.Type):
			inner := walk{field: w.field, set: w.set}
			inner.structs(v.Field(i), doc.Field(w.next))
			w.next++
		default:
			w.field(v.Field(i), doc.Field(w.next))
			w.next++
		}
	}
}

// tables visits those of a set. Whoever fills a set fills a new one: a copy of the
// configuration shares the map.
func (w *walk) tables(v, doc reflect.Value) {
	all := v
	defaults := defaultsOf(v.Type())
	fresh := reflect.MakeMap(v.Type())
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		settings := defaults[name]
		if given := all.MapIndex(reflect.ValueOf(name)); given.IsValid() {
			settings = given.Interface()
		}
		w.set(fresh, name, settings, doc.Field(w.next))
		w.next++
	}
	if fresh.Len() > 0 {
		v.Set(fresh)
	}
}

func fill(_ reflect.Value, _ string, settings any, doc reflect.Value) {
	doc.Set(copied(reflect.ValueOf(settings)))
}

// copied is v with lists of its own, at any depth of structs and lists.
func copied(v reflect.Value) reflect.Value {
	fresh := reflect.New(v.Type()).Elem()
	fresh.Set(v)
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := fresh.Field(i); f.CanSet() {
				f.Set(copied(f))
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		fresh.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			fresh.Index(i).Set(copied(v.Index(i)))
		}
	}
	return fresh
}

func empty(set reflect.Value, name string, _ any, doc reflect.Value) {
	set.SetMapIndex(reflect.ValueOf(name), doc)
}
