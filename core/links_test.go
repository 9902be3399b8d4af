package core_test

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

var (
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	inline  = regexp.MustCompile("`[^`\n]*`")
	linked  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	named   = regexp.MustCompile(`docs/[\w/-]+\.(?:md|svg)`)
)

// Every link of a page to another page or file leads there, and one with # to a heading. A page that
// the program names, in a text or a comment, exists.
func TestLinksLeadSomewhere(t *testing.T) {
	links := 0
	for _, page := range pages(t) {
		for _, m := range linked.FindAllStringSubmatch(inline.ReplaceAllString(prose(t, page), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(m[1], "#")
			if file = filepath.Join(filepath.Dir(page), file); strings.HasPrefix(m[1], "#") {
				file = page
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: the link %s: %v", page, m[1], err)
			} else if anchor != "" && !anchors(prose(t, file))[anchor] {
				t.Errorf("%s: the link %s: %s has no such heading", page, m[1], file)
			}
		}
	}
	if links < 100 {
		t.Errorf("%d links were found", links)
	}
	eachFile(t, 0, func(file, _ string, text []byte, _ *ast.File) {
		for _, name := range named.FindAllString(string(text), -1) {
			if _, err := os.Stat(filepath.Join("..", name)); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	})
}

// pages returns the pages of the repository.
func pages(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{"../*.md", "../docs/*.md", "../docs/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d pages (%v)", pattern, len(found), err)
		}
		files = append(files, found...)
	}
	return files
}

// prose returns a page without its blocks of code.
func prose(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return fenced.ReplaceAllString(string(text), "")
}

// anchors returns what GitHub makes of the headings of a page: lower case, - for a space, neither
// marks nor punctuation, and a number after one that occurred before.
func anchors(text string) map[string]bool {
	all, times := map[string]bool{}, map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(m[1]))
		if times[name]++; times[name] > 1 {
			name += "-" + strconv.Itoa(times[name]-1)
		}
		all[name] = true
	}
	return all
}
