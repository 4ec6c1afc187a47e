package manifestrun

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// place returns how to start a pod's program on this machine. It replaces values that differ from a
// cluster: ports and addresses, the directories of Secrets and, with StoreEach, the store. An
// unknown flag or variable is an error.
func (f *Fleet) place(pod *Pod) (args, environment []string, err error) {
	program := f.programs[pod.Name]
	for _, argument := range program.Args {
		placed, err := f.placeArgument(pod, argument)
		if err != nil {
			return nil, nil, err
		}
		args = append(args, placed)
	}
	for name, value := range program.Environment {
		placed, err := f.placeVariable(pod, name, value)
		if err != nil {
			return nil, nil, err
		}
		environment = append(environment, placed)
	}
	slices.Sort(environment)
	return args, environment, nil
}

func (f *Fleet) placeArgument(pod *Pod, argument string) (string, error) {
	flag, value, _ := strings.Cut(argument, "=")
	switch name := strings.TrimPrefix(flag, "-"); name {
	case "http", "grpc":
		if !strings.HasPrefix(value, ":") {
			return "", fmt.Errorf("%s is not a port on the pod's own address", argument)
		}
		return flag + "=" + pod.address, nil
	case "account", "album", "blog", "poi":
		if value != "dns:///"+name+f.port(name) {
			return "", fmt.Errorf("%s is not the address of %s, which listens on port %s", argument, name, f.port(name))
		}
		if f.DNS != "" {
			return flag + "=dns://" + f.DNS + "/" + name + ":" + f.Ports[name], nil
		}
		if len(f.pods[name]) == 1 {
			return flag + "=dns:///" + f.pods[name][0].address, nil
		}
		// These are the addresses that DNS would return.
		var addresses []string
		for _, called := range f.pods[name] {
			addresses = append(addresses, called.address)
		}
		return flag + "=" + strings.Join(addresses, ","), nil
	}
	return "", fmt.Errorf("no value of %s for one machine is known", argument)
}

// port returns the port of a service's pods in a cluster, such as :9091.
func (f *Fleet) port(name string) string {
	for _, argument := range f.programs[name].Args {
		if port, ok := strings.CutPrefix(argument, "-grpc="); ok {
			return port
		}
	}
	return ""
}

func (f *Fleet) placeVariable(pod *Pod, name, value string) (string, error) {
	switch name {
	case "GOMEMLIMIT", "GOMAXPROCS", "WAYBOOK_LOG_FORMAT", "WAYBOOK_TIME_ZONE", "WAYBOOK_TRUSTED_PROXIES",
		"WAYBOOK_USER_WRITES", "WAYBOOK_CLIENT_LONG_REPLIES",
		"WAYBOOK_SESSION_TTL", "WAYBOOK_REWARD":
		// The value is the same on one machine.
	case "WAYBOOK_COOKIE_SECURE":
		value = "auto" // no ingress terminates TLS here
	case "WAYBOOK_SHUTDOWN_DELAY":
		value = f.ShutdownDelay.String()
	case "WAYBOOK_ADMIN":
		if !strings.HasPrefix(value, ":") {
			return "", fmt.Errorf("%s=%s is not a port on the pod's own address", name, value)
		}
		value = "127.0.0.1:0"
	case "WAYBOOK_MONGODB_URI":
		if f.mongoDB == StoreEach {
			name, value = "WAYBOOK_DATA", pod.Store
		}
	case "WAYBOOK_TLS_CERT", "WAYBOOK_TLS_KEY", "WAYBOOK_TLS_CA":
		if secret := f.programs[pod.Name].Secrets[path.Dir(value)]; secret != "waybook-"+pod.Name+"-tls" {
			return "", fmt.Errorf("%s is in the Secret %q, which does not have the certificate of %s", value, secret, pod.Name)
		}
		value = filepath.Join(f.Certificates.Directory(pod.Name), path.Base(value))
	default:
		return "", fmt.Errorf("no value of %s=%s for one machine is known", name, value)
	}
	return name + "=" + value, nil
}
