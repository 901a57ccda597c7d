//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
)

// chooseAddresses returns two neighboring addresses that no network of this machine holds. They are private
// ones, so that clients take the registry there for one without TLS.
func chooseAddresses() (gateway, node netip.Addr, err error) {
	taken, err := localNetworks()
	if err != nil {
		return gateway, node, err
	}
	for second := byte(254); second > 128; second-- {
		for third := byte(0); third < 255; third++ {
			gateway = netip.AddrFrom4([4]byte{10, second, third, 1})
			if !taken.holds(gateway) {
				return gateway, gateway.Next(), nil
			}
		}
	}
	return gateway, node, errors.New("no private network is free")
}

type networks []netip.Prefix

func (n networks) holds(address netip.Addr) bool {
	for _, network := range n {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

func localNetworks() (networks, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var found networks
	for _, address := range addresses {
		if prefix, err := netip.ParsePrefix(address.String()); err == nil {
			found = append(found, prefix.Masked())
		}
	}
	return found, nil
}

// linkOutside makes the link between this machine and the network of a process, and this machine's end of it.
func linkOutside(ctx context.Context, s settings, pid int) error {
	return run(ctx,
		fmt.Sprintf("ip link add %s type veth peer name eth0 netns %d", s.Link, pid),
		fmt.Sprintf("ip address add %s/30 dev %s", s.Gateway, s.Link),
		fmt.Sprintf("ip link set %s up", s.Link))
}

// linkInside makes the node's end. Beyond the machine there is nothing: nothing that a test needs comes from the
// internet, and what asks for it fails at once. Addresses of services need a route before kube-proxy's rules
// see them.
func linkInside(ctx context.Context, s settings) error {
	err := run(ctx,
		"ip link set lo up",
		fmt.Sprintf("ip address add %s/30 dev eth0", s.Address),
		"ip link set eth0 up",
		fmt.Sprintf("ip route add %s via %s", serviceRange, s.Gateway),
		"ip route add unreachable default")
	if err != nil {
		return err
	}
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644)
}

// unlink removes this machine's end of a link. The system does so too, once the last process of the node is gone.
func unlink(ctx context.Context, link string) error {
	if _, err := net.InterfaceByName(link); err != nil {
		return nil // there is none
	}
	if err := run(ctx, "ip link delete "+link); err != nil {
		if _, gone := net.InterfaceByName(link); gone != nil {
			return nil // the system was faster
		}
		return err
	}
	return nil
}

// run runs commands without quoting, one after another.
func run(ctx context.Context, commands ...string) error {
	for _, command := range commands {
		words := strings.Fields(command)
		out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", command, err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}
