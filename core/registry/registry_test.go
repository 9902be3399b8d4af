package registry

import (
	"cmp"
	"slices"
	"strings"
	"testing"
)

type tool struct {
	name, doc string
	settings  any
}

func (t tool) Part() (name, doc string, settings any) { return t.name, t.doc, t.settings }

func tools() *List[tool, any] {
	l := &List[tool, any]{
		What: "tool is %q", Else: []string{"none"},
		Compare: func(a, b tool) int { return cmp.Compare(a.name, b.name) },
	}
	l.Add(tool{"saw", "cuts", 3})
	l.Add(tool{"hammer", "drives nails", nil})
	return l
}

func TestFind(t *testing.T) {
	l := tools()
	if got := l.Names(); !slices.Equal(got, []string{"hammer", "saw"}) {
		t.Errorf("names are %v", got)
	}
	if p, err := l.Find("saw"); err != nil || p.doc != "cuts" {
		t.Errorf("saw is %v, %v", p, err)
	}
	for name, want := range map[string]string{
		"hamer": `tool is "hamer"; did you mean "hammer"? (hammer, saw, none)`,
		"plane": `tool is "plane", want one of hammer, saw, none`,
		"none":  `tool is "none"`,
	} {
		if _, err := l.Find(name); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSettings(t *testing.T) {
	l := tools()
	if all := l.Defaults(); len(all) != 1 || all["saw"] != 3 {
		t.Errorf("defaults are %v", all)
	}
	own := map[string]any{"hammer": 5}
	for name, want := range map[string]any{"saw": 3, "hammer": 5, "plane": nil} {
		if got := l.Settings(own, name); got != want {
			t.Errorf("%s has %v, want %v", name, got, want)
		}
	}
}

func TestAddRefuses(t *testing.T) {
	for _, p := range []tool{{"saw", "cuts too", nil}, {"", "cuts", nil}, {"axe", "", nil}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v was added", p)
				}
			}()
			tools().Add(p)
		}()
	}
}
