package report

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"pgrlab/core/run"
)

// Scalar is a number of a journal line.
type Scalar struct {
	Name  string // type and field, "evaluated/return_mean"
	Value float64
}

// noScalars are the fields that say where a line belongs, or what it is about.
var noScalars = map[string]bool{"type": true, "step": true, "member": true, "wall_s": true, "id": true}

// Scalars returns the numbers of a journal line, by name. Lists give none, except a list
// "quantiles" of the 10th, 50th and 90th percentile.
func Scalars(e run.Entry) ([]Scalar, error) {
	var fields map[string]any
	if err := e.Fields(&fields); err != nil {
		return nil, err
	}
	for name := range noScalars {
		delete(fields, name)
	}
	return numbers(e.Type, fields), nil
}

// ScalarsOf returns the numbers of a journal line of type kind that would be made from body.
func ScalarsOf(kind string, body any) ([]Scalar, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	return numbers(kind, fields), nil
}

// numbers lists the numbers of an object, sorted by name.
func numbers(prefix string, fields map[string]any) []Scalar {
	var all []Scalar
	collect(&all, prefix, fields)
	slices.SortFunc(all, func(a, b Scalar) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

func collect(all *[]Scalar, prefix string, fields map[string]any) {
	for name, value := range fields {
		here := prefix + "/" + name
		switch v := value.(type) {
		case map[string]any:
			if name == "obs" {
				here = prefix
			}
			collect(all, here, v)
		case []any:
			if name != "quantiles" || len(v) != 3 {
				continue
			}
			for i, at := range []string{"q10", "q50", "q90"} {
				if f, ok := number(v[i]); ok {
					*all = append(*all, Scalar{prefix + "/" + at, f})
				}
			}
		default:
			if f, ok := number(value); ok {
				*all = append(*all, Scalar{here, f})
			}
		}
	}
}

// number reads a number of a journal; see run.Float.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case string:
		switch v {
		case "NaN":
			return math.NaN(), true
		case "Inf":
			return math.Inf(1), true
		case "-Inf":
			return math.Inf(-1), true
		}
	}
	return 0, false
}

// scored notes which F scores are of.
func (m *Member) scored(e run.Entry) error {
	var f struct{ Relevance string }
	if err := e.Fields(&f); err != nil {
		return err
	}
	if m.scoredBy != "" && f.Relevance != m.scoredBy {
		m.rescored = append(m.rescored, e.Step)
	}
	m.scoredBy = f.Relevance
	return nil
}
