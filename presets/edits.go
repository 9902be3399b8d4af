package presets

import (
	"fmt"
	"reflect"

	"github.com/pelletier/go-toml/v2"

	"pgrlab/core/config"
)

// edits returns, as a document, the part of a preset that differs from what the preset's own axes
// give.
func edits(own axes, file, doc string) (string, error) {
	below, err := layAxes(own)
	if err != nil {
		return "", err
	}
	before, err := tree(below.config)
	if err != nil {
		return "", err
	}
	below.lay(file, doc)
	if below.err != nil {
		return "", below.err
	}
	after, err := tree(below.config)
	if err != nil {
		return "", err
	}
	difference := differing(before, after)
	for _, axis := range []string{"task", "method", "scale", "preset"} {
		delete(difference, axis)
	}
	text, err := toml.Marshal(difference)
	if err != nil {
		return "", fmt.Errorf("encode preset %s: %w", file, err)
	}
	return string(text), nil
}

// tree is a configuration as nested maps of TOML values.
func tree(c config.Config) (map[string]any, error) {
	doc, err := Encode(c)
	if err != nil {
		return nil, err
	}
	var t map[string]any
	if err := toml.Unmarshal(doc, &t); err != nil {
		return nil, fmt.Errorf("encode configuration: %w", err)
	}
	return t, nil
}

// differing is the part of b that is missing or different in a, and the zeros that b leaves out.
func differing(a, b map[string]any) map[string]any {
	d := map[string]any{}
	for key, value := range a { // a document leaves some keys out at zero
		if _, has := b[key]; !has && reflect.TypeOf(value).Kind() != reflect.Map {
			d[key] = reflect.Zero(reflect.TypeOf(value)).Interface()
		}
	}
	for key, value := range b {
		inner, isTable := value.(map[string]any)
		if !isTable {
			if !reflect.DeepEqual(a[key], value) {
				d[key] = value
			}
			continue
		}
		outer, _ := a[key].(map[string]any)
		if rest := differing(outer, inner); len(rest) > 0 {
			d[key] = rest
		}
	}
	return d
}
