package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// dialWithin is how long a try waits for an answer. Canaries answer at once;
// what does not exist does so never.
const dialWithin = time.Second

func networkCases() []Case {
	at := func(network string, address func(Targets) string) func(Targets) (bool, string) {
		return func(t Targets) (bool, string) { return dial(network, address(t), t.Word) }
	}
	fixed := func(network, address string) func(Targets) (bool, string) {
		return func(Targets) (bool, string) { return reach(network, address) }
	}
	return []Case{
		{ID: "tcp-loopback-v4", Group: "network", What: "a server on the host's 127.0.0.1", Control: ControlMust, try: at("tcp4", func(t Targets) string { return t.TCP4 })},
		{ID: "tcp-loopback-v6", Group: "network", What: "a server on the host's ::1", Control: ControlSeen, try: at("tcp6", func(t Targets) string { return t.TCP6 })},
		{ID: "tcp-host-address", Group: "network", What: "a server on the host's own address", Control: ControlSeen, try: at("tcp", func(t Targets) string { return t.TCPHost })},
		{ID: "udp-loopback", Group: "network", What: "a UDP server on the host's 127.0.0.1", Control: ControlMust, try: at("udp4", func(t Targets) string { return t.UDP })},
		{ID: "unix-abstract", Group: "network", What: "an abstract unix socket of the host's", Control: ControlMust, try: at("unix", func(t Targets) string { return "@" + t.Abstract })},
		{ID: "unix-path", Group: "network", What: "a unix socket of the host's by its path", Control: ControlMust, try: at("unix", func(t Targets) string { return t.PathSocket })},
		{ID: "tcp-internet", Group: "network", What: "8.8.8.8:53 by TCP", try: fixed("tcp", "8.8.8.8:53")},
		{ID: "tcp-internet-v6", Group: "network", What: "2001:4860:4860::8888 port 53 by TCP", try: fixed("tcp", "[2001:4860:4860::8888]:53")},
		{ID: "tcp-metadata", Group: "network", What: "the cloud's metadata address", try: fixed("tcp", "169.254.169.254:80")},
		{ID: "tcp-metadata-v6", Group: "network", What: "the cloud's metadata address by IPv6", try: fixed("tcp", "[fd00:ec2::254]:80")},
		{ID: "tcp-private", Group: "network", What: "a private network's first address", try: fixed("tcp", "10.0.0.1:80")},
		{ID: "udp-internet", Group: "network", What: "a packet to 8.8.8.8:53", try: fixed("udp", "8.8.8.8:53")},
		{ID: "udp-broadcast", Group: "network", What: "a packet to everybody", try: fixed("udp", "255.255.255.255:9")},
		{ID: "udp-multicast", Group: "network", What: "a multicast packet", try: fixed("udp", "224.0.0.251:5353")},
		{ID: "dns", Group: "network", What: "looking up a name of the internet's", try: tryLookup},
		{ID: "interfaces", Group: "network", What: "a network interface beside loopback", Control: ControlSeen, try: tryInterfaces},
		{ID: "unix-known", Group: "network", What: "well-known sockets: Docker, containerd, D-Bus, systemd, X11", try: tryKnownSockets},
		{ID: "raw-ip", Group: "network", What: "a raw IP socket", Control: ControlSeen, try: func(Targets) (bool, string) {
			return socketWorks(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)
		}},
	}
}

// dial says whether a canary answers with its word.
func dial(network, address, word string) (bool, string) {
	if address == "" || address == "@" {
		return false, "no such canary here"
	}
	d := net.Dialer{Timeout: dialWithin}
	c, err := d.DialContext(context.Background(), network, address)
	if err != nil {
		return false, err.Error()
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(dialWithin))
	_, _ = c.Write([]byte("?\n")) // the answer counts
	answer := make([]byte, 256)
	n, err := c.Read(answer)
	if bytes.Contains(answer[:n], []byte(word)) {
		return true, "the canary answered"
	}
	return false, fmt.Sprintf("connected, no answer: %v", err)
}

// reach says whether an address of the world's can be sent to at all.
func reach(network, address string) (bool, string) {
	d := net.Dialer{Timeout: dialWithin}
	c, err := d.DialContext(context.Background(), network, address)
	if err != nil {
		return false, err.Error()
	}
	defer func() { _ = c.Close() }()
	if network != "udp" {
		return true, "connected"
	}
	if _, err := c.Write([]byte("?\n")); err != nil {
		return false, err.Error()
	}
	return true, "sent"
}

func tryLookup(Targets) (bool, string) {
	ctx, cancel := context.WithTimeout(context.Background(), dialWithin)
	defer cancel()
	for _, r := range []*net.Resolver{{PreferGo: true}, {PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", "8.8.8.8:53")
	}}} {
		if got, err := r.LookupHost(ctx, "example.com"); err == nil {
			return true, strings.Join(got, " ")
		}
	}
	return false, "no resolver answers"
}

func tryInterfaces(Targets) (bool, string) {
	raw, err := os.ReadFile("/proc/net/dev")
	if err != nil {
		return false, err.Error()
	}
	var others []string
	for line := range strings.Lines(string(raw)) {
		name, _, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); ok && name != "lo" {
			others = append(others, name)
		}
	}
	return len(others) > 0, strings.Join(others, " ")
}

func tryKnownSockets(Targets) (bool, string) {
	for _, pattern := range []string{
		"/run/docker.sock", "/var/run/docker.sock", "/run/containerd/*.sock", "/run/podman/*.sock", "/run/dbus/*", "/run/systemd/private", "/run/systemd/journal/*",
		"/run/user/*/*", "/tmp/.X11-unix/*", "/tmp/ssh-*/*", "/run/snapd.socket", "/run/postgresql/.s*", "/var/run/postgresql/.s*", "/run/crio/*.sock", "/run/udev/control",
	} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return true, found[0]
		}
	}
	return false, "none is there"
}

// family is an address family by its name.
type family struct {
	name   string
	number int
}

// families are those whose kernel code an attacker would like to reach.
func families() []family {
	return []family{
		{"vsock", unix.AF_VSOCK},
		{"netlink", unix.AF_NETLINK},
		{"packet", unix.AF_PACKET},
		{"alg", unix.AF_ALG},
		{"bluetooth", unix.AF_BLUETOOTH},
		{"can", unix.AF_CAN},
		{"tipc", unix.AF_TIPC},
		{"rds", unix.AF_RDS},
		{"xdp", unix.AF_XDP},
		{"kcm", unix.AF_KCM},
		{"smc", unix.AF_SMC},
		{"qipcrtr", unix.AF_QIPCRTR},
		{"nfc", unix.AF_NFC},
		{"x25", unix.AF_X25},
		{"ax25", unix.AF_AX25},
		{"llc", unix.AF_LLC},
		{"key", unix.AF_KEY},
		{"pppox", unix.AF_PPPOX},
		{"rxrpc", unix.AF_RXRPC},
		{"phonet", unix.AF_PHONET},
		{"caif", unix.AF_CAIF},
		{"ieee802154", unix.AF_IEEE802154},
		{"mctp", unix.AF_MCTP},
	}
}

func familyCases() []Case {
	var all []Case
	known := map[int]bool{unix.AF_UNIX: true, unix.AF_INET: true, unix.AF_INET6: true}
	for _, f := range families() {
		known[f.number] = true
		all = append(all, Case{ID: "socket-" + f.name, Group: "family", What: "a socket of the family " + f.name, Control: ControlSeen, try: func(Targets) (bool, string) {
			return anySocket(f.number)
		}})
	}
	return append(all, Case{ID: "socket-others", Group: "family", What: "a socket of any other family", Control: ControlSeen, try: func(Targets) (bool, string) {
		for n := range 64 {
			if known[n] {
				continue
			}
			if open, detail := anySocket(n); open {
				return true, fmt.Sprintf("family %d: %s", n, detail)
			}
		}
		return false, "none"
	}})
}

func anySocket(domain int) (bool, string) {
	detail := ""
	for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_RAW, unix.SOCK_SEQPACKET} {
		open, d := socketWorks(domain, kind, 0)
		if open {
			return true, d
		}
		detail = d
	}
	return false, detail
}

func socketWorks(domain, kind, protocol int) (bool, string) {
	fd, err := unix.Socket(domain, kind|unix.SOCK_CLOEXEC, protocol)
	if err == nil {
		_ = unix.Close(fd)
		return true, "created"
	}
	// Any other word is spoken by the family's own code.
	return !refused(err) && !errors.Is(err, unix.EAFNOSUPPORT) && !errors.Is(err, unix.ESOCKTNOSUPPORT) && !errors.Is(err, unix.EPROTONOSUPPORT), err.Error()
}

// refused says whether an error is that of a call which is not allowed.
func refused(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EACCES)
}
