package ppo

import (
	"encoding/binary"
	"fmt"
	"io"

	"pgrlab/core/experience"
	"pgrlab/core/replay"
)

// filmedHead begins a saved filmed. It is followed by told and rewards, the keepsakes, and what
// D_real was made from.
type filmedHead struct {
	Steps, First, Kept uint64
	MadeFirst          uint64
	MadeKept, Windows  uint32 // rows of D_real
}

// keptHead begins a saved keepsake. It is followed by the observed reward if there is a bonus, then
// by the action and the frames.
type keptHead struct {
	Step   uint64
	Earned float32
	Note   replay.Note
}

func (h *filmed) save(w io.Writer) error {
	m := &h.made
	head := filmedHead{h.steps, h.first, uint64(len(h.kept)), m.first, uint32(m.kept), uint32(len(m.numbered))}
	parts := []any{head, h.told, h.rewards}
	for _, k := range h.kept {
		parts = append(parts, keptHead{k.step, k.earned, k.note})
		if h.rewards != nil {
			parts = append(parts, k.reward)
		}
		parts = append(parts, k.action, k.seen, k.next)
	}
	for _, part := range append(parts, m.numbered) {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return m.windows.Save(w)
}

func (h *filmed) load(r io.Reader) error {
	var head filmedHead
	for _, part := range []any{&head, h.told, h.rewards} {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	c, m := h.config, &h.made
	if most := c.Window*c.rows() + c.KeepRewarded; head.Kept > uint64(most) || int64(head.MadeKept)+int64(head.Windows) > int64(most) {
		return fmt.Errorf("%d transitions with a reward and %d rows of D_real are saved, want at most %d", head.Kept, int64(head.MadeKept)+int64(head.Windows), most)
	}
	if head.MadeFirst+uint64(head.MadeKept) > head.First+head.Kept {
		return fmt.Errorf("a row of D_real is of transition %d with a reward, of %d", head.MadeFirst+uint64(head.MadeKept), head.First+head.Kept)
	}
	h.steps, h.first, h.kept = head.Steps, head.First, nil
	for range head.Kept {
		k, err := h.loadKept(r)
		if err != nil {
			return err
		}
		h.kept = append(h.kept, k)
	}
	*m = made{first: head.MadeFirst, kept: int(head.MadeKept), numbered: make([]uint32, head.Windows)}
	if err := binary.Read(r, binary.LittleEndian, m.numbered); err != nil {
		return err
	}
	var err error
	if m.windows, err = experience.LoadWindows(r, 1, 1); err != nil {
		return err
	}
	for _, number := range m.numbered {
		if int(number) >= m.windows.Len() {
			return fmt.Errorf("a row of D_real is of window %d, of %d", number, m.windows.Len())
		}
	}
	return nil
}

func (h *filmed) loadKept(r io.Reader) (keepsake, error) {
	c, reward := h.config, float32(0)
	var head keptHead
	action, frames := make([]float32, c.Shape.Act), make([]byte, 2*c.frame())
	parts := []any{&head}
	if h.rewards != nil {
		parts = append(parts, &reward)
	}
	for _, part := range append(parts, action, frames) {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return keepsake{}, err
		}
	}
	if h.rewards == nil {
		reward = head.Earned
	}
	return keepsake{head.Step, frames[:c.frame()], frames[c.frame():], action, head.Earned, reward, head.Note}, nil
}
