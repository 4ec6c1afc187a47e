package manifests_test

import (
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// checkAccounts checks that each program has an account of its own, which mounts no token. A component adds credentials for a registry.
func checkAccounts(c *cluster, complain complain) {
	accounts := map[string]*corev1.ServiceAccount{}
	for _, account := range c.accounts {
		accounts[account.Name] = account
		if account.AutomountServiceAccountToken == nil || *account.AutomountServiceAccountToken {
			complain("the account %s mounts a token", account.Name)
		}
		if (len(account.ImagePullSecrets) == 1) != c.variant.has("pull-secret") {
			complain("the account %s pulls with %v", account.Name, account.ImagePullSecrets)
		}
	}
	for _, w := range c.workloads() {
		name := strings.TrimSuffix(w.name, "-initiate")
		if got := w.template.Spec.ServiceAccountName; got != name || accounts[got] == nil {
			complain("%s runs as the account %q, want %s", w.name, got, name)
		}
	}
}

// checkRights checks that no pod has a token. No account has a role: decode knows no kind of them.
func checkRights(c *cluster, complain complain) {
	for _, w := range c.workloads() {
		for _, volume := range w.template.Spec.Volumes {
			if volume.Projected != nil {
				complain("%s has a token", w.name)
			}
		}
	}
}

// checkPriority checks that the programs have the priority of the component, and that Jobs and MongoDB
// have none.
func checkPriority(c *cluster, complain complain) {
	if (len(c.priorities) == 1) != c.variant.has("priority") {
		complain("there are %d priority classes", len(c.priorities))
	}
	for _, w := range c.workloads() {
		want := ""
		if component := w.template.Labels["app.kubernetes.io/component"]; c.variant.has("priority") && (component == "edge" || component == "service") {
			want = "waybook"
		}
		if got := w.template.Spec.PriorityClassName; got != want {
			complain("%s has the priority %q, want %q", w.name, got, want)
		}
	}
}

// checkRunbooks checks that people can follow the link of an alert wherever they read it.
func checkRunbooks(c *cluster, complain complain) {
	if (len(c.rules) > 0) != c.variant.has("monitoring") {
		complain("there are %d rules", len(c.rules))
	}
	for _, rule := range c.rules {
		for _, group := range rule.Spec.Groups {
			for _, alert := range group.Rules {
				link, err := url.Parse(alert.Annotations["runbook_url"])
				if err != nil || link.Scheme != "https" || link.Host == "" || link.Fragment != strings.ToLower(alert.Alert) {
					complain("the runbook of %s is %s", alert.Alert, link)
				}
			}
		}
	}
}
