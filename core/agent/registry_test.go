package agent

import (
	"slices"
	"testing"

	"pgrlab/core/registry"
)

// registered makes the registry hold exactly the given learners.
func registered(t *testing.T, all ...Spec) {
	t.Helper()
	before := specs
	t.Cleanup(func() { specs = before })
	specs = registry.List[Spec, Settings]{What: before.What, Compare: before.Compare}
	for _, s := range all {
		Register(s)
	}
}

func made(Deps) (*Made, error) { return nil, nil }

type width struct{ Width int }

func (width) Validate() error { return nil }

// Specs lists the default learner first and the others by name, in whatever order they register.
func TestRegistry(t *testing.T) {
	registered(t, Spec{Name: "ppo", Doc: "b", New: made, Settings: width{8}}, Spec{Name: "sac", Doc: "a", New: made}, Spec{Name: "drqv2", Doc: "c", New: made})
	var names []string
	for _, s := range Specs() {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, []string{"sac", "drqv2", "ppo"}) {
		t.Errorf("listed as %v", names)
	}
	if s, err := (Config{}).Spec(); err != nil || s.Name != DefaultLearner {
		t.Errorf("no name is %q, %v", s.Name, err)
	}
	for name, want := range map[string]string{
		"pp":      `agent.learner is "pp"; did you mean "ppo"? (sac, drqv2, ppo)`,
		"dreamer": `agent.learner is "dreamer", want one of sac, drqv2, ppo`,
	} {
		if _, err := (Config{Learner: name}).Spec(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	ppo, _ := Find("ppo")
	if d := (Own{}).Defaults(); len(d) != 1 || d["ppo"] != (width{8}) {
		t.Errorf("tables %v", d)
	}
	if (Own{}).Of(ppo) != (width{8}) || (Own{"ppo": width{9}}).Of(ppo) != (width{9}) {
		t.Error("settings that are given do not stand over the defaults")
	}
}

// Register refuses an incomplete learner, when the program starts.
func TestRegisterRefuses(t *testing.T) {
	for name, s := range map[string]Spec{"twice": {Name: "sac", Doc: "a", New: made}, "no doc": {Name: "x", New: made}, "no New": {Name: "x", Doc: "a"}} {
		t.Run(name, func(t *testing.T) {
			registered(t, Spec{Name: "sac", Doc: "a", New: made})
			defer func() {
				if recover() == nil {
					t.Error("it was taken")
				}
			}()
			Register(s)
		})
	}
}
