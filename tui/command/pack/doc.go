// Package pack is the commands pack and unpack: runs as one file, to take them to another machine.
package pack
