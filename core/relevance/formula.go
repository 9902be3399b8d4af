package relevance

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"pgrlab/core/formula"
)

// FormulaMark begins the name of a function that is a formula: the rest is its text.
const FormulaMark = "="

// IsFormula says whether the function of that name is a formula.
func IsFormula(name string) bool { return strings.HasPrefix(name, FormulaMark) }

// Canonical returns the name that runs keep of what a person has written: a name as it is, of a formula
// its canonical text. A formula may lack its mark if it is more than a word.
func Canonical(written string) (string, error) {
	if !IsFormula(written) && !strings.ContainsAny(written, "()[]*/+^%?<>! ") && !difference(written) {
		return written, nil
	}
	r, err := read(FormulaMark + strings.TrimPrefix(written, FormulaMark))
	if err != nil {
		return "", err
	}
	return FormulaMark + r.formula.String(), nil
}

// difference says whether a word with hyphens is a difference of what formulas name, as td-curiosity.
func difference(word string) bool {
	parts := strings.Split(word, "-")
	return len(parts) > 1 && !slices.ContainsFunc(parts, func(p string) bool { return !slices.Contains(Quantities(), p) })
}

// Needs are the functions that F of that name is computed from, and that a run has to have: its own
// name for a function of the registry, or for a formula those that it names, first the ones that learn
// in steps, then the others. The formula itself is the last if it has to be measured.
func Needs(name string) []string {
	if !IsFormula(name) {
		return []string{name}
	}
	r, err := read(name)
	if err != nil {
		return nil // the error was looked at where the name was taken
	}
	return r.needs
}

// Takes says whether F of that name needs another function, or is it.
func Takes(name, other string) bool {
	return name == other || IsFormula(name) && slices.Contains(Needs(name), other)
}

// Named are the functions of the registry that Needs has.
func Named(name string) []string {
	return slices.DeleteFunc(slices.Clone(Needs(name)), IsFormula)
}

// Valued says which name of F, or of its formula, stands for an agent's estimates; "": none does.
func Valued(name string) string {
	for _, used := range Uses(name) {
		if s := slots[used]; s == slotQ || s == slotQStd {
			return used
		}
	}
	for _, need := range Named(name) {
		if s, err := specs.Find(need); err == nil && s.Valued {
			return need
		}
	}
	return ""
}

// written is a formula that was read, with what it needs.
type written struct {
	formula *formula.Formula
	needs   []string
	whole   bool // it has functions of a whole column
}

// Uses are the names that a formula uses, in the order of its text; nil for other functions.
func Uses(name string) []string {
	if !IsFormula(name) {
		return nil
	}
	r, err := read(name)
	if err != nil {
		return nil
	}
	return r.formula.Uses()
}

// cache has the formulas that were read lately: a run asks at each update what its F needs.
var cache struct {
	sync.Mutex
	read map[string]written
}

// mostCached is how many formulas are remembered.
const mostCached = 100

// read reads a formula and finds out what its names stand for. Errors say where the formula is wrong.
func read(name string) (written, error) {
	cache.Lock()
	defer cache.Unlock()
	if r, is := cache.read[name]; is {
		return r, nil
	}
	f, err := formula.Parse(strings.TrimPrefix(name, FormulaMark))
	if err != nil {
		return written{}, err
	}
	r := written{formula: f}
	if err := f.Known(Quantities()); err != nil {
		return written{}, explained(err)
	}
	for _, used := range f.Uses() {
		if function := quantities[used]; function != "" && !slices.Contains(r.needs, function) {
			r.needs = append(r.needs, function)
		}
	}
	slices.SortStableFunc(r.needs, func(a, b string) int { return order(a) - order(b) })
	if r.whole = f.Whole(); r.whole {
		r.needs = append(r.needs, name)
	}
	if cache.read == nil || len(cache.read) >= mostCached {
		cache.read = map[string]written{}
	}
	cache.read[name] = r
	return r, nil
}

// explained adds to the error of an unknown name why a function of the registry is none, or where all names
// are.
func explained(err error) error {
	var e *formula.Error
	if !errors.As(err, &e) || strings.Contains(e.What, "did you mean") {
		return err
	}
	for _, s := range Specs() {
		switch {
		case !strings.HasSuffix(e.What, strconv.Quote(strings.ReplaceAll(s.Name, "-", "_"))):
		case s.Learning == LearnsInRounds:
			e.What += ", which is of episodes and not of single transitions"
			return e
		case s.Learning == LearnsWithGenerator:
			e.What += ", which only stands alone: it is of the generator's models"
			return e
		}
	}
	e.What += ": pgrlab list formulas has all"
	return e
}

// order is where a function stands among those that are made ready for scoring.
func order(name string) int {
	if s, err := Find(name); err == nil && s.Learning == LearnsInSteps {
		return 0
	}
	return 1
}

// found is the Spec of a formula.
func found(name string) (Spec, error) {
	r, err := read(name)
	if err != nil {
		return Spec{}, err
	}
	s := Spec{Name: name, Doc: "a formula", Equation: r.formula.String(), Source: "own"}
	if r.whole {
		s.Learning = LearnsFromAll
	}
	return s, nil
}

// quantities are the names that formulas know, with the function of the registry that each stands for;
// "" for what is in a transition or with the agent.
var quantities = map[string]string{
	"reward": "", "done": "", "obs": "", "next": "", "act": "",
	"obs_norm": "", "next_norm": "", "action_norm": "", "move": "", "age": "", "q": "", "q_std": "",
}

// Quantities lists the names that formulas know.
func Quantities() []string {
	var names []string
	for name := range quantities {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// nameable adds a function of the registry to what formulas can name: those that can score any rows in
// any run.
func nameable(s Spec) {
	name := strings.ReplaceAll(s.Name, "-", "_")
	if _, taken := quantities[name]; taken || s.Name == None || s.Learning == LearnsInRounds || s.Learning == LearnsWithGenerator {
		return
	}
	quantities[name] = s.Name
}

// Word is a name or a function that formulas for F know.
type Word struct {
	Name string
	Use  string // as in a formula: clip(x, lo, hi)
	Doc  string // one line
}

// Words lists names and then functions, each by the alphabet.
func Words() []Word {
	var all []Word
	for _, name := range Quantities() {
		doc := ownDocs[name]
		if s, err := specs.Find(quantities[name]); err == nil {
			doc = s.Doc
		}
		all = append(all, Word{name, name, doc})
	}
	for _, f := range formula.Functions() {
		all = append(all, Word{f.Name, f.Usage, f.Doc})
	}
	return all
}

var ownDocs = map[string]string{
	"reward": "the reward", "done": "1 where the episode has ended by itself, else 0; also a condition",
	"obs": "the observation s: obs[0], obs[2:5], obs[\"name\"]", "next": "the next observation s'", "act": "the action a",
	"obs_norm": "length of s", "next_norm": "length of s'", "action_norm": "length of a", "move": "length of s'-s",
	"age": "transitions since, 0 for the newest and for generated ones", "q": "Q(s,a), mean over the critics", "q_std": "its standard deviation over the critics",
}
