package presets

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pgrlab/core/config"
	"pgrlab/core/knob"
)

// An Assignment is a value for one key of a configuration.
type Assignment struct {
	Key   string // dotted, as in config.toml; for a knob knobs.NAME
	Value string
}

const knobs = "knobs."

// ParseAssignment reads KEY=VALUE; a knob may be given by its name alone or by its symbol.
func ParseAssignment(text string) (Assignment, error) {
	key, value, given := strings.Cut(text, "=")
	key = strings.TrimSpace(key)
	if !given || key == "" {
		return Assignment{}, fmt.Errorf("want KNOB=VALUE or KEY=VALUE, for example guidance=3 or generator.width=512")
	}
	k, err := knob.Find(strings.TrimPrefix(key, knobs))
	if err == nil {
		return Assignment{knobs + k.Name, value}, nil
	}
	if strings.HasPrefix(key, knobs) || !strings.Contains(key, ".") && !slices.Contains(keys(reflect.TypeFor[config.Config](), ""), key) {
		return Assignment{}, fmt.Errorf("%w (pgrlab list knobs)", err)
	}
	return Assignment{key, strings.TrimSpace(value)}, nil
}

// Knob is the name of the knob in the assignment, if its key is a knob.
func (a Assignment) Knob() (name string, is bool) { return strings.CutPrefix(a.Key, knobs) }

// Set changes one key of a configuration, given by its dotted name as in config.toml: for instance
// generator.width to 512. Text needs no quotes, a list no brackets.
func Set(c *config.Config, key, value string) error {
	if strings.ContainsAny(key+value, "\n\r") {
		return fmt.Errorf("set %q=%q: want a key and one value", key, value)
	}
	before, err := tree(*c)
	if err != nil {
		return err
	}
	tables := strings.Split(key, ".")
	last := len(tables) - 1
	var present any = before
	for _, name := range tables {
		table, _ := present.(map[string]any)
		present = table[name]
	}
	if _, is := present.(map[string]any); is || key == "" {
		return fmt.Errorf("set %s=%s: want a key and not a table: pgrlab preset show prints all keys", key, value)
	}
	doc := fmt.Sprintf("%s = %s\n", tables[last], written(value, present))
	if last > 0 {
		doc = fmt.Sprintf("[%s]\n%s", strings.Join(tables[:last], "."), doc)
	}
	changed := *c
	if err := decode("", doc, &changed); err != nil {
		if want := kindOf(present); want != "" {
			return fmt.Errorf("set %s=%s: want %s", key, value, want)
		}
		return fmt.Errorf("set %s=%s: %s", key, value, place.ReplaceAllString(err.Error(), ""))
	}
	*c = changed
	return nil
}

// place matches the position of an error in a document.
var place = regexp.MustCompile(`^read preset: (:\d+: )?`)

// kindOf says what kind of value, other than text, can replace the present one.
func kindOf(present any) string {
	switch v := present.(type) {
	case int64:
		return "a whole number"
	case float64:
		return "a number"
	case bool:
		return "true or false"
	case []any:
		if len(v) > 0 && kindOf(v[0]) != "" {
			return kindOf(v[0]) + ", or several with commas"
		}
		return "a list"
	}
	return ""
}

// written writes a value in the TOML form of the value that it replaces.
func written(value string, present any) string {
	switch present.(type) {
	case int64:
		if n, err := knob.ParseCount(value); err == nil { // such as 20k
			return strconv.Itoa(n)
		}
	case string:
		if !strings.HasPrefix(value, `"`) {
			return fmt.Sprintf("%q", value)
		}
	case []any:
		if !strings.HasPrefix(value, "[") {
			return "[" + value + "]"
		}
	}
	return value
}
