package table

import (
	"reflect"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

type parts map[string]any

func (parts) Defaults() map[string]any {
	return map[string]any{"beta": beta{Rate: 1}, "alpha": alpha{}}
}

type pace struct {
	Every int `toml:"every"`
}

type alpha struct {
	pace
	Name string `toml:"name"`
}

type beta struct {
	Rate float64 `toml:"rate"`
}

type shared struct {
	Width int `toml:"width"`
}

type inner struct {
	Kind string `toml:"kind"`
	shared
	More parts `toml:"-"`
}

type outer struct {
	Seed  int   `toml:"seed"`
	Parts parts `toml:"-"`
	Inner inner `toml:"inner"`
	Last  []int `toml:"last"`
}

// A document is what a struct with a field for every table would be, at any depth, and
// taking it back gives the configuration.
func TestDocument(t *testing.T) {
	c := outer{Seed: 3, Parts: parts{"beta": beta{2.5}}, Inner: inner{Kind: "k", More: parts{"alpha": alpha{Name: "a"}}}, Last: []int{1}}
	text, err := toml.Marshal(Of(&c))
	if err != nil {
		t.Fatal(err)
	}
	want := `seed = 3
last = [1]

[alpha]
every = 0
name = ''

[beta]
rate = 2.5

[inner]
kind = 'k'

[inner.alpha]
every = 0
name = 'a'

[inner.beta]
rate = 1.0
`
	if string(text) != want {
		t.Errorf("encoded as\n%s", text)
	}
	doc := Of(&c)
	if err := toml.Unmarshal([]byte("seed = 4\n[beta]\nrate = 7.0\n[inner.beta]\nrate = 8.0"), doc); err != nil {
		t.Fatal(err)
	}
	before := c
	Take(&c, doc)
	if !reflect.DeepEqual(before.Parts, parts{"beta": beta{2.5}}) {
		t.Errorf("a copy of the configuration changed with it: %v", before.Parts)
	}
	after := outer{Seed: 4, Parts: parts{"alpha": alpha{}, "beta": beta{7}}, Inner: inner{Kind: "k", More: parts{"alpha": alpha{Name: "a"}, "beta": beta{8}}}, Last: []int{1}}
	if !reflect.DeepEqual(c, after) {
		t.Errorf("taken back:\n%+v\nwant\n%+v", c, after)
	}
}

type lists struct {
	Widths []int   `toml:"widths"`
	Turns  []inner `toml:"turns"`
	Parts  listed  `toml:"-"`
}

type listed map[string]any

var defaultLists = gamma{Sizes: []int{1, 2, 3}}

type gamma struct {
	Sizes []int `toml:"sizes"`
}

func (listed) Defaults() map[string]any { return map[string]any{"gamma": defaultLists} }

// Setting elements of a document's lists sets none of those that it was made from.
func TestADocumentHasListsOfItsOwn(t *testing.T) {
	c := lists{Widths: []int{8, 8}, Turns: []inner{{Kind: "a"}}}
	doc := reflect.ValueOf(Of(&c)).Elem()
	for i, set := range []func(){
		func() { doc.Field(0).Index(0).SetInt(1) },
		func() { doc.Field(1).Index(0).Field(0).SetString("b") },
		func() { doc.Field(2).Field(0).Index(0).SetInt(7) },
	} {
		set()
		if !reflect.DeepEqual(c, lists{Widths: []int{8, 8}, Turns: []inner{{Kind: "a"}}}) || !reflect.DeepEqual(defaultLists.Sizes, []int{1, 2, 3}) {
			t.Errorf("list %d: it was written into %+v and %+v", i, c, defaultLists)
		}
	}
}
