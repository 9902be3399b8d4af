package sac

import "pgrlab/core/agent"

// source is what an updater's sampler samples from. On the host the whole BatchSource is set;
// on a device, which has copies of the rings, only what its program was compiled with.
type source struct {
	agent.BatchSource
	stores int // rings.changed at the time when the program was compiled
}

// hostSampler fills an updater's batch on the host.
type hostSampler struct{ u *updater }

// Run fills the batch of that occasion.
func (x hostSampler) Run(occasion uint64) error {
	f := &x.u.from
	return f.Mixer.Sample(x.u.batch, f.Mix, f.Real, f.Synthetic, occasion)
}

// Fused says whether the device samples the batches itself and makes all updates of an
// env step in one launch. Prepare, or an update from larger rings, may find that the device lacks
// the memory for that.
func (s *Agent) Fused() bool { return s.rings != nil }

// updaterFrom returns the updater for batches of a source.
func (s *Agent) updaterFrom(from agent.BatchSource) (*updater, error) {
	if s.rings != nil {
		if err := s.rings.follow(from); err != nil {
			if err := s.sampleOnHost(err); err != nil {
				return nil, err
			}
		}
	}
	u, err := s.updater(from.Mix.Size(), true)
	if err != nil {
		return nil, err
	}
	return u, s.sampleFrom(u, from)
}

// sampleFrom makes an updater's sampler sample from that source.
func (s *Agent) sampleFrom(u *updater, from agent.BatchSource) error {
	if s.rings == nil {
		u.from.BatchSource = from
		if u.sampler == nil {
			u.sampler = hostSampler{u}
		}
		return nil
	}
	if u.sampler != nil && u.from.stores == s.rings.changed && u.from.Mixer == from.Mixer {
		return nil
	}
	if err := u.closeSampler(); err != nil {
		return err
	}
	program, err := s.rings.program(u, from.Mixer)
	if err != nil {
		return err
	}
	u.sampler, u.from = program, source{agent.BatchSource{Mixer: from.Mixer}, s.rings.changed}
	return nil
}
