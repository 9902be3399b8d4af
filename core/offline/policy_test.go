package offline_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/offline"
	"pgrlab/core/policy"
	"pgrlab/core/run"
	"pgrlab/core/testing/tiny"
)

// The last checkpoint has the policy that the run leaves behind, and it can act without the rest.
func TestThePolicyOfACheckpoint(t *testing.T) {
	cohort := tiny.Config()
	cohort.Members = 2
	for name, c := range map[string]config.Config{"states": tiny.Config(), "pixels": tiny.Pixels(), "cohort": cohort} {
		t.Run(name, func(t *testing.T) {
			dev := tiny.Device(t)
			saved, world := savedOf(t, c, dev)
			file, member := run.PolicyName, c.Members-1
			if c.Members > 1 {
				file = "policy-1.bin"
			}
			left, err := os.ReadFile(filepath.Join(saved.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			got, step, err := saved.Policy(world, dev, member)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(left, got) || len(got) == 0 || step != c.Steps {
				t.Errorf("%d bytes of step %d, which are not the beginning of %s", len(got), step, file)
			}
			p, err := policy.Load(&saved.Config, world, dev, bytes.NewReader(got))
			if err != nil {
				t.Fatal(err)
			}
			p.Close()
		})
	}
	none := offline.Run{Config: tiny.Config(), Dir: t.TempDir(), Step: -1}
	if _, _, err := none.Policy(tiny.Task(), tiny.Device(t), 0); err == nil || err.Error() != "read the policy in the checkpoint of "+none.Dir+": it has no checkpoint yet: pgrlab checkpoint saves one while the run goes on" {
		t.Errorf("without a checkpoint: %v", err)
	}
}
