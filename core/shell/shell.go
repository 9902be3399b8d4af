// Package shell writes the words of commands that people are told to type.
package shell

import "strings"

// plain are the characters besides letters and digits that no POSIX shell, nor zsh or fish, takes
// for anything else within a word.
const plain = "/._-+,:@%"

// Word returns s as one word of a command: as it is if a shell reads it so, in quotes otherwise. A path
// that begins like a flag gets ./ in front.
func Word(s string) string {
	if strings.HasPrefix(s, "-") {
		return Word("./" + s)
	}
	return Value(s)
}

// Value is Word for what follows the = of a flag, where a dash is only a dash.
func Value(s string) string {
	special := func(r rune) bool {
		return r < 0x80 && !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') && !strings.ContainsRune(plain, r)
	}
	if s != "" && strings.IndexFunc(s, special) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
