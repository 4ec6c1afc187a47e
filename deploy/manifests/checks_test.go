package manifests_test

import (
	"fmt"
	"testing"
)

// checks are the checks that every variant passes. For each, a mutation shows that it can fail.
func checks() map[string]func(*cluster, complain) {
	return map[string]func(*cluster, complain){
		"security":     checkSecurity,
		"accounts":     checkAccounts,
		"priority":     checkPriority,
		"rights":       checkRights,
		"resources":    checkResources,
		"requests":     checkRequests,
		"scaling":      checkScaling,
		"runbooks":     checkRunbooks,
		"probes":       checkProbes,
		"stop":         checkStop,
		"services":     checkServices,
		"addresses":    checkAddresses,
		"entrance":     checkEntrance,
		"monitors":     checkMonitors,
		"references":   checkReferences,
		"certificates": checkCertificates,
		"replicas":     checkReplicas,
		"images":       checkImages,
		"network":      checkNetwork,
		"clients":      checkClients,
	}
}

// complaints returns what a check reports about a cluster.
func complaints(check func(*cluster, complain), c *cluster) (all []string) {
	check(c, func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) })
	return all
}

func TestEveryVariantPassesEveryCheck(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.String(), func(t *testing.T) {
			c, err := decode(v, render(t, v))
			if err != nil {
				t.Fatal(err)
			}
			if len(c.deployments) != 5 || len(c.jobs) == 0 {
				t.Errorf("%d deployments and %d jobs", len(c.deployments), len(c.jobs))
			}
			for name, check := range checks() {
				for _, complaint := range complaints(check, c) {
					t.Errorf("%s: %s", name, complaint)
				}
			}
		})
	}
}
