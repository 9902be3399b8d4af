package picture

import (
	"bytes"
	"image"
	"slices"

	"github.com/charmbracelet/x/ansi/kitty"
)

// quiet makes kitty send no answer: it would be taken for keys.
const quiet = 2

// appendKitty appends the sequence that gives a terminal an image for the placeholders of its
// number, in w by h cells: as PNG, in pieces of at most 4,096 bytes.
func appendKitty(to []byte, img image.Image, id uint32, w, h int) []byte {
	b := bytes.NewBuffer(to)
	// This fails only if the buffer does or if an image has no pixels; no such image is kept.
	_ = kitty.EncodeGraphics(b, img, &kitty.Options{
		Action: kitty.TransmitAndPut, Transmission: kitty.Direct, Format: kitty.PNG, Quite: quiet, Chunk: true,
		ID: int(id), VirtualPlacement: true, Columns: w, Rows: h,
	})
	return b.Bytes()
}

// appendFree appends the sequence that makes a terminal forget an image.
func appendFree(to []byte, id uint32) []byte {
	b := bytes.NewBuffer(to)
	_ = kitty.EncodeGraphics(b, nil, &kitty.Options{Action: kitty.Delete, Delete: kitty.DeleteID, DeleteResources: true, ID: int(id), Quite: quiet})
	return b.Bytes()
}

// transmit sends the images that are to be shown and that the terminal does not have.
func (m *Images) transmit() (out []byte) {
	for _, row := range m.rows {
		for _, r := range row {
			if k := m.all[r.id]; k != nil && !m.sent[r.id] {
				out = appendKitty(out, k.img, r.id, k.w, k.h)
				m.sent[r.id] = true
			}
		}
	}
	return out
}

// free makes the terminal forget the images that no cell shows.
func (m *Images) free() (out []byte) {
	var gone []uint32
	for id := range m.sent {
		if !slices.ContainsFunc(m.rows, func(row []run) bool {
			return slices.ContainsFunc(row, func(r run) bool { return r.id == id })
		}) {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone)
	for _, id := range gone {
		out = appendFree(out, id)
		delete(m.sent, id)
	}
	return out
}
