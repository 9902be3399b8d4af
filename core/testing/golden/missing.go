package golden

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// missing returns which numbers that a test needs are not in a file, or are an empty list or null there:
// the test would compare nothing with them. What a type reads by itself is its own affair, and a field
// with omitempty may be left out.
func missing(where string, needs reflect.Type, has any) (all []string) {
	if reflect.PointerTo(needs).Implements(reflect.TypeFor[json.Unmarshaler]()) && has != nil {
		return nil
	}
	switch has := has.(type) {
	case nil:
		return []string{where}
	case []any:
		if len(has) == 0 {
			return []string{where}
		}
		for i, v := range has {
			all = append(all, missing(fmt.Sprintf("%s[%d]", where, i), needs.Elem(), v)...)
		}
	case map[string]any:
		switch {
		case needs.Kind() == reflect.Pointer:
			return missing(where, needs.Elem(), has)
		case needs.Kind() == reflect.Struct:
			return missingFields(where, needs, has)
		case len(has) == 0:
			return []string{where}
		}
		for _, key := range slices.Sorted(maps.Keys(has)) {
			all = append(all, missing(where+"."+key, needs.Elem(), has[key])...)
		}
	}
	return all
}

// missingFields is missing for the fields of a struct.
func missingFields(where string, needs reflect.Type, has map[string]any) (all []string) {
	for i := range needs.NumField() {
		f := needs.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		var value any
		for key, v := range has {
			if strings.EqualFold(key, name) { // as encoding/json has it
				value = v
			}
		}
		switch {
		case f.Anonymous:
			all = append(all, missing(where, f.Type, has)...)
		case value != nil || options != "omitempty":
			all = append(all, missing(where+"."+name, f.Type, value)...)
		}
	}
	return all
}
