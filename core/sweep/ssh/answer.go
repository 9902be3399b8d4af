package ssh

import "fmt"

// maxAnswer and maxWords are how much of a command's output and of its errors is kept, in bytes.
const (
	maxAnswer = 64 << 10
	maxWords  = 4 << 10
)

// answer keeps what a command prints, and ends with an error what prints more than any command of this
// program: a host may print anything.
type answer struct {
	text []byte
	err  error
}

func (a *answer) Write(p []byte) (int, error) {
	if len(a.text)+len(p) > maxAnswer {
		a.err = fmt.Errorf("its answer is none of this program: more than %d bytes", maxAnswer)
		return 0, a.err
	}
	a.text = append(a.text, p...)
	return len(p), nil
}

// lastWords keeps the end of what it gets.
type lastWords struct{ text []byte }

func (l *lastWords) Write(p []byte) (int, error) {
	l.text = append(l.text, p[max(0, len(p)-maxWords):]...)
	if over := len(l.text) - maxWords; over > 0 {
		l.text = append(l.text[:0], l.text[over:]...)
	}
	return len(p), nil
}
