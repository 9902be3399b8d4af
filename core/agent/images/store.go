package images

import (
	"errors"
	"fmt"

	"pgrlab/core/device"
	"pgrlab/core/experience"
	"pgrlab/core/op"
)

// Source is where a Store's frames come from. Whatever draws stacks from it names the places of their
// frames (replay.FrameRow.Places).
type Source interface {
	// Places returns what the places of all frames are below: of those that there are, and of all
	// that there may ever be.
	Places() (held, most int)
	// Copy calls put for the frames that to does not have yet: frames one after the other, the first
	// of them at that place. If put fails, to has nothing.
	Copy(to *experience.Copied, put func(place int, frames []byte) error) error
}

// Store is a device's copy of frames.
type Store struct {
	dev  device.Sequencer // nil: the host makes the images, always
	away bool             // there was no memory: the host makes the images, until Retake
	said bool             // Remark has said so
	size int              // of a frame, in bytes

	store  device.Store // nil before there is one
	places int          // that it has room for
	// changed counts the stores that were allocated. A program that stacks frames of a store that
	// has been replaced since is compiled again.
	changed int
	seen    experience.Copied
	lost    int                                  // store.Lost() when the store last followed the frames
	row     []float32                            // a frame, in whole words
	put     func(place int, frames []byte) error // write
}

// NewStore returns a store of frames of size bytes, without frames yet.
func NewStore(dev device.Device, size int) *Store {
	s := &Store{size: size, row: make([]float32, op.Words(size))}
	s.dev, _ = dev.(device.Sequencer)
	s.put = s.write // once, so that following allocates nothing
	return s
}

// Held says whether the device has the frames. Otherwise the host makes the images.
func (s *Store) Held() bool { return s.dev != nil && !s.away }

// Retake lets the device have the frames again, if there is memory for them, after it had none.
func (s *Store) Retake() { s.away = false }

// Remark says, once, that there was no memory for the frames, or is again; "": there is nothing to
// say.
func (s *Store) Remark() string {
	switch {
	case s.away && !s.said:
		s.said = true
		return "the device has no memory left for its copy of the frames: the host makes the images of batches from now on, and updates take longer"
	case s.said && s.store != nil:
		s.said = false
		return "the device has memory for its copy of the frames again, and makes the images of batches"
	}
	return ""
}

const (
	leastPlaces = 1 << 10 // of a store, which grows with the frames: a short run with a large replay takes little
	mostPlaces  = 1 << 24 // that a float32 can name
)

// Follow brings the device's copy of the frames up to date. If there is no memory for one, the host
// makes the images until Retake; if from is not a Source, or has too many frames, it does so from
// then on.
func (s *Store) Follow(from any) error {
	if !s.Held() || from == nil {
		return nil
	}
	source, placed := from.(Source)
	if !placed {
		s.dev = nil
		return s.Close()
	}
	err := s.follow(source)
	if err == nil {
		return nil
	}
	if full := (*device.OutOfMemory)(nil); errors.As(err, &full) {
		return s.leave()
	}
	return err
}

// follow copies the frames that are new to the device, or all of them if the device holds others or
// has lost them.
func (s *Store) follow(from Source) error {
	held, most := from.Places()
	if held > mostPlaces {
		s.dev = nil
		return s.Close()
	}
	if held > s.places || s.store == nil {
		if err := s.grow(held, most); err != nil {
			return err
		}
	}
	if lost := s.store.Lost(); lost != s.lost {
		s.seen, s.lost = experience.Copied{}, lost
	}
	return from.Copy(&s.seen, s.put)
}

// grow makes room for twice as many frames as are held, or if there is no memory for that, for an
// eighth more.
func (s *Store) grow(held, most int) error {
	err := s.reserve(min(most, max(leastPlaces, 2*held)))
	if full := (*device.OutOfMemory)(nil); errors.As(err, &full) && s.places == 0 {
		err = s.reserve(min(most, held+held/8))
	}
	return err
}

// write copies frames to the device. Frames that are whole words go there as they are.
func (s *Store) write(place int, frames []byte) error {
	if s.size%4 == 0 {
		if words := device.Words(frames); words != nil {
			return s.store.Put(place, words)
		}
	}
	for ; len(frames) > 0; place, frames = place+1, frames[s.size:] {
		copy(device.Bytes(s.row), frames[:s.size])
		if err := s.store.Put(place, s.row); err != nil {
			return err
		}
	}
	return nil
}

// reserve replaces the store by one with that many places.
func (s *Store) reserve(places int) error {
	if err := s.Close(); err != nil {
		return err
	}
	s.changed++
	store, err := s.dev.Cache(max(1, places), len(s.row))
	if err != nil {
		return fmt.Errorf("frames: %w", err)
	}
	s.store, s.places, s.lost = store, places, store.Lost()
	return nil
}

// leave makes the host make the images, because there is no memory.
func (s *Store) leave() error {
	s.away = true
	return s.Close()
}

// Close frees the device's copy.
func (s *Store) Close() (err error) {
	if s.store != nil {
		err = s.store.Close()
	}
	s.store, s.places, s.seen = nil, 0, experience.Copied{}
	return err
}
