package forks

import (
	"errors"
	"os"
	"os/exec"
)

// TurnsFlag is the flag of train with which a child trains in turns.
const TurnsFlag = "turns"

// The files in which a child reads that it has a turn, one byte each, and writes a byte when it has
// made an evaluation and asks for another turn.
const (
	turnsGranted = 3 // the first one of exec.Cmd.ExtraFiles
	turnsAsked   = 4
)

// turnPipes gives a process both files, and returns their other ends.
func turnPipes(c *exec.Cmd) (grant, asked *os.File, err error) {
	granted, grant, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	asked, ask, err := os.Pipe()
	if err != nil {
		granted.Close()
		grant.Close()
		return nil, nil, err
	}
	c.ExtraFiles = []*os.File{granted, ask}
	return grant, asked, nil
}

// Turns are the turns of this process, which trains a child.
type Turns struct{ granted, ask *os.File }

// TurnsOfThis are the turns that the process which started this one grants.
func TurnsOfThis() (*Turns, error) {
	t := &Turns{os.NewFile(turnsGranted, "turns"), os.NewFile(turnsAsked, "asked turns")}
	for _, f := range []*os.File{t.granted, t.ask} {
		if _, err := f.Stat(); err != nil {
			return nil, errors.New("there is no other process that grants turns")
		}
	}
	return t, nil
}

// Next asks for another turn and waits for it. An error says that there are no turns any more: the
// process that granted them has ended, and this one may train on.
func (t *Turns) Next() error {
	if _, err := t.ask.Write([]byte{1}); err != nil {
		return err
	}
	_, err := t.granted.Read(make([]byte, 1))
	return err
}
