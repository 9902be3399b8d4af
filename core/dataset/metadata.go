package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"pgrlab/core/run"
)

const maxMetadata = 16 << 20 // bytes

// metadata are the spaces of a Minari dataset.
type metadata struct{ observations, actions space }

// space is one of Gymnasium's, as Minari writes it (minari/serialization.py).
type space struct {
	kind      string // "": unknown
	parts     []namedSpace
	low, high []float64 // of a Box; nil: unknown, or not finite
}

type namedSpace struct {
	name string
	space
}

// readMetadata reads metadata.json beside a file; without one nothing is known.
func readMetadata(path string) (m metadata, err error) {
	text, err := run.ReadNamed(filepath.Join(filepath.Dir(path), "metadata.json"), maxMetadata)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, fmt.Errorf("metadata.json: %w", plain(err))
	}
	if m, err = parseMetadata(text); err != nil {
		return m, fmt.Errorf("metadata.json: %w", err)
	}
	return m, nil
}

func parseMetadata(text []byte) (m metadata, err error) {
	var file map[string]json.RawMessage
	if err := json.Unmarshal(finiteJSON(text), &file); err != nil {
		return m, err
	}
	for name, to := range map[string]*space{"observation_space": &m.observations, "action_space": &m.actions} {
		if file[name] == nil {
			continue
		}
		raw := file[name]
		if inner := ""; json.Unmarshal(raw, &inner) == nil { // JSON as text in JSON
			raw = finiteJSON([]byte(inner))
		}
		if *to, err = parseSpace(raw, 8); err != nil {
			return m, fmt.Errorf("%s: %w", name, err)
		}
	}
	return m, nil
}

// finiteJSON replaces the numbers that Python writes and JSON has not.
func finiteJSON(text []byte) []byte {
	var out bytes.Buffer
	inside := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inside && c == '\\' && i+1 < len(text):
			out.WriteByte(c)
			i++
		case c == '"':
			inside = !inside
		case !inside:
			word := ""
			for _, w := range []string{"-Infinity", "Infinity", "NaN"} {
				if word == "" && bytes.HasPrefix(text[i:], []byte(w)) {
					word = w
				}
			}
			if word != "" {
				out.WriteString("null")
				i += len(word) - 1
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return out.Bytes()
}

// parseSpace reads a space; deepest is how far spaces may be inside of each other.
func parseSpace(text json.RawMessage, deepest int) (s space, err error) {
	var raw struct {
		Type      string          `json:"type"`
		Subspaces json.RawMessage `json:"subspaces"`
		Low       json.RawMessage `json:"low"`
		High      json.RawMessage `json:"high"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return s, err
	}
	if deepest == 0 {
		return s, errors.New("spaces in spaces without an end")
	}
	s.kind = raw.Type
	switch raw.Type {
	case "Box":
		var finite [2]bool
		s.low, finite[0] = flat(raw.Low, nil, 8)
		s.high, finite[1] = flat(raw.High, nil, 8)
		if !finite[0] || !finite[1] {
			s.low, s.high = nil, nil
		}
	case "Dict":
		s.parts, err = subspaces(raw.Subspaces, deepest)
	case "Tuple":
		var list []json.RawMessage
		if err := json.Unmarshal(raw.Subspaces, &list); err != nil {
			return s, err
		}
		for i, text := range list {
			inner, err := parseSpace(text, deepest-1)
			if err != nil {
				return s, err
			}
			s.parts = append(s.parts, namedSpace{fmt.Sprintf("_index_%d", i), inner})
		}
	}
	return s, err
}

// subspaces reads those of a Dict, in their order.
func subspaces(text json.RawMessage, deepest int) (all []namedSpace, err error) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("a Dict without subspaces")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, err
		}
		name, _ := key.(string)
		inner, err := parseSpace(raw, deepest-1)
		if err != nil {
			return nil, err
		}
		all = append(all, namedSpace{name, inner})
	}
	return all, nil
}

// flat appends the numbers of lists, which are nested at most so deep; finite: all of them are numbers.
func flat(text json.RawMessage, all []float64, deepest int) (_ []float64, finite bool) {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) != nil {
		var v *float64
		if json.Unmarshal(text, &v) != nil || v == nil {
			return all, false
		}
		return append(all, *v), true
	}
	for _, inner := range list {
		if deepest == 0 {
			return all, false
		}
		if all, finite = flat(inner, all, deepest-1); !finite {
			return all, false
		}
	}
	return all, len(all) > 0
}

// bounds are those of a space whose boxes all have some, side by side.
func (s space) bounds() (low, high []float64) {
	if s.kind == "Box" {
		return s.low, s.high
	}
	for _, p := range s.parts {
		l, h := p.bounds()
		if l == nil || h == nil {
			return nil, nil
		}
		low, high = append(low, l...), append(high, h...)
	}
	return low, high
}
