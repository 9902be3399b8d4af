package presets

import (
	"fmt"
	"strings"

	"pgrlab/core/spelling"
)

// Unknown is the error for a name that is not in a list: it suggests the nearest names, or says
// where to see the list.
func Unknown(kind, name string, candidates []string, list string) error {
	if meant := spelling.Meant(name, candidates); meant != "" {
		return fmt.Errorf("unknown %s %q: %s (%s)", kind, name, meant, list)
	}
	return fmt.Errorf("unknown %s %q: %s shows all of them", kind, name, list)
}

// NoChoice is the error of a name that is none of a few.
func NoChoice(kind, name string, choices ...string) error {
	last := len(choices) - 1
	return fmt.Errorf("unknown %s %q: want %s or %s", kind, name, strings.Join(choices[:last], ", "), choices[last])
}
