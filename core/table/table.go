// Package table makes one document of a configuration and the tables that parts of the
// program add to it. A part that registers itself, such as a relevance function, has
// settings of its own type, and no struct can have a field for each of them. Instead a
// configuration has one field that is a Set, and Of makes a struct type with a field for
// each table in its place. Code that decodes, encodes, checks and lists settings by
// reflection then sees only a struct.
package table

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
)

// Set is a map from the names of tables to their settings, structs with toml tags. A
// table that is missing from the map has its default settings. Only maps implement Set.
type Set interface {
	// Defaults returns the default settings of every table.
	Defaults() map[string]any
}

var setType = reflect.TypeFor[Set]()

// Of returns a pointer to a document that holds what the struct at config holds. The
// document has the fields of embedded structs as its own fields, and a field for each
// table of a Set. Its lists are copies, so that setting an element does not change any
// defaults.
func Of(config any) any {
	from := reflect.ValueOf(config).Elem()
	doc := reflect.New(documentOf(from.Type()))
	w := walk{field: func(v, d reflect.Value) { d.Set(copied(v)) }, set: fill}
	w.structs(from, doc.Elem())
	return doc.Interface()
}

// Take writes the values of a document made by Of into the struct at config, which must
// have the type from which the document was made.
func Take(config, doc any) {
	w := walk{field: func(v, d reflect.Value) { v.Set(d) }, set: empty}
	w.structs(reflect.ValueOf(config).Elem(), reflect.ValueOf(doc).Elem())
}

// documents has the types of documents by those of configurations: to make one takes longer than to
// fill it. Tables are added only while the program starts, before the first document.
var documents sync.Map

func documentOf(t reflect.Type) reflect.Type {
	if made, is := documents.Load(t); is {
		return made.(reflect.Type)
	}
	made := reflect.StructOf(fields(t))
	documents.Store(t, made)
	return made
}

// fields returns the fields of a document of t.
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

// inlined says whether the fields of f belong to the struct around it.
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

// walk visits the fields of a struct together with the fields of its document.
type walk struct {
	field func(v, doc reflect.Value)
	set   func(v reflect.Value, name string, settings any, doc reflect.Value)
	next  int // index of the next field of the document
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

// tables visits the tables of a set. It puts new settings into a new map, because copies
// of the configuration share the old one.
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

// copied returns v with copies of its lists and maps, at any depth of structs and lists.
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
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		fresh.Set(reflect.MakeMap(v.Type()))
		for _, key := range v.MapKeys() {
			fresh.SetMapIndex(key, v.MapIndex(key))
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
