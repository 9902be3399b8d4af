package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"pgrlab/tui/theme"
)

// columnGap stands between two columns of a table.
const columnGap = "  "

// WriteTable writes rows in aligned columns below their heading, which may lack names for the last
// columns. On a terminal that is too narrow the widest columns are broken at words.
func WriteTable(w io.Writer, heading []string, rows [][]string) error {
	_, err := io.WriteString(w, table(append([][]string{heading}, rows...), widthOf(w)))
	return err
}

// WriteFitting is WriteTable; but on a terminal that is too narrow it leaves out columns by their names
// in spare, the first one first, until the rest fits.
func WriteFitting(w io.Writer, heading []string, rows [][]string, spare ...string) error {
	heading, rows = without(heading, rows, widthOf(w), spare)
	return WriteTable(w, heading, rows)
}

// without leaves out columns of spare until a table fits a terminal of that width; 0: any.
func without(heading []string, rows [][]string, width int, spare []string) ([]string, [][]string) {
	all := append([][]string{heading}, rows...)
	for _, name := range spare {
		at := slices.Index(all[0], name)
		if at < 0 || width == 0 || widthOfTable(all) <= width {
			continue
		}
		for i, row := range all {
			all[i] = slices.Delete(slices.Clone(row), at, at+1)
		}
	}
	return all[0], all[1:]
}

// widthOfTable is the width of a table whose columns are not narrowed.
func widthOfTable(rows [][]string) int {
	width := -len(columnGap)
	for _, w := range fitted(rows, 0) {
		width += w + len(columnGap)
	}
	return width
}

// table formats rows for a terminal of that width; 0: any.
func table(rows [][]string, width int) string {
	var b strings.Builder
	widths := fitted(rows, width)
	for _, row := range rows {
		cells, height := make([][]string, len(row)), 1
		for i, text := range row {
			cells[i] = []string{text}
			if ansi.StringWidth(text) > widths[i] {
				cells[i] = theme.Wrap(text, widths[i])
			}
			height = max(height, len(cells[i]))
		}
		for k := range height {
			line := ""
			for i, cell := range cells {
				text := ""
				if k < len(cell) {
					text = cell[k]
				}
				line += text + strings.Repeat(" ", max(0, widths[i]-ansi.StringWidth(text))) + columnGap
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	return b.String()
}

// leastColumn is the width below which no column is narrowed: numbers and names stay whole.
const leastColumn = 16

// fitted returns the widths of a table's columns. The widest ones are narrowed until the table has
// the given width, but none below its longest word. If that is not enough, or with 0, none is.
func fitted(rows [][]string, width int) []int {
	var whole, least []int
	for _, row := range rows {
		for i, text := range row {
			if i == len(whole) {
				whole, least = append(whole, 0), append(least, 0)
			}
			whole[i] = max(whole[i], ansi.StringWidth(text))
			for _, word := range strings.Fields(text) {
				least[i] = max(least[i], ansi.StringWidth(word), leastColumn)
			}
		}
	}
	widths, excess := slices.Clone(whole), -len(columnGap)-width
	for _, w := range whole {
		excess += w + len(columnGap)
	}
	for ; width > 0 && excess > 0; excess-- {
		at := -1
		for i, w := range widths {
			if w > least[i] && (at < 0 || w > widths[at]) {
				at = i
			}
		}
		if at < 0 {
			return whole
		}
		widths[at]--
	}
	return widths
}
