package presets

import (
	"fmt"

	"pgrlab/core/spelling"
)

// Unknown is the error for a name that is not in a list: it suggests the nearest name, or says
// where to see the list.
func Unknown(kind, name string, candidates []string, list string) error {
	if near := spelling.Nearest(name, candidates); near != "" {
		return fmt.Errorf("unknown %s %q: did you mean %q? (%s)", kind, name, near, list)
	}
	return fmt.Errorf("unknown %s %q: %s shows all of them", kind, name, list)
}
