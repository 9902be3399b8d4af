// Package licence holds the licences of everything inside the binary: this program, Go's runtime
// and library, the linked modules, fonts, and MuJoCo with its libraries. The file texts.json.zst is
// written by
//
//	go run ./tui/command/licence/gen
//
// and that command's test checks that no linked part is missing.
package licence

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A Part is something inside the binary that has a licence.
type Part struct {
	Name    string `json:"name"`         // a module path, or another name
	Version string `json:"version"`      // "" if it has none
	In      string `json:"in,omitempty"` // the part that contains it
	Licence string `json:"licence"`      // an SPDX expression
	Texts   []Text `json:"texts"`
}

// Title is name and version, and the part that contains it.
func (p Part) Title() string {
	title := p.Name
	if p.Version != "" {
		title += " " + p.Version
	}
	if p.In != "" {
		title += ", in " + p.In
	}
	return title
}

// A Text is a file that comes with a part.
type Text struct {
	File string `json:"file"`
	Text string `json:"text"`
}

//go:embed texts.json.zst
var packed []byte

// Parts are all parts: this program first, then Go, the modules in the order of their paths, then
// MuJoCo. They belong to the package: do not change them.
var Parts = sync.OnceValues(func() ([]Part, error) {
	d, err := zstd.NewReader(nil)
	if err != nil {
		return nil, fmt.Errorf("unpack licences: %w", err)
	}
	defer d.Close()
	text, err := d.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack licences: %w", err)
	}
	var all []Part
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&all); err != nil {
		return nil, fmt.Errorf("unpack licences: %w", err)
	}
	return all, nil
})
