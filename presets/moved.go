package presets

import (
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// moved maps keys of earlier configurations to their present names.
var moved = map[string]string{
	"agent.ppo.entropy": "knobs.entropy",
	"environment.tv":    "knobs.tv",
}

// movedError is what is wrong with the value of a moved key, which stands in that line of the document.
type movedError struct {
	key  string
	line int
	err  error
}

func (e *movedError) Error() string { return e.err.Error() }

// behindMoved is what is wrong with a document besides its moved keys: was is the error with them, and
// is the one after they are moved, whose lines are not those of the document.
func behindMoved(was, is error) error {
	var missing *toml.StrictMissingError
	if !errors.As(was, &missing) {
		return was
	}
	var rest []toml.DecodeError
	var wrong *toml.DecodeError
	for _, e := range missing.Errors {
		key := strings.Join(e.Key(), ".")
		to, has := moved[key]
		if !has {
			rest = append(rest, e)
		} else if errors.As(is, &wrong) && strings.Join(wrong.Key(), ".") == to {
			line, _ := e.Position()
			return &movedError{key, line, errors.New(strings.TrimPrefix(wrong.Error(), "toml: "))}
		}
	}
	if len(rest) > 0 {
		return &toml.StrictMissingError{Errors: rest}
	}
	return is
}

// move rewrites a document with moved keys; some says whether there were any.
func move(doc string) (now string, some bool) {
	var all map[string]any
	if toml.Unmarshal([]byte(doc), &all) != nil {
		return "", false
	}
	for from, to := range moved {
		path := strings.Split(from, ".")
		last := len(path) - 1
		at := all
		for _, name := range path[:last] {
			at, _ = at[name].(map[string]any)
		}
		value, has := at[path[last]]
		if !has {
			continue
		}
		delete(at, path[last])
		table, key, _ := strings.Cut(to, ".")
		into, _ := all[table].(map[string]any)
		if into == nil {
			into = map[string]any{}
			all[table] = into
		}
		if _, set := into[key]; !set {
			into[key] = value
		}
		some = true
	}
	if !some {
		return "", false
	}
	b, err := toml.Marshal(all)
	return string(b), err == nil
}
