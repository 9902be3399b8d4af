// Package version has what readers of saved files say about a file in a format that is not theirs.
package version

import "errors"

// ErrOther is the error of a file that has another format than the one that this version writes.
// Nothing reads formats of versions that were never released.
var ErrOther = errors.New("made by another version of pgrlab, which this one cannot read: use that version")
