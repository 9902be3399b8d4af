package outside

import (
	"encoding/json"
	"fmt"
	"math"
)

// greeting is the body of hello.
type greeting struct {
	Protocols [2]int         `json:"protocols"` // the first and the last that are offered
	Program   string         `json:"program"`
	Task      string         `json:"task"`
	Options   map[string]any `json:"options"` // of --env-arg
	Picture   bool           `json:"picture"` // pictures will be asked for
}

// hello asks a program what it is.
func (p *process) hello(g greeting) (About, error) {
	body, err := json.Marshal(g)
	if err != nil {
		return About{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wire.request(kindHello, 0)
	p.wire.frame = append(p.wire.frame, body...)
	reply, err := p.exchange(-1, max(helloTime, p.limit))
	if err != nil {
		return About{}, err
	}
	spec, about, err := readSpec(reply)
	if err != nil {
		p.failed = err
		p.kill()
		return about, err
	}
	p.spec = spec
	return about, nil
}

// starts are the episodes that a reset begins, one for each copy.
type start struct {
	copy          uint16
	seed, episode uint64
}

// reset begins episodes and writes their first observations [k,O].
func (p *process) reset(all []start, obs []float32) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wire.request(kindReset, len(all))
	for _, s := range all {
		p.wire.frame = le.AppendUint64(p.wire.frame, seedOf(s.seed, s.episode))
	}
	for _, s := range all {
		p.wire.frame = le.AppendUint64(p.wire.frame, s.episode)
	}
	for _, s := range all {
		p.wire.frame = le.AppendUint16(p.wire.frame, s.copy)
	}
	body, err := p.exchange(4*len(obs), p.limit)
	if err == nil {
		takeFloats(body, obs)
	}
	return err
}

// seedOf is the seed that a program gets for an episode. Many hand it to NumPy, which takes less than 2³².
func seedOf(seed, episode uint64) uint64 {
	return scatter(scatter(seed)+episode) & (1<<31 - 1)
}

// scatter spreads neighbouring numbers over all 64 bits (the finaliser of
// SplitMix64, Steele, Lea and Flood 2014).
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// step makes a step of the copies with actions [k,A], and writes rewards [k], observations [k,O] and flags [k].
func (p *process) step(copies []uint16, actions []float32, rewards []float64, obs []float32, flags []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := len(copies)
	p.wire.request(kindStep, k)
	p.wire.frame = appendFloats(p.wire.frame, actions)
	for _, c := range copies {
		p.wire.frame = le.AppendUint16(p.wire.frame, c)
	}
	body, err := p.exchange(8*k+4*len(obs)+k, p.limit)
	if err != nil {
		return err
	}
	for i := range rewards {
		rewards[i] = math.Float64frombits(le.Uint64(body[8*i:]))
	}
	copy(flags, takeFloats(body[8*k:], obs))
	return nil
}

// save returns the state of a copy.
func (p *process) save(which uint16) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wire.request(kindSave, 1)
	p.wire.frame = le.AppendUint16(p.wire.frame, which)
	body, err := p.exchange(-1, p.limit)
	return append([]byte(nil), body...), err
}

// load gives a copy a saved state.
func (p *process) load(which uint16, state []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wire.request(kindLoad, 1)
	p.wire.frame = le.AppendUint16(p.wire.frame, which)
	p.wire.frame = append(p.wire.frame, state...)
	_, err := p.exchange(0, p.limit)
	return err
}

// picture draws a copy: bytes of red, green and blue, the top line first.
func (p *process) picture(which uint16, width, height int) ([]byte, error) {
	if size := width * height * 3; width < 1 || height < 1 || size > maxBody {
		return nil, fmt.Errorf("a picture of %d by %d pixels does not fit into a frame", width, height)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wire.request(kindPicture, 1)
	p.wire.frame = le.AppendUint16(p.wire.frame, which)
	p.wire.frame = le.AppendUint16(p.wire.frame, uint16(width))
	p.wire.frame = le.AppendUint16(p.wire.frame, uint16(height))
	body, err := p.exchange(width*height*3, p.limit)
	return append([]byte(nil), body...), err
}
