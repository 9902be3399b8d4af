package run

import "fmt"

// Changed returns an error if the journal of a run folder, up to its last readable
// checkpoint, is not what the run wrote: lines were edited or cut off. nil means only that
// no such change was found; lines after the checkpoint are not checked. Changed takes no
// lock and changes nothing, and the run may go on meanwhile.
func Changed(dir string) error {
	found, err := Checkpoints(dir)
	if err != nil {
		return nil // reading the journal needs no checkpoints
	}
	for _, f := range found {
		if f.Err != nil {
			continue
		}
		if err := CheckMark(dir, f.Journal); err != nil {
			return fmt.Errorf("the journal is not what the run had written at its checkpoint of step %d: %w", f.Step, err)
		}
		return nil
	}
	return nil
}
