package presets

import (
	"fmt"

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
