package kernel

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed ptx/*.ptx
var files embed.FS

// Module is one file of PTX.
type Module struct {
	Name    string // "linear_sm80"
	Text    string
	Kernels []string // the names of its kernels
}

// generations lists the architectures that files are compiled for, newest first.
var generations = []struct {
	suffix string
	serves func(sm int) bool
}{
	{"sm90a", func(sm int) bool { return sm == 90 }},
	{"sm80", func(sm int) bool { return sm >= 80 }},
	{"sm70", func(sm int) bool { return sm >= 70 }},
}

// Modules returns the PTX for a card of compute capability sm (80 = 8.0): for each source the
// newest file that the card can run. Every kernel that Lower names for a Target of this capability
// is in exactly one of them.
//
// Files written for 7.0 declare 8.0 on cards from 8.0 on: every instruction of 7.0 is also one of
// 8.0, and nothing then depends on how long drivers accept PTX for cards that they no longer
// support.
func Modules(sm int) ([]Module, error) {
	list, err := files.ReadDir("ptx")
	if err != nil {
		return nil, err
	}
	var modules []Module
	chosen := map[string]bool{} // sources
	for _, generation := range generations {
		if !generation.serves(sm) {
			continue
		}
		for _, file := range list {
			source, ok := strings.CutSuffix(file.Name(), "_"+generation.suffix+".ptx")
			if !ok || chosen[source] {
				continue
			}
			chosen[source] = true
			text, err := files.ReadFile("ptx/" + file.Name())
			if err != nil {
				return nil, err
			}
			m := Module{Name: strings.TrimSuffix(file.Name(), ".ptx"), Text: string(text)}
			if sm >= 80 && generation.suffix == "sm70" {
				m.Text = raised.Replace(m.Text)
			}
			m.Kernels = entries(m.Text)
			modules = append(modules, m)
		}
	}
	if modules == nil {
		return nil, fmt.Errorf("choose kernels: compute capability %d.%d is below 7.0", sm/10, sm%10)
	}
	return modules, nil
}

// raised replaces the directives of 7.0 by those of 8.0, which came with PTX 7.0.
var raised = strings.NewReplacer("\n.version 6.0\n.target sm_70\n", "\n.version 7.0\n.target sm_80\n")

// entries lists the entries of a text as clang writes them.
func entries(text string) []string {
	const entry = "\n.visible .entry "
	var names []string
	for {
		_, after, ok := strings.Cut(text, entry)
		if !ok {
			return names
		}
		name, _, _ := strings.Cut(after, "(")
		names, text = append(names, name), after
	}
}
