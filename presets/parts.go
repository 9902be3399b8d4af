package presets

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pgrlab/core/config"
)

// partsOf are the keys that say which parts a method is made of, with their values.
func partsOf(c *config.Config) [][2]string {
	or := func(s string) string { return first(s, config.FunctionNone) } // an empty name is "none"
	return [][2]string{
		{"agent.learner", c.Agent.Learner}, {"generator.kind", c.Generator.Kind}, {"generator.conditional", fmt.Sprint(c.Generator.Conditional)},
		{"bonus.function", or(c.Bonus.Function)}, {"replay.priority", or(c.Replay.Priority)},
	}
}

// sameParts says whether a method is what a complete file says that it is. In such a file every key is
// given, so that another method in its line changes nothing but the name: its parts are then those of
// another method. Parts that no method has are a person's own, and a run folder's file is of a run that
// was made.
func sameParts(file string, c *config.Config, own axes, layers *config.Config) error {
	has, want := partsOf(c), partsOf(layers)
	if filepath.Base(file) == "config.toml" || slices.Equal(has, want) {
		return nil
	}
	of := ""
	for _, method := range methodNames {
		s, err := layAxes(axes{own.task, method, own.scale, own.observation, own.choices})
		if err != nil || !slices.Equal(has, partsOf(&s.config)) {
			continue
		}
		of = first(of, method)
		if s.config.Knobs.Relevance == c.Knobs.Relevance {
			of = method
			break
		}
	}
	if of == "" {
		return nil
	}
	var differ []string
	for i, part := range has {
		if part != want[i] {
			differ = append(differ, part[0]+" "+part[1])
		}
	}
	return fmt.Errorf("read preset: %s: method is %q, but the file is of %s (%s): leave the line at %[3]q, and use --method %[2]s", file, own.method, of, strings.Join(differ, ", "))
}
