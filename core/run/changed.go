package run

import "fmt"

// Changed says what is wrong with the journal of a run folder if it is not what the run
// wrote up to its last checkpoint that can be read: lines were edited, or cut off. nil
// says no more than that nothing of this was found; behind the checkpoint anything may
// stand. Nothing is taken or changed, and the run may go on meanwhile.
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
