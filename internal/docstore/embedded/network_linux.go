package embedded

import (
	"io/fs"
	"syscall"
)

// networkOf returns the name of the network file system that a directory lies on; empty if it is
// on a local one. FUSE and 9P count as local, because they mostly are.
func networkOf(directory string) (string, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(directory, &stat); err != nil {
		return "", &fs.PathError{Op: "statfs", Path: directory, Err: err}
	}
	return networkOfType(uint32(stat.Type)), nil // #nosec G115 -- the types have 32 bits
}

// networkOfType returns the name for a type of statfs(2).
func networkOfType(kind uint32) string {
	switch kind {
	case 0x6969:
		return "NFS"
	case 0x517b, 0xfe534d42, 0xff534d42:
		return "SMB"
	case 0x5346414f, 0x6b414653:
		return "AFS"
	case 0x00c36400:
		return "Ceph"
	case 0x0bd00bd0:
		return "Lustre"
	}
	return ""
}
