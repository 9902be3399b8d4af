package driver

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Machine gives access to the GPUs of this machine for a program that may not need them: nothing is
// opened before the first question, and then only once. It is safe for use by several goroutines.
type Machine struct {
	mu      sync.Mutex // guards options.Say
	options NativeOptions
	nvml    string // file of NVML; "": the usual one
	least   int    // lowest acceptable compute capability

	once    sync.Once
	driver  Driver
	monitor *Monitor
	// Why there is no driver, and why no NVML.
	err, unwatched error
}

// NewMachine prepares for questions and opens nothing. least is the lowest compute capability that
// the kernels support, 70 for 7.0.
func NewMachine(o NativeOptions, least int) *Machine { return &Machine{options: o, least: least} }

// Tell sets the function that gets lines about slow work from now on, instead of the options' Say.
func (m *Machine) Tell(say func(line string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.options.Say = say
}

func (m *Machine) say(line string) {
	m.mu.Lock()
	say := m.options.Say
	m.mu.Unlock()
	if say != nil {
		say(line)
	}
}

func (m *Machine) open() error {
	m.once.Do(func() {
		o := m.options
		o.Say = m.say
		if o.Probe != nil && installed(o.Library) {
			if err := o.Probe(); err != nil {
				m.err = &Unavailable{Reason: fmt.Sprintf("the CUDA driver does not start: %v", err), Advice: "use --device cpu"}
				m.unwatched = m.err
				return
			}
		}
		if m.monitor, m.unwatched = OpenMonitor(m.nvml); m.unwatched == nil && o.Watcher == nil {
			o.Watcher = m.monitor
		}
		m.driver, m.err = Native(o)
	})
	return m.err
}

// watcher returns NVML, or nil; never a nil *Monitor.
func (m *Machine) watcher() Watcher {
	if m.unwatched != nil {
		return nil
	}
	return m.monitor
}

// Choose finds the GPU that a name asks for; see the function Choose.
func (m *Machine) Choose(name string) (Choice, error) {
	if err := m.open(); err != nil {
		return Choice{}, err
	}
	all, err := m.driver.Devices()
	if err != nil {
		return Choice{}, err
	}
	return Choose(all, name, m.least, m.watcher())
}

// Open opens the GPU with that UUID.
func (m *Machine) Open(uuid string) (Context, error) {
	if err := m.open(); err != nil {
		return nil, err
	}
	all, err := m.driver.Devices()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(d Info) bool { return d.UUID == uuid })
	if i < 0 {
		return nil, fmt.Errorf("open %s: it is not there any more (pgrlab list devices)", uuid)
	}
	return m.driver.Open(i)
}

// Usage returns what a GPU is doing; without NVML the error is an *Unavailable.
func (m *Machine) Usage(uuid string) (Usage, error) {
	if err := errors.Join(m.open(), m.unwatched); err != nil {
		return Usage{}, err
	}
	return m.monitor.Usage(uuid)
}

// Report describes the GPUs and drivers that were found.
type Report struct {
	CUDA    string // the driver's version of CUDA: 12.4
	Driver  string // the driver's own version: 550.54.14; "" if unknown
	Devices []Seen
	// Unwatched says why NVML gives no information; nil if it does.
	Unwatched error
}

// Seen is a GPU with its current usage.
type Seen struct {
	Info
	Usage *Usage // nil if unknown
}

// Report examines everything. The error says why there is no GPU.
func (m *Machine) Report() (Report, error) {
	if err := m.open(); err != nil {
		return Report{Unwatched: m.unwatched}, err
	}
	r := Report{Unwatched: m.unwatched}
	if m.unwatched == nil {
		r.Driver = m.monitor.DriverVersion()
	}
	version, err := m.driver.Version()
	if err != nil {
		return r, err
	}
	r.CUDA = VersionText(version)
	all, err := m.driver.Devices()
	if err != nil {
		return r, err
	}
	for _, d := range all {
		s := Seen{Info: d}
		if u, err := m.Usage(d.UUID); err == nil {
			s.Usage = &u
		}
		r.Devices = append(r.Devices, s)
	}
	return r, nil
}

// Tried is a file of kernels that a GPU's driver compiled.
type Tried struct {
	File    string               `json:"file"`
	Seconds float64              `json:"seconds"` // short if the driver had cached the result
	Kernels map[string]Resources `json:"kernels"`
}

// Try opens a GPU, compiles PTX texts, given by name, with every kernel in them, and releases
// everything. It looks up each kernel because a driver may postpone the compilation until then.
func (m *Machine) Try(uuid string, texts map[string]string) (tried []Tried, err error) {
	c, err := m.Open(uuid)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for _, file := range slices.Sorted(maps.Keys(texts)) {
		t, err := Try(c, texts[file])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		t.File = file
		tried = append(tried, t)
	}
	return tried, nil
}

// Try compiles a PTX text with every kernel in it.
func Try(c Context, text string) (Tried, error) {
	start := time.Now()
	loaded, err := c.Load(text)
	if err != nil {
		return Tried{}, err
	}
	all, err := Signatures(text)
	if err != nil {
		return Tried{}, err
	}
	t := Tried{Kernels: map[string]Resources{}}
	for name := range all {
		f, err := loaded.Function(name)
		if err != nil {
			return Tried{}, err
		}
		t.Kernels[name] = f.Resources()
	}
	t.Seconds = time.Since(start).Seconds()
	return t, nil
}
