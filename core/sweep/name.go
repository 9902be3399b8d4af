package sweep

import (
	"errors"
	"fmt"
	"strings"

	"pgrlab/core/run"
)

// maxName is how long the name of a job's folder may be, in bytes. File systems take 255, of which
// those of temporary files need some.
const maxName = 200

// Name is the name of the job's folder. It is safe on every disk and in every shell.
func (j Job) Name() string {
	name := fmt.Sprintf("%04d-%s-%s-s%d", j.Index, run.FolderName(j.Task), run.FolderName(j.Method), j.Seed)
	if j.Variant != "" {
		name += "-" + shortened(j.Variant)
	}
	return name
}

// check returns an error if the job cannot have a folder.
func (j Job) check() error {
	for what, name := range map[string]string{"task": j.Task, "method": j.Method} {
		if name == "" {
			return fmt.Errorf("job %d: it has no %s", j.Index, what)
		}
	}
	if len(j.Name()) > maxName {
		return fmt.Errorf("job %d: %w", j.Index, errTooLong)
	}
	return nil
}

var errTooLong = errors.New("the names of its task and method are too long for a folder")

// shortened writes a variant so that it can be part of a file name. Variants may be long lists, and
// jobs differ by their numbers: so different ones may come to the same.
func shortened(text string) string {
	const most = 80
	var b strings.Builder
	for _, r := range text {
		if r == '[' || r == ']' {
			continue
		}
		if run.FolderName(string(r)) != string(r) {
			r = '_'
		}
		if b.Len() < most {
			b.WriteRune(r)
		}
	}
	return b.String()
}
