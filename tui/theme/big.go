package theme

import "strings"

// digits are the characters of large numbers, as rows of pixels.
var digits = map[rune][]string{
	'0': {" ### ", "#   #", "#   #", "#   #", "#   #", "#   #", " ### "},
	'1': {"  #  ", " ##  ", "# #  ", "  #  ", "  #  ", "  #  ", "#####"},
	'2': {" ### ", "#   #", "    #", "   # ", "  #  ", " #   ", "#####"},
	'3': {" ### ", "#   #", "    #", "  ## ", "    #", "#   #", " ### "},
	'4': {"   # ", "  ## ", " # # ", "#  # ", "#####", "   # ", "   # "},
	'5': {"#####", "#    ", "#### ", "    #", "    #", "#   #", " ### "},
	'6': {" ### ", "#    ", "#    ", "#### ", "#   #", "#   #", " ### "},
	'7': {"#####", "    #", "   # ", "   # ", "  #  ", "  #  ", "  #  "},
	'8': {" ### ", "#   #", "#   #", " ### ", "#   #", "#   #", " ### "},
	'9': {" ### ", "#   #", "#   #", " ####", "    #", "    #", " ### "},
	'-': {"    ", "    ", "    ", "####", "    ", "    ", "    "},
	'+': {"     ", "  #  ", "  #  ", "#####", "  #  ", "  #  ", "     "},
	'e': {"     ", "     ", " ### ", "#   #", "#####", "#    ", " ### "},
	'.': {" ", " ", " ", " ", " ", " ", "#"},
	':': {" ", " ", "#", " ", "#", " ", " "},
	',': {"  ", "  ", "  ", "  ", "  ", " #", "# "},
	' ': {"  ", "  ", "  ", "  ", "  ", "  ", "  "},
}

// bigPixels is the height of a large number in pixels.
const bigPixels = 7

// BigRows is the number of lines of Big.
func (t *Theme) BigRows(scale int) int {
	if t.Set == ASCII {
		return bigPixels
	}
	return (bigPixels*scale + 1) / 2
}

// Big writes a number in large digits, whose pixels are scale columns wide and as many halves of a line
// high; in ASCII a pixel is a character. Characters that it does not know are left out.
func (t *Theme) Big(number string, scale int) []string {
	if t.Set == ASCII {
		scale = 1
	}
	rows := make([]strings.Builder, bigPixels)
	for i, c := range []rune(number) {
		for y, pixels := range digits[c] {
			if i > 0 {
				rows[y].WriteString(strings.Repeat(" ", scale))
			}
			for _, p := range pixels {
				rows[y].WriteString(strings.Repeat(string(p), scale))
			}
		}
	}
	if t.Set == ASCII {
		out := make([]string, bigPixels)
		for y := range rows {
			out[y] = rows[y].String()
		}
		return out
	}
	return halves(rows, scale)
}

// halves draws rows of pixels, each so many halves of a line high.
func halves(rows []strings.Builder, scale int) []string {
	var pixels []string
	for i := range rows {
		for range scale {
			pixels = append(pixels, rows[i].String())
		}
	}
	if len(pixels)%2 > 0 {
		pixels = append(pixels, strings.Repeat(" ", len(pixels[0])))
	}
	var out []string
	for y := 0; y < len(pixels); y += 2 {
		var line strings.Builder
		for x := range pixels[y] {
			line.WriteString(map[[2]bool]string{{true, true}: "█", {true, false}: "▀", {false, true}: "▄", {false, false}: " "}[[2]bool{pixels[y][x] == '#', pixels[y+1][x] == '#'}])
		}
		out = append(out, line.String())
	}
	return out
}
