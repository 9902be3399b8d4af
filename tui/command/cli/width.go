package cli

import (
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"pgrlab/tui/theme"
)

// widthOf is the width of a terminal; 0: w is not a terminal.
func widthOf(w io.Writer) int {
	f, ok := Raw(w).(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// WriteLines writes lines. On a terminal those that are too long are broken at words, and keep
// their indent.
func WriteLines(w io.Writer, lines ...string) error {
	_, err := io.WriteString(w, broken(lines, widthOf(w)))
	return err
}

// broken breaks lines for a terminal of that width; 0: any.
func broken(lines []string, width int) string {
	var b strings.Builder
	for _, line := range lines {
		text := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(text)]
		if width > 0 && ansi.StringWidth(line) > width {
			text = strings.Join(theme.Wrap(text, max(1, width-len(indent))), "\n"+indent)
		}
		b.WriteString(indent + text + "\n")
	}
	return b.String()
}

// reflowed fills the lines of paragraphs again if some are too long for a terminal of that width.
// Lines with an indent stay lines.
func reflowed(text string, width int) string {
	lines, wide := strings.Split(text, "\n"), false
	for _, line := range lines {
		wide = wide || ansi.StringWidth(line) > width
	}
	if width == 0 || !wide {
		return text
	}
	var joined []string
	for i, line := range lines {
		starts := i == 0 || line == "" || lines[i-1] == "" || line[0] == ' ' || lines[i-1][0] == ' '
		if starts {
			joined = append(joined, line)
		} else {
			joined[len(joined)-1] += " " + line
		}
	}
	return strings.TrimSuffix(broken(joined, width), "\n")
}
