package tui

// pasteLimit is how many bytes of a pasted text are read: more than any line of text takes, and than
// is pasted for any other reason than a mistake. Bubble Tea keeps a paste until its end has come, and
// copies and searches all of it at each read.
const pasteLimit = 64 << 10

// What a terminal sends before and after a pasted text.
const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// Pastes shortens long pastes in what a terminal sends.
type Pastes struct {
	inside  bool
	matched int // bytes of the next pasteBegin or pasteEnd that have come
	size    int // bytes of the paste so far
	cut     int // bytes of the paste beyond its limit
}

// Limit ends pastes in p at pasteLimit, and moves what is left to the beginning of p: n bytes. The
// end of a longer paste stands in place of the first bytes that are left out.
func (l *Pastes) Limit(p []byte) (n int) {
	for _, b := range p {
		marker := pasteBegin
		if l.inside {
			marker = pasteEnd
			l.size++
		}
		if b != marker[l.matched] {
			l.matched = 0
		}
		if b == marker[l.matched] {
			l.matched++
		}
		if l.cut > 0 || l.size > pasteLimit && l.matched <= 1 { // the end is not cut in two
			l.cut++
		}
		if l.cut > 0 && l.cut <= len(pasteEnd) {
			b = pasteEnd[l.cut-1]
		}
		if l.cut <= len(pasteEnd) {
			p[n] = b
			n++
		}
		if l.matched == len(marker) {
			*l = Pastes{inside: !l.inside}
		}
	}
	return n
}
