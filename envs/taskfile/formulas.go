package taskfile

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"pgrlab/core/formula"
	"pgrlab/core/printable"
)

// formulas compiles all formulas of the document and returns the names of the observed numbers.
func (f *File) formulas(file string) (names []string, err error) {
	d := f.document
	compile := func(key, text string, how func(*formula.Formula) (*formula.Program, error)) *formula.Program {
		if err != nil {
			return nil
		}
		var p *formula.Program
		var read *formula.Formula
		if read, err = formula.Parse(text); err == nil {
			if err = drawsOnlyAtStart(key, read); err == nil {
				p, err = how(read)
			}
		}
		if err != nil {
			err = d.problem(file, key, err)
		}
		return p
	}
	for i, text := range d.Observe {
		key := "observe." + strconv.Itoa(i)
		p := compile(key, text, func(r *formula.Formula) (*formula.Program, error) { return r.Vector(f.words) })
		if err != nil {
			return nil, err
		}
		f.observe = append(f.observe, p)
		if names = append(names, f.words.label(text, p.Width())...); len(names) > maxObs {
			return nil, d.problem(file, key, fmt.Errorf("the observation has more than %d numbers: observe less", maxObs))
		}
	}
	f.reward = compile("reward", d.Reward, func(r *formula.Formula) (*formula.Program, error) { return r.Number(f.words) })
	if d.Terminate != "" {
		f.terminate = compile("terminate", d.Terminate, func(r *formula.Formula) (*formula.Program, error) { return r.Truth(f.words) })
	}
	f.words.fixed = true
	defer func() { f.words.fixed = false }()
	for _, s := range d.starts() {
		width := f.words.sizes[s.target]
		if width == 0 && err == nil {
			return nil, d.problem(file, "reset."+s.target, errors.New("the model has no body with mocap=\"true\""))
		}
		key := "reset." + s.target
		p := compile(key, s.text, func(r *formula.Formula) (*formula.Program, error) {
			return r.Vector(starting{f.words, s.target, width})
		})
		if err == nil && p.Width() != 0 && p.Width() != width {
			err = d.problem(file, key, fmt.Errorf("the formula has %d numbers, and %s %d", p.Width(), s.target, width))
		}
		f.starts = append(f.starts, started{s.target, p})
	}
	return names, err
}

// drawsOnlyAtStart refuses random numbers anywhere but in reset.
func drawsOnlyAtStart(key string, read *formula.Formula) error {
	if strings.HasPrefix(key, "reset.") {
		return nil
	}
	for _, name := range read.Uses() {
		if _, random := draws[name]; random {
			at := len([]rune(read.Text()[:max(0, strings.Index(read.Text(), name))]))
			return &formula.Error{What: name + " draws random numbers, and only formulas of [reset] do that", Formula: read.Text(), At: at}
		}
	}
	return nil
}

// quantityAlone matches a formula that is a quantity or a slice of one.
var quantityAlone = regexp.MustCompile(`^\s*((?:prev\.)?\w+)(?:\("([^"]*)"\))?(?:\[(\d*):\d*\])?\s*$`)

// label names the numbers of a formula: after joints and actuators, or after the formula itself.
func (v *vocabulary) label(text string, width int) []string {
	short := printable.Line(strings.Join(strings.Fields(text), " "))
	if width == 0 {
		return []string{short}
	}
	from := 0
	var elements []string
	base := short
	if m := quantityAlone.FindStringSubmatch(text); m != nil {
		base = m[1]
		if m[2] != "" {
			base += " " + m[2]
		} else {
			elements = v.elements[strings.TrimPrefix(m[1], previous)]
		}
		from, _ = strconv.Atoi(m[3])
	}
	names := make([]string, width)
	for i := range names {
		names[i] = fmt.Sprintf("%s %d", base, from+i)
		if from+i < len(elements) && elements[from+i] != "" {
			names[i] = base + " " + elements[from+i]
		}
	}
	return names
}
