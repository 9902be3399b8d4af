package presets

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pgrlab/core/config"
	"pgrlab/core/knob"
	"pgrlab/core/table"
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
	k, err := knob.Find(key)
	if err == nil {
		return Assignment{knobs + k.Name, value}, nil
	}
	name, isKnob := strings.CutPrefix(key, knobs)
	if fixed := fixedKeys(); isKnob || !strings.Contains(key, ".") && !slices.Contains(fixed, key) {
		return Assignment{}, Unknown("knob", name, knob.Near(name), "pgrlab list knobs")
	}
	return Assignment{key, strings.TrimSpace(value)}, nil
}

// fixedKeys are the dotted names of all keys of a configuration that are no knobs.
func fixedKeys() []string {
	all := keys(reflect.TypeOf(table.Of(&config.Config{})).Elem(), "")
	return slices.DeleteFunc(all, func(key string) bool {
		return strings.HasPrefix(key, knobs) || key == "knobs"
	})
}

// Knob is the name of the knob in the assignment, if its key is a knob.
func (a Assignment) Knob() (name string, is bool) { return strings.CutPrefix(a.Key, knobs) }

// UsedBy returns why a run has no use for what is assigned, as *Unused; nil: it has.
func (a Assignment) UsedBy(c *config.Config) error {
	if why := idle(c, a.Key); why != "" {
		return &Unused{a.Key, why}
	}
	return nil
}

// Unused is the error of an assignment to a key that a run has no use for.
type Unused struct{ Key, Why string }

func (u *Unused) Error() string { return strings.TrimPrefix(u.Key, knobs) + ": " + u.Why }

// idle says why a run has no use for a key; "": it has, or may have after a change of its relevance function.
func idle(c *config.Config, key string) string {
	g := c.Generator
	table, name, _ := strings.Cut(key, ".")
	part, _, nested := strings.Cut(name, ".")
	switch {
	case table == "knobs":
		if k, err := knob.Find(name); err == nil && c.Uses(k) != nil {
			return "not used by " + c.Method
		}
	case table == "agent" && nested && part != c.Agent.Learner:
		return "not used: agent.learner is " + c.Agent.Learner
	case table == "pixels" && !c.Sees():
		return "not used: the agent observes states"
	case table != "generator" || name == "kind":
	case !c.Generates():
		return "not used: generator.kind is " + config.GeneratorNone
	case nested && part != "head" && part != g.Kind:
		return "not used: generator.kind is " + g.Kind
	case part == "head" && nested && name != "head.kind" && !g.Head.Enabled():
		return "not used: generator.head.kind is none"
	}
	return ""
}

// Set changes one key of a configuration, given by its dotted name as in config.toml: for instance
// generator.width to 512. Text needs no quotes, a list no brackets. What is wrong is said without the key
// and the value, which are the caller's to name as they were given.
func Set(c *config.Config, key, value string) error {
	if strings.ContainsAny(key+value, "\n\r") {
		return errors.New("want a key and one value, without line breaks")
	}
	before, err := tree(*c)
	if err != nil {
		return err
	}
	tables := strings.Split(key, ".")
	last := len(tables) - 1
	var present any = before
	for _, name := range tables {
		inner, _ := present.(map[string]any)
		present = inner[name]
	}
	if present == nil { // at its zero it may be left out
		present = zeroOf(reflect.TypeOf(table.Of(&config.Config{})).Elem(), tables)
	}
	if _, is := present.(map[string]any); is || key == "" {
		return errors.New("want a key and not a table: pgrlab preset show prints all keys")
	}
	doc := fmt.Sprintf("%s = %s\n", tables[last], written(value, present))
	if last > 0 {
		doc = fmt.Sprintf("[%s]\n%s", strings.Join(tables[:last], "."), doc)
	}
	changed := *c
	if err := decode("", doc, &changed); err != nil {
		if want := kindOf(present); want != "" {
			return fmt.Errorf("want %s", want)
		}
		return errors.New(place.ReplaceAllString(err.Error(), ""))
	}
	*c = changed
	return nil
}

// place matches the position of an error in a document.
var place = regexp.MustCompile(`^read preset: (:\d+: )?`)

// zeroOf is the zero of the field of that dotted name, as a document would have it; nil: there is no
// such field.
func zeroOf(t reflect.Type, name []string) any {
	for i := range t.NumField() {
		f := t.Field(i)
		own, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		switch {
		case f.Anonymous && own == "":
			if zero := zeroOf(f.Type, name); zero != nil {
				return zero
			}
		case own != name[0]:
		case len(name) > 1 && f.Type.Kind() == reflect.Struct:
			return zeroOf(f.Type, name[1:])
		case len(name) == 1:
			return documented(f.Type)
		}
	}
	return nil
}

// documented is the zero of a type as a document has it.
func documented(t reflect.Type) any {
	switch t.Kind() {
	case reflect.String:
		return ""
	case reflect.Bool:
		return false
	case reflect.Float32, reflect.Float64:
		return 0.0
	case reflect.Slice:
		return []any{}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return int64(0)
	}
	return nil
}

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
	case float64:
		if x, err := strconv.ParseFloat(value, 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) { // such as .99
			return strconv.FormatFloat(x, 'g', -1, 64)
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
