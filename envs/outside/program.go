package outside

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Options say how the program of a task is started, and what it does not say itself.
type Options struct {
	Args         []string      // KEY=VALUE, for the function that makes the environment
	Folder       string        // in which it is started; "": the present one
	Python       string        // the interpreter of gym: and dm:; "": see Interpreter
	ActBound     float64       // bounds of actions that have none are -ActBound and ActBound; 0: they are refused
	EpisodeSteps int           // steps until an episode is truncated; 0: what the program says, or defaultSteps
	Timeout      time.Duration // for a reply; 0: defaultTimeout
	Pictures     bool          // it will be asked to draw
	Processes    int           // over which copies are spread; 0: 1 for training, up to 4 for evaluations
}

const (
	defaultSteps   = 1000
	defaultTimeout = 60 * time.Second
	mostProcesses  = 4 // of evaluations
)

// Program simulates a task. It is started when it is needed, and as often as Options.Processes asks for.
type Program struct {
	Name    string
	Command Command
	options Options
	args    map[string]any
	allow   func(Command) error
	version string

	log      logbook
	training crew
	judging  crew

	mu    sync.Mutex
	known bool // what follows
	spec  Spec
	about About
}

// Open finds the program of a task and starts nothing. allow says whether a command may be started; it is asked before
// every start. version is that of pgrlab.
func Open(task string, o Options, version string, allow func(Command) error) (*Program, error) {
	c, err := commandOf(task, o)
	if err != nil {
		return nil, fmt.Errorf("find the program of %s: %w", task, err)
	}
	args, err := options(o.Args)
	if err != nil {
		return nil, err
	}
	p := &Program{Name: task, Command: c, options: o, args: args, allow: allow, version: version}
	p.training = crew{program: p, most: max(1, o.Processes)}
	p.judging = crew{program: p, most: min(mostProcesses, runtime.NumCPU())}
	if o.Processes > 0 {
		p.judging.most = o.Processes
	}
	return p, nil
}

// Expect says what the program was when it was started for the first time: one that is something else is refused.
func (p *Program) Expect(s Spec) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known, p.spec = true, s
}

// Meet returns what the program is. It is started, unless it has said so before.
func (p *Program) Meet() (Spec, About, error) {
	p.mu.Lock()
	known, spec, about := p.known, p.spec, p.about
	p.mu.Unlock()
	if known {
		return spec, about, nil
	}
	if _, err := p.training.process(0); err != nil {
		return Spec{}, About{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spec, p.about, nil
}

// Started says how a program was started, and what it says of itself beside its Spec.
type Started struct {
	Argv    []string `json:"argv"`
	Adapter string   `json:"adapter,omitempty"` // the version of pgrlab's own adapter, if that was started
	About
}

// Started is that of the last start.
func (p *Program) Started() Started {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Started{Argv: p.Command.Argv, About: p.about}
	if !strings.HasPrefix(p.Name, commandPrefix) {
		s.Adapter = adapterHash()
	}
	return s
}

// KeepLog keeps what the program writes to standard error in a file that is open for appending, which it closes.
func (p *Program) KeepLog(file *os.File) error { return p.log.keepIn(file) }

// start starts a process of the program.
func (p *Program) start() (*process, error) {
	if err := p.allow(p.Command); err != nil {
		return nil, err
	}
	limit := p.options.Timeout
	if limit == 0 {
		limit = defaultTimeout
	}
	proc, err := begin(p.Command, limit, &p.log)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Command, err)
	}
	about, err := proc.hello(greeting{Protocols: [2]int{Protocol, Protocol}, Program: "pgrlab " + p.version, Task: p.Name, Options: p.args, Picture: p.options.Pictures})
	if err != nil {
		proc.end()
		return nil, fmt.Errorf("start %s: %w", p.Command, err)
	}
	if err := proc.spec.bound(p.options.ActBound); err != nil {
		proc.end()
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known {
		if text := proc.spec.differs(&p.spec); text != "" {
			proc.end()
			return nil, fmt.Errorf("start %s: it is another environment than before: %s", p.Command, text)
		}
	}
	p.known, p.spec, p.about = true, proc.spec, about
	return proc, nil
}

// Rest ends the processes in which there are no copies.
func (p *Program) Rest() {
	p.training.rest()
	p.judging.rest()
}

// Close ends the program's processes.
func (p *Program) Close() {
	p.training.end()
	p.judging.end()
	p.log.close()
}

// crew are the processes of a program in which some copies live. Copy number i is in process i mod most.
type crew struct {
	program *Program
	most    int

	mu        sync.Mutex
	processes map[int]*process
	taken     []bool // which numbers are in use
}

// seat is the place of a copy.
type seat struct {
	number  int
	process int    // in which it is
	copy    uint16 // its number there
}

// take reserves a place.
func (c *crew) take() (seat, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for n < len(c.taken) && c.taken[n] {
		n++
	}
	if n/c.most >= 1<<16 {
		return seat{}, errors.New("there are too many copies of an environment")
	}
	if n == len(c.taken) {
		c.taken = append(c.taken, false)
	}
	c.taken[n] = true
	return seat{n, n % c.most, uint16(n / c.most)}, nil
}

// leave gives a place back. A process without copies ends.
func (c *crew) leave(s seat) {
	c.mu.Lock()
	c.taken[s.number] = false
	for n := s.process; n < len(c.taken); n += c.most {
		if c.taken[n] {
			c.mu.Unlock()
			return
		}
	}
	idle := c.processes[s.process]
	delete(c.processes, s.process)
	c.mu.Unlock()
	if idle != nil {
		idle.end()
	}
}

// rest ends the processes without copies.
func (c *crew) rest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, p := range c.processes {
		busy := false
		for n := i; n < len(c.taken); n += c.most {
			busy = busy || c.taken[n]
		}
		if !busy {
			p.end()
			delete(c.processes, i)
		}
	}
}

// process is process number i, started if it does not run.
func (c *crew) process(i int) (*process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.processes[i]; p != nil && !p.broken() {
		return p, nil
	}
	p, err := c.program.start()
	if err != nil {
		return nil, err
	}
	if c.processes == nil {
		c.processes = map[int]*process{}
	}
	c.processes[i] = p
	return p, nil
}

// broken says whether a process cannot be used any more.
func (p *process) broken() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed != nil
}

func (c *crew) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ending sync.WaitGroup
	for _, p := range c.processes {
		ending.Go(p.end)
	}
	ending.Wait()
	c.processes = nil
}
