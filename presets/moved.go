package presets

import (
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// moved maps keys of earlier configurations to their present names.
var moved = map[string]string{
	"agent.ppo.entropy": "knobs.entropy",
	"environment.tv":    "knobs.tv",
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
