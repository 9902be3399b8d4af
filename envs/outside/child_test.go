package outside

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// childVariable makes the test's binary a program that simulates something, and says how it misbehaves.
const childVariable = "PGRLAB_TEST_CHILD"

func TestMain(m *testing.M) {
	if mode := os.Getenv(childVariable); mode != "" {
		serveChild(mode, os.Stdin, os.Stdout)
		os.Exit(0)
	}
	if name := os.Getenv(parentVariable); name != "" {
		serveParent(name)
	}
	os.Exit(m.Run())
}

// parentVariable makes the test's binary a process that uses the program of a task, until it is killed.
const parentVariable = "PGRLAB_TEST_PARENT"

func serveParent(name string) {
	p := must(Open(name, Options{}, "test", func(Command) error { return nil }))
	if _, _, err := p.Meet(); err != nil {
		panic(err)
	}
	env := must(p.Task().New(7))
	if err := env.Reset(0, make([]float32, env.ObsSize())); err != nil {
		panic(err)
	}
	fmt.Println("ready")
	hang()
}

// hang waits for what never comes.
func hang() {
	never := make(chan os.Signal, 1)
	signal.Notify(never, syscall.SIGUSR2)
	<-never
}

// child is a point that goes where the action says, from a start that the seed says. An episode ends when it has gone
// far.
type child struct {
	mode  string
	out   io.Writer
	steps int // of all copies
	at    map[uint16]*[3]float32
}

func serveChild(mode string, in io.Reader, out io.Writer) {
	c := &child{mode: mode, out: out, at: map[uint16]*[3]float32{}}
	head := make([]byte, headerSize)
	if mode == "deaf" {
		signal.Ignore(syscall.SIGTERM)
	}
	for {
		if _, err := io.ReadFull(in, head); err != nil {
			if mode == "deaf" {
				hang()
			}
			return
		}
		h := readHeader(head)
		body := make([]byte, h.length)
		io.ReadFull(in, body)
		if h.kind == kindClose && mode != "deaf" {
			return
		}
		c.answer(h, body)
	}
}

func (c *child) reply(h header, body []byte) {
	c.out.Write(finish(append(appendHeader(nil, h), body...)))
}

func (c *child) refuse(h header, text string, fatal bool) {
	h.kind = kindError
	body, _ := json.Marshal(refusal{Text: text, Fatal: fatal})
	c.reply(h, body)
}

func (c *child) answer(h header, body []byte) {
	k := int(h.copies)
	switch h.kind {
	case kindHello:
		h.kind = kindSpec
		c.reply(h, []byte(c.spec()))
	case kindReset:
		var obs []byte
		for i := range k {
			at := new([3]float32)
			at[0], at[1] = float32(le.Uint64(body[8*i:])%1000)/1000, 0.5
			c.at[le.Uint16(body[16*k+2*i:])] = at
			obs = appendFloats(obs, at[:])
		}
		if c.mode == "starts with NaN" {
			le.PutUint32(obs, math.Float32bits(float32(math.NaN())))
		}
		c.reply(h, obs)
	case kindStep:
		c.step(h, body, k)
	case kindSave:
		if c.mode == "dies saving" {
			fmt.Fprintln(os.Stderr, "no room")
			os.Exit(5)
		}
		c.reply(h, appendFloats(nil, c.at[le.Uint16(body)][:]))
	case kindLoad:
		takeFloats(body[2:], c.at[le.Uint16(body)][:])
		c.reply(h, nil)
	default:
		c.refuse(h, "not known here", false)
	}
}

// specs are what children say of themselves that say something else than most.
var specs = map[string]string{
	"saves":       `{"protocol":1,"obs":3,"act":1,"low":[-2],"high":[4],"limit":20,"can":["state"]}`,
	"dies saving": `{"protocol":1,"obs":3,"act":1,"low":[-2],"high":[4],"limit":20,"can":["state"]}`,
	"chooses":     `{"protocol":1,"obs":3,"act":1,"actions":"discrete(4)","limit":20}`,
	"boundless":   `{"protocol":1,"obs":3,"act":2,"low":[-2,null],"high":[4,1]}`,
	"protocol 2":  `{"protocol":2,"obs":3,"act":1,"low":[-2],"high":[4]}`,
	"no size":     `{"protocol":1,"obs":0,"act":1,"low":[-2],"high":[4]}`,
	"no bounds":   `{"protocol":1,"obs":3,"act":2,"low":[-2],"high":[4]}`,
	"no JSON":     `what?`,
	"flat":        `{"protocol":1,"obs":3,"act":1,"low":[1],"high":[1]}`,
}

func (c *child) spec() string {
	if text, is := specs[c.mode]; is {
		return text
	}
	return `{"protocol":1,"name":"point","obs":3,"act":1,"low":[-2],"high":[4],"limit":20,"names":["x","y","speed"],"versions":{"go":"1"}}`
}

func (c *child) step(h header, body []byte, k int) {
	var rewards, obs, flags []byte
	for i := range k {
		at := c.at[le.Uint16(body[4*k+2*i:])]
		a := math.Float32frombits(le.Uint32(body[4*i:]))
		at[2] = 0.9*at[2] + 0.1*a
		at[0] += at[2]
		if c.mode == "moody" { // what it does depends on what all copies did before
			at[1] = float32(c.steps)
		}
		c.steps++
		rewards = le.AppendUint64(rewards, math.Float64bits(float64(a)))
		obs = appendFloats(obs, at[:])
		flag := byte(0)
		if at[0] > 9 {
			flag = flagTerminated
		}
		flags = append(flags, flag)
	}
	if c.misbehave(&h, rewards, obs, flags) {
		return
	}
	c.reply(h, append(append(rewards, obs...), flags...))
}

// misbehave makes the reply wrong; true: there is none.
func (c *child) misbehave(h *header, rewards, obs, flags []byte) bool {
	switch c.mode {
	case "hangs":
		hang()
	case "dies":
		fmt.Fprintf(os.Stderr, "first\n\x1b[31mout of luck\n")
		os.Exit(3)
	case "is killed":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "closes":
		os.Stdout.Close()
		hang()
	case "NaN":
		le.PutUint32(obs[4:], math.Float32bits(float32(math.NaN())))
	case "infinite reward":
		le.PutUint64(rewards, math.Float64bits(math.Inf(-1)))
	case "huge":
		le.PutUint32(obs, math.Float32bits(1e11))
	case "short":
		c.reply(*h, append(append(rewards, obs[:8]...), flags...))
		return true
	case "half":
		c.out.Write(finish(append(appendHeader(nil, *h), append(append(rewards, obs...), flags...)...))[:20])
		os.Exit(0)
	case "sequence":
		h.sequence++
	case "kind":
		h.kind = kindSave
	case "copies":
		h.copies++
	case "prints":
		fmt.Fprintln(os.Stdout, "step done, all is well")
	case "1 GiB":
		c.out.Write(appendHeader(nil, header{length: 1 << 30, kind: kindStep, protocol: Protocol, copies: h.copies, sequence: h.sequence}))
		return true
	case "raises":
		c.refuse(*h, "ValueError: no\x1b[2J way\n", false)
		return true
	case "gives up":
		c.refuse(*h, "licence expired", true)
		return true
	case "loses":
		flags[0] = flagLost
	case "talks":
		os.Stderr.Write(bytes.Repeat([]byte("a line of a log that says nothing\n"), 100_000))
	case "grandchild": // dies, and leaves a child that reads what was for it and holds its output open
		holds, held, err := os.Pipe()
		cat := exec.Command("sh", "-c", `exec 4>"$HELD"; echo >&3; exec 3>&-; cat; sleep 1000`)
		cat.Stdin, cat.Stdout, cat.Stderr, cat.ExtraFiles = os.Stdin, os.Stdout, os.Stderr, []*os.File{held}
		if err == nil {
			err = cat.Start()
		}
		if err == nil {
			_, err = holds.Read(make([]byte, 1))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(4)
	}
	return false
}

// open opens a program that misbehaves in a way; it is closed at the end of the test.
func open(t *testing.T, mode string, o Options) *Program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Open("env:'"+self+"' "+strings.ReplaceAll(mode, " ", "-"), o, "test", func(Command) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(childVariable, mode)
	t.Cleanup(p.Close)
	return p
}

// task is what such a program simulates.
func task(t *testing.T, mode string, o Options) *Task {
	t.Helper()
	p := open(t, mode, o)
	if _, _, err := p.Meet(); err != nil {
		t.Fatal(err)
	}
	return p.Task()
}
