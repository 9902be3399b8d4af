package presets

import (
	"reflect"
	"regexp"
	"strings"
)

// misfit matches what go-toml says of a value that a key cannot hold. It names Go's types, which mean
// nothing to a person who writes a document.
var misfit = regexp.MustCompile(`cannot decode TOML |cannot be stored in |cannot store `)

// plainly is a message about the value of a key in a document of type t, which says what the key takes
// instead of which types do not fit.
func plainly(message string, t reflect.Type, key []string) string {
	if want := wanted(fieldOf(t, key)); want != "" && misfit.MatchString(message) {
		return "want " + want
	}
	return message
}

// fieldOf is the type of the field with that dotted name, or of the last one on the way to it that has
// no fields; nil: there is none.
func fieldOf(t reflect.Type, key []string) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if len(key) == 0 || t.Kind() != reflect.Struct {
		return t
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		if f.Anonymous && name == "" {
			if in := fieldOf(f.Type, key); in != nil {
				return in
			}
		} else if strings.EqualFold(name, key[0]) || name == "" && strings.EqualFold(f.Name, key[0]) {
			return fieldOf(f.Type, key[1:])
		}
	}
	return nil
}

// wanted says what a key of type t holds, in the words of a person who writes it; "" if there are none.
func wanted(t reflect.Type) string {
	if t == nil {
		return ""
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Uint64:
		return "a whole number of at least 0"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "text in quotes"
	case reflect.Struct, reflect.Map:
		return "a table"
	case reflect.Slice:
		switch t.Elem().Kind() {
		case reflect.Int:
			return "a list of whole numbers, such as [1, 2]"
		case reflect.Float64:
			return "a list of numbers, such as [0.5, 1]"
		case reflect.String:
			return "a list of texts in quotes, such as ['a', 'b']"
		}
		return "a list"
	}
	return ""
}
