package taskfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"pgrlab/core/formula"
	"pgrlab/core/printable"
	"pgrlab/core/spelling"
	"pgrlab/envs"
)

// document is what stands in a task file.
type document struct {
	Name         string   `toml:"name"`
	Doc          string   `toml:"doc"`
	Model        string   `toml:"model"`
	Substeps     int      `toml:"substeps"`
	EpisodeSteps int      `toml:"episode_steps"`
	Order        string   `toml:"order"`
	Observe      []string `toml:"observe"`
	Reward       string   `toml:"reward"`
	Terminate    string   `toml:"terminate"`
	Reset        reset    `toml:"reset"`

	places map[string]place // of keys, and of elements as in observe.0
}

// reset says how an episode begins.
type reset struct {
	QPos     string `toml:"qpos"`
	QVel     string `toml:"qvel"`
	MocapPos string `toml:"mocap_pos"`
	Settle   int    `toml:"settle"`
}

// place is where a value stands in the document, and how many quotes come before its text.
type place struct{ offset, line, column, quotes int }

// The limits of a task file's numbers.
const (
	maxSubsteps     = 1000
	maxEpisodeSteps = 1_000_000
	maxSettle       = 100_000
	maxObs          = 4096
)

// orders are the values of order.
var orders = map[string]envs.Order{"suite": envs.SuiteOrder, "gym": envs.GymOrder}

// A Problem is what is wrong at a place of a task file, in one line. If a formula is wrong, it wraps
// a *formula.Error, which shows the place.
type Problem struct {
	File         string
	Line, Column int // counted from 1; 0: of the whole file
	Key          string
	Err          error
}

func (p *Problem) Error() string { return printable.Line(p.text()) }

func (p *Problem) text() string {
	text := p.File
	if p.Line > 0 {
		text += fmt.Sprintf(":%d:%d", p.Line, p.Column)
	}
	if p.Key != "" {
		text += ": " + p.Key
	}
	if wrong := (*formula.Error)(nil); errors.As(p.Err, &wrong) {
		return text + ": " + wrong.What // the column is that of the file
	}
	return text + ": " + p.Err.Error()
}

func (p *Problem) Unwrap() error { return p.Err }

// decode reads a task file strictly.
func decode(file string, text []byte) (*document, error) {
	d := &document{Substeps: 1, EpisodeSteps: 1000, Order: "suite"}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // with which some editors begin a file
	err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(d)
	if err != nil {
		return nil, inDocument(file, err)
	}
	d.places = placesOf(text)
	return d, d.check(file)
}

// inDocument says what is wrong with the TOML, and where.
func inDocument(file string, err error) error {
	var missing *toml.StrictMissingError
	if errors.As(err, &missing) && len(missing.Errors) > 0 {
		e := &missing.Errors[0]
		line, column := e.Position()
		key := e.Key()
		table := reflect.TypeFor[document]()
		if len(key) > 1 && key[0] == "reset" {
			table = reflect.TypeFor[reset]()
		}
		known := keys(table)
		return &Problem{file, line, column, "", fmt.Errorf("unknown key %q%s", strings.Join(key, "."), meant(key[len(key)-1], known))}
	}
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		line, column := wrong.Position()
		return &Problem{file, line, column, strings.Join(wrong.Key(), "."), errors.New(strings.TrimPrefix(wrong.Error(), "toml: "))}
	}
	return &Problem{File: file, Err: errors.New(strings.TrimPrefix(err.Error(), "toml: "))}
}

// keys are the keys of a table.
func keys(t reflect.Type) (all []string) {
	for i := range t.NumField() {
		if name := t.Field(i).Tag.Get("toml"); name != "" {
			all = append(all, name)
		}
	}
	return all
}

// meant is the end of a line about an unknown name.
func meant(name string, known []string) string {
	if near := spelling.Near(name, known); len(near) > 0 {
		return ": did you mean " + spelling.Alternatives(near) + "?"
	}
	return ": there are " + strings.Join(known, ", ")
}

// placesOf finds where the values of a document stand.
func placesOf(text []byte) map[string]place {
	at := map[string]place{}
	p := &unstable.Parser{}
	p.Reset(text)
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.KeyValue {
			continue
		}
		var parts []string
		for it := e.Key(); it.Next(); {
			parts = append(parts, string(it.Node().Data))
		}
		key := strings.Join(parts, ".")
		if e.Kind == unstable.Table {
			table = key + "."
			continue
		}
		record(at, p, text, table+key, e.Value())
	}
	return at
}

// record notes where a value stands, and the elements of an array.
func record(at map[string]place, p *unstable.Parser, text []byte, key string, v *unstable.Node) {
	if v.Kind == unstable.Array {
		i := 0
		for it := v.Children(); it.Next(); {
			record(at, p, text, key+"."+strconv.Itoa(i), it.Node())
			i++
		}
		if first, is := at[key+".0"]; is {
			at[key] = first
		}
		return
	}
	start := p.Shape(v.Raw).Start
	is := place{start.Offset, start.Line, start.Column, 0}
	raw := text[min(start.Offset, len(text)):]
	long := bytes.HasPrefix(raw, []byte(`"""`)) || bytes.HasPrefix(raw, []byte(`'''`))
	switch {
	case long && bytes.HasPrefix(bytes.TrimPrefix(raw[3:], []byte("\r")), []byte("\n")): // the text begins in the next line
		is.line, is.column = is.line+1, 1
	case long:
		is.quotes = 3
	case v.Kind == unstable.String:
		is.quotes = 1
	}
	at[key] = is
}

// problem is an error about a key.
func (d *document) problem(file, key string, err error) error {
	p := d.places[key]
	problem := &Problem{file, p.line, p.column, strings.TrimRight(key, ".0123456789"), err}
	if wrong := (*formula.Error)(nil); errors.As(err, &wrong) {
		if problem.Line += wrong.Line() - 1; wrong.Line() > 1 {
			problem.Column = 0
		} else {
			problem.Column += p.quotes - 1
		}
		problem.Column += wrong.Column()
	}
	return problem
}

// names of tasks.
var named = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

// check says what is wrong with the document, apart from its formulas.
func (d *document) check(file string) error {
	wrong := func(key, format string, args ...any) error { return d.problem(file, key, fmt.Errorf(format, args...)) }
	_, ordered := orders[d.Order]
	switch {
	case d.Name != "" && !named.MatchString(d.Name):
		return wrong("name", "%q: want up to 40 letters, digits, dots, - and _", d.Name)
	case strings.ContainsFunc(d.Doc, func(r rune) bool { return !unicode.IsPrint(r) }):
		return wrong("doc", "%q: want one line that can be shown", d.Doc)
	case d.Model == "":
		return wrong("model", "there is none: name the MuJoCo model beside this file, as in model = \"pole.xml\"")
	case len(d.Observe) == 0:
		return wrong("observe", "nothing is observed: list formulas, as in observe = [\"qpos\", \"qvel\"]")
	case d.Reward == "":
		return wrong("reward", "there is none: give a formula, as in reward = \"-norm(qpos)\"")
	case !ordered:
		return wrong("order", "%q, want suite or gym", d.Order)
	}
	for _, n := range []struct {
		key                string
		value, least, most int
	}{{"substeps", d.Substeps, 1, maxSubsteps}, {"episode_steps", d.EpisodeSteps, 1, maxEpisodeSteps}, {"reset.settle", d.Reset.Settle, 0, maxSettle}} {
		if n.value < n.least || n.value > n.most {
			return wrong(n.key, "%d, want %d to %d", n.value, n.least, n.most)
		}
	}
	return nil
}

// starts are the formulas of reset that were given, in the order of the document.
func (d *document) starts() []start {
	var all []start
	for _, s := range []start{{"qpos", d.Reset.QPos}, {"qvel", d.Reset.QVel}, {"mocap_pos", d.Reset.MocapPos}} {
		if s.text != "" {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b start) int {
		return cmp.Compare(d.places["reset."+a.target].offset, d.places["reset."+b.target].offset)
	})
	return all
}

// start is a formula for an array of the start state.
type start struct{ target, text string }
