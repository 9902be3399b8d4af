package attach

import (
	"fmt"
	"strings"
	"testing"
)

// page is a terminal that takes a line when the test reads it.
type page chan string

func (p page) Write(b []byte) (int, error) {
	p <- string(b)
	return len(b), nil
}

// A terminal that takes nothing delays no visitor; when it takes lines again it says how many are missing.
func TestALogThatIsNotRead(t *testing.T) {
	p := make(page)
	l := newServerLog(p)
	said := mostUnwritten + 500
	for n := range said {
		l.say(fmt.Sprintf("line %d\n", n))
	}
	var read []string
	for range 3 { // room for two
		read = append(read, <-p)
	}
	l.say("after")
	go l.end()
	for more := true; more; {
		select {
		case line := <-p:
			read = append(read, line)
		case <-l.written:
			more = false
		}
	}
	l.say("too late")
	missing, named := said, 0
	for _, line := range read {
		var clock string
		var n int
		if strings.Contains(line, " line ") {
			missing--
		} else if got, _ := fmt.Sscanf(line, "%s %d lines are left out here", &clock, &n); got == 2 {
			named += n
		}
	}
	if last := read[len(read)-1]; missing == 0 || named != missing || !strings.HasSuffix(last, " after\n") {
		t.Errorf("%d lines are missing, %d are named; the last one is %q", missing, named, last)
	}
}
