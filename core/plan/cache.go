package plan

import (
	"errors"
	"io"
	"slices"
)

// Cache keeps what was compiled, by what it was compiled for. Each key is compiled when it is first
// needed. A Cache belongs to one goroutine.
type Cache[K comparable, T io.Closer] struct {
	Compile func(K) (T, error)
	Most    int           // stay compiled, those that were used last; 0: all
	kept    []entry[K, T] // the one used last first
}

// ByRows is a Cache of programs by number of rows.
type ByRows[T io.Closer] = Cache[int, T]

type entry[K comparable, T io.Closer] struct {
	key  K
	made T
}

// Of returns what is compiled for a key. Where Most are kept, it closes the one that was used longest
// ago before it compiles another: there may be no memory for one more.
func (c *Cache[K, T]) Of(key K) (made T, err error) {
	if made, ok := c.Find(key); ok {
		return made, nil
	}
	if c.Most > 0 && len(c.kept) == c.Most {
		last := c.kept[c.Most-1].made
		c.kept = slices.Delete(c.kept, c.Most-1, c.Most)
		if err := last.Close(); err != nil {
			return made, err
		}
	}
	if made, err = c.Compile(key); err == nil {
		c.kept = slices.Insert(c.kept, 0, entry[K, T]{key, made})
	}
	return made, err
}

// Find is Of for what is compiled already.
func (c *Cache[K, T]) Find(key K) (made T, found bool) {
	for i, e := range c.kept {
		if e.key == key {
			copy(c.kept[1:i+1], c.kept[:i])
			c.kept[0] = e
			return e.made, true
		}
	}
	return made, false
}

// Newest returns what was used last, or zero if nothing is compiled.
func (c *Cache[K, T]) Newest() (made T) {
	if len(c.kept) > 0 {
		made = c.kept[0].made
	}
	return made
}

// Len is how many are compiled.
func (c *Cache[K, T]) Len() int { return len(c.kept) }

// Drop closes those with the keys of which is true.
func (c *Cache[K, T]) Drop(is func(K) bool) (err error) {
	c.kept = slices.DeleteFunc(c.kept, func(e entry[K, T]) bool {
		drop := is(e.key)
		if drop {
			err = errors.Join(err, e.made.Close())
		}
		return drop
	})
	return err
}

// Close closes all.
func (c *Cache[K, T]) Close() error { return c.Drop(func(K) bool { return true }) }

// Close closes several programs, caches and such.
func Close(all ...io.Closer) (err error) {
	for _, c := range all {
		err = errors.Join(err, c.Close())
	}
	return err
}
