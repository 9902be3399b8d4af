package presets

import (
	"fmt"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// retired are the keys that configurations had, which are constants by now, with their values in TOML
// form: those of data/retired.toml.
var retired = sync.OnceValue(func() map[string]string {
	values := map[string]string{}
	if err := settingsOf(values, read("retired.toml")); err != nil {
		panic(err) // a test reads it
	}
	return values
})

// retiredSince is when keys were last retired.
const retiredSince = "28 November 2026"

// settingsOf adds the settings of a document to values, by their dotted keys.
func settingsOf(values map[string]string, doc string) error {
	var tree map[string]any
	if err := toml.Unmarshal([]byte(doc), &tree); err != nil {
		return err
	}
	return flatten(values, "", tree)
}

// withoutRetired returns those of the unknown keys of a document that are not retired with the value that
// the document gives them, which leaves everything as it is. A retired key with another value is an error.
func withoutRetired(doc string, unknown []toml.DecodeError) (rest []toml.DecodeError, err error) {
	values := map[string]string{}
	for _, e := range unknown {
		key := strings.Join(e.Key(), ".")
		fixed, known := retired()[key]
		if !known {
			rest = append(rest, e)
			continue
		}
		if len(values) == 0 {
			if err := settingsOf(values, doc); err != nil {
				return nil, err
			}
		}
		if values[key] != fixed {
			line, _ := e.Position()
			return nil, &retiredError{line, key, fixed}
		}
	}
	return rest, nil
}

// retiredError is the error of a retired key with another value, in that line of a document.
type retiredError struct {
	line       int
	key, fixed string
}

func (e *retiredError) Error() string {
	return fmt.Sprintf("%s is always %s since %s: take it out", e.key, e.fixed, retiredSince)
}
