package manifests_test

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// checkScaling checks that each program has an autoscaler and at least two pods. On a laptop it has
// one pod and no autoscaler.
func checkScaling(c *cluster, complain complain) {
	scaled := 0
	for _, d := range c.deployments {
		if d.Spec.Replicas != nil {
			complain("%s sets a number of replicas, which each apply would reset", d.Name)
		}
		if c.variant.overlay == "dev" {
			continue
		}
		scaled++
		if autoscaler := c.autoscaler(d.Name); autoscaler == nil || autoscaler.Spec.MinReplicas == nil {
			complain("%s is not scaled", d.Name)
		} else if least := *autoscaler.Spec.MinReplicas; least < 2 || autoscaler.Spec.MaxReplicas < least {
			complain("%s is scaled from %d to %d", d.Name, least, autoscaler.Spec.MaxReplicas)
		}
	}
	for _, autoscaler := range c.autoscalers {
		names := []string{}
		for _, metric := range autoscaler.Spec.Metrics {
			if metric.Pods != nil && metric.Pods.Target.AverageValue != nil {
				names = append(names, metric.Pods.Metric.Name)
			}
		}
		want := []string{}
		if c.variant.has("scale-in-flight") {
			want = append(want, "waybook_in_flight_share")
		}
		if !slices.Equal(names, want) || len(autoscaler.Spec.Metrics) != 1+len(names) {
			complain("%s is scaled by %v", autoscaler.Name, names)
		}
	}
	if len(c.autoscalers) != scaled {
		complain("there are %d autoscalers for %d deployments", len(c.autoscalers), scaled)
	}
}

// autoscaler returns the autoscaler of a deployment, or nil.
func (c *cluster) autoscaler(name string) *autoscalingv2.HorizontalPodAutoscaler {
	n := slices.IndexFunc(c.autoscalers, func(a *autoscalingv2.HorizontalPodAutoscaler) bool {
		target := a.Spec.ScaleTargetRef
		return target.Name == name && target.Kind == "Deployment" && target.APIVersion == "apps/v1"
	})
	if n < 0 {
		return nil
	}
	return c.autoscalers[n]
}

// checkReplicas checks that the budget of each program allows a node to be drained, and that another
// pod remains where the program has several. MongoDB's only member has no budget.
func checkReplicas(c *cluster, complain complain) {
	covered := map[string]int{}
	for _, budget := range c.budgets {
		found := c.behind(budget.Spec.Selector)
		if len(found) != 1 || budget.Spec.MaxUnavailable == nil {
			complain("budget %s selects %d workloads", budget.Name, len(found))
			continue
		}
		name := found[0].name
		covered[name]++
		least := int32(2)
		if autoscaler := c.autoscaler(name); autoscaler != nil && autoscaler.Spec.MinReplicas != nil {
			least = *autoscaler.Spec.MinReplicas
		}
		if lost := int32(budget.Spec.MaxUnavailable.IntValue()); lost < 1 || lost >= least {
			complain("budget %s allows %d of %d to be evicted", budget.Name, lost, least)
		}
	}
	for _, d := range c.deployments {
		if covered[d.Name] != 1 {
			complain("%s has %d disruption budgets", d.Name, covered[d.Name])
		}
	}
	for _, s := range c.statefulSets {
		if s.Spec.Replicas == nil || *s.Spec.Replicas != 1 {
			complain("%s has members that initiate.js does not know", s.Name)
		}
	}
}

// The overlay dev leaves most of a laptop's cluster to others, also while each program is replaced.
var devCPU, devMemory = resource.MustParse("500m"), resource.MustParse("1280Mi")

// checkRequests checks what the overlay dev reserves at most: every pod, one more pod of each program
// for a rollout of all, and the Jobs.
func checkRequests(c *cluster, complain complain) {
	if c.variant.overlay != "dev" {
		return
	}
	cpu, memory := c.requested(corev1.ResourceCPU), c.requested(corev1.ResourceMemory)
	if cpu.IsZero() || cpu.Cmp(devCPU) > 0 || memory.Cmp(devMemory) > 0 {
		complain("the pods request %s of CPU and %s of memory, limit %s and %s", &cpu, &memory, &devCPU, &devMemory)
	}
}

// requested returns the sum of the requests of one resource.
func (c *cluster) requested(name corev1.ResourceName) (sum resource.Quantity) {
	for _, d := range c.deployments {
		pods := int64(1)
		if d.Spec.Replicas != nil {
			pods = int64(*d.Spec.Replicas)
		}
		if autoscaler := c.autoscaler(d.Name); autoscaler != nil {
			pods = int64(autoscaler.Spec.MaxReplicas)
		}
		if rolling := d.Spec.Strategy.RollingUpdate; rolling != nil && rolling.MaxSurge != nil {
			pods += int64(rolling.MaxSurge.IntValue())
		}
		add(&sum, podRequest(&d.Spec.Template.Spec, name), pods)
	}
	for _, s := range c.statefulSets {
		add(&sum, podRequest(&s.Spec.Template.Spec, name), int64(*s.Spec.Replicas))
	}
	for _, j := range c.jobs {
		add(&sum, podRequest(&j.Spec.Template.Spec, name), 1)
	}
	return sum
}

func add(sum *resource.Quantity, one resource.Quantity, times int64) {
	for range times {
		sum.Add(one)
	}
}

// podRequest returns what a scheduler reserves for a pod: the sum of its containers, or the largest
// init container if that is more.
func podRequest(pod *corev1.PodSpec, name corev1.ResourceName) (request resource.Quantity) {
	for _, container := range pod.Containers {
		request.Add(container.Resources.Requests[name])
	}
	for _, container := range pod.InitContainers {
		if first := container.Resources.Requests[name]; first.Cmp(request) > 0 {
			request = first
		}
	}
	return request
}
