package runflags

import (
	"testing"

	"pgrlab/core/config"
)

// What --set says about recorded data stands beside --data.
func TestTheModeOfDataCanBeSet(t *testing.T) {
	r := Flags{Set: []string{"data.mode=pinned"}, Data: Data{files: []string{"d.npz"}}}
	c := config.New()
	c.Data.Mode = config.DataPinned // as assign leaves it
	if err := r.name(&c); err != nil || !c.Data.Pinned() {
		t.Errorf("%q, %v", c.Data.Mode, err)
	}
	r.Set = nil
	if err := r.name(&c); err != nil || c.Data.Pinned() {
		t.Errorf("without --set: %q, %v", c.Data.Mode, err)
	}
}
