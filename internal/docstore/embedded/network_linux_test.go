package embedded

import "testing"

func TestNetworkFileSystemsAreKnownByTheirTypes(t *testing.T) {
	for kind, want := range map[uint32]string{
		0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "SMB", 0xfe534d42: "SMB", 0x5346414f: "AFS", 0x00c36400: "Ceph", 0x0bd00bd0: "Lustre",
		// ext4, XFS, btrfs, tmpfs, overlay, FUSE and 9P
		0xef53: "", 0x58465342: "", 0x9123683e: "", 0x01021994: "", 0x794c7630: "", 0x65735546: "", 0x01021997: "",
	} {
		if got := networkOfType(kind); got != want {
			t.Errorf("%#x is %q, want %q", kind, got, want)
		}
	}
	if network, err := networkOf(t.TempDir()); network != "" || err != nil {
		t.Errorf("the directory of the test is on %q, %v", network, err)
	}
}
