package presets

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"pgrlab/core/printable"
	"pgrlab/core/spelling"
	"pgrlab/core/table"
)

// decode lays one TOML document over the contents of into: keys that the document does not name
// keep their values. A key that into does not have is an error with file, line and the nearest key.
// into is a pointer to a struct; each of its sets is written as a table.
func decode(file string, doc string, into any) error {
	whole := table.Of(into)
	if err := toml.NewDecoder(strings.NewReader(doc)).DisallowUnknownFields().Decode(whole); err != nil {
		return inFile(file, err, whole)
	}
	if text := printable.Foreign(whole); text != "" {
		return fmt.Errorf("read preset: %s: %q holds characters that cannot be shown: take them out", file, text)
	}
	table.Take(into, whole)
	return nil
}

// inFile says what is wrong with a document, and where.
func inFile(file string, err error, into any) error {
	var missing *toml.StrictMissingError
	if errors.As(err, &missing) && len(missing.Errors) > 0 {
		return unknownKey(file, &missing.Errors[0], into)
	}
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		line, _ := wrong.Position()
		message := plainly(strings.TrimPrefix(wrong.Error(), "toml: "), reflect.TypeOf(into), wrong.Key())
		if key := strings.Join(wrong.Key(), "."); key != "" && !strings.Contains(message, key) {
			message = key + ": " + message
		}
		return fmt.Errorf("read preset: %s:%d: %s", file, line, message)
	}
	return fmt.Errorf("read preset: %s: %s", file, strings.TrimPrefix(err.Error(), "toml: "))
}

// unknownKey says where an unknown key stands and what it was probably meant to be. It looks for
// the nearest key in the key's own table first, then in all tables.
func unknownKey(file string, e *toml.DecodeError, into any) error {
	line, _ := e.Position()
	key := e.Key()
	name := strings.Join(key, ".")
	all := keys(reflect.TypeOf(into).Elem(), "")
	if near := nearestKeys(key, all); len(near) > 0 {
		return fmt.Errorf("read preset: %s:%d: unknown key %q: did you mean %s?", file, line, name, spelling.Alternatives(near))
	}
	return fmt.Errorf("read preset: %s:%d: unknown key %q: pgrlab preset show prints the keys of a run", file, line, name)
}

func nearestKeys(key []string, all []string) []string {
	table := ""
	if len(key) > 1 {
		table = strings.Join(key[:len(key)-1], ".") + "."
	}
	var here []string
	for _, k := range all {
		if rest, ok := strings.CutPrefix(k, table); ok && !strings.Contains(rest, ".") {
			here = append(here, rest)
		}
	}
	near := spelling.Near(key[len(key)-1], here)
	if len(near) == 0 {
		return spelling.Near(key[len(key)-1], knobsFirst(all))
	}
	for i := range near {
		near[i] = table + near[i]
	}
	return near
}

// knobsFirst puts the keys of knobs first, which are most often meant.
func knobsFirst(all []string) []string {
	isKnob := func(key string) bool { return strings.HasPrefix(key, knobs) }
	others := slices.DeleteFunc(slices.Clone(all), isKnob)
	return append(slices.DeleteFunc(all, func(key string) bool { return !isKnob(key) }), others...)
}

// keys are the dotted names of everything that a document for t may set, including tables.
func keys(t reflect.Type, prefix string) []string {
	var all []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		ft := f.Type
		for ft.Kind() == reflect.Pointer || ft.Kind() == reflect.Slice {
			ft = ft.Elem()
		}
		if f.Anonymous && name == "" && ft.Kind() == reflect.Struct {
			all = append(all, keys(ft, prefix)...)
			continue
		}
		if name == "" {
			name = strings.ToLower(f.Name)
		}
		all = append(all, prefix+name)
		if ft.Kind() == reflect.Struct {
			all = append(all, keys(ft, prefix+name+".")...)
		}
	}
	return all
}
