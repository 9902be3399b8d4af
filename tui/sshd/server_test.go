package sshd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// served is a server for tests, with two keys.
type served struct {
	t          *testing.T
	server     *Server
	host       ssh.Signer
	alice, bob ssh.Signer // alice drives, bob watches
	keys       string
	mu         sync.Mutex
	log        []string
}

// serve serves visitors with visit until the test is over.
func serve(t *testing.T, o Options) *served {
	t.Helper()
	s := &served{t: t}
	var a, b string
	s.alice, a = newKey(t, "alice")
	s.bob, b = newKey(t, "bob")
	s.keys = keysFile(t, "drive "+a, b)
	s.host, _ = newKey(t, "host")
	var err error
	if o.Keys, err = OpenKeys(s.keys, func(string) {}); err != nil {
		t.Fatal(err)
	}
	o.Host = s.host
	if o.Sessions == 0 {
		o.Sessions = 100
	}
	o.Log = func(line string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.log = append(s.log, line)
	}
	if s.server, err = Listen("127.0.0.1:0", o); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.server.Serve() }()
	t.Cleanup(func() {
		s.server.Close(errors.New("the test is over"))
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

// dial logs in.
func (s *served) dial(methods ...ssh.AuthMethod) (*ssh.Client, error) {
	return ssh.Dial("tcp", s.server.Addr().String(), &ssh.ClientConfig{User: "anyone", Auth: methods, HostKeyCallback: ssh.FixedHostKey(s.host.PublicKey())})
}

// run logs in with a key and runs a command line, as ssh HOST COMMAND does.
func (s *served) run(key ssh.Signer, command string) (stdout, stderr string, err error) {
	s.t.Helper()
	client, err := s.dial(ssh.PublicKeys(key))
	if err != nil {
		return "", "", err
	}
	defer client.Close()
	session, err := client.NewSession()
	if err != nil {
		return "", "", err
	}
	var out, errs bytes.Buffer
	session.Stdout, session.Stderr = &out, &errs
	err = session.Run(command)
	return out.String(), errs.String(), err
}

func TestOnlyKeysOfTheFileComeIn(t *testing.T) {
	s := serve(t, Options{Visit: func(_ context.Context, v *Visit) (string, error) {
		fmt.Fprintf(v.Output, "%s %s %q %v", v.Name, v.Role, v.Command, v.Terminal)
		return "", nil
	}})
	for key, want := range map[ssh.Signer]string{s.alice: `alice drive ["a" "b"] <nil>`, s.bob: `bob watch ["a" "b"] <nil>`} {
		if out, _, err := s.run(key, "a  b"); err != nil || out != want {
			t.Errorf("%q, %v, want %q", out, err, want)
		}
	}
	stranger, _ := newKey(t, "eve")
	for name, methods := range map[string][]ssh.AuthMethod{
		"no key":      nil,
		"another key": {ssh.PublicKeys(stranger)},
		"a password":  {ssh.Password("")},
		"questions":   {ssh.KeyboardInteractive(func(string, string, []string, []bool) ([]string, error) { return nil, nil })},
	} {
		if client, err := s.dial(methods...); err == nil {
			client.Close()
			t.Errorf("%s is enough", name)
		}
	}
	// One right key among others is enough.
	client, err := s.dial(ssh.PublicKeys(stranger, s.bob))
	if err != nil {
		t.Fatal(err)
	}
	client.Close()
}

// A key that was removed from the file is not accepted any more, not even on an open connection.
func TestAKeyThatIsTakenAway(t *testing.T) {
	s := serve(t, Options{Visit: func(context.Context, *Visit) (string, error) { return "", nil }})
	client, err := s.dial(ssh.PublicKeys(s.bob))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_, line := newKey(t, "carol")
	if err := os.WriteFile(s.keys, []byte(line+" of another size\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	session, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	session.Stderr = &errs
	if err := session.Run("status"); err == nil || !strings.Contains(errs.String(), "may not come in any more") {
		t.Errorf("%v: %q", err, &errs)
	}
}

// A visit ends when its key is taken away, or may do something else from now on.
func TestAVisitEndsWithItsKey(t *testing.T) {
	for name, c := range map[string]struct {
		line func(bob string) string
		want string
	}{
		"gone": {func(string) string { _, line := newKey(t, "carol"); return line + " of another size" }, "your key may not come in any more"},
		"less": {func(alice string) string { return strings.TrimPrefix(alice, "drive ") + " who watches" }, "come in again"},
	} {
		inside := make(chan struct{})
		s := serve(t, Options{still: time.Millisecond, closing: time.Minute, Visit: func(ctx context.Context, _ *Visit) (string, error) {
			close(inside)
			<-ctx.Done()
			return "", context.Cause(ctx)
		}})
		go func() {
			<-inside
			text, err := os.ReadFile(s.keys)
			if err != nil {
				t.Error(err)
			}
			for _, alice := range strings.Split(string(text), "\n") {
				if strings.Contains(alice, "alice") {
					os.WriteFile(s.keys, []byte(c.line(alice)+"\n"), 0o644)
				}
			}
		}()
		if _, errs, err := s.run(s.alice, "look"); err == nil || !strings.Contains(errs, c.want) {
			t.Errorf("%s: %q, %v", name, errs, err)
		}
	}
}

// An error is one line on stderr with exit status 1, last words have status 0, and a panic ends
// only its own visit.
func TestLastWords(t *testing.T) {
	s := serve(t, Options{Visit: func(_ context.Context, v *Visit) (string, error) {
		switch v.Command[0] {
		case "fail":
			return "not this", errors.New("two\nlines")
		case "panic":
			panic("oh")
		}
		return "said", nil
	}})
	for command, want := range map[string]string{"fail": "pgrlab: two lines\n", "panic": "pgrlab: pgrlab serve made a mistake: its log has it\n", "other": "said\n"} {
		_, errs, err := s.run(s.bob, command)
		var status *ssh.ExitError
		if failed := errors.As(err, &status) && status.ExitStatus() == 1; errs != want || failed != (command != "other") {
			t.Errorf("%s: %q, %v, want %q", command, errs, err, want)
		}
	}
}

// Sessions beyond the number of places are refused, and a place is free again after it is left.
func TestPlacesAreLimited(t *testing.T) {
	in, out := make(chan bool), make(chan bool)
	s := serve(t, Options{Sessions: 1, Visit: func(ctx context.Context, v *Visit) (string, error) {
		if v.Command[0] == "stay" {
			in <- true
			<-out
		}
		return "", nil
	}})
	stayed := make(chan error, 1)
	go func() {
		_, _, err := s.run(s.alice, "stay")
		stayed <- err
	}()
	<-in
	if _, errs, err := s.run(s.bob, "go"); err == nil || !strings.Contains(errs, "all 1 places are taken") {
		t.Errorf("%q, %v", errs, err)
	}
	out <- true
	if err := <-stayed; err != nil {
		t.Error(err)
	}
	for { // the place becomes free only after the last words
		_, errs, err := s.run(s.bob, "go")
		if err == nil {
			break
		}
		if !strings.Contains(errs, "places are taken") {
			t.Fatal(errs, err)
		}
	}
}

// A visitor who types nothing for too long is asked to leave; one who types stays.
func TestIdleVisitorsLeave(t *testing.T) {
	s := serve(t, Options{Idle: 50 * time.Millisecond, Visit: func(ctx context.Context, v *Visit) (string, error) {
		<-ctx.Done()
		return "", context.Cause(ctx)
	}})
	if _, errs, err := s.run(s.bob, "look"); err == nil || errs != "pgrlab: no key for 50ms\n" {
		t.Errorf("%q, %v", errs, err)
	}
	a := &attentive{Reader: strings.NewReader("keys"), idle: time.Hour, timer: time.NewTimer(0)}
	<-a.timer.C
	if n, err := a.Read(make([]byte, 9)); n != 4 || err != nil || !a.timer.Stop() {
		t.Errorf("%d, %v: the time does not begin again with a key", n, err)
	}
}

// A visitor who has stopped reading does not keep a place: neither if nothing is typed, nor when the visit
// is over.
func TestVisitorsWhoDoNotReadLeave(t *testing.T) {
	for _, idle := range []time.Duration{time.Millisecond, 0} {
		left := make(chan error, 1)
		s := serve(t, Options{Idle: idle, closing: time.Millisecond, Visit: func(_ context.Context, v *Visit) (said string, err error) {
			if idle == 0 {
				v.End()
			}
			for err == nil { // more than fits on the way
				_, err = v.Output.Write(make([]byte, 1<<20))
			}
			left <- err
			return "", err
		}})
		client, err := s.dial(ssh.PublicKeys(s.bob))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		session, err := client.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := session.StdoutPipe(); err != nil {
			t.Fatal(err)
		}
		session.Start("look") // an error if the connection is cut before its answer
		<-left
	}
}

// The size, its changes and the permitted variables are passed on; other variables are not.
func TestATerminalIsDescribed(t *testing.T) {
	s := serve(t, Options{Visit: func(_ context.Context, v *Visit) (string, error) {
		fmt.Fprintf(v.Lines, "%v %v\n", v.Terminal.Size, v.Terminal.Environ)
		for size := range v.Terminal.Sizes {
			if size.Columns == 100 {
				break
			}
		}
		_, err := io.ReadFull(v.Input, make([]byte, 1))
		return "bye", err
	}})
	client, err := s.dial(ssh.PublicKeys(s.bob))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	session, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	session.Setenv("COLORTERM", "truecolor")
	session.Setenv("LD_PRELOAD", "x")
	if err := session.RequestPty("xterm-kitty", 24, 80, ssh.TerminalModes{}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	session.Stdout = &out
	keys, _ := session.StdinPipe()
	if err := session.Shell(); err != nil {
		t.Fatal(err)
	}
	for columns := range 101 { // faster than they are received
		if err := session.WindowChange(30, columns); err != nil {
			t.Fatal(err)
		}
	}
	keys.Write([]byte("q"))
	if err := session.Wait(); err != nil {
		t.Error(err)
	}
	if want := "{80 24} map[COLORTERM:truecolor TERM:xterm-kitty]\r\n"; out.String() != want {
		t.Errorf("%q, want %q", &out, want)
	}
}

// A server that ends tells its visitors why, and leaves nothing behind, whatever the clients have
// done.
func TestNothingIsLeft(t *testing.T) {
	times := 20
	if os.Getenv("PGRLAB_SOAK") != "" {
		times = 1000
	}
	before := runtime.NumGoroutine()
	t.Run("visits", func(t *testing.T) {
		s := serve(t, Options{Visit: func(ctx context.Context, v *Visit) (string, error) {
			if v.Command[0] == "stay" {
				fmt.Fprintln(v.Output, "here")
				<-ctx.Done()
				return "", context.Cause(ctx)
			}
			return "", nil
		}})
		for range times {
			if _, _, err := s.run(s.bob, "go"); err != nil {
				t.Fatal(err)
			}
			client, err := s.dial(ssh.PublicKeys(s.alice))
			if err != nil {
				t.Fatal(err)
			}
			session, err := client.NewSession()
			if err != nil {
				t.Fatal(err)
			}
			out, _ := session.StdoutPipe()
			session.Start("stay")
			io.ReadFull(out, make([]byte, 4))
			client.Close() // as if the client was killed
		}
		last := make(chan string)
		client, err := s.dial(ssh.PublicKeys(s.alice))
		if err != nil {
			t.Fatal(err)
		}
		session, _ := client.NewSession()
		out, _ := session.StdoutPipe()
		errs, _ := session.StderrPipe()
		session.Start("stay")
		io.ReadFull(out, make([]byte, 4))
		go func() {
			all, _ := io.ReadAll(errs)
			client.Close()
			last <- string(all)
		}()
		s.server.Close(errors.New("the class is over"))
		if said := <-last; said != "pgrlab: the class is over\n" {
			t.Errorf("%q", said)
		}
	})
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			all := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, all[:runtime.Stack(all, true)])
		}
	}
}

// A connection has few sessions at the same time, whose unread bytes wait in memory.
func TestSessionsOfAConnectionAreFew(t *testing.T) {
	in, out := make(chan bool), make(chan bool)
	s := serve(t, Options{Visit: func(context.Context, *Visit) (string, error) {
		in <- true
		<-out
		return "", nil
	}})
	defer close(out)
	client, err := s.dial(ssh.PublicKeys(s.bob))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	first, err := client.NewSession()
	if err == nil {
		err = first.Start("stay")
	}
	if err != nil {
		t.Fatal(err)
	}
	<-in
	opened := 1
	for range 2 * maxSessions {
		channel, requests, err := client.OpenChannel("session", nil)
		if err != nil {
			break
		}
		go ssh.DiscardRequests(requests)
		if _, err := channel.Write(make([]byte, 1<<10)); err != nil {
			t.Fatal(err)
		}
		opened++
	}
	if opened != maxSessions {
		t.Errorf("%d sessions are open, want at most %d", opened, maxSessions)
	}
}

// The last places are kept for keys that drive.
func TestPlacesAreKeptForDriving(t *testing.T) {
	in, out := make(chan bool), make(chan bool)
	s := serve(t, Options{Sessions: 2 * keptForDriving, Visit: func(_ context.Context, v *Visit) (string, error) {
		if v.Role == Watch {
			in <- true
			<-out
		}
		return "", nil
	}})
	var staying sync.WaitGroup
	for range keptForDriving {
		staying.Go(func() {
			if _, _, err := s.run(s.bob, "stay"); err != nil {
				t.Error(err)
			}
		})
		<-in
	}
	refused := make(chan string, 1)
	go func() {
		_, errs, _ := s.run(s.bob, "go")
		refused <- errs
	}()
	select {
	case errs := <-refused:
		if !strings.Contains(errs, "are for keys that drive") {
			t.Error(errs)
		}
	case <-in:
		t.Error("a key that watches takes a place of those that drive")
	}
	if _, errs, err := s.run(s.alice, "go"); err != nil {
		t.Error(errs, err)
	}
	close(out)
	staying.Wait()
}

// A connection waits, for a limited time, while it has no visit: before one, after one that was refused,
// and after its last one, whether its client closes the session or not.
func TestConnectionsWithoutAVisitWait(t *testing.T) {
	in, out := make(chan bool), make(chan bool)
	s := serve(t, Options{Sessions: 1, Visit: func(context.Context, *Visit) (string, error) {
		in <- true
		<-out
		return "", nil
	}})
	defer close(out)
	waiting := func(when string, want int) {
		t.Helper()
		d := s.server.door
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.waiting != want {
			t.Errorf("%s: %d connections wait, want %d", when, d.waiting, want)
		}
	}
	begin := func() *ssh.Session {
		t.Helper()
		client, err := s.dial(ssh.PublicKeys(s.bob))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { client.Close() })
		session, err := client.NewSession()
		if err == nil {
			err = session.Start("look")
		}
		if err != nil {
			t.Fatal(err)
		}
		return session
	}
	first := begin()
	<-in
	waiting("a visit", 0)
	if err := begin().Wait(); err == nil {
		t.Error("it is not refused")
	}
	waiting("a refused one", 1)
	out <- true
	if err := first.Wait(); err != nil {
		t.Error(err)
	}
	waiting("the end of a visit", 2)
}
