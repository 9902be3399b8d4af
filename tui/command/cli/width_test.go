package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
)

func TestBrokenLines(t *testing.T) {
	lines := []string{"", "pgr-eco:", "  F is computed from observations when a step is made", "    short"}
	want := "\npgr-eco:\n  F is computed\n  from\n  observations\n  when a step is\n  made\n    short\n"
	if got := broken(lines, 16); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Help fits a terminal: its text is filled again, lists in it and examples stay as they are.
func TestHelpFitsTheTerminal(t *testing.T) {
	c := &cobra.Command{
		Use: "try", Short: "try something", Run: func(*cobra.Command, []string) {},
		Long:    "This says at some length what trying something out does to it,\nand what it does not.\n\nKinds:\n  a  the first one\n  b  the second\nThe end.",
		Example: "  try --set generator.width=512 --set agent.hidden=128,128",
	}
	c.Flags().String("set", "", "`KEY=VALUE` start with another value of a knob, given by its name")
	var b bytes.Buffer
	writeHelp(&b, c, 60)
	want := "This says at some length what trying something out does to\nit, and what it does not.\n\nKinds:\n  a  the first one\n  b  the second\nThe end.\n\nUsage:\n"
	if !strings.HasPrefix(b.String(), want) {
		t.Errorf("%s\nwant it to begin with\n%s", b.String(), want)
	}
	for _, line := range strings.Split(strings.ReplaceAll(b.String(), c.Example, ""), "\n") {
		if ansi.StringWidth(line) > 60 {
			t.Errorf("%q is too long", line)
		}
	}
	b.Reset()
	if writeHelp(&b, c, 0); !strings.HasPrefix(b.String(), c.Long+"\n\nUsage:\n") {
		t.Errorf("without a terminal:\n%s", b.String())
	}
}
