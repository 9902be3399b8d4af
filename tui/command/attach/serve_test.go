package attach

import (
	"net"
	"os"
	"testing"
)

// The server says how people reach it: where it listens on every address, by the machine's name.
func TestHowPeopleComeIn(t *testing.T) {
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for ip, want := range map[string]string{"127.0.0.1": "ssh -t -p 2222 127.0.0.1", "0.0.0.0": "ssh -t -p 2222 " + name, "::": "ssh -t -p 2222 " + name, "::1": "ssh -t -p 2222 ::1"} {
		if got := comeIn(&net.TCPAddr{IP: net.ParseIP(ip), Port: 2222}); got != want {
			t.Errorf("at %s: %s, want %s", ip, got, want)
		}
	}
}
